//! The `pebble` command: sets up, builds, runs, tests and shows Pebble systems.
//!
//! One module per command; what they share is in `build` (from sources to images), `system` (descriptions),
//! `setup` (what must be on this machine) and the small modules at the top. Nothing in the system depends on
//! this crate; it links `pebble-abi` for the layouts that both sides read, and the host side of the store.
#![forbid(unsafe_code)]

mod abi_files;
mod arguments;
mod bench;
mod bound;
mod build;
mod bundle;
mod doctor;
mod graph;
mod new;
mod process;
mod report;
mod repository;
mod rtl;
mod run;
mod setup;
mod store;
mod system;
mod test;
mod toolchain;

use std::process::ExitCode;

use clap::Parser;

use arguments::{Arguments, Command};
use report::Report;
use repository::Repository;

/// Exit status when the command itself failed, as against the program that it ran.
const FAILED: u8 = 125;

/// Exit status of a command whose output nobody reads any more, as the signal would give.
const BROKEN_PIPE: u8 = 128 + 13;

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let kind = |cause: &(dyn std::error::Error + 'static)| {
        cause
            .downcast_ref::<std::io::Error>()
            .map(std::io::Error::kind)
    };
    error
        .chain()
        .any(|cause| kind(cause) == Some(std::io::ErrorKind::BrokenPipe))
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let report = Report::new(arguments.verbose, arguments.json);
    let outcome = Repository::find().and_then(|repository| match arguments.command {
        Command::Run(options) => run::command(&repository, &report, options),
        Command::Test(options) => test::command(&repository, &report, &options),
        Command::Bench(options) => bench::command(&repository, &report, &options),
        Command::Build(options) => build::command(&repository, &report, &options),
        Command::Doctor => doctor::command(&repository, &report),
        Command::New(options) => new::command(&repository, &options),
        Command::Graph(options) => graph::command(&repository, &report, &options),
        Command::Store(options) => store::command(&report, &options),
        Command::Abi(options) => abi_files::command(&repository, &options),
    });
    match outcome {
        Ok(status) => ExitCode::from(status),
        // Whoever read the output has gone: nothing to tell, and nobody to tell it.
        Err(error) if is_broken_pipe(&error) => ExitCode::from(BROKEN_PIPE),
        Err(error) => {
            report.clear();
            eprintln!("error: {error:#}");
            ExitCode::from(FAILED)
        }
    }
}
