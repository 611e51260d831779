//! Installs Debian packages: one apt-get at a time, as root or through sudo.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{bail, Result};

use super::requirement::{Requirement, Source};
use crate::process;
use crate::report::Report;
use crate::toolchain::find_program;

const LIMIT: Duration = Duration::from_secs(1800);

/// Installs the packages among what is missing.
pub fn install(report: &Report, missing: &[Requirement]) -> Result<()> {
    let mut packages: Vec<&str> = missing
        .iter()
        .filter_map(|requirement| match requirement.source {
            Source::Package(package) => Some(package),
            Source::Target(_) | Source::Component(_) => None,
        })
        .collect();
    packages.sort_unstable();
    packages.dedup();
    if packages.is_empty() {
        return Ok(());
    }
    let typed = format!(
        "apt-get update && apt-get install -y --no-install-recommends {}",
        packages.join(" ")
    );
    if !Path::new("/etc/debian_version").exists() || find_program("apt-get").is_none() {
        bail!(
            "this is not a Debian system; install what these packages hold: {}",
            packages.join(" ")
        );
    }
    let root = rustix::process::geteuid().is_root();
    if !root && find_program("sudo").is_none() {
        bail!("packages are missing and this is neither root nor is there sudo; run as root:\n  {typed}");
    }
    let apt = |arguments: &[&str]| {
        let mut command = if root {
            Command::new("env")
        } else {
            Command::new("sudo")
        };
        command.args([
            "DEBIAN_FRONTEND=noninteractive",
            "apt-get",
            "-qq",
            "-o",
            "DPkg::Lock::Timeout=300",
        ]);
        command.args(arguments);
        command
    };
    report.note("apt-get update: the list of packages must be fresh");
    if !process::quietly(&mut apt(&["update"]), LIMIT, report.verbose())? {
        report.note("apt-get update failed; going on with the lists that are here");
    }
    let mut arguments = vec!["install", "-y", "--no-install-recommends"];
    arguments.extend(&packages);
    report.note(&format!("apt-get install {}", packages.join(" ")));
    if !process::quietly(&mut apt(&arguments), LIMIT, report.verbose())? {
        bail!("apt-get could not install everything (its messages are above); try by hand, as root:\n  {typed}");
    }
    Ok(())
}
