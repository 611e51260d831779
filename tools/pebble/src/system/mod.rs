//! System descriptions: one TOML file says what a system is made of.
//!
//! `description` is the file as it is written, `check` turns it into a [`System`] or says, with file and line,
//! why it is none; `pattern` holds the rules of names, `diagnostic` how a complaint looks.

mod check;
mod description;
mod diagnostic;
mod model;
mod pattern;
mod units;

#[cfg(test)]
pub use model::Device;
pub use model::{Component, Grants, System, ROLES};
pub use pattern::overlap;

use std::path::Path;

use anyhow::{anyhow, Context, Result};

use diagnostic::Source;

/// Reads and checks a description; the error lists everything that is wrong with it.
pub fn load(file: &Path, shown: &str) -> Result<System> {
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("cannot read the system description {}", file.display()))?;
    parse(&text, shown).map_err(|problems| anyhow!("{problems}"))
}

fn parse(text: &str, shown: &str) -> Result<System, String> {
    let source = Source::new(shown, text);
    let raw = description::read(&source).map_err(|problem| problem.to_string())?;
    check::check(&source, raw).map_err(|problems| {
        let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
        lines.join("\n")
    })
}

#[cfg(test)]
mod tests;
