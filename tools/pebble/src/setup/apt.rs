//! Installs Debian packages: one apt-get at a time, as root or through sudo.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{bail, Result};

use super::packages;
use super::requirement::{Requirement, Source};
use crate::process::{self, Finished};
use crate::report::Report;
use crate::toolchain::find_program;

const LIMIT: Duration = Duration::from_secs(1800);

/// Installs the packages among what is missing.
pub fn install(report: &Report, missing: &[Requirement]) -> Result<()> {
    let mut names: Vec<&str> = missing
        .iter()
        .filter_map(|requirement| match requirement.source {
            Source::Package(package) => Some(package),
            Source::Target(_) | Source::Component(_) => None,
        })
        .collect();
    names.sort_unstable();
    names.dedup();
    if names.is_empty() {
        return Ok(());
    }
    let typed = format!(
        "apt-get update && apt-get install -y --no-install-recommends {}",
        names.join(" ")
    );
    if !Path::new("/etc/debian_version").exists() || find_program("apt-get").is_none() {
        bail!(
            "this is not a Debian system; install what these packages hold: {}",
            names.join(" ")
        );
    }
    let root = rustix::process::geteuid().is_root();
    if !root && find_program("sudo").is_none() {
        bail!("packages are missing, and this is neither root nor is there sudo; run as root:\n  {typed}");
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
            "-o",
            "Acquire::Retries=3",
        ]);
        command.args(arguments);
        command
    };
    report.note("apt-get update: the list of packages must be fresh");
    if !process::quietly(&mut apt(&["update"]), LIMIT, report.verbose())? {
        report.note("apt-get update failed; going on with the lists that are here");
    }
    let tried = packages::tried()?;
    let wanted = packages::wanted(&names, &tried);
    let install = |wanted: &[String]| -> Result<Finished> {
        report.note(&format!("apt-get install {}", wanted.join(" ")));
        let mut arguments = vec!["install", "-y", "--no-install-recommends"];
        arguments.extend(wanted.iter().map(String::as_str));
        process::capture(&mut apt(&arguments), LIMIT)
    };
    let mut done = install(&wanted)?;
    let current: Vec<String> = names.iter().map(ToString::to_string).collect();
    if !done.status.success() && wanted != current && has_conflict(&done) {
        // What a package needs may have been replaced while the package itself is still there.
        report.note("the tried versions do not go together any more: the current ones are taken");
        done = install(&current)?;
    }
    let said = format!("{}{}", done.stdout_text(), done.stderr_text());
    if report.verbose() || !done.status.success() {
        eprint!("{said}");
    }
    if !done.status.success() {
        bail!("{} Try by hand, as root:\n  {typed}", explain(&said));
    }
    for line in packages::differences(&names, &tried, &packages::installed(&names)) {
        report.note(&line);
    }
    Ok(())
}

/// Whether apt-get could not choose versions: the same again with others may work, which a lost network does not.
fn has_conflict(done: &Finished) -> bool {
    let said = format!("{}{}", done.stdout_text(), done.stderr_text());
    [
        "unmet dependencies",
        "held broken packages",
        "were downgraded",
    ]
    .iter()
    .any(|words| said.contains(words))
        || said
            .lines()
            .any(|line| line.starts_with("E: Version '") && line.ends_with("was not found"))
}

/// What apt-get's last words mean: which package, and what is to be done about it.
fn explain(said: &str) -> String {
    let mut unknown = Vec::new();
    let mut dropped = Vec::new();
    let mut locked = false;
    for line in said.lines().filter_map(|line| line.strip_prefix("E: ")) {
        if let Some(name) = line.strip_prefix("Unable to locate package ") {
            unknown.push(name.trim());
        } else if let Some(name) = line
            .strip_prefix("Package '")
            .and_then(|rest| rest.strip_suffix("' has no installation candidate"))
        {
            unknown.push(name);
        } else if let Some(rest) = line.strip_prefix("Failed to fetch ") {
            // An address, whose last part is the file of the package, and apt's reason.
            let address = rest.split_whitespace().next().unwrap_or(rest);
            dropped.push(address.rsplit('/').next().unwrap_or(address));
        } else if line.contains("Could not get lock") || line.contains("Unable to acquire the dpkg")
        {
            locked = true;
        }
    }
    if !unknown.is_empty() {
        format!(
            "The package lists of this machine do not have {}: is the suite bookworm-security among its \
             sources in /etc/apt, and does its mirror answer (`apt-get update`)?",
            unknown.join(", ")
        )
    } else if !dropped.is_empty() {
        format!(
            "The network or the mirror dropped {}: the same command again goes on where it stopped.",
            few(&dropped)
        )
    } else if locked {
        "Another package manager is at work: wait until it has ended.".into()
    } else {
        "apt-get could not install everything (its messages are above).".into()
    }
}

/// The first names; without a network there may be a hundred.
fn few(names: &[&str]) -> String {
    const MOST: usize = 4;
    let shown = names[..names.len().min(MOST)].join(", ");
    match names.len().saturating_sub(MOST) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::{explain, few};

    #[test]
    fn of_many_names_a_few_are_told() {
        assert_eq!(few(&["a", "b"]), "a, b");
        assert_eq!(
            few(&["a", "b", "c", "d", "e", "f"]),
            "a, b, c, d and 2 more"
        );
    }

    #[test]
    fn a_package_that_is_in_no_list_is_named() {
        let text = explain(
            "Reading package lists...\nE: Unable to locate package clang-22\n\
             E: Package 'lld-22' has no installation candidate\n",
        );
        assert!(text.contains("clang-22, lld-22") && text.contains("bookworm-security"));
    }

    #[test]
    fn a_package_that_the_network_dropped_is_named() {
        let text = explain(
            "E: Failed to fetch http://mirror.invalid/pool/main/q/qemu/qemu-system-misc_7.2_amd64.deb  \
             Connection failed [IP: 192.0.2.1 80]\n\
             E: Unable to fetch some archives, maybe run apt-get update or try with --fix-missing?\n",
        );
        assert!(
            text.contains("dropped qemu-system-misc_7.2_amd64.deb:"),
            "{text}"
        );
    }

    #[test]
    fn a_lock_and_the_unknown_have_their_words_too() {
        let text =
            explain("E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 7\n");
        assert!(text.contains("Another package manager"));
        assert!(
            explain("E: Sub-process /usr/bin/dpkg returned an error code (1)\n").contains("above")
        );
    }
}
