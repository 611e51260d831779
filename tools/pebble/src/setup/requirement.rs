//! The list of what this project uses on the host, each with its reason.

use std::path::PathBuf;

use anyhow::Result;

use crate::repository::Repository;
use crate::toolchain::{find_program, Toolchain, SYSTEM_TARGET, USER_TARGET};

/// What something is for; a command installs only what it is going to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Building nucleus and components.
    Build,
    /// Running a system.
    Run,
    /// C programs.
    C,
    /// C++ programs.
    Cpp,
    /// Formats and lints.
    Lint,
    /// Debugging.
    Debug,
    /// Building the peer that measurements are compared with.
    Peer,
    /// Building the simulator of a processor's RTL.
    Rtl,
}

/// How it gets here.
#[derive(Clone, Debug)]
pub enum Source {
    /// A Debian package.
    Package(&'static str),
    /// A rustup target.
    Target(&'static str),
    /// A rustup component.
    Component(&'static str),
}

/// Where to look for it.
#[derive(Clone, Debug)]
enum Probe {
    Program(&'static str),
    File(PathBuf),
}

/// One thing that must be here.
#[derive(Clone, Debug)]
pub struct Requirement {
    /// Its name.
    pub what: &'static str,
    /// Its reason.
    pub why: &'static str,
    /// Who needs it.
    pub purpose: Purpose,
    /// Where it comes from.
    pub source: Source,
    probe: Probe,
    channel: String,
}

impl Requirement {
    /// It is here.
    pub fn present(&self) -> bool {
        match &self.probe {
            Probe::Program(name) => find_program(name).is_some(),
            Probe::File(path) => path.exists(),
        }
    }

    /// The command that brings it.
    pub fn mend(&self) -> String {
        match self.source {
            Source::Package(package) => format!("run `apt-get install -y {package}` as root"),
            Source::Target(target) => {
                format!(
                    "run `rustup target add --toolchain {} {target}`",
                    self.channel
                )
            }
            Source::Component(name) => {
                format!(
                    "run `rustup component add --toolchain {} {name}`",
                    self.channel
                )
            }
        }
    }
}

/// Everything, for this toolchain.
pub fn all(repository: &Repository, toolchain: &Toolchain) -> Result<Vec<Requirement>> {
    let channel = crate::toolchain::pinned_channel(repository)?;
    let make = |what, why, purpose, source, probe| Requirement {
        what,
        why,
        purpose,
        source,
        probe,
        channel: channel.clone(),
    };
    let program = |what, why, purpose, package, name| {
        make(
            what,
            why,
            purpose,
            Source::Package(package),
            Probe::Program(name),
        )
    };
    let mut list = vec![
        program(
            "QEMU for RISC-V",
            "systems run in it",
            Purpose::Run,
            "qemu-system-misc",
            "qemu-system-riscv64",
        ),
        program(
            "the RISC-V C compiler",
            "C programs are built with it",
            Purpose::C,
            "gcc-riscv64-unknown-elf",
            "riscv64-unknown-elf-gcc",
        ),
        make(
            "picolibc",
            "the C library of C programs",
            Purpose::C,
            Source::Package("picolibc-riscv64-unknown-elf"),
            Probe::File("/usr/lib/picolibc/riscv64-unknown-elf/include/stdio.h".into()),
        ),
        program(
            "clang",
            "C++ programs are built with it",
            Purpose::Cpp,
            "clang-22",
            "clang++-22",
        ),
        program(
            "lld",
            "the linker that goes with clang",
            Purpose::Cpp,
            "lld-22",
            "ld.lld-22",
        ),
        make(
            "the headers of libc++",
            "the C++ standard library of C++ programs",
            Purpose::Cpp,
            Source::Package("libc++-19-dev"),
            Probe::File("/usr/lib/llvm-19/include/c++/v1/array".into()),
        ),
        program(
            "gdb for other processors",
            "`pebble run --gdb`",
            Purpose::Debug,
            "gdb-multiarch",
            "gdb-multiarch",
        ),
    ];
    list.extend(peer(&channel));
    list.extend(rtl(&channel));
    match toolchain {
        Toolchain::Rustup { .. } => {
            for (target, what, why) in [
                (
                    SYSTEM_TARGET,
                    "the Rust library for riscv64imac",
                    "nucleus, servers and drivers",
                ),
                (
                    USER_TARGET,
                    "the Rust library for riscv64gc",
                    "programs in Rust",
                ),
            ] {
                if let Some(folder) = toolchain.library(target) {
                    list.push(make(
                        what,
                        why,
                        Purpose::Build,
                        Source::Target(target),
                        Probe::File(folder),
                    ));
                }
            }
            list.push(program(
                "clippy",
                "lints",
                Purpose::Lint,
                "rust-web-clippy",
                "cargo-clippy",
            ));
            list.push(program(
                "rustfmt",
                "formats",
                Purpose::Lint,
                "rustfmt-web",
                "cargo-fmt",
            ));
            for requirement in list
                .iter_mut()
                .filter(|requirement| requirement.purpose == Purpose::Lint)
            {
                rustup_lint(requirement, toolchain);
            }
        }
        Toolchain::Debian => {
            list.push(program(
                "Debian's Rust",
                "everything here is built with it",
                Purpose::Build,
                "rustc-web",
                "rustc",
            ));
            list.push(program(
                "Debian's cargo",
                "it runs the compiler",
                Purpose::Build,
                "cargo-web",
                "cargo",
            ));
            list.push(make(
                "the sources of the Rust library",
                "the library for the bare targets is compiled from them",
                Purpose::Build,
                Source::Package("rust-web-src"),
                // A link that the package keeps to the sources of its own version.
                Probe::File("/usr/lib/rustlib/src/rust/library/core/src/lib.rs".into()),
            ));
            list.push(program(
                "lld",
                "the linker for the bare targets",
                Purpose::Build,
                "lld-22",
                "ld.lld-22",
            ));
            list.push(program(
                "clippy",
                "lints",
                Purpose::Lint,
                "rust-web-clippy",
                "cargo-clippy",
            ));
            list.push(program(
                "rustfmt",
                "formats",
                Purpose::Lint,
                "rustfmt-web",
                "cargo-fmt",
            ));
        }
    }
    Ok(list)
}

/// What building Linux takes, for `pebble bench --peer linux` alone.
fn peer(channel: &str) -> Vec<Requirement> {
    let make = |what, why, package, probe| Requirement {
        what,
        why,
        purpose: Purpose::Peer,
        source: Source::Package(package),
        probe,
        channel: channel.to_string(),
    };
    let file = |path: &str| Probe::File(path.into());
    vec![
        make(
            "the source of Linux",
            "the peer of the measurements is built from it",
            "linux-source-6.1",
            file("/usr/src/linux-source-6.1.tar.xz"),
        ),
        make(
            "a C compiler for Linux on RISC-V",
            "it builds Linux",
            "gcc-riscv64-linux-gnu",
            Probe::Program("riscv64-linux-gnu-gcc"),
        ),
        make(
            "the C library of Linux on RISC-V",
            "the peer's benchmark is linked with it",
            "libc6-dev-riscv64-cross",
            file("/usr/riscv64-linux-gnu/lib/libc.a"),
        ),
        make(
            "a C compiler for this machine",
            "Linux's build tools are compiled with it",
            "gcc",
            Probe::Program("gcc"),
        ),
        make(
            "make",
            "it runs Linux's build",
            "make",
            Probe::Program("make"),
        ),
        make("flex", "Linux's build", "flex", Probe::Program("flex")),
        make("bison", "Linux's build", "bison", Probe::Program("bison")),
        make("bc", "Linux's build", "bc", Probe::Program("bc")),
        make(
            "xz",
            "the source is packed",
            "xz-utils",
            Probe::Program("xz"),
        ),
    ]
}

/// What building the simulator of Rocket takes, for `--rtl` alone.
fn rtl(channel: &str) -> Vec<Requirement> {
    let make = |what, why, package, name| Requirement {
        what,
        why,
        purpose: Purpose::Rtl,
        source: Source::Package(package),
        probe: Probe::Program(name),
        channel: channel.to_string(),
    };
    vec![
        make(
            "Verilator",
            "it makes a program of a processor's RTL",
            "verilator",
            "verilator",
        ),
        make("a C++ compiler", "it builds that program", "g++", "g++"),
        make("make", "it runs that build", "make", "make"),
        make(
            "pip",
            "the RTL comes as a Python package",
            "python3-pip",
            "pip3",
        ),
        make("unzip", "that package is packed", "unzip", "unzip"),
    ]
}

/// rustup's `cargo-clippy` is a proxy that is there even without the component behind it.
fn rustup_lint(requirement: &mut Requirement, toolchain: &Toolchain) {
    let (component, binary) = match requirement.what {
        "clippy" => ("clippy", "cargo-clippy"),
        _ => ("rustfmt", "rustfmt"),
    };
    requirement.source = Source::Component(component);
    if let Some(folder) = toolchain.folder() {
        requirement.probe = Probe::File(folder.join("bin").join(binary));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    #[test]
    fn every_requirement_says_how_it_gets_here() -> Result<()> {
        let repository = Repository::at(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
        let mut used = BTreeSet::new();
        for toolchain in [
            Toolchain::Rustup {
                channel: "1.95.0".into(),
            },
            Toolchain::Debian,
        ] {
            let list = all(&repository, &toolchain)?;
            assert!(list
                .iter()
                .any(|requirement| requirement.purpose == Purpose::Run));
            for requirement in list {
                assert!(requirement.mend().contains(match requirement.source {
                    Source::Package(name) | Source::Target(name) | Source::Component(name) => name,
                }));
                assert!(!requirement.why.is_empty());
                if let Source::Package(name) = requirement.source {
                    used.insert(name.to_string());
                }
            }
        }
        // What the launcher installs has versions too, and nothing else does.
        let launcher = std::fs::read_to_string(repository.path("pebble"))?;
        let needed = launcher
            .lines()
            .filter_map(|line| line.trim().strip_prefix("need "));
        used.extend(needed.filter_map(|rest| Some(rest.split_whitespace().next()?.to_string())));
        let tried: BTreeSet<String> = super::super::packages::tried()?.into_keys().collect();
        assert_eq!(tried, used);
        Ok(())
    }

    #[test]
    fn what_is_not_there_is_not_present() {
        let requirement = Requirement {
            what: "a thing",
            why: "none",
            purpose: Purpose::Run,
            source: Source::Package("a-thing"),
            probe: Probe::Program("no-such-program-anywhere"),
            channel: String::new(),
        };
        assert!(!requirement.present());
    }
}
