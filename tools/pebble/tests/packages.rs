//! The tool installs packages as they were tried, on machines where stand-ins for apt tell what they were asked.

mod common;

use std::os::unix::fs::{symlink, PermissionsExt};
use std::path::Path;

use common::{command, greeting, text, Answer};

/// A machine with Rust and nothing else; apt-get notes its arguments, and does what `apt` says.
fn machine(apt: &str, mirror: &str) -> Answer<tempfile::TempDir> {
    let folder = tempfile::tempdir()?;
    let path = std::env::var_os("PATH").ok_or("no PATH")?;
    for name in [
        "rustc", "cargo", "rustup", "cc", "sh", "env", "echo", "touch",
    ] {
        let found = std::env::split_paths(&path)
            .map(|place| place.join(name))
            .find(|file| file.is_file());
        if let Some(file) = found {
            symlink(file, folder.path().join(name))?;
        }
    }
    for (name, body) in [
        (
            "apt-get",
            format!("echo \"$*\" >>'{}/calls'\n{apt}", folder.path().display()),
        ),
        ("apt-cache", mirror.into()),
        (
            "dpkg-query",
            "echo 'gcc-riscv64-unknown-elf 99 installed'".into(),
        ),
        // Whoever runs the tests, as root or not.
        ("sudo", "exec env \"$@\"".into()),
    ] {
        let file = folder.path().join(name);
        std::fs::write(&file, format!("#!/bin/sh\n{body}\n"))?;
        std::fs::set_permissions(file, PermissionsExt::from_mode(0o755))?;
    }
    Ok(folder)
}

/// Runs a C program there; answers what it said, and what apt-get was asked.
fn run(machine: &Path) -> Answer<(String, Vec<String>)> {
    std::fs::write(machine.join("one.c"), greeting("one"))?;
    let done = command(machine, &["run", "one.c"])
        .env("PATH", machine)
        .output()?;
    let calls = std::fs::read_to_string(machine.join("calls"))?;
    let asked = calls
        .lines()
        .filter_map(|line| line.split_once("--no-install-recommends "));
    let asked = asked.map(|(_, packages)| packages.into()).collect();
    Ok((text(&done.stderr), asked))
}

#[test]
fn the_tried_version_is_asked_for_and_another_one_is_told() -> Answer {
    let machine = machine(
        "",
        "echo ' qemu-system-misc | 1:7.2+dfsg-7+deb12u18+b3 | mirror'; echo 'gcc-riscv64-unknown-elf | 99 | mirror'",
    )?;
    let (said, asked) = run(machine.path())?;
    assert!(!asked.is_empty(), "{said}");
    for packages in &asked {
        for package in packages.split(' ') {
            let pinned = package.contains('=');
            assert_eq!(pinned, package.starts_with("qemu"), "{asked:?}");
        }
    }
    let all = asked.join(" ");
    assert!(
        all.contains("qemu-system-misc=1:7.2+dfsg-7+deb12u18+b3"),
        "{all}"
    );
    assert!(
        said.contains("gcc-riscv64-unknown-elf 99 is installed; 12.2.0-14+deb12u1+11+b2 was tried"),
        "{said}"
    );
    Ok(())
}

#[test]
fn versions_that_do_not_go_together_give_way_to_the_current_ones() -> Answer {
    let machine = machine(
        "case $* in *=*+b2*) echo 'E: Unable to correct problems, you have held broken packages.' >&2; exit 100 ;; esac",
        "echo 'gcc-riscv64-unknown-elf | 12.2.0-14+deb12u1+11+b2 | mirror'",
    )?;
    let (said, asked) = run(machine.path())?;
    assert!(said.contains("do not go together any more"), "{said}");
    assert!(
        asked[0].contains("gcc-riscv64-unknown-elf=12.2.0-14+deb12u1+11+b2"),
        "{asked:?}"
    );
    assert!(!asked[1].contains('='), "{asked:?}");
    Ok(())
}
