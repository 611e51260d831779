//! Samples of one figure, as an exact histogram, and what is told of them.

use anyhow::{bail, Context, Result};
use serde::Serialize;

/// A figure as a program told it: how often each value was read off the counter.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Samples {
    /// Its name within the row.
    pub name: String,
    /// Equal things that one sample covers.
    pub parts: u64,
    /// What an empty sample reads; subtracted from each.
    pub overhead: u64,
    /// Value as read, and how many samples had it; values rise.
    pub counts: Vec<(u64, u64)>,
}

/// The word that begins a figure's line.
const WORD: &str = "figure ";

impl Samples {
    /// Reads `figure NAME parts=P overhead=O VALUE:COUNT ...`; none: another line.
    pub fn parse(line: &str) -> Result<Option<Self>> {
        let Some(rest) = line.strip_prefix(WORD) else {
            return Ok(None);
        };
        let read = || -> Option<Samples> {
            let mut words = rest.split_whitespace();
            let name = words.next()?.to_string();
            let parts = words.next()?.strip_prefix("parts=")?.parse().ok()?;
            let overhead = words.next()?.strip_prefix("overhead=")?.parse().ok()?;
            let counts: Vec<(u64, u64)> = words
                .map(|word| {
                    let (value, count) = word.split_once(':')?;
                    Some((value.parse().ok()?, count.parse().ok()?))
                })
                .collect::<Option<_>>()?;
            Some(Samples {
                name,
                parts,
                overhead,
                counts,
            })
        };
        let samples = read().with_context(|| format!("not a figure: `{line}`"))?;
        let rising = samples.counts.windows(2).all(|pair| pair[0].0 < pair[1].0);
        if samples.parts == 0 || samples.counts.is_empty() || !rising {
            bail!("a figure without samples, or not in order: `{line}`");
        }
        Ok(Some(samples))
    }

    /// A figure that is one exact number.
    pub fn of_number(name: String, value: u64) -> Self {
        Samples {
            name,
            parts: 1,
            overhead: 0,
            counts: vec![(value, 1)],
        }
    }

    /// The line that [`Samples::parse`] reads.
    pub fn line(&self) -> String {
        let counts: Vec<String> = self
            .counts
            .iter()
            .map(|(value, count)| format!("{value}:{count}"))
            .collect();
        format!(
            "{WORD}{} parts={} overhead={} {}",
            self.name,
            self.parts,
            self.overhead,
            counts.join(" ")
        )
    }

    /// How many samples there are.
    pub fn number(&self) -> u64 {
        self.counts.iter().map(|(_, count)| count).sum()
    }

    /// One thing's share of a value that was read.
    pub fn share(&self, value: u64) -> f64 {
        (value as f64 - self.overhead as f64) / self.parts as f64
    }

    /// The smallest value that at least `permille` of 1000 samples do not exceed.
    fn quantile(&self, permille: u64) -> f64 {
        let wanted = (self.number() * permille).div_ceil(1000).max(1);
        let mut seen = 0;
        let mut last = 0;
        for &(value, count) in &self.counts {
            seen += count;
            last = value;
            if seen >= wanted {
                break;
            }
        }
        self.share(last)
    }

    /// What is told.
    pub fn summary(&self) -> Summary {
        let total: f64 = self
            .counts
            .iter()
            .map(|&(value, count)| self.share(value) * count as f64)
            .sum();
        Summary {
            number: self.number(),
            minimum: self.quantile(0),
            median: self.quantile(500),
            percentile_99: self.quantile(990),
            maximum: self.quantile(1000),
            mean: total / self.number() as f64,
        }
    }
}

/// What is told of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Number of samples.
    pub number: u64,
    /// The smallest.
    pub minimum: f64,
    /// Half of the samples are not above it.
    pub median: f64,
    /// 99 of 100 are not above it.
    pub percentile_99: f64,
    /// The largest.
    pub maximum: f64,
    /// The mean.
    pub mean: f64,
}

impl Summary {
    /// A figure that is one exact number.
    pub fn of_number(value: f64) -> Self {
        Summary {
            number: 1,
            minimum: value,
            median: value,
            percentile_99: value,
            maximum: value,
            mean: value,
        }
    }
}

/// A number with as many digits as it has: whole, or one digit behind the point.
pub fn number(value: f64) -> String {
    let shown = format!("{value:.1}");
    shown.strip_suffix(".0").unwrap_or(&shown).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_becomes_statistics_and_a_line_again() -> Result<()> {
        let line = "figure ring/2 parts=2 overhead=1 21:98 41:1 201:1";
        let samples = Samples::parse(line)?.context("a figure")?;
        assert_eq!(samples.line(), line);
        let summary = samples.summary();
        assert_eq!(summary.number, 100);
        assert_eq!((summary.minimum, summary.median), (10.0, 10.0));
        assert_eq!((summary.percentile_99, summary.maximum), (20.0, 100.0));
        assert_eq!(summary.mean, 11.0);
        Ok(())
    }

    #[test]
    fn other_lines_are_none_and_damaged_ones_mistakes() {
        assert!(matches!(Samples::parse("hello"), Ok(None)));
        for damaged in [
            "figure a parts=1 overhead=0",
            "figure a parts=0 overhead=0 1:1",
            "figure a parts=1 overhead=0 2:1 1:1",
            "figure a parts=1 overhead=0 2",
            "figure a",
        ] {
            assert!(Samples::parse(damaged).is_err(), "{damaged}");
        }
    }

    #[test]
    fn numbers_have_no_idle_digits() {
        assert_eq!(number(39.0), "39");
        assert_eq!(number(38.5), "38.5");
        assert_eq!(number(1672.4286), "1672.4");
    }
}
