//! Which Rust compiler builds Pebble: rustup's pinned one, or Debian's with the bare-metal parts of the
//! library compiled once from source.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::repository::Repository;

/// Target of everything that runs without floating-point registers: nucleus, servers, drivers, services.
pub const SYSTEM_TARGET: &str = "riscv64imac-unknown-none-elf";
/// Target of user programs.
pub const USER_TARGET: &str = "riscv64gc-unknown-none-elf";

/// A Rust toolchain.
#[derive(Clone, Debug)]
pub enum Toolchain {
    /// rustup with the channel that `rust-toolchain.toml` names.
    Rustup {
        /// The channel, a version number.
        channel: String,
    },
    /// `rustc-web` and its companions.
    Debian,
}

#[derive(Deserialize)]
struct Pin {
    toolchain: PinnedToolchain,
}

#[derive(Deserialize)]
struct PinnedToolchain {
    channel: String,
}

/// The version that `rust-toolchain.toml` pins.
pub fn pinned_channel(repository: &Repository) -> Result<String> {
    let file = repository.path("rust-toolchain.toml");
    let text = std::fs::read_to_string(&file)
        .with_context(|| format!("cannot read {}", file.display()))?;
    let pin: Pin = toml::from_str(&text).context("rust-toolchain.toml")?;
    Ok(pin.toolchain.channel)
}

/// The first file of that name on `PATH`.
pub fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}

impl Toolchain {
    /// The toolchain of this machine: rustup where there is one.
    pub fn detect(repository: &Repository) -> Result<Self> {
        if find_program("rustup").is_some() {
            let channel = pinned_channel(repository)?;
            Ok(Toolchain::Rustup { channel })
        } else {
            Ok(Toolchain::Debian)
        }
    }

    /// A cargo command of this toolchain that no setting of the caller's environment changes.
    pub fn cargo(&self) -> Command {
        let mut command = Command::new("cargo");
        for name in ["RUSTFLAGS", "CARGO_BUILD_TARGET", "CARGO_TARGET_DIR"] {
            command.env_remove(name);
        }
        if let Toolchain::Rustup { channel } = self {
            command.env("RUSTUP_TOOLCHAIN", channel);
        }
        command
    }

    /// What cargo needs besides `--target` to build for a bare target.
    pub fn add_bare_target(&self, command: &mut Command, target: &str) {
        command.args(["--target", target]);
        if let Toolchain::Debian = self {
            command.env("RUSTC_BOOTSTRAP", "1");
            command.args([
                "-Zbuild-std=core,alloc,compiler_builtins",
                "-Zbuild-std-features=compiler-builtins-mem",
            ]);
            // Debian has no rust-lld; the packaged lld is the same linker.
            let variable = target.to_uppercase().replace('-', "_");
            command.env(format!("CARGO_TARGET_{variable}_LINKER"), "ld.lld-22");
        }
    }

    /// Folder of rustup's toolchain.
    pub fn folder(&self) -> Option<PathBuf> {
        let Toolchain::Rustup { channel } = self else {
            return None;
        };
        let home = std::env::var_os("RUSTUP_HOME")
            .map(PathBuf::from)
            .or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".rustup")))?;
        let host = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
        Some(home.join("toolchains").join(format!("{channel}-{host}")))
    }

    /// Folder of the compiled library for `target`, when this toolchain brings it.
    pub fn library(&self, target: &str) -> Option<PathBuf> {
        Some(self.folder()?.join("lib/rustlib").join(target).join("lib"))
    }
}
