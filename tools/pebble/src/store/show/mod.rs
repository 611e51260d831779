//! `pebble store show`: what is in an image, as tables, JSON and a picture.

mod facts;
mod picture;
mod text;

use anyhow::{Context, Result};

use super::file::{names, volume};
use crate::arguments::ShowImage;
use crate::report::Report;

/// Shows a generation.
pub fn command(report: &Report, options: &ShowImage) -> Result<u8> {
    let mut volume = volume(&options.images, false)?;
    let named = || names(&options.images);
    let generations = volume.generations().with_context(named)?;
    let snapshot = volume
        .snapshot(
            &generations,
            options.generation,
            &mut super::progress(report, "reading tags"),
        )
        .with_context(named)?;
    let graph = volume
        .graph(&snapshot, &mut super::progress(report, "reading objects"))
        .with_context(named)?;
    report.clear();
    let facts = facts::Facts::new(&volume, &generations, &snapshot, &graph);
    if report.json() {
        println!("{}", serde_json::to_string_pretty(&facts)?);
    } else {
        print!("{}", text::render(&named(), &facts));
    }
    if let Some(file) = &options.svg {
        let picture = picture::render(&named(), &snapshot, &graph);
        std::fs::write(file, picture)
            .with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(0)
}
