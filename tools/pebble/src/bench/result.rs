//! A row with its figures, measured and derived, as tables and reports show them.

use anyhow::{bail, Result};
use serde::Serialize;

use super::row::Row;
use super::samples::{Samples, Summary};

/// One figure with what is known about it.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    /// Name within the row.
    pub name: String,
    /// What it means.
    pub what: Option<String>,
    /// The papers' figure.
    pub papers: Option<String>,
    /// Name of the peer's figure.
    pub linux: Option<String>,
    /// Its numbers.
    #[serde(flatten)]
    pub summary: Summary,
    /// Its samples; none: it follows from others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub samples: Option<Samples>,
}

/// A row with its figures.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The row.
    pub row: Row,
    /// Figures as they were told, then those that follow from them.
    pub figures: Vec<Figure>,
}

impl Measured {
    /// Joins what was told with what is known. In the full form every described figure must be there; the quick one
    /// may have left runs out.
    pub fn new(row: Row, told: Vec<Samples>, quick: bool) -> Result<Self> {
        let missing = |name: &str| !told.iter().any(|samples| samples.name == name);
        if let Some(figure) = row.figures.iter().find(|figure| missing(&figure.name)) {
            if !quick {
                bail!(
                    "row {}: no program tells the figure `{}`",
                    row.name,
                    figure.name
                );
            }
        }
        let mut figures = Vec::new();
        for derived in &row.derived {
            let value = match derived.value(&told) {
                Ok(value) => value,
                Err(_) if quick => continue,
                Err(error) => return Err(error.context(format!("row {}", row.name))),
            };
            figures.push(Figure {
                name: derived.name.clone(),
                what: Some(derived.what.clone()),
                papers: derived.papers.clone(),
                linux: derived.linux.clone(),
                summary: Summary::of_number(value),
                samples: None,
            });
        }
        let told = told.into_iter().map(|samples| {
            let known = row
                .figures
                .iter()
                .find(|figure| figure.name == samples.name);
            Figure {
                name: samples.name.clone(),
                what: known.map(|figure| figure.what.clone()),
                papers: known.and_then(|figure| figure.papers.clone()),
                linux: known.and_then(|figure| figure.linux.clone()),
                summary: samples.summary(),
                samples: Some(samples),
            }
        });
        let figures = told.chain(figures).collect();
        Ok(Measured { row, figures })
    }
}
