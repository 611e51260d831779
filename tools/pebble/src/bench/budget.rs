//! Limits: `bench/budgets.toml` has one for every row; passing one is a failure.

use anyhow::{bail, Context, Result};
use serde::Deserialize;

use super::result::Measured;
use super::row::{Row, Statistic};
use crate::repository::Repository;

/// A limit for a figure.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// Row.
    pub row: String,
    /// Figure, or derived figure.
    pub figure: String,
    /// Which number is limited.
    #[serde(default)]
    pub statistic: Statistic,
    /// It must not be above this.
    pub limit: f64,
    /// What it is to become, where that is less.
    pub goal: Option<f64>,
    /// What would be better still.
    pub stretch: Option<f64>,
    /// Held by the full form only: the quick one has too few samples.
    #[serde(default)]
    pub full_only: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    budget: Vec<Budget>,
}

/// All limits of the checkout; every row must have one, and none may be about a row that is not there.
pub fn all(repository: &Repository, rows: &[Row]) -> Result<Vec<Budget>> {
    let budgets = read(repository, "bench/budgets.toml")?;
    check(&budgets, rows)?;
    Ok(budgets)
}

/// The limits in one file of the checkout.
pub fn read(repository: &Repository, file: &str) -> Result<Vec<Budget>> {
    let text = std::fs::read_to_string(repository.path(file))
        .with_context(|| format!("cannot read {file}"))?;
    parse(&text).context(file.to_string())
}

fn parse(text: &str) -> Result<Vec<Budget>> {
    let file: File = toml::from_str(text)?;
    Ok(file.budget)
}

/// Every row must have a limit, and none may be about another row.
pub fn check(budgets: &[Budget], rows: &[Row]) -> Result<()> {
    for row in rows {
        if !budgets.iter().any(|budget| budget.row == row.name) {
            bail!("there is no limit for row `{}`", row.name);
        }
    }
    for budget in budgets {
        if !rows.iter().any(|row| row.name == budget.row) {
            bail!(
                "limits: there is no row `{}` (figure `{}`)",
                budget.row,
                budget.figure
            );
        }
        if budget.goal.is_some_and(|goal| goal >= budget.limit) {
            bail!(
                "limits: the goal of {} {} is reached; make it the limit",
                budget.row,
                budget.figure
            );
        }
    }
    Ok(())
}

/// How a limit and a measurement stand to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Above the limit.
    Over,
    /// Within the limit, above the goal.
    Held,
    /// The goal is reached.
    Reached,
    /// Better than asked for.
    Stretch,
}

impl Budget {
    /// Compares.
    pub fn standing(&self, value: f64) -> Standing {
        // Figures are rounded as they are shown: no limit is passed by what nobody sees.
        let value = (value * 10.0).round() / 10.0;
        if value > self.limit {
            Standing::Over
        } else if self.stretch.is_some_and(|stretch| value <= stretch) {
            Standing::Stretch
        } else if self.goal.is_none_or(|goal| value <= goal) {
            Standing::Reached
        } else {
            Standing::Held
        }
    }

    /// The limited number; an error when the figure was not told.
    pub fn value(&self, measured: &Measured) -> Result<f64> {
        let figure = measured.figures.iter().find(|f| f.name == self.figure);
        let figure = figure.with_context(|| {
            format!(
                "a limit is about `{}` of row {}, which tells no such figure",
                self.figure, self.row
            )
        })?;
        Ok(self.statistic.of(&figure.summary))
    }
}

/// What is wrong with one row's figures; empty: nothing.
pub fn complaints(budgets: &[Budget], measured: &Measured, quick: bool) -> Vec<String> {
    let of_row = budgets.iter().filter(|b| b.row == measured.row.name);
    of_row
        .filter(|budget| !(quick && budget.full_only))
        .filter_map(|budget| match budget.value(measured) {
            Err(error) => Some(format!("{error:#}")),
            Ok(value) if budget.standing(value) == Standing::Over => Some(format!(
                "{} {}: {} is {}, the limit is {}",
                budget.row,
                budget.figure,
                budget.statistic.title(),
                super::samples::number(value),
                super::samples::number(budget.limit)
            )),
            Ok(_) => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_stands_somewhere() -> Result<()> {
        let text = "[[budget]]\nrow = 'a'\nfigure = 'b'\nlimit = 30\ngoal = 20\nstretch = 10";
        let budget = &parse(text)?[0];
        assert_eq!(budget.standing(30.1), Standing::Over);
        assert_eq!(budget.standing(30.04), Standing::Held);
        assert_eq!(budget.standing(20.0), Standing::Reached);
        assert_eq!(budget.standing(10.0), Standing::Stretch);
        assert!(check(&parse(text)?, &[]).is_err(), "no such row");
        Ok(())
    }

    #[test]
    fn unknown_keys_are_mistakes() {
        assert!(parse("[[budget]]\nrow = 'a'\nfigure = 'b'\nlimits = 30").is_err());
    }
}
