//! `--rtl`: rows in cycles of a real processor, whose RTL runs them (`crate::rtl`); limits of their own.

use std::process::Command;
use std::time::Duration;

use anyhow::{bail, Context, Result};

use super::budget::{self, Budget};
use super::guest;
use super::result::Measured;
use super::row::{self, Row, Run};
use super::table;
use crate::arguments;
use crate::process;
use crate::report::Report;
use crate::repository::Repository;
use crate::rtl::{self, Machine};
use crate::setup::{self, Needs};
use crate::test::{Outcome, Session};

/// Limits in cycles; the rows that have one are the rows that are measured so.
const BUDGETS: &str = "bench/rtl/budgets.toml";
/// A run simulates some million cycles, a hundred thousand in a second.
const TIMEOUT: u64 = 3600;

/// Runs the rows; status 1 when a limit is passed.
pub fn command(repository: &Repository, report: &Report, options: &arguments::Bench) -> Result<u8> {
    setup::ensure(repository, report, Needs::everything())?;
    // Before the rows run side by side: only one may build it.
    Machine::prepare(repository, report, true)?;
    let (rows, budgets) = rows(repository)?;
    let rows = row::choose(rows, &options.rows)?;
    let quick = options.quick;
    let measured = super::measure_all(report, rows, &|row| measure(repository, row, quick));
    report.clear();
    let measured: Vec<Measured> = measured.into_iter().collect::<Result<_>>()?;
    let data = super::keep(
        repository,
        &measured,
        if quick { "rtl-quick" } else { "rtl" },
    )?;
    if report.json() {
        println!("{}", super::json(&measured, &budgets, None)?);
    } else {
        println!("Cycles on Rocket (LitexFullConfig)\n");
        for row in &measured {
            println!("{}", table::render(row, &budgets, None));
        }
    }
    report.note(&format!("samples: {}", repository.show(&data)));
    let complaints: Vec<String> = measured
        .iter()
        .flat_map(|row| budget::complaints(&budgets, row, quick))
        .collect();
    for complaint in &complaints {
        eprintln!("pebble: {complaint}");
    }
    Ok(u8::from(!complaints.is_empty()))
}

/// The quick form as tests, and a whole boot: only for a filter that begins with `rtl`, because the simulator has to be
/// built once, and because a boot takes minutes.
pub fn tests(session: &Session<'_>) -> Vec<Outcome> {
    if !session.filter.is_some_and(|name| name.starts_with("rtl")) {
        return Vec::new();
    }
    let repository = session.repository;
    let prepared =
        Machine::prepare(repository, session.report, true).and_then(|_| rows(repository));
    let (mut rows, budgets) = match prepared {
        Ok(prepared) => prepared,
        Err(error) => return vec![Outcome::failed("rtl", format!("{error:#}"))],
    };
    let name = |row: &Row| format!("rtl/{}", row.name);
    rows.retain(|row| session.wants(&name(row)));
    let names: Vec<String> = rows.iter().map(name).collect();
    let measured = super::measure_all(session.report, rows, &|row| measure(repository, row, true));
    let held = |measured: Result<Measured>| {
        let complaints = budget::complaints(&budgets, &measured?, true);
        if complaints.is_empty() {
            return Ok(());
        }
        bail!(complaints.join("\n"))
    };
    let mut outcomes: Vec<Outcome> = names
        .iter()
        .zip(measured)
        .map(|(name, measured)| Outcome::of(name, held(measured)))
        .collect();
    if session.wants("rtl/boot") {
        outcomes.push(Outcome::of("rtl/boot", boot(repository)));
    }
    outcomes
}

/// Nothing begins in QEMU here: the first instruction is the firmware's on the RTL.
fn boot(repository: &Repository) -> Result<()> {
    let mut command = Command::new(std::env::current_exe().context("where is this command?")?);
    command.env("PEBBLE_ROOT", repository.root());
    command.args(["run", "--rtl", "--timeout", &TIMEOUT.to_string()]);
    command.arg(repository.path("components/examples/hello-c/hello.c"));
    let done = process::capture(&mut command, Duration::from_secs(TIMEOUT + 300))?;
    if !done.status.success() || !done.stdout_text().contains("hello") {
        bail!(
            "{}: {}{}",
            done.status,
            done.stdout_text(),
            done.stderr_text()
        );
    }
    Ok(())
}

/// The rows that have limits in cycles, and those limits.
fn rows(repository: &Repository) -> Result<(Vec<Row>, Vec<Budget>)> {
    let budgets = budget::read(repository, BUDGETS)?;
    let mut rows = row::all(repository)?;
    rows.retain(|row| budgets.iter().any(|budget| budget.row == row.name));
    budget::check(&budgets, &rows).context(BUDGETS)?;
    Ok((rows, budgets))
}

fn measure(repository: &Repository, row: Row, quick: bool) -> Result<Measured> {
    let mut figures = Vec::new();
    for run in &row.runs {
        for mut found in one(repository, &row, run, samples(run, quick))? {
            found.name = format!("{}{}", run.prefix, found.name);
            figures.push(found);
        }
    }
    Measured::new(row, figures, quick)
}

/// Fewer than in virtual time: a figure whose samples differ, differs by what the caches hold.
fn samples(run: &Run, quick: bool) -> u32 {
    if quick {
        (run.quick / 10).clamp(1, 50)
    } else {
        run.quick.clamp(1, 200)
    }
}

fn one(
    repository: &Repository,
    row: &Row,
    run: &Run,
    samples: u32,
) -> Result<Vec<super::samples::Samples>> {
    let mut command = Command::new(std::env::current_exe().context("where is this command?")?);
    command.env("PEBBLE_ROOT", repository.root());
    command.args(["run", "--rtl", "--begin", "--timeout", &TIMEOUT.to_string()]);
    command.arg("--system").arg(repository.path(rtl::SYSTEM));
    if let Some(with) = &run.with {
        command
            .arg("--with")
            .arg(guest::beside(repository, row, with));
    }
    command.arg(guest::beside(repository, row, &run.program));
    command.arg("--").arg(samples.to_string()).args(&run.args);
    let done = process::capture(&mut command, Duration::from_secs(TIMEOUT + 300))?;
    if !done.status.success() {
        bail!(
            "row {} on RTL: `{}` ends with {}:\n{}{}",
            row.name,
            process::describe(&command),
            done.status,
            done.stdout_text(),
            done.stderr_text()
        );
    }
    guest::read(row, run, &done.stdout_text())
}
