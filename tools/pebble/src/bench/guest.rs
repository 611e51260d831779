//! Runs a row's programs, each in a system of its own, in virtual time.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{bail, Context, Result};

use super::row::{Analysis, Row, Run};
use super::samples::Samples;
use crate::bound;
use crate::process;
use crate::report::Report;
use crate::repository::Repository;

/// Most seconds of a boot.
const TIMEOUT: u64 = 900;
/// What a run may take besides: building its program, starting QEMU.
const OVERHEAD: u64 = 300;

/// Runs what the row says; answers its figures in the order in which they were told.
pub fn measure(
    repository: &Repository,
    report: &Report,
    row: &Row,
    quick: bool,
) -> Result<Vec<Samples>> {
    let mut figures: Vec<Samples> = Vec::new();
    for run in &row.runs {
        let samples = if quick { run.quick } else { run.samples };
        if samples == 0 {
            continue;
        }
        let found = match run.analysis {
            Some(Analysis::InterruptsOff) => proved(repository, report)?,
            None => one(repository, row, run, samples)?,
        };
        for mut found in found {
            found.name = format!("{}{}", run.prefix, found.name);
            if figures.iter().any(|known| known.name == found.name) {
                bail!(
                    "row {}: the figure `{}` is told twice",
                    row.name,
                    found.name
                );
            }
            figures.push(found);
        }
    }
    Ok(figures)
}

/// The parts of the proof as figures.
fn proved(repository: &Repository, report: &Report) -> Result<Vec<Samples>> {
    let parts = bound::prove(repository, report)?.parts.into_iter();
    Ok(parts
        .map(|(name, count)| Samples::of_number(name, count))
        .collect())
}

pub fn beside(repository: &Repository, row: &Row, path: &str) -> PathBuf {
    match path.strip_prefix('/') {
        Some(path) => repository.path(path),
        None => row.folder.join(path),
    }
}

/// A run through `pebble run`, as anybody would run it.
pub fn command(
    repository: &Repository,
    row: &Row,
    run: &Run,
    samples: u32,
    options: &[&str],
) -> Result<Command> {
    let mut command = Command::new(std::env::current_exe().context("where is this command?")?);
    command.env("PEBBLE_ROOT", repository.root());
    command.args(["run", "--timeout", &TIMEOUT.to_string()]);
    command.args(options);
    if let Some(with) = &run.with {
        command.arg("--with").arg(beside(repository, row, with));
    }
    if let Some(system) = &run.system {
        command.arg("--system").arg(repository.path(system));
    }
    command.arg(beside(repository, row, &run.program));
    command.arg("--").arg(samples.to_string()).args(&run.args);
    Ok(command)
}

fn one(repository: &Repository, row: &Row, run: &Run, samples: u32) -> Result<Vec<Samples>> {
    let mut command = command(repository, row, run, samples, &["--icount"])?;
    // The end of the input would reach the guest at some moment of the host's time, in the middle of a measurement.
    let limit = Duration::from_secs(TIMEOUT + OVERHEAD);
    let done = process::capture_with_open_input(&mut command, limit)?;
    if !done.status.success() {
        bail!(
            "row {}: `{}` ends with {}:\n{}{}",
            row.name,
            process::describe(&command),
            done.status,
            done.stdout_text(),
            done.stderr_text()
        );
    }
    read(row, run, &done.stdout_text())
}

/// The figures that a run told.
pub fn read(row: &Row, run: &Run, text: &str) -> Result<Vec<Samples>> {
    let mut figures = Vec::new();
    for line in text.lines() {
        match Samples::parse(line)? {
            Some(found) => figures.push(found),
            None if run.others.iter().any(|other| other == line) => {}
            None => bail!("row {}: not a figure: `{line}`", row.name),
        }
    }
    if figures.is_empty() {
        bail!("row {}: {} tells no figure", row.name, run.program);
    }
    Ok(figures)
}
