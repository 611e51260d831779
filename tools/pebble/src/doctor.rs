//! `pebble doctor`: what is missing or wrong on this machine, and the exact mend.

use std::process::Command;
use std::time::Duration;

use anyhow::Result;
use serde::Serialize;

use crate::process;
use crate::report::Report;
use crate::repository::Repository;
use crate::setup::packages::{self, Versions};
use crate::setup::{self, Purpose, Requirement, Source};
use crate::toolchain::{find_program, pinned_channel, Toolchain};

const LIMIT: Duration = Duration::from_secs(60);

/// One thing that was looked at.
#[derive(Serialize)]
struct Finding {
    what: String,
    good: bool,
    found: String,
    mend: Option<String>,
    /// Something that most people never use: its absence is no fault.
    optional: bool,
    /// The Debian package that it comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    package: Option<Package>,
}

/// A Debian package, and the version of it that was tried.
#[derive(Serialize)]
struct Package {
    name: String,
    installed: Option<String>,
    tried: Option<String>,
}

impl Finding {
    fn good(what: &str, found: impl Into<String>) -> Self {
        Finding {
            what: what.into(),
            good: true,
            found: found.into(),
            mend: None,
            optional: false,
            package: None,
        }
    }
    /// It comes from this package; where another version of that is here than was tried, people are told.
    fn from(mut self, versions: &Known, package: &str) -> Self {
        let of = |list: &Versions| list.get(package).cloned();
        let (installed, tried) = (of(&versions.installed), of(&versions.tried));
        if let (Some(here), Some(tried)) = (&installed, &tried) {
            if here != tried {
                self.found += &format!("; {package} is {here}, {tried} was tried");
            }
        }
        self.package = Some(Package {
            name: package.into(),
            installed,
            tried,
        });
        self
    }
    fn bad(what: &str, found: impl Into<String>, mend: impl Into<String>) -> Self {
        Finding {
            what: what.into(),
            good: false,
            found: found.into(),
            mend: Some(mend.into()),
            optional: false,
            package: None,
        }
    }
}

/// Versions of packages: here, and tried.
struct Known {
    installed: Versions,
    tried: Versions,
}

impl Known {
    fn of(requirements: &[Requirement]) -> Result<Self> {
        let mut names = vec!["gcc"];
        for requirement in requirements {
            if let Source::Package(package) = requirement.source {
                names.push(package);
            }
        }
        names.sort_unstable();
        names.dedup();
        Ok(Known {
            installed: packages::installed(&names),
            tried: packages::tried()?,
        })
    }
}

/// Looks at everything; status 1 when something is to be mended.
pub fn command(repository: &Repository, report: &Report) -> Result<u8> {
    let toolchain = Toolchain::detect(repository)?;
    let requirements = setup::all(repository, &toolchain)?;
    let versions = Known::of(&requirements)?;
    let mut findings = vec![rust(repository, &toolchain)?];
    findings.push(linker().from(&versions, "gcc"));
    let mut packages = Vec::new();
    for requirement in requirements {
        if requirement.present() {
            let finding = Finding::good(requirement.what, requirement.why);
            findings.push(match requirement.source {
                Source::Package(package) => finding.from(&versions, package),
                _ => finding,
            });
            continue;
        }
        let mut finding = Finding::bad(
            requirement.what,
            format!("missing ({})", requirement.why),
            requirement.mend(),
        );
        finding.optional = matches!(
            requirement.purpose,
            Purpose::Debug | Purpose::Peer | Purpose::Rtl
        );
        if let Source::Package(package) = requirement.source {
            finding = finding.from(&versions, package);
            if !finding.optional {
                packages.push(package);
            }
        }
        findings.push(finding);
    }
    packages.dedup();
    findings.extend(qemu());
    findings.push(results(repository));
    let bad = findings
        .iter()
        .filter(|finding| !finding.good && !finding.optional)
        .count();
    if report.json() {
        println!("{}", serde_json::to_string_pretty(&findings)?);
    } else {
        for finding in &findings {
            let mark = match (finding.good, finding.optional) {
                (true, _) => "ok  ",
                (false, true) => "opt ",
                (false, false) => "BAD ",
            };
            println!("{mark} {}: {}", finding.what, finding.found);
            if let Some(mend) = &finding.mend {
                println!("     mend: {mend}");
            }
        }
        println!("{}", conclusion(bad, &packages));
    }
    Ok(u8::from(bad > 0))
}

/// The last line: what remains to be done, and what does it.
fn conclusion(bad: usize, packages: &[&str]) -> String {
    if bad == 0 {
        return "nothing to mend".into();
    }
    let mut text = format!(
        "{bad} to mend; `./pebble run` and `./pebble test` install by themselves what they use"
    );
    if !packages.is_empty() {
        text += &format!(
            "\nall packages at once, as root:\n  apt-get update && apt-get install -y --no-install-recommends {}",
            packages.join(" ")
        );
    }
    text
}

/// First line of what a program says about its version.
fn version(command: &mut Command) -> Option<String> {
    let done = process::capture(command, LIMIT).ok()?;
    let text = done.stdout_text();
    done.status
        .success()
        .then(|| text.lines().next().unwrap_or("").to_string())
}

fn rust(repository: &Repository, toolchain: &Toolchain) -> Result<Finding> {
    let mut command = Command::new("rustc");
    if let Toolchain::Rustup { channel } = toolchain {
        command.env("RUSTUP_TOOLCHAIN", channel);
    }
    let channel = pinned_channel(repository)?;
    Ok(match (version(command.arg("--version")), toolchain) {
        (Some(found), Toolchain::Rustup { .. }) => Finding::good("Rust", found),
        (Some(found), Toolchain::Debian) => {
            Finding::good("Rust", format!("{found} from Debian (the pin {channel} needs rustup)"))
        }
        (None, Toolchain::Rustup { .. }) => Finding::bad(
            "Rust",
            format!("toolchain {channel} does not run"),
            format!("run `rustup toolchain install {channel} --profile minimal -c clippy -c rustfmt`"),
        ),
        (None, Toolchain::Debian) => Finding::bad(
            "Rust",
            "no compiler",
            "install rustup (https://rustup.rs), or run `apt-get install -y rustc-web cargo-web rust-web-src` as root",
        ),
    })
}

fn linker() -> Finding {
    match find_program("cc") {
        Some(path) => Finding::good("host linker", path.display().to_string()),
        None => Finding::bad(
            "host linker",
            "no `cc`",
            "run `apt-get install -y gcc libc6-dev` as root",
        ),
    }
}

/// QEMU must be new enough, and its firmware must be there.
fn qemu() -> Vec<Finding> {
    let Some(text) = version(Command::new("qemu-system-riscv64").arg("--version")) else {
        return Vec::new();
    };
    let number = text.split_whitespace().nth(3).unwrap_or("0").to_string();
    let major: u32 = number
        .split('.')
        .next()
        .and_then(|major| major.parse().ok())
        .unwrap_or(0);
    let age = if major >= 7 {
        Finding::good("QEMU version", number)
    } else {
        Finding::bad(
            "QEMU version",
            number,
            "7.0 or later: use Debian 12's qemu-system-misc",
        )
    };
    let folders = ["/usr/share/qemu", "/usr/local/share/qemu"];
    let name = "opensbi-riscv64-generic-fw_dynamic.bin";
    let firmware = folders
        .iter()
        .map(|folder| std::path::Path::new(folder).join(name))
        .find(|file| file.exists());
    let firmware = match firmware {
        Some(file) => Finding::good("firmware", file.display().to_string()),
        None => Finding::bad(
            "firmware",
            format!("no {name}"),
            "run `apt-get install -y qemu-system-data` as root",
        ),
    };
    vec![age, firmware]
}

fn results(repository: &Repository) -> Finding {
    let folder = repository.results("");
    let writable =
        std::fs::create_dir_all(&folder).is_ok() && tempfile::tempfile_in(&folder).is_ok();
    if writable {
        Finding::good("build results", folder.display().to_string())
    } else {
        Finding::bad(
            "build results",
            format!("cannot write to {}", folder.display()),
            "give yourself the right to write there, or clone elsewhere",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::conclusion;

    #[test]
    fn the_last_line_says_what_is_to_be_typed() {
        assert_eq!(conclusion(0, &[]), "nothing to mend");
        let text = conclusion(3, &["clang-22", "lld-22"]);
        assert!(text.starts_with("3 to mend;"));
        assert!(text.ends_with("--no-install-recommends clang-22 lld-22"));
        assert!(!conclusion(1, &[]).contains("apt-get"));
    }
}
