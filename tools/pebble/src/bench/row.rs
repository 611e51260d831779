//! What is measured: one `bench/NAME/row.toml` for each row.

use std::path::{Path, PathBuf};

use anyhow::{bail, Context, Result};
use serde::Deserialize;

use super::samples::{Samples, Summary};
use crate::repository::Repository;

/// A row: runs of programs, and what their figures mean.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The folder's name.
    #[serde(skip)]
    pub name: String,
    /// Its folder.
    #[serde(skip)]
    pub folder: PathBuf,
    /// Place in the list of measurements.
    pub number: u32,
    /// What it is about.
    pub title: String,
    /// How it is measured, for the report.
    pub method: String,
    /// What runs.
    #[serde(rename = "run")]
    pub runs: Vec<Run>,
    /// Figures of the first run whose instructions the report lists, in the order in which they are told.
    #[serde(default)]
    pub lines: Vec<String>,
    /// What is known about the figures that are told.
    #[serde(default, rename = "figure")]
    pub figures: Vec<Figure>,
    /// Figures that follow from others.
    #[serde(default, rename = "derived")]
    pub derived: Vec<Derived>,
}

/// One boot.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// The program: a file or folder beside the description, or from the checkout's top with `/` before it.
    #[serde(default)]
    pub program: String,
    /// In place of a program: something that the host finds out.
    pub analysis: Option<Analysis>,
    /// More components, beside the description.
    pub with: Option<String>,
    /// Another system, from the checkout's top.
    pub system: Option<String>,
    /// Arguments behind the number of samples.
    #[serde(default)]
    pub args: Vec<String>,
    /// Samples of each figure.
    #[serde(default = "full")]
    pub samples: u32,
    /// The same in the quick form; 0: the quick form leaves this run out.
    #[serde(default = "quick")]
    pub quick: u32,
    /// Lines that others than the program write, each in full.
    #[serde(default)]
    pub others: Vec<String>,
    /// Put before the names of the figures.
    #[serde(default)]
    pub prefix: String,
}

/// What the host can find out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Analysis {
    /// The longest path with interrupts off, proved from the machine code.
    InterruptsOff,
}

fn full() -> u32 {
    10_000
}

fn quick() -> u32 {
    500
}

/// What a figure means.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// The name that the program tells.
    pub name: String,
    /// What it means.
    pub what: String,
    /// The papers' figure, in cycles unless it says otherwise.
    pub papers: Option<String>,
    /// The peer's figure beside it, by peer.
    #[serde(default)]
    pub linux: Option<String>,
}

/// A figure made of two medians.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Derived {
    /// Its name.
    pub name: String,
    /// What it means.
    pub what: String,
    /// The first of the two.
    pub of: String,
    /// Which of its statistics is taken.
    #[serde(default)]
    pub statistic: Statistic,
    /// The median of this one is added.
    pub plus: Option<String>,
    /// The median of this one is subtracted.
    pub minus: Option<String>,
    /// It is divided by the median of this one.
    pub over: Option<String>,
    /// The papers' figure.
    pub papers: Option<String>,
    /// The peer's figure beside it.
    #[serde(default)]
    pub linux: Option<String>,
}

/// One of the numbers that are told of a figure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Statistic {
    /// The middle one.
    #[default]
    Median,
    /// What 99 of 100 do not exceed.
    #[serde(rename = "99")]
    Percentile99,
    /// The largest.
    Maximum,
}

impl Statistic {
    /// Its value.
    pub fn of(self, summary: &Summary) -> f64 {
        match self {
            Statistic::Median => summary.median,
            Statistic::Percentile99 => summary.percentile_99,
            Statistic::Maximum => summary.maximum,
        }
    }

    /// Its name in a table.
    pub fn title(self) -> &'static str {
        match self {
            Statistic::Median => "median",
            Statistic::Percentile99 => "99 %",
            Statistic::Maximum => "maximum",
        }
    }
}

impl Derived {
    /// Its value from the figures of the row.
    pub fn value(&self, samples: &[Samples]) -> Result<f64> {
        let find = |name: &str| {
            let found = samples.iter().find(|samples| samples.name == name);
            found
                .map(Samples::summary)
                .with_context(|| format!("`{}` needs the figure `{name}`", self.name))
        };
        let value = self.statistic.of(&find(&self.of)?);
        match (&self.plus, &self.minus, &self.over) {
            (Some(other), None, None) => Ok(value + find(other)?.median),
            (None, Some(other), None) => Ok(value - find(other)?.median),
            (None, None, Some(other)) => Ok(value / find(other)?.median),
            _ => bail!("`{}`: say one of `plus`, `minus`, `over`", self.name),
        }
    }
}

impl Row {
    /// Reads one description.
    pub fn read(file: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(file)
            .with_context(|| format!("cannot read {}", file.display()))?;
        let mut row: Row = toml::from_str(&text).with_context(|| file.display().to_string())?;
        let folder = file.parent().unwrap_or(Path::new("."));
        row.folder = folder.to_path_buf();
        row.name = folder
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        Ok(row)
    }
}

/// All rows of the checkout, by their numbers.
pub fn all(repository: &Repository) -> Result<Vec<Row>> {
    let folder = repository.path("bench");
    let mut rows = Vec::new();
    for entry in std::fs::read_dir(&folder).context("no bench/ in this checkout")? {
        let file = entry?.path().join("row.toml");
        if file.is_file() {
            rows.push(Row::read(&file)?);
        }
    }
    rows.sort_by_key(|row: &Row| row.number);
    Ok(rows)
}

/// The rows that were asked for, by name or number; all when none were.
pub fn choose(rows: Vec<Row>, wanted: &[String]) -> Result<Vec<Row>> {
    let is = |row: &Row, word: &String| row.name == *word || row.number.to_string() == *word;
    if let Some(word) = wanted
        .iter()
        .find(|word| !rows.iter().any(|row| is(row, word)))
    {
        let known: Vec<String> = rows
            .iter()
            .map(|row| format!("{} {}", row.number, row.name))
            .collect();
        bail!("there is no row `{word}`; known: {}", known.join(", "));
    }
    Ok(rows
        .into_iter()
        .filter(|row| wanted.is_empty() || wanted.iter().any(|word| is(row, word)))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples() -> Result<Vec<Samples>> {
        let lines = [
            "figure a parts=1 overhead=1 11:1",
            "figure b parts=2 overhead=0 60:99 90:1",
        ];
        lines
            .iter()
            .map(|line| Samples::parse(line)?.context("a figure"))
            .collect()
    }

    fn derived(text: &str) -> Result<f64> {
        let derived: Derived = toml::from_str(&format!("name = 'x'\nwhat = ''\n{text}"))?;
        derived.value(&samples()?)
    }

    #[test]
    fn figures_follow_from_others() -> Result<()> {
        assert_eq!(derived("of = 'b'\nplus = 'a'")?, 40.0);
        assert_eq!(derived("of = 'b'\nminus = 'a'")?, 20.0);
        assert_eq!(derived("of = 'b'\nover = 'a'")?, 3.0);
        assert_eq!(derived("of = 'b'\nstatistic = 'maximum'\nover = 'a'")?, 4.5);
        for mistake in [
            "of = 'b'",
            "of = 'b'\nminus = 'c'",
            "of = 'b'\nminus = 'a'\nover = 'a'",
        ] {
            assert!(derived(mistake).is_err(), "{mistake}");
        }
        Ok(())
    }

    #[test]
    fn rows_go_by_name_or_number() -> Result<()> {
        let row = |number, name: &str| Row {
            name: name.into(),
            folder: PathBuf::new(),
            number,
            title: String::new(),
            method: String::new(),
            runs: vec![],
            lines: vec![],
            figures: vec![],
            derived: vec![],
        };
        let rows = || vec![row(1, "one"), row(2, "two")];
        assert_eq!(choose(rows(), &[])?.len(), 2);
        assert_eq!(choose(rows(), &["2".into()])?[0].name, "two");
        assert_eq!(choose(rows(), &["one".into()])?[0].number, 1);
        assert!(choose(rows(), &["three".into()]).is_err());
        Ok(())
    }
}
