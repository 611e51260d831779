//! The command in the real checkout: what tests of whole runs share.
// Each test file uses some of it.
#![allow(dead_code)]

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub type Answer<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// The checkout.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    here.canonicalize().unwrap_or(here)
}

/// `pebble ARGUMENTS`, started in a folder.
pub fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pebble"));
    command
        .current_dir(folder)
        .env("PEBBLE_ROOT", root())
        .stdin(std::process::Stdio::null())
        .args(arguments);
    command
}

/// Runs it.
pub fn pebble(folder: &Path, arguments: &[&str]) -> Answer<Output> {
    Ok(command(folder, arguments).output()?)
}

/// Runs it with a script in QEMU's place, which gets QEMU's arguments; `$qemu` is the real one.
pub fn with_machine(folder: &Path, script: &str, arguments: &[&str]) -> Answer<Output> {
    let machine = folder.join("machine");
    std::fs::write(
        &machine,
        format!("#!/bin/sh\nqemu=qemu-system-riscv64\n{script}\n"),
    )?;
    std::fs::set_permissions(&machine, PermissionsExt::from_mode(0o755))?;
    Ok(command(folder, arguments)
        .env("PEBBLE_QEMU", machine)
        .output()?)
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A C program that prints `text` and a newline.
pub fn greeting(text: &str) -> String {
    format!("#include <stdio.h>\nint main(void) {{ puts(\"{text}\"); return 0; }}\n")
}

/// The image that a run of `program` builds, taken from the bundle by a script in QEMU's place.
pub fn image_of(folder: &Path, program: &Path) -> Answer<Vec<u8>> {
    let keep = folder.join("kept.bundle");
    let script = format!(
        "while [ $# -gt 1 ]; do [ \"$1\" = -initrd ] && cp \"$2\" '{}'; shift; done; exit 1",
        keep.display()
    );
    with_machine(folder, &script, &["run", &program.to_string_lossy()])?;
    let bundle = std::fs::read(&keep)?;
    // The program is the last component: its image goes from the last ELF header to the end.
    let start = bundle
        .windows(4)
        .rposition(|bytes| bytes == b"\x7fELF")
        .ok_or("no image in the bundle")?;
    Ok(bundle[start..].to_vec())
}
