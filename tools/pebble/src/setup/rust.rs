//! Adds targets and components to rustup's pinned toolchain.

use std::process::Command;
use std::time::Duration;

use anyhow::{bail, Result};

use super::requirement::{Requirement, Source};
use crate::process;
use crate::report::Report;
use crate::toolchain::Toolchain;

const LIMIT: Duration = Duration::from_secs(1800);

/// Adds what is missing and rustup has. `rustup target add` is called by name, since RUSTUP_AUTO_INSTALL=0
/// may forbid that a build does it by itself.
pub fn install(report: &Report, toolchain: &Toolchain, missing: &[Requirement]) -> Result<()> {
    let Toolchain::Rustup { channel } = toolchain else {
        return Ok(());
    };
    for requirement in missing {
        let (kind, name) = match requirement.source {
            Source::Target(target) => ("target", target),
            Source::Component(component) => ("component", component),
            Source::Package(_) => continue,
        };
        report.note(&format!("rustup {kind} add --toolchain {channel} {name}"));
        let mut command = Command::new("rustup");
        command.args([kind, "add", "--toolchain", channel, name]);
        if !process::quietly(&mut command, LIMIT, report.verbose())? {
            bail!(
                "rustup could not add {name} (its messages are above); {}",
                advice(toolchain, requirement)
            );
        }
    }
    Ok(())
}

/// A toolchain that belongs to somebody else is the one cause that trying again does not mend.
fn advice(toolchain: &Toolchain, requirement: &Requirement) -> String {
    let folder = toolchain.folder().filter(|folder| folder.is_dir());
    match folder {
        Some(folder) if tempfile::tempfile_in(&folder).is_err() => format!(
            "{} is not yours to write: its owner can {}, or set RUSTUP_HOME to a folder of your own",
            folder.display(),
            requirement.mend()
        ),
        _ => format!(
            "if the network dropped it, try again: {}",
            requirement.mend()
        ),
    }
}
