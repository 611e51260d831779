//! `pebble doctor` on machines that lack something or have it in a bad state: each thing by name, with its mend.
//!
//! A machine is a folder of programs that stands alone on `PATH`; nothing is installed.

mod common;

use std::os::unix::fs::{symlink, PermissionsExt};
use std::path::Path;

use common::{command, text, Answer};

/// Programs that requirements look for, besides those of the Rust toolchain.
const EVERYTHING: [&str; 7] = [
    "cc",
    "qemu-system-riscv64",
    "riscv64-unknown-elf-gcc",
    "clang++-22",
    "ld.lld-22",
    "gdb-multiarch",
    "sh",
];

/// A folder with links to this machine's programs, `scripts` in place of some.
fn machine(programs: &[&str], scripts: &[(&str, &str)]) -> Answer<tempfile::TempDir> {
    let folder = tempfile::tempdir()?;
    let path = std::env::var_os("PATH").ok_or("no PATH")?;
    let rust = ["rustc", "cargo", "rustup", "cargo-clippy", "cargo-fmt"];
    for name in programs.iter().chain(&rust) {
        let found = std::env::split_paths(&path)
            .map(|folder| folder.join(name))
            .find(|file| file.is_file());
        if let (Some(file), false) = (found, scripts.iter().any(|(script, _)| script == name)) {
            symlink(file, folder.path().join(name))?;
        }
    }
    for (name, body) in scripts {
        let file = folder.path().join(name);
        std::fs::write(&file, format!("#!/bin/sh\n{body}\n"))?;
        std::fs::set_permissions(file, PermissionsExt::from_mode(0o755))?;
    }
    Ok(folder)
}

/// Status, and for each finding its mark and its lines.
fn examine(machine: &Path) -> Answer<(Option<i32>, String)> {
    let done = command(machine, &["doctor"])
        .env("PATH", machine)
        .output()?;
    assert_eq!(text(&done.stderr), "");
    Ok((done.status.code(), text(&done.stdout)))
}

/// The line after the finding that begins so: its mend.
fn mend<'a>(told: &'a str, finding: &str) -> Option<&'a str> {
    let mut lines = told.lines().skip_while(|line| !line.starts_with(finding));
    lines.next()?;
    lines.next()?.trim().strip_prefix("mend: ")
}

#[test]
fn a_machine_with_everything_has_nothing_to_mend() -> Answer {
    let machine = machine(&EVERYTHING, &[])?;
    let (status, told) = examine(machine.path())?;
    assert_eq!(status, Some(0), "{told}");
    assert!(!told.contains("BAD"), "{told}");
    assert_eq!(told.lines().last(), Some("nothing to mend"));
    Ok(())
}

#[test]
fn what_is_missing_is_named_with_the_command_that_brings_it() -> Answer {
    let here: Vec<&str> = EVERYTHING
        .into_iter()
        .filter(|name| !["cc", "qemu-system-riscv64", "riscv64-unknown-elf-gcc"].contains(name))
        .collect();
    let machine = machine(&here, &[])?;
    let (status, told) = examine(machine.path())?;
    assert_eq!(status, Some(1), "{told}");
    for (finding, package) in [
        ("BAD  host linker: no `cc`", "gcc libc6-dev"),
        ("BAD  QEMU for RISC-V: missing (", "qemu-system-misc"),
        (
            "BAD  the RISC-V C compiler: missing (",
            "gcc-riscv64-unknown-elf",
        ),
    ] {
        let wanted = format!("run `apt-get install -y {package}` as root");
        assert_eq!(mend(&told, finding), Some(wanted.as_str()), "{told}");
    }
    assert_eq!(told.matches("BAD").count(), 3, "{told}");
    assert!(told.contains("\n3 to mend; "), "{told}");
    let together = told.lines().last().unwrap_or_default();
    for package in ["qemu-system-misc", "gcc-riscv64-unknown-elf"] {
        assert!(together.contains(package), "{told}");
    }
    Ok(())
}

#[test]
fn what_is_here_in_a_bad_state_is_told_from_what_is_missing() -> Answer {
    let old = "echo 'QEMU emulator version 5.2.0 (Debian)'";
    let machine = machine(
        &EVERYTHING,
        &[("qemu-system-riscv64", old), ("rustc", "exit 1")],
    )?;
    let (status, told) = examine(machine.path())?;
    assert_eq!(status, Some(1), "{told}");
    assert!(
        mend(&told, "BAD  QEMU version: 5.2.0").is_some_and(|mend| mend.contains("7.0 or later")),
        "{told}"
    );
    assert!(
        mend(&told, "BAD  Rust: ").is_some_and(|mend| mend.contains("install")),
        "{told}"
    );
    // What only some commands use is not here, and that is not bad.
    let missing = |line: &str| line.starts_with("BAD") && line.contains("missing (");
    assert!(!told.lines().any(missing), "{told}");
    Ok(())
}

#[test]
fn another_version_than_the_tried_one_is_shown() -> Answer {
    let dpkg = "echo 'qemu-system-misc 1:9.9 installed'; echo 'picolibc-riscv64-unknown-elf 1.8-1 installed'; exit 1";
    let machine = machine(&EVERYTHING, &[("dpkg-query", dpkg)])?;
    let (status, told) = examine(machine.path())?;
    assert_eq!(status, Some(0), "{told}");
    let lines: Vec<&str> = told
        .lines()
        .filter(|line| line.contains("was tried"))
        .collect();
    assert_eq!(lines.len(), 1, "{told}");
    assert!(
        lines[0].starts_with(
            "ok   QEMU for RISC-V: systems run in it; qemu-system-misc is 1:9.9, 1:7.2+dfsg"
        ),
        "{told}"
    );
    let done = command(machine.path(), &["--json", "doctor"])
        .env("PATH", machine.path())
        .output()?;
    let findings: serde_json::Value = serde_json::from_slice(&done.stdout)?;
    let package = |name: &str| {
        let all = findings.as_array().into_iter().flatten();
        all.map(|finding| &finding["package"])
            .find(|package| package["name"] == name)
            .cloned()
            .unwrap_or_default()
    };
    assert_eq!(package("qemu-system-misc")["installed"], "1:9.9");
    assert_eq!(
        package("picolibc-riscv64-unknown-elf")["installed"],
        "1.8-1"
    );
    assert_eq!(package("picolibc-riscv64-unknown-elf")["tried"], "1.8-1");
    assert!(package("gdb-multiarch")["installed"].is_null());
    assert!(package("gdb-multiarch")["tried"].is_string());
    Ok(())
}

#[test]
fn a_debugger_is_optional() -> Answer {
    let here: Vec<&str> = EVERYTHING
        .into_iter()
        .filter(|name| *name != "gdb-multiarch")
        .collect();
    let (status, told) = examine(machine(&here, &[])?.path())?;
    assert_eq!(status, Some(0), "{told}");
    let finding = "opt  gdb for other processors: missing (";
    let wanted = "run `apt-get install -y gdb-multiarch` as root";
    assert_eq!(mend(&told, finding), Some(wanted), "{told}");
    Ok(())
}
