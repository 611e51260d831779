//! `pebble bench`: runs the measurements of `bench/` in virtual time and shows what they say.
//!
//! `row` reads what is measured, `guest` runs it, `samples` holds what was told, `result` joins the two, `budget`
//! compares with the limits, `table` shows it as text, `page` and `plot` as a page, with
//! what `trace` saw of single samples; `peer` measures another system.

mod assembly;
mod budget;
mod debug;
mod guest;
mod page;
mod peer;
mod plot;
mod result;
mod row;
mod rtl;
mod samples;
mod table;
mod trace;

use std::path::PathBuf;
use std::sync::Mutex;

use anyhow::{bail, Context, Result};
use serde::Serialize;

use crate::arguments::{self, PeerName};
use crate::report::Report;
use crate::repository::Repository;
use crate::setup::{self, Needs};
use crate::test::{Outcome, Session};

use budget::Budget;
use peer::Peer;
use result::{Figure, Measured};
use row::Row;

/// Rows measured at one time: figures count instructions, so that rows do not disturb each other.
const PARALLEL: usize = 2;

/// Runs the rows; status 1 when a limit is passed.
pub fn command(repository: &Repository, report: &Report, options: &arguments::Bench) -> Result<u8> {
    if options.rtl {
        return rtl::command(repository, report, options);
    }
    setup::ensure(repository, report, Needs::everything())?;
    let rows = row::all(repository)?;
    let budgets = budget::all(repository, &rows)?;
    let rows = row::choose(rows, &options.rows)?;
    let measure = |row| measure(repository, report, row, options.quick);
    let measured = measure_all(report, rows, &measure);
    report.clear();
    let measured: Vec<Measured> = measured.into_iter().collect::<Result<_>>()?;
    let form = if options.quick { "quick" } else { "full" };
    let data = keep(repository, &measured, form)?;
    let peer = match options.peer {
        Some(PeerName::Linux) => Some(peer::measure(repository, report, options.quick)?),
        None => None,
    };
    report.clear();
    let mut complaints = Vec::new();
    for row in &measured {
        complaints.extend(budget::complaints(&budgets, row, options.quick));
    }
    if report.json() {
        println!("{}", json(&measured, &budgets, peer.as_ref())?);
    } else {
        for row in &measured {
            println!("{}", table::render(row, &budgets, peer.as_ref()));
        }
    }
    report.note(&format!("samples: {}", repository.show(&data)));
    if let Some(folder) = &options.report {
        let mut listings = Vec::new();
        for row in &measured {
            report.step(&format!("row {}, step by step", row.row.number));
            listings.push(trace::listings(repository, &row.row)?);
        }
        let shown = page::Shown {
            measured: &measured,
            listings: &listings,
            budgets: &budgets,
            peer: peer.as_ref(),
            quick: options.quick,
        };
        let file = page::write(folder, &shown)?;
        report.note(&format!("report: {}", file.display()));
    }
    for complaint in &complaints {
        eprintln!("pebble: {complaint}");
    }
    Ok(u8::from(!complaints.is_empty()))
}

/// The tests in cycles.
pub fn rtl_tests(session: &Session<'_>) -> Vec<Outcome> {
    rtl::tests(session)
}

/// The quick form as tests, one for each row: every figure that has a limit keeps it.
pub fn tests(session: &Session<'_>) -> Vec<Outcome> {
    let prepared = row::all(session.repository).and_then(|rows| {
        let budgets = budget::all(session.repository, &rows)?;
        Ok((rows, budgets))
    });
    let (rows, budgets) = match prepared {
        Ok(prepared) => prepared,
        Err(error) if session.wants("bench") => {
            return vec![Outcome::failed("bench", format!("{error:#}"))]
        }
        Err(_) => return Vec::new(),
    };
    let name = |row: &Row| format!("bench/{}", row.name);
    let wanted: Vec<Row> = rows
        .into_iter()
        .filter(|row| session.wants(&name(row)))
        .collect();
    let names: Vec<String> = wanted.iter().map(name).collect();
    let measure = |row| measure(session.repository, session.report, row, true);
    let measured = measure_all(session.report, wanted, &measure);
    let outcomes = names.into_iter().zip(measured).map(|(name, measured)| {
        let held = measured.and_then(|measured| {
            let complaints = budget::complaints(&budgets, &measured, true);
            if complaints.is_empty() {
                Ok(())
            } else {
                bail!(complaints.join("\n"))
            }
        });
        Outcome::of(&name, held)
    });
    outcomes.collect()
}

/// Measures rows, two at a time, in their order.
fn measure_all(
    report: &Report,
    rows: Vec<Row>,
    measure: &(dyn Fn(Row) -> Result<Measured> + Sync),
) -> Vec<Result<Measured>> {
    let total = rows.len();
    let next = Mutex::new(rows.into_iter().enumerate());
    let done: Mutex<Vec<Option<Result<Measured>>>> = Mutex::new((0..total).map(|_| None).collect());
    std::thread::scope(|scope| {
        for _ in 0..PARALLEL {
            scope.spawn(|| loop {
                let Some((index, row)) = next.lock().ok().and_then(|mut next| next.next()) else {
                    return;
                };
                report.step(&format!("row {}, {}", row.number, row.title));
                let result = measure(row);
                if let Ok(mut done) = done.lock() {
                    done[index] = Some(result);
                }
            });
        }
    });
    let done = done.into_inner().unwrap_or_default();
    done.into_iter().flatten().collect()
}

/// Measures one row.
fn measure(repository: &Repository, report: &Report, row: Row, quick: bool) -> Result<Measured> {
    let told = guest::measure(repository, report, &row, quick)?;
    Measured::new(row, told, quick)
}

/// Writes the samples, exact and compact, one file for each row; answers their folder.
fn keep(repository: &Repository, measured: &[Measured], form: &str) -> Result<PathBuf> {
    let folder = repository.results("bench").join(form);
    std::fs::create_dir_all(&folder)?;
    for row in measured {
        let file = folder.join(format!("{}.txt", row.row.name));
        std::fs::write(&file, raw(row))
            .with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(folder)
}

/// A row's samples as the programs told them.
fn raw(measured: &Measured) -> String {
    let samples = measured.figures.iter().filter_map(|f| f.samples.as_ref());
    samples.map(|samples| samples.line() + "\n").collect()
}

#[derive(Serialize)]
struct JsonRow<'a> {
    number: u32,
    name: &'a str,
    title: &'a str,
    method: &'a str,
    figures: Vec<JsonFigure<'a>>,
}

#[derive(Serialize)]
struct JsonFigure<'a> {
    #[serde(flatten)]
    figure: &'a Figure,
    limits: Vec<JsonLimit>,
}

#[derive(Serialize)]
struct JsonLimit {
    statistic: &'static str,
    limit: f64,
    goal: Option<f64>,
    stretch: Option<f64>,
    standing: &'static str,
}

#[derive(Serialize)]
struct JsonReport<'a> {
    rows: Vec<JsonRow<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    peer: Option<JsonPeer<'a>>,
}

#[derive(Serialize)]
struct JsonPeer<'a> {
    title: &'a str,
    figures: Vec<JsonPeerFigure<'a>>,
}

#[derive(Serialize)]
struct JsonPeerFigure<'a> {
    #[serde(flatten)]
    summary: samples::Summary,
    samples: &'a samples::Samples,
}

fn json(measured: &[Measured], budgets: &[Budget], peer: Option<&Peer>) -> Result<String> {
    let figure = |row: &Row, figure: &'_ Figure| -> Vec<JsonLimit> {
        let of_figure = budgets
            .iter()
            .filter(|b| b.row == row.name && b.figure == figure.name);
        let limit = |budget: &Budget| JsonLimit {
            statistic: budget.statistic.title(),
            limit: budget.limit,
            goal: budget.goal,
            stretch: budget.stretch,
            standing: table::word(budget.standing(budget.statistic.of(&figure.summary))),
        };
        of_figure.map(limit).collect()
    };
    let rows: Vec<JsonRow<'_>> = measured
        .iter()
        .map(|measured| JsonRow {
            number: measured.row.number,
            name: &measured.row.name,
            title: &measured.row.title,
            method: &measured.row.method,
            figures: measured
                .figures
                .iter()
                .map(|one| JsonFigure {
                    figure: one,
                    limits: figure(&measured.row, one),
                })
                .collect(),
        })
        .collect();
    let peer = peer.map(|peer| JsonPeer {
        title: &peer.title,
        figures: peer
            .figures
            .iter()
            .map(|samples| JsonPeerFigure {
                summary: samples.summary(),
                samples,
            })
            .collect(),
    });
    Ok(serde_json::to_string_pretty(&JsonReport { rows, peer })?)
}
