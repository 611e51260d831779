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
                "rustup could not add {name} (its messages are above); try: {}",
                requirement.mend()
            );
        }
    }
    Ok(())
}
