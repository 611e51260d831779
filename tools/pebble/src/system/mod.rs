//! System descriptions: one TOML file says what a system is made of.
//!
//! `description` is the file as it is written, `check` turns it into a [`System`] or says, with file and line,
//! why it is none; `pattern` holds the rules of names, `diagnostic` how a complaint looks.

mod check;
mod description;
pub mod diagnostic;
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

/// Reads and checks a description, with what another file adds to it; the error lists everything that is wrong.
pub fn load(file: &Path, shown: &str, addition: Option<(&Path, String)>) -> Result<System> {
    let read = |file: &Path| {
        std::fs::read_to_string(file)
            .with_context(|| format!("cannot read the system description {}", file.display()))
    };
    let text = read(file)?;
    let addition = match &addition {
        Some((file, shown)) => Some((shown.as_str(), read(file)?)),
        None => None,
    };
    let addition = addition
        .as_ref()
        .map(|(shown, text)| (*shown, text.as_str()));
    parse_with(&text, shown, addition).map_err(|problems| anyhow!("{problems}"))
}

fn parse_with(text: &str, shown: &str, addition: Option<(&str, &str)>) -> Result<System, String> {
    let mut source = Source::new(shown, text);
    let mut raw = description::read(&source).map_err(|problem| problem.to_string())?;
    let joined;
    if let Some((more_shown, more)) = addition {
        joined = format!("{text}\n{more}");
        source = Source::joined(shown, &joined, more_shown, text.len() + 1);
        description::add(&source, &mut raw).map_err(|problem| problem.to_string())?;
    }
    check::check(&source, raw).map_err(|problems| {
        let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
        lines.join("\n")
    })
}

#[cfg(test)]
fn parse(text: &str, shown: &str) -> Result<System, String> {
    parse_with(text, shown, None)
}

#[cfg(test)]
mod tests;
