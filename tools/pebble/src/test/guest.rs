//! Runs in QEMU: every `tests/GROUP/NAME.toml` is one run of `pebble run`, two at a time.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::Duration;

use anyhow::{bail, Context, Result};

use super::expectation::Scenario;
use super::{dialogue, tree, Outcome, Session};
use crate::process::{self, Finished};

/// Runs at one time.
const PARALLEL: usize = 2;
/// What a run may take besides the guest's own time: building its program, starting QEMU, a report.
const OVERHEAD: Duration = Duration::from_secs(300);

/// All of them whose name is wanted.
pub fn run(session: &Session<'_>) -> Vec<Outcome> {
    let files = match scenarios(session) {
        Ok(files) => files,
        Err(error) => return vec![Outcome::failed("tests", format!("{error:#}"))],
    };
    let wanted: Vec<(String, PathBuf)> = files
        .into_iter()
        .filter(|(name, _)| session.wants(name))
        .collect();
    let next = Mutex::new(wanted.iter());
    let outcomes = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..PARALLEL {
            scope.spawn(|| loop {
                let Some((name, file)) = next.lock().ok().and_then(|mut next| next.next()) else {
                    return;
                };
                let outcome = Outcome::of(name, one(session, file));
                if let Ok(mut outcomes) = outcomes.lock() {
                    outcomes.push(outcome);
                }
            });
        }
    });
    let mut outcomes = outcomes.into_inner().unwrap_or_default();
    // A worker that ended without an outcome must not make its test disappear.
    for (name, _) in &wanted {
        if !outcomes.iter().any(|outcome| outcome.name == *name) {
            outcomes.push(Outcome::failed(name, "the run ended without an outcome"));
        }
    }
    outcomes.sort_by(|one, other| one.name.cmp(&other.name));
    outcomes
}

/// Names and files: `tests/GROUP/NAME.toml`.
fn scenarios(session: &Session<'_>) -> Result<Vec<(String, PathBuf)>> {
    let files = tree::files(session.repository)?.into_iter();
    Ok(files
        .filter(|file| file.starts_with("tests") && file.components().count() == 3)
        .filter(|file| {
            file.extension()
                .is_some_and(|extension| extension == "toml")
                && !file.ends_with("Cargo.toml")
        })
        .map(|file| {
            (
                file.with_extension("").display().to_string(),
                session.repository.path(file),
            )
        })
        .collect())
}

fn one(session: &Session<'_>, file: &Path) -> Result<()> {
    let scenario = Scenario::read(file)?;
    let folder = file.parent().unwrap_or(Path::new("."));
    let mut first: Option<Finished> = None;
    for round in 0..scenario.times {
        let done = start(session, &scenario, folder)?;
        scenario
            .expect
            .check(folder, &done, session.bless && round == 0)?;
        match &first {
            Some(first) if scenario.icount && first.stdout != done.stdout => bail!(
                "run {} says something else than the first one, although time is virtual:\n{}\nfirst:\n{}",
                round + 1,
                done.stdout_text(),
                first.stdout_text()
            ),
            Some(_) => {}
            None => first = Some(done),
        }
    }
    Ok(())
}

fn start(session: &Session<'_>, scenario: &Scenario, folder: &Path) -> Result<Finished> {
    let mut command = Command::new(std::env::current_exe().context("where is this command?")?);
    command
        .env("PEBBLE_ROOT", session.repository.root())
        .current_dir(folder);
    if let Some(words) = &scenario.command {
        command.args(words);
        let limit = Duration::from_secs(scenario.timeout) + OVERHEAD;
        return process::capture_with_input(&mut command, scenario.input.as_bytes(), limit);
    }
    command
        .arg("run")
        .args(["--timeout", &scenario.timeout.to_string()])
        .args(&scenario.options);
    if scenario.icount {
        command.arg("--icount");
    }
    if scenario.verbose {
        command.arg("--verbose");
    }
    if let Some(system) = &scenario.system {
        command.arg("--system").arg(session.repository.path(system));
    }
    if let Some(program) = &scenario.program {
        command.arg(match program.strip_prefix('/') {
            Some(path) => session.repository.path(path),
            None => folder.join(program),
        });
        command.arg("--").args(&scenario.args);
    }
    let limit = Duration::from_secs(scenario.timeout) + OVERHEAD;
    if !scenario.dialogue.is_empty() {
        return dialogue::converse(&mut command, &scenario.dialogue, limit);
    }
    process::capture_with_input(&mut command, scenario.input.as_bytes(), limit)
}
