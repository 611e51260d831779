//! `--peer linux`: Debian's Linux, built small, does the same things in the same QEMU.
//!
//! Kernel and memory disk are built once by the scripts in `bench/peers/linux` and kept outside the checkout; a change
//! of the kernel's configuration or of Debian's source makes another folder there.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{bail, Context, Result};

use super::samples::Samples;
use crate::process;
use crate::report::Report;
use crate::repository::Repository;
use crate::setup::{self, Needs, Purpose};

/// Debian's package with the source, and what it holds.
const PACKAGE: &str = "linux-source-6.1";
const SOURCE: &str = "/usr/src/linux-source-6.1.tar.xz";
/// Building the kernel takes a quarter of an hour on two processors.
const BUILD_LIMIT: Duration = Duration::from_secs(3 * 3600);
/// A run takes some minutes.
const RUN_LIMIT: Duration = Duration::from_secs(3600);

/// What the peer is: its figures, and what to call it.
pub struct Peer {
    /// Name and version.
    pub title: String,
    /// Its figures.
    pub figures: Vec<Samples>,
}

impl Peer {
    /// The median of a figure.
    pub fn median(&self, figure: &str) -> Option<f64> {
        let found = self.figures.iter().find(|samples| samples.name == figure);
        found.map(|samples| samples.summary().median)
    }

    /// What is shown of it.
    pub fn line(&self) -> String {
        format!(
            "{}: {} figures, {} samples at most",
            self.title,
            self.figures.len(),
            self.figures.iter().map(Samples::number).max().unwrap_or(0)
        )
    }
}

/// Builds what is not built yet, and measures.
pub fn measure(repository: &Repository, report: &Report, quick: bool) -> Result<Peer> {
    setup::ensure(repository, report, Needs::default().and(Purpose::Peer))?;
    let version = package_version()?;
    let scripts = repository.path("bench/peers/linux");
    let folder = folder(&scripts, &version)?;
    if !folder.join("Image").is_file() {
        report.note(&format!(
            "building Linux {version} in {}; this takes long, once",
            folder.display()
        ));
        let mut build = Command::new(scripts.join("build-kernel.sh"));
        run(build.arg(SOURCE).arg(&folder), BUILD_LIMIT)?;
    }
    report.step("building Linux's benchmark");
    let mut image = Command::new(scripts.join("build-image.sh"));
    run(image.arg(&folder), BUILD_LIMIT)?;
    report.step("measuring Linux");
    let samples = if quick { 500 } else { 10_000 };
    let text = run(&mut machine(&folder, samples), RUN_LIMIT)?;
    Ok(Peer {
        title: format!("Linux {version}"),
        figures: read(&text)?,
    })
}

/// The version of the source that is installed.
fn package_version() -> Result<String> {
    let mut query = Command::new("dpkg-query");
    let version = run(
        query.args(["-W", "-f", "${Version}", PACKAGE]),
        Duration::from_secs(60),
    )?;
    Ok(version.trim().to_string())
}

/// Where kernel and disk are kept.
fn folder(scripts: &Path, version: &str) -> Result<PathBuf> {
    let cache = match (std::env::var_os("XDG_CACHE_HOME"), std::env::var_os("HOME")) {
        (Some(cache), _) if !cache.is_empty() => PathBuf::from(cache),
        (_, Some(home)) => PathBuf::from(home).join(".cache"),
        _ => bail!("neither XDG_CACHE_HOME nor HOME is set: where may Linux be built?"),
    };
    let mut hasher = DefaultHasher::new();
    for file in ["kernel.config", "build-kernel.sh"] {
        let file = scripts.join(file);
        std::fs::read(&file)
            .with_context(|| format!("cannot read {}", file.display()))?
            .hash(&mut hasher);
    }
    let name = format!("linux-{version}-{:08x}", hasher.finish() as u32);
    Ok(cache.join("pebble").join(name))
}

/// The machine that Pebble's rows run on, with Linux in it.
fn machine(folder: &Path, samples: u32) -> Command {
    let mut command = Command::new("qemu-system-riscv64");
    command.args(["-machine", "virt", "-m", "512", "-nographic", "-no-reboot"]);
    command.args(["-monitor", "none", "-serial", "stdio"]);
    command.args(["-seed", "1", "-icount", "shift=0,sleep=off"]);
    command.args(["-rtc", "base=2026-01-01,clock=vm"]);
    command.arg("-kernel").arg(folder.join("Image"));
    command.arg("-initrd").arg(folder.join("disk.cpio"));
    let arguments = format!("console=ttyS0 norandmaps quiet SAMPLES={samples}");
    command.arg("-append").arg(arguments);
    command
}

fn run(command: &mut Command, limit: Duration) -> Result<String> {
    let done = process::capture(command, limit)?;
    if !done.status.success() {
        bail!(
            "`{}` failed:\n{}{}",
            process::describe(command),
            done.stdout_text(),
            done.stderr_text()
        );
    }
    Ok(done.stdout_text())
}

/// Figures among what firmware and kernel say; the last line of all must be there.
fn read(text: &str) -> Result<Vec<Samples>> {
    let mut figures = Vec::new();
    let mut ended = false;
    for line in text.lines().map(str::trim_end) {
        if let Some(found) = Samples::parse(line)? {
            figures.push(found);
        }
        if let Some(why) = line.strip_prefix("failed ") {
            bail!("the peer's benchmark failed: {why}");
        }
        ended |= line == "end";
    }
    if !ended || figures.is_empty() {
        let tail: Vec<&str> = text.lines().rev().take(10).collect();
        let tail: Vec<&str> = tail.into_iter().rev().collect();
        bail!(
            "the peer's benchmark did not come to its end:\n{}",
            tail.join("\n")
        );
    }
    Ok(figures)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_found_among_other_words() -> Result<()> {
        let text = "OpenSBI v1.1\r\n[ 0.0] Linux\r\nfigure a parts=1 overhead=1 8:3\r\nend\r\n";
        let peer = Peer {
            title: "Linux".into(),
            figures: read(text)?,
        };
        assert_eq!(peer.median("a"), Some(7.0));
        assert_eq!(peer.median("b"), None);
        Ok(())
    }

    #[test]
    fn an_unfinished_run_is_an_error() {
        for text in [
            "figure a parts=1 overhead=1 8:3\n",
            "end\n",
            "failed pipe: no\nend\n",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
