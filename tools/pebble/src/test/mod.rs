//! `pebble test`: formats, lints, builds, host tests, checks of the tree, runs in QEMU, and the limits of the
//! measurements.
//!
//! Everything is a named test with one outcome; the last line is `N passed, N failed`.

mod checks;
mod commands;
mod dialogue;
mod expectation;
mod guest;
mod tour;
mod tree;

use std::time::Instant;

use anyhow::Result;
use serde::Serialize;

use crate::arguments;
use crate::bench;
use crate::report::Report;
use crate::repository::Repository;
use crate::setup::{self, Needs};

/// One test's outcome.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// `group/name`.
    pub name: String,
    /// Why it failed; none: it passed.
    pub failure: Option<String>,
}

impl Outcome {
    /// Passed.
    pub fn passed(name: impl Into<String>) -> Self {
        Outcome {
            name: name.into(),
            failure: None,
        }
    }

    /// Failed.
    pub fn failed(name: impl Into<String>, why: impl Into<String>) -> Self {
        Outcome {
            name: name.into(),
            failure: Some(why.into()),
        }
    }

    /// The outcome of a step that may fail.
    pub fn of(name: &str, result: Result<()>) -> Self {
        match result {
            Ok(()) => Outcome::passed(name),
            Err(error) => Outcome::failed(name, format!("{error:#}")),
        }
    }
}

/// What every group needs.
pub struct Session<'a> {
    /// The checkout.
    pub repository: &'a Repository,
    /// Where words go.
    pub report: &'a Report,
    /// Part of the names to run.
    pub filter: Option<&'a str>,
    /// Rewrite expected outputs.
    pub bless: bool,
    /// Host tests try as much as before a release.
    pub long: bool,
}

impl Session<'_> {
    /// This name is to be run.
    pub fn wants(&self, name: &str) -> bool {
        self.filter.is_none_or(|filter| name.contains(filter))
    }

    fn finished(&self, outcomes: &[Outcome]) {
        self.report.clear();
        for outcome in outcomes {
            match &outcome.failure {
                Some(why) => eprintln!("FAILED {}\n{}", outcome.name, indent(why)),
                None if self.report.verbose() => eprintln!("ok     {}", outcome.name),
                None => {}
            }
        }
    }
}

fn indent(text: &str) -> String {
    let lines: Vec<String> = text
        .trim_end()
        .lines()
        .map(|line| format!("    {line}"))
        .collect();
    lines.join("\n")
}

/// Runs everything whose name has the filter in it; status 0 only if something passed and nothing failed.
pub fn command(repository: &Repository, report: &Report, options: &arguments::Test) -> Result<u8> {
    setup::ensure(repository, report, Needs::everything())?;
    let session = Session {
        repository,
        report,
        filter: options.filter.as_deref(),
        bless: options.bless,
        long: options.long,
    };
    let started = Instant::now();
    let mut all = Vec::new();
    // What is quick to find out comes first.
    for group in [
        checks::run,
        commands::formats,
        commands::lints,
        commands::builds,
        commands::host,
        guest::run,
        bench::tests,
        bench::rtl_tests,
        tour::run,
    ] {
        let outcomes = group(&session);
        session.finished(&outcomes);
        all.extend(outcomes);
    }
    let failed = all
        .iter()
        .filter(|outcome| outcome.failure.is_some())
        .count();
    let passed = all.len() - failed;
    if report.json() {
        println!("{}", serde_json::to_string_pretty(&all)?);
    }
    report.step(&format!(
        "{} tests in {} seconds",
        all.len(),
        started.elapsed().as_secs()
    ));
    report.clear();
    if passed == 0 {
        eprintln!(
            "pebble: nothing passed{}",
            session.filter.map_or(String::new(), |filter| format!(
                "; is there a test with `{filter}` in its name?"
            ))
        );
    }
    if report.json() {
        eprintln!("{passed} passed, {failed} failed");
    } else {
        println!("{passed} passed, {failed} failed");
    }
    Ok(u8::from(failed > 0 || passed == 0))
}
