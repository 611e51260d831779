//! The launcher `./pebble` on machines that lack something: what it installs, what it says, what it tries.
//!
//! A machine is a folder of programs: the plain ones of this machine, and scripts in place of apt-get, cargo and
//! the rest, so that nothing is installed. Its checkout has blanks in its path.

use std::io;
use std::os::unix::fs::{symlink, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the launcher uses of every Debian.
const PLAIN: [&str; 22] = [
    "sh", "cat", "cksum", "cp", "cut", "dirname", "env", "find", "getent", "ln", "ls", "mkdir",
    "mv", "printf", "readlink", "rm", "sed", "sort", "tr", "xargs", "touch", "chmod",
];
/// A cargo that "builds" a tool, which tells its arguments.
const CARGO: &str = "case $1 in --version) exit 0 ;; esac\n\
    while [ $# -gt 1 ]; do [ \"$1\" != --target-dir ] || folder=$2; shift; done\n\
    mkdir -p \"$folder/debug\"; printf '#!/bin/sh\\necho \"tool $*; $CARGO_HOME\"\\n' >\"$folder/debug/pebble\"\n\
    chmod +x \"$folder/debug/pebble\"";

struct Machine {
    folder: tempfile::TempDir,
}

impl Machine {
    /// With these scripts besides the plain programs.
    fn with(scripts: &[(&str, &str)]) -> io::Result<Self> {
        let machine = Machine {
            folder: tempfile::tempdir()?,
        };
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for folder in [
            "bin",
            "home",
            "a check out/tools",
            "a check out/abi",
            "a check out/store",
        ] {
            std::fs::create_dir_all(machine.path(folder))?;
        }
        std::fs::copy(source.join("pebble"), machine.path("a check out/pebble"))?;
        std::fs::copy(
            source.join("tools/packages.toml"),
            machine.path("a check out/tools/packages.toml"),
        )?;
        std::fs::write(
            machine.path("a check out/rust-toolchain.toml"),
            "[toolchain]\nchannel = \"1.95.0\"\n",
        )?;
        for name in PLAIN {
            let found = ["/usr/bin", "/bin"]
                .iter()
                .map(|folder| Path::new(folder).join(name))
                .find(|file| file.exists());
            if let Some(file) = found {
                symlink(file, machine.path("bin").join(name))?;
            }
        }
        // Root, unless a script says otherwise: the test's own user does not matter.
        machine.script("id", "echo 0")?;
        for (name, text) in scripts {
            machine.script(name, text)?;
        }
        Ok(machine)
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.folder.path().join(relative)
    }

    fn script(&self, name: &str, text: &str) -> io::Result<()> {
        let file = self.path("bin").join(name);
        std::fs::write(&file, format!("#!/bin/sh\n{text}\n"))?;
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755))
    }

    /// Exit status, standard output, standard error.
    fn pebble(&self, environment: &[(&str, &str)]) -> io::Result<(Option<i32>, String, String)> {
        let mut command = Command::new("/bin/sh");
        command.arg(self.path("a check out/pebble")).arg("doctor");
        command.env_clear().env("PATH", self.path("bin"));
        command.env("HOME", self.path("home"));
        command.envs(environment.iter().copied());
        let done = command.output()?;
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ok((done.status.code(), text(done.stdout), text(done.stderr)))
    }
}

#[test]
fn with_everything_here_nothing_is_installed_and_a_second_start_builds_nothing() -> io::Result<()> {
    let machine = Machine::with(&[
        ("cc", ""),
        ("cargo", CARGO),
        ("rustc", "echo 'rustc 1.96.0 (x)'"),
        ("apt-get", "echo apt-get was called >&2; exit 1"),
    ])?;
    let (status, told, said) = machine.pebble(&[])?;
    assert_eq!(status, Some(0), "{said}");
    assert!(told.starts_with("tool doctor;"), "{told}");
    assert_eq!(
        said,
        "pebble: building the tool (once for each version of tools/)\n"
    );
    let (status, told, said) = machine.pebble(&[])?;
    assert_eq!((status, said.as_str()), (Some(0), ""));
    assert!(told.starts_with("tool doctor;"), "{told}");
    Ok(())
}

#[test]
fn a_bare_machine_gets_debian_s_rust_each_package_with_its_reason() -> io::Result<()> {
    let machine = Machine::with(&[("apt-get", "echo \"apt-get $*\" >>\"$HOME/calls\"")])?;
    machine.script("cargo-of-debian", CARGO)?;
    // Installing makes the programs appear.
    machine.script(
        "apt-get",
        "echo \"$*\" >>\"$HOME/calls\"; for one in cargo; do cp \"${0%/*}/$one-of-debian\" \"${0%/*}/$one\"; done; echo noise",
    )?;
    let (status, _, said) = machine.pebble(&[])?;
    assert_eq!(status, Some(0), "{said}");
    for package in [
        "gcc",
        "libc6-dev",
        "rustc-web",
        "cargo-web",
        "rust-web-src",
        "lld-22",
    ] {
        let head = format!("pebble: installing {package}: ");
        assert!(
            said.lines()
                .any(|line| line.len() > head.len() && line.starts_with(&head)),
            "{package}: {said}"
        );
    }
    assert!(!said.contains("noise"), "{said}");
    let calls = std::fs::read_to_string(machine.path("home/calls"))?;
    assert_eq!(calls.lines().count(), 2, "{calls}");
    assert!(
        calls.contains("update\n") && calls.contains(" gcc libc6-dev rustc-web "),
        "{calls}"
    );
    Ok(())
}

#[test]
fn what_apt_could_not_bring_is_named_with_what_to_try() -> io::Result<()> {
    for (words, advice) in [
        (
            "E: Unable to locate package lld-22",
            "suite bookworm-security",
        ),
        (
            "E: Failed to fetch file:/pool/gcc.deb  timed out",
            "try again",
        ),
    ] {
        let script = format!(
            "case $* in *update) exit 0 ;; *install*) echo '{words}' >&2; exit 100 ;; esac"
        );
        let machine = Machine::with(&[("apt-get", &script)])?;
        let (status, _, said) = machine.pebble(&[])?;
        assert_eq!(status, Some(125), "{said}");
        assert!(said.contains(words) && said.contains(advice), "{said}");
        assert!(
            said.contains("\n  apt-get update && apt-get install -y"),
            "{said}"
        );
    }
    Ok(())
}

/// A mirror that has gcc as it was tried, and the C library in a newer version only.
const MIRROR: &str = "case $2 in\n\
    gcc) echo '  gcc | 4:99 | http://mirror Packages'; echo '  gcc | 4:12.2.0-3 | http://mirror Packages' ;;\n\
    libc6-dev) echo 'libc6-dev | 2.36-9+deb12u99 | http://mirror Packages' ;;\n\
    esac";
const HERE: &str =
    "case $4 in gcc) echo 4:12.2.0-3 ;; libc6-dev) echo 2.36-9+deb12u99 ;; *) exit 1 ;; esac";

#[test]
fn packages_come_as_they_were_tried_while_the_mirror_has_them() -> io::Result<()> {
    let machine = Machine::with(&[
        ("apt-get", "echo \"$*\" >>\"$HOME/calls\""),
        ("apt-cache", MIRROR),
        ("dpkg-query", HERE),
        ("cargo", CARGO),
        ("rustc", "echo 'rustc 1.96.0 (x)'"),
    ])?;
    let (status, _, said) = machine.pebble(&[])?;
    assert_eq!(status, Some(0), "{said}");
    let calls = std::fs::read_to_string(machine.path("home/calls"))?;
    assert!(
        calls.ends_with(" install -y --no-install-recommends gcc=4:12.2.0-3 libc6-dev\n"),
        "{calls}"
    );
    let told: Vec<&str> = said
        .lines()
        .filter(|line| line.contains("was tried"))
        .collect();
    assert_eq!(told.len(), 1, "{said}");
    assert!(
        told[0].starts_with("pebble: libc6-dev 2.36-9+deb12u99 is installed; 2.36-9+deb12"),
        "{said}"
    );
    Ok(())
}

#[test]
fn tried_versions_that_do_not_go_together_any_more_give_way() -> io::Result<()> {
    for (words, again) in [
        (
            "E: Unable to correct problems, you have held broken packages.",
            true,
        ),
        ("E: Failed to fetch file:/pool/gcc.deb  timed out", false),
    ] {
        let apt = format!(
            "echo \"$*\" >>\"$HOME/calls\"; case $* in *=4:*) echo '{words}' >&2; exit 100 ;; esac"
        );
        let machine = Machine::with(&[
            ("apt-get", &apt),
            ("apt-cache", MIRROR),
            ("dpkg-query", HERE),
            ("cargo", CARGO),
            ("rustc", "echo 'rustc 1.96.0 (x)'"),
        ])?;
        let (status, _, said) = machine.pebble(&[])?;
        assert_eq!(status, Some(if again { 0 } else { 125 }), "{said}");
        assert_eq!(
            said.contains("do not go together any more"),
            again,
            "{said}"
        );
        let calls = std::fs::read_to_string(machine.path("home/calls"))?;
        assert_eq!(
            calls.ends_with(" install -y --no-install-recommends gcc libc6-dev\n"),
            again,
            "{calls}"
        );
    }
    Ok(())
}

#[test]
fn without_the_right_to_install_the_command_for_root_is_shown() -> io::Result<()> {
    let machine = Machine::with(&[("id", "echo 1000"), ("apt-get", "echo called >&2")])?;
    let (status, _, said) = machine.pebble(&[])?;
    assert_eq!(status, Some(125), "{said}");
    assert!(said.contains("run as root:\n  apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev rustc-web"), "{said}");
    assert!(!said.contains("called"), "{said}");
    Ok(())
}

#[test]
fn a_rust_that_is_too_old_is_refused_by_its_version() -> io::Result<()> {
    let machine = Machine::with(&[
        ("cc", ""),
        ("cargo", CARGO),
        ("rustc", "echo 'rustc 1.63.0'"),
    ])?;
    let (status, _, said) = machine.pebble(&[])?;
    assert_eq!(status, Some(125), "{said}");
    assert!(
        said.contains("is version 1.63, and Pebble needs 1.95 or later; install rustup"),
        "{said}"
    );
    Ok(())
}

#[test]
fn rustup_installs_the_pinned_version_even_where_it_may_not_do_so_by_itself() -> io::Result<()> {
    // The proxy of a toolchain that is not there fails, until the toolchain is installed by name.
    let proxy = "[ -e \"$HOME/installed\" ] && [ \"$RUSTUP_TOOLCHAIN\" = 1.95.0 ] || exit 1";
    let cargo = format!("{proxy}\n{CARGO}");
    let machine = Machine::with(&[
        ("cc", ""),
        ("rustc", proxy),
        ("cargo", &cargo),
        (
            "rustup",
            "echo \"$*\" >>\"$HOME/calls\"; touch \"$HOME/installed\"",
        ),
    ])?;
    let (status, _, said) = machine.pebble(&[("RUSTUP_AUTO_INSTALL", "0")])?;
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("pebble: installing Rust 1.95.0: "), "{said}");
    assert_eq!(
        std::fs::read_to_string(machine.path("home/calls"))?,
        "toolchain install 1.95.0 --profile minimal -c clippy -c rustfmt\n"
    );
    Ok(())
}

#[test]
fn a_library_that_the_network_dropped_is_told_from_a_mistake_in_the_tool() -> io::Result<()> {
    for (words, advice) in [
        (
            "error: failed to download from `x/clap`",
            "cargo could not download a library",
        ),
        ("error[E0425]: cannot find value", "the tool does not build"),
    ] {
        let cargo = format!("echo '{words}' >&2; exit 101");
        let machine = Machine::with(&[
            ("cc", ""),
            ("rustc", "echo 'rustc 1.95.0'"),
            ("cargo", &cargo),
        ])?;
        let (status, _, said) = machine.pebble(&[])?;
        assert_eq!(status, Some(125), "{said}");
        assert!(said.contains(words) && said.contains(advice), "{said}");
    }
    Ok(())
}

#[test]
fn a_cargo_folder_that_cannot_be_written_is_replaced() -> io::Result<()> {
    let machine = Machine::with(&[
        ("cc", ""),
        ("cargo", CARGO),
        ("rustc", "echo 'rustc 1.95.0'"),
    ])?;
    // A file where the folder should be: not even root can write into it.
    std::fs::write(machine.path("home/file"), "")?;
    let inside = machine.path("home/file/cargo").display().to_string();
    let (status, told, said) = machine.pebble(&[("CARGO_HOME", &inside)])?;
    assert_eq!(status, Some(0), "{said}");
    assert!(
        told.trim_end().ends_with("a check out/target/cargo-home"),
        "{told}"
    );
    Ok(())
}
