//! `pebble store serve`: an image as a disk for QEMU whose power can be cut.

use std::time::Duration;

use anyhow::Result;
use pebble_store_nbd::{Ending, Place, Plan, Server};

use crate::arguments::ServeImage;
use crate::report::Report;

/// Serves one client; says first where, at the end what became of the image.
pub fn command(report: &Report, options: &ServeImage) -> Result<u8> {
    let place = match (&options.socket, options.port) {
        (Some(socket), _) => Place::Unix(socket.clone()),
        (None, port) => Place::Loopback(port.unwrap_or(0)),
    };
    let plan = Plan {
        cut_after: options.cut_after,
        seed: options.seed,
        failing_flushes: options.fail_flush.clone(),
        held_back: options.hold as usize,
        cut_at_end: options.cut_at_end,
        limit: Duration::from_secs(options.limit),
    };
    let server = Server::new(&options.image, &place, plan)?;
    println!("-drive file={},format=raw,if=none,id=disk", server.uri()?);
    let summary = server.serve()?;
    if report.json() {
        let cut = match summary.ending {
            Ending::Left => serde_json::Value::Null,
            Ending::Cut(sectors) => serde_json::json!({
                "kept": sectors.kept, "lost": sectors.lost, "torn": sectors.torn,
            }),
        };
        let summary = serde_json::json!({
            "events": summary.events, "writes": summary.writes, "flushes": summary.flushes,
            "failed_flushes": summary.failed_flushes, "cut": cut,
        });
        println!("{summary}");
        return Ok(0);
    }
    let ending = match summary.ending {
        Ending::Left => "every write is in the image".to_string(),
        Ending::Cut(sectors) => format!(
            "power cut: {} unflushed sectors kept, {} lost, {} torn",
            sectors.kept, sectors.lost, sectors.torn
        ),
    };
    println!(
        "{} writes, {} flushes ({} failed), {} events: {ending}",
        summary.writes, summary.flushes, summary.failed_flushes, summary.events
    );
    Ok(0)
}
