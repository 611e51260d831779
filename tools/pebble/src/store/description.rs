//! The description of an image as it is written; every value keeps its place for messages.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use crate::system::diagnostic::{Problem, Source};

/// The file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    pub volume: Volume,
    #[serde(default)]
    pub process: Vec<Process>,
    #[serde(default)]
    pub node: Vec<Node>,
    #[serde(default)]
    pub page: Vec<Page>,
    #[serde(default, rename = "capability-page")]
    pub capability_page: Vec<CapabilityPage>,
    #[serde(default)]
    pub space: Vec<Space>,
}

/// `[volume]`: sizes in frames of 4 KiB.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Volume {
    pub log: Spanned<u64>,
    #[serde(default)]
    pub journal: u64,
    #[serde(default)]
    pub boot: u64,
    pub objects: Spanned<u64>,
    #[serde(default)]
    pub first: u64,
    pub identity: Option<Spanned<String>>,
    pub time: Option<u64>,
}

/// The slots of a node or page, by number.
pub type Slots = BTreeMap<String, Spanned<Slot>>;

/// `[[process]]`: a node that is a process's root.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Process {
    pub name: Spanned<String>,
    #[serde(default = "yes")]
    pub start: bool,
    #[serde(default)]
    pub priority: u8,
    #[serde(default)]
    pub slots: Slots,
}

fn yes() -> bool {
    true
}

/// `[[node]]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Node {
    pub name: Spanned<String>,
    pub height: Option<Spanned<u8>>,
    #[serde(default)]
    pub guard: u64,
    #[serde(default)]
    pub slots: Slots,
}

/// `[[page]]`: bytes, from a file or as text; neither: zeros.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Page {
    pub name: Spanned<String>,
    pub file: Option<Spanned<String>>,
    pub text: Option<Spanned<String>>,
}

/// `[[capability-page]]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CapabilityPage {
    pub name: Spanned<String>,
    #[serde(default)]
    pub slots: Slots,
}

/// `[[space]]`: as many pages as a file needs, or as `pages` says, and the nodes that make them an address space.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Space {
    pub name: Spanned<String>,
    pub file: Option<Spanned<String>>,
    pub pages: Option<Spanned<u64>>,
}

/// What a slot holds.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "a name, or a table with `to`, `number` or `range` (docs/reference/store-tools.md)"
)]
pub enum Slot {
    /// Full power over what has this name.
    Name(String),
    /// Everything else.
    Table(Table),
}

/// A capability in words.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    pub to: Option<String>,
    #[serde(rename = "as")]
    pub kind: Option<String>,
    #[serde(default)]
    pub rights: Vec<String>,
    pub data: Option<u64>,
    pub number: Option<u64>,
    pub range: Option<String>,
}

/// Reads the text; the first mistake in its form is the error.
pub fn read(source: &Source<'_>) -> Result<Description, Problem> {
    toml::from_str(source.text)
        .map_err(|error| source.problem(error.span().unwrap_or(0..0), error.message()))
}
