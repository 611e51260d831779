//! Debian packages: which version was tried, which one is here, which one to ask for.
//!
//! Debian replaces a version in place when it mends it, so the tried one may be gone from the mirror: then the release's
//! current one is taken, and that is said.

use std::collections::BTreeMap;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::process;
use crate::toolchain::find_program;

/// One package a line, for the launcher too.
const LIST: &str = include_str!("../../../packages.toml");
const LIMIT: Duration = Duration::from_secs(60);

/// Versions by package.
pub type Versions = BTreeMap<String, String>;

/// The versions that were tried.
pub fn tried() -> Result<Versions> {
    toml::from_str(LIST).context("tools/packages.toml: package = \"version\" on each line")
}

/// The versions that are installed here; empty where dpkg does not answer.
pub fn installed(packages: &[&str]) -> Versions {
    if packages.is_empty() || find_program("dpkg-query").is_none() {
        return Versions::new();
    }
    let mut command = Command::new("dpkg-query");
    command.args(["-W", "-f", "${Package} ${Version} ${db:Status-Status}\\n"]);
    command.args(packages);
    // Its status says that one of them is unknown; it tells of the others all the same.
    process::capture(&mut command, LIMIT)
        .map(|done| read_installed(&done.stdout_text()))
        .unwrap_or_default()
}

fn read_installed(text: &str) -> Versions {
    let words = text.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let (package, version) = (words.next()?, words.next()?);
        (words.next() == Some("installed")).then(|| (package.into(), version.into()))
    });
    words.collect()
}

/// What to ask apt-get for: each package as it was tried, if the mirror has that version.
pub fn wanted(packages: &[&str], tried: &Versions) -> Vec<String> {
    let mirror = if find_program("apt-cache").is_some() {
        process::capture(
            Command::new("apt-cache").arg("madison").args(packages),
            LIMIT,
        )
        .map(|done| done.stdout_text())
        .unwrap_or_default()
    } else {
        String::new()
    };
    choose(packages, tried, &mirror)
}

/// `mirror` is what `apt-cache madison` says: package, version and source between bars.
fn choose(packages: &[&str], tried: &Versions, mirror: &str) -> Vec<String> {
    let offered = |package: &str, version: &str| {
        mirror.lines().any(|line| {
            let mut fields = line.split('|').map(str::trim);
            fields.next() == Some(package) && fields.next() == Some(version)
        })
    };
    let choice = packages.iter().map(|package| match tried.get(*package) {
        Some(version) if offered(package, version) => format!("{package}={version}"),
        _ => (*package).to_string(),
    });
    choice.collect()
}

/// One line for each package of which another version came than the tried one.
pub fn differences(packages: &[&str], tried: &Versions, installed: &Versions) -> Vec<String> {
    let lines = packages.iter().filter_map(|package| {
        let (tried, here) = (tried.get(*package)?, installed.get(*package)?);
        (tried != here).then(|| format!("{package} {here} is installed; {tried} was tried"))
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn versions(list: &[(&str, &str)]) -> Versions {
        list.iter()
            .map(|(package, version)| ((*package).into(), (*version).into()))
            .collect()
    }

    const MIRROR: &str = "\
        qemu-system-misc | 1:7.2+dfsg-7+deb12u18+b3 | http://deb.debian.org/debian bookworm/main amd64 Packages\n\
        qemu-system-misc | 1:7.2+dfsg-7+deb12u15 | http://deb.debian.org/debian-security bookworm-security/main amd64 Packages\n\
            lld-22 | 1:22.1.9-1~deb12u1 | http://deb.debian.org/debian-security bookworm-security/main amd64 Packages\n";

    #[test]
    fn the_tried_version_is_asked_for_where_there_is_one() {
        let tried = versions(&[
            ("qemu-system-misc", "1:7.2+dfsg-7+deb12u15"),
            ("lld-22", "1:22.1.8-1~deb12u1"),
        ]);
        assert_eq!(
            choose(&["lld-22", "qemu-system-misc", "other"], &tried, MIRROR),
            ["lld-22", "qemu-system-misc=1:7.2+dfsg-7+deb12u15", "other"]
        );
        assert_eq!(choose(&["lld-22"], &tried, ""), ["lld-22"]);
        // Another package's version, or a part of one, is not this one's.
        let tried = versions(&[
            ("lld-22", "1:7.2+dfsg-7+deb12u15"),
            ("qemu-system-misc", "1:7.2"),
        ]);
        assert_eq!(
            choose(&["lld-22", "qemu-system-misc"], &tried, MIRROR),
            ["lld-22", "qemu-system-misc"]
        );
    }

    #[test]
    fn only_what_is_installed_has_a_version() {
        let found = read_installed("gcc 4:12.2.0-3 installed\nlld-22 1:22 config-files\ngdb  \n");
        assert_eq!(found, versions(&[("gcc", "4:12.2.0-3")]));
        let tried = versions(&[("gcc", "4:12.2.0-2"), ("lld-22", "1:22")]);
        assert_eq!(
            differences(&["gcc", "lld-22"], &tried, &found),
            ["gcc 4:12.2.0-3 is installed; 4:12.2.0-2 was tried"]
        );
        assert!(differences(&["gcc"], &found, &found).is_empty());
    }
}
