//! Tables: columns as wide as their widest cell, numbers to the right.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// A column: its heading, and on which side its cells stand.
#[derive(Clone, Copy, Debug)]
pub enum Column {
    /// Words, to the left.
    Left(&'static str),
    /// Numbers, to the right.
    Right(&'static str),
}

impl Column {
    fn heading(&self) -> &'static str {
        match self {
            Column::Left(heading) | Column::Right(heading) => heading,
        }
    }
}

/// Rows under headings.
#[derive(Debug)]
pub struct Table {
    columns: &'static [Column],
    rows: Vec<Vec<String>>,
}

impl Table {
    /// No rows.
    pub fn new(columns: &'static [Column]) -> Self {
        Table {
            columns,
            rows: Vec::new(),
        }
    }

    /// One more row; a cell for each column.
    pub fn row(&mut self, cells: &[&dyn ToString]) {
        assert_eq!(cells.len(), self.columns.len());
        self.rows
            .push(cells.iter().map(|cell| cell.to_string()).collect());
    }

    /// There are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Headings and rows as text, each line behind `indent`.
    pub fn render(&self, indent: &str) -> String {
        let headings: Vec<String> = self.columns.iter().map(|c| c.heading().into()).collect();
        let width = |index: usize| {
            let all = core::iter::once(&headings).chain(&self.rows);
            all.map(|row| row[index].len()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let mut text = String::new();
        for row in core::iter::once(&headings).chain(&self.rows) {
            let mut line = String::from(indent);
            for ((column, cell), width) in self.columns.iter().zip(row).zip(&widths) {
                let space = " ".repeat(width - cell.len());
                let (before, after) = match column {
                    Column::Left(_) => ("", space.as_str()),
                    Column::Right(_) => (space.as_str(), ""),
                };
                line += before;
                line += cell;
                line += after;
                line += "  ";
            }
            text += line.trim_end();
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_lines_have_no_blanks_at_their_end() {
        let mut table = Table::new(&[Column::Right("N"), Column::Left("NAME"), Column::Left("X")]);
        assert!(table.is_empty());
        table.row(&[&7, &"console", &""]);
        table.row(&[&1234, &"a", &"yes"]);
        assert_eq!(
            table.render("  "),
            "     N  NAME     X\n     7  console\n  1234  a        yes\n"
        );
    }
}
