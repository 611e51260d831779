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
    parse(source, source.text)
}

/// What a second file may add: components, and rights and limits of the program.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Addition {
    program: Option<Program>,
    #[serde(default)]
    component: Vec<Spanned<Entry>>,
}

/// Adds the second part of a joined source. Names of the program are added, its numbers replaced.
pub fn add(source: &Source<'_>, to: &mut Description) -> Result<(), Problem> {
    let (first, second) = source.text.split_at(source.second_part());
    // Blanks in place of the first part: so every span is one of the whole text.
    let padded = " ".repeat(first.len()) + second;
    let more: Addition = parse(source, &padded)?;
    to.component.extend(more.component);
    let Some(more) = more.program else {
        return Ok(());
    };
    let program = to.program.get_or_insert_with(|| Program {
        priority: None,
        memory: None,
        open: Vec::new(),
        register: Vec::new(),
        decide: Vec::new(),
        quantum: None,
        budget: None,
    });
    program.open.extend(more.open);
    program.register.extend(more.register);
    program.decide.extend(more.decide);
    program.priority = more.priority.or(program.priority.take());
    program.memory = more.memory.or(program.memory.take());
    program.quantum = more.quantum.or(program.quantum.take());
    program.budget = more.budget.or(program.budget.take());
    Ok(())
}

fn parse<T: for<'a> Deserialize<'a>>(source: &Source<'_>, text: &str) -> Result<T, Problem> {
    toml::from_str(text).map_err(|error| {
        let message = error.message().trim().to_string();
        source
            .problem(error.span().unwrap_or(0..0), message)
            .hint("docs/reference/system-description.md lists every key with an example")
    })
}
