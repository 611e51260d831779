//! The description as it is written in the file; every value keeps its place for messages.

use serde::Deserialize;
use toml::Spanned;

use super::diagnostic::{Problem, Source};
use super::units::Memory;

/// The file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    pub system: Overall,
    pub program: Option<Program>,
    #[serde(default)]
    pub component: Vec<Spanned<Entry>>,
}

/// `[system]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Overall {
    pub name: Spanned<String>,
    pub shell: Option<Spanned<String>>,
    pub quantum: Option<Spanned<u32>>,
}

/// `[program]`: what the program of `pebble run` gets.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    pub priority: Option<Spanned<u32>>,
    pub memory: Option<Spanned<Memory>>,
    #[serde(default)]
    pub open: Vec<Spanned<String>>,
    #[serde(default)]
    pub register: Vec<Spanned<String>>,
    #[serde(default)]
    pub decide: Vec<Spanned<String>>,
    #[serde(alias = "period")]
    pub quantum: Option<Spanned<u32>>,
    pub budget: Option<Spanned<u32>>,
}

/// `[[component]]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    pub name: Spanned<String>,
    pub path: Spanned<String>,
    pub role: Option<Spanned<String>>,
    pub priority: Option<Spanned<u32>>,
    pub memory: Option<Spanned<Memory>>,
    #[serde(default = "yes")]
    pub start: bool,
    #[serde(default)]
    pub critical: bool,
    #[serde(default)]
    pub args: Vec<Spanned<String>>,
    #[serde(default)]
    pub open: Vec<Spanned<String>>,
    #[serde(default)]
    pub register: Vec<Spanned<String>>,
    #[serde(default)]
    pub decide: Vec<Spanned<String>>,
    #[serde(default)]
    pub devices: Vec<Spanned<DeviceEntry>>,
    #[serde(alias = "period")]
    pub quantum: Option<Spanned<u32>>,
    pub budget: Option<Spanned<u32>>,
}

fn yes() -> bool {
    true
}

/// One device of a component.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceEntry {
    pub base: Spanned<u64>,
    pub bytes: Spanned<u64>,
    #[serde(default)]
    pub interrupt: Option<Spanned<u32>>,
}

/// Reads the text; the first mistake in its form is the error.
pub fn read(source: &Source<'_>) -> Result<Description, Problem> {
    toml::from_str(source.text).map_err(|error| {
        let message = error.message().trim().to_string();
        source
            .problem(error.span().unwrap_or(0..0), message)
            .hint("docs/reference/system-description.md lists every key with an example")
    })
}
