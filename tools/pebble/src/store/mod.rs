//! `pebble store`: makes, checks, shows, copies and serves images of the single-level store.
//!
//! The logic is in `store/image` and `store/nbd`; here are files, descriptions, tables and pictures.

mod description;
mod file;
mod fsck;
mod make;
mod place;
mod serve;
mod show;
mod transfer;

use anyhow::Result;

use crate::arguments::{self, StoreCommand};
use crate::report::Report;

/// Does what was asked.
pub fn command(report: &Report, options: &arguments::Store) -> Result<u8> {
    match &options.command {
        StoreCommand::Mkimage(options) => make::command(report, options),
        StoreCommand::Fsck(options) => fsck::command(report, options),
        StoreCommand::Show(options) => show::command(report, options),
        StoreCommand::Send(options) => transfer::send(report, options),
        StoreCommand::Receive(options) => transfer::receive(report, options),
        StoreCommand::Serve(options) => serve::command(report, options),
    }
}

/// Shows how far a long work is; looks at the clock now and then only.
fn progress<'a>(report: &'a Report, what: &'a str) -> impl FnMut(u64, u64) + 'a {
    let mut next = std::time::Instant::now() + std::time::Duration::from_millis(300);
    move |done, whole| {
        if done % 256 == 0 && std::time::Instant::now() >= next {
            next += std::time::Duration::from_millis(300);
            let percent = done.saturating_mul(100).checked_div(whole).unwrap_or(100);
            report.step(&format!("{what}: {percent} %"));
        }
    }
}
