//! The text table.

use std::fmt::Write;

use super::budget::{Budget, Standing};
use super::peer::Peer;
use super::result::{Figure, Measured};
use super::row::Statistic;
use super::samples::number;

/// One row as text: a heading, then a line for each figure.
pub fn render(measured: &Measured, budgets: &[Budget], peer: Option<&Peer>) -> String {
    let mut head = vec![
        "figure", "median", "minimum", "99 %", "maximum", "limit", "goal", "", "papers",
    ];
    if peer.is_some() {
        head.extend(["Linux", "Linux / Pebble"]);
    }
    let mut lines: Vec<Vec<String>> = vec![head.iter().copied().map(String::from).collect()];
    for figure in &measured.figures {
        let of_figure = budgets
            .iter()
            .filter(|b| b.row == measured.row.name && b.figure == figure.name);
        let of_figure: Vec<&Budget> = of_figure.collect();
        let mut cells = line(figure, of_figure.first().copied());
        if let Some(peer) = peer {
            cells.extend(beside(figure, peer));
        }
        lines.push(cells);
        for more in of_figure.iter().skip(1) {
            let mut cells = more_limits(figure, more);
            cells.resize(head.len(), String::new());
            lines.push(cells);
        }
    }
    let mut text = format!("{}. {}\n", measured.row.number, measured.row.title);
    let width = |column: usize| {
        let widths = lines.iter().map(|line| line[column].chars().count());
        widths.max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    for line in &lines {
        let mut shown = String::new();
        for (column, cell) in line.iter().enumerate() {
            let pad = " ".repeat(widths[column] - cell.chars().count());
            // Words to the left, numbers to the right.
            let left = column == 0 || column == 7 || column == 8;
            let cell = if left {
                format!("{cell}{pad}")
            } else {
                format!("{pad}{cell}")
            };
            let _ = write!(shown, "  {cell}");
        }
        let _ = writeln!(text, "{}", shown.trim_end());
    }
    text
}

fn line(figure: &Figure, budget: Option<&Budget>) -> Vec<String> {
    let summary = &figure.summary;
    let spread = |value: f64| {
        if summary.number == 1 {
            String::new()
        } else {
            number(value)
        }
    };
    let mut cells = vec![
        figure.name.clone(),
        number(summary.median),
        spread(summary.minimum),
        spread(summary.percentile_99),
        spread(summary.maximum),
    ];
    cells.extend(limits(figure, budget));
    cells.push(figure.papers.clone().unwrap_or_default());
    cells
}

/// The peer's figure, and how many times Pebble's it is.
pub fn beside(figure: &Figure, peer: &Peer) -> [String; 2] {
    let Some(other) = figure.linux.as_ref().and_then(|name| peer.median(name)) else {
        return Default::default();
    };
    [
        number(other),
        format!("{:.1}", other / figure.summary.median),
    ]
}

fn limits(figure: &Figure, budget: Option<&Budget>) -> [String; 3] {
    let Some(budget) = budget else {
        return Default::default();
    };
    let value = budget.statistic.of(&figure.summary);
    let goal = budget.goal.or(budget.stretch).map(number);
    [
        number(budget.limit),
        goal.unwrap_or_default(),
        word(budget.standing(value)).into(),
    ]
}

/// A limit for another statistic of the same figure has a line of its own.
fn more_limits(figure: &Figure, budget: &Budget) -> Vec<String> {
    let mut cells = vec![format!("  its {}", budget.statistic.title())];
    let value = number(budget.statistic.of(&figure.summary));
    let column = match budget.statistic {
        Statistic::Median => 1,
        Statistic::Percentile99 => 3,
        Statistic::Maximum => 4,
    };
    for place in 1..=4 {
        cells.push(if place == column {
            value.clone()
        } else {
            String::new()
        });
    }
    cells.extend(limits(figure, Some(budget)));
    cells.push(String::new());
    cells
}

/// A standing in a word.
pub fn word(standing: Standing) -> &'static str {
    match standing {
        Standing::Over => "OVER THE LIMIT",
        Standing::Held => "goal not reached",
        Standing::Reached => "reached",
        Standing::Stretch => "stretch",
    }
}
