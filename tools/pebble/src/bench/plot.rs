//! Plots, as SVG: medians beside the papers' and the peer's figures, and distributions.

use anyhow::{anyhow, Result};
use plotters::prelude::*;

use super::result::Measured;
use super::samples::Samples;

/// Pixels.
const WIDTH: u32 = 900;
const BAR: u32 = 22;
/// Colours: ours, the papers', the peer's.
const OURS: RGBColor = RGBColor(31, 94, 168);
const PAPERS: RGBColor = RGBColor(201, 162, 39);
const PEER: RGBColor = RGBColor(178, 70, 60);
/// For several lines in one plot.
const LINES: [RGBColor; 9] = [
    RGBColor(31, 94, 168),
    RGBColor(178, 70, 60),
    RGBColor(62, 137, 72),
    RGBColor(201, 162, 39),
    RGBColor(120, 80, 160),
    RGBColor(40, 150, 160),
    RGBColor(220, 120, 40),
    RGBColor(90, 90, 90),
    RGBColor(200, 80, 150),
];

/// A bar: what it is, from where to where.
struct Bar {
    label: String,
    from: f64,
    to: f64,
    colour: RGBColor,
}

/// The range that the papers give, when their words begin with numbers.
pub fn papers_range(text: &str) -> Option<(f64, f64)> {
    let text = text.strip_prefix("about ").unwrap_or(text);
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-'))
        .unwrap_or(text.len());
    let (first, last) = match text[..end].split_once('-') {
        Some(range) => range,
        None => (&text[..end], &text[..end]),
    };
    Some((first.parse().ok()?, last.parse().ok()?))
}

/// Medians of a row's described figures, one bar for each source, on a logarithmic scale. None: too little to compare.
pub fn bars(measured: &Measured, peer: &dyn Fn(&str) -> Option<f64>) -> Result<Option<String>> {
    let mut bars = Vec::new();
    for figure in &measured.figures {
        let value = figure.summary.median;
        // Ratios and differences have another scale.
        if figure.what.is_none() || figure.samples.is_none() || value <= 0.0 {
            continue;
        }
        bars.push(Bar {
            label: figure.name.clone(),
            from: 0.0,
            to: value,
            colour: OURS,
        });
        if let Some((from, to)) = figure.papers.as_deref().and_then(papers_range) {
            bars.push(Bar {
                label: "papers".into(),
                from,
                to,
                colour: PAPERS,
            });
        }
        if let Some(to) = figure.linux.as_deref().and_then(peer) {
            bars.push(Bar {
                label: "Linux".into(),
                from: 0.0,
                to,
                colour: PEER,
            });
        }
    }
    if bars.len() < 2 {
        return Ok(None);
    }
    draw_bars(&bars).map(Some)
}

fn draw_bars(bars: &[Bar]) -> Result<String> {
    let fail = |error: &dyn std::fmt::Display| anyhow!("cannot draw: {error}");
    let most = bars.iter().map(|bar| bar.to).fold(1.0, f64::max);
    let least = bars.iter().map(|bar| bar.to).fold(most, f64::min);
    let low = 10f64.powf((least / 2.0).log10().floor());
    let mut text = String::new();
    {
        // Margins of 8, and 30 for the scale: what is left is a whole number of bars.
        let size = (WIDTH, BAR * bars.len() as u32 + 46);
        let root = SVGBackend::with_string(&mut text, size).into_drawing_area();
        let mut chart = ChartBuilder::on(&root)
            .margin(8)
            .margin_right(70)
            .x_label_area_size(30)
            .y_label_area_size(190)
            .build_cartesian_2d((low..most * 1.2).log_scale(), 0.0..bars.len() as f64)
            .map_err(|e| fail(&e))?;
        chart
            .configure_mesh()
            .disable_y_mesh()
            .y_labels(0)
            .x_label_formatter(&|value| super::samples::number(*value))
            .draw()
            .map_err(|e| fail(&e))?;
        let place = |index: usize| bars.len() as f64 - index as f64;
        let rectangles = bars.iter().enumerate().map(|(index, bar)| {
            let top = place(index) - 0.12;
            let from = bar.from.max(low);
            // A range of one number still is to be seen.
            let to = bar.to.max(from * 1.02);
            Rectangle::new([(from, top - 0.76), (to, top)], bar.colour.filled())
        });
        chart.draw_series(rectangles).map_err(|e| fail(&e))?;
        let numbers = bars.iter().enumerate().map(|(index, bar)| {
            let shown = if bar.from > 0.0 && bar.from < bar.to {
                format!(
                    " {} to {}",
                    super::samples::number(bar.from),
                    super::samples::number(bar.to)
                )
            } else {
                format!(" {}", super::samples::number(bar.to))
            };
            Text::new(shown, (bar.to, place(index) - 0.25), ("sans-serif", 13))
        });
        chart.draw_series(numbers).map_err(|e| fail(&e))?;
        for (index, bar) in bars.iter().enumerate() {
            let y = 8 + (BAR as f64 * (index as f64 + 0.25)) as i32;
            let indent = if bar.colour == OURS { 8 } else { 40 };
            root.draw(&Text::new(
                bar.label.clone(),
                (indent, y),
                ("sans-serif", 13),
            ))
            .map_err(|e| fail(&e))?;
        }
        root.present().map_err(|e| fail(&e))?;
    }
    Ok(text)
}

/// How many of 100 samples are not above a value, a line for each figure. None: no figure has a spread.
pub fn distributions(figures: &[&Samples]) -> Result<Option<String>> {
    let spread: Vec<&&Samples> = figures
        .iter()
        .filter(|samples| samples.counts.len() > 8)
        .collect();
    if spread.is_empty() {
        return Ok(None);
    }
    draw_lines(&spread).map(Some)
}

fn draw_lines(figures: &[&&Samples]) -> Result<String> {
    let fail = |error: &dyn std::fmt::Display| anyhow!("cannot draw: {error}");
    // The far tail is in the table; here it would push everything else together.
    let ends = figures
        .iter()
        .map(|samples| samples.summary().percentile_99 * 1.15);
    let most = ends.fold(1.0, f64::max);
    let starts = figures.iter().map(|samples| samples.summary().minimum);
    let least = starts.fold(most, f64::min);
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, (WIDTH, 380)).into_drawing_area();
        let mut chart = ChartBuilder::on(&root)
            .margin(12)
            .x_label_area_size(40)
            .y_label_area_size(50)
            .build_cartesian_2d(least * 0.97..most, 0.0..100.0)
            .map_err(|e| fail(&e))?;
        chart
            .configure_mesh()
            .x_desc("instructions")
            .y_desc("% of samples")
            .draw()
            .map_err(|e| fail(&e))?;
        for (index, samples) in figures.iter().enumerate() {
            let colour = LINES[index % LINES.len()];
            let total = samples.number() as f64;
            let mut seen = 0;
            let mut points = Vec::new();
            for &(value, count) in &samples.counts {
                let value = samples.share(value);
                points.push((value, 100.0 * seen as f64 / total));
                seen += count;
                points.push((value, 100.0 * seen as f64 / total));
            }
            points.retain(|&(value, _)| value <= most);
            chart
                .draw_series(LineSeries::new(points, &colour))
                .map_err(|e| fail(&e))?
                .label(samples.name.clone())
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour));
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::LowerRight)
            .background_style(WHITE.mix(0.8))
            .draw()
            .map_err(|e| fail(&e))?;
        root.present().map_err(|e| fail(&e))?;
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn the_papers_words_become_ranges() {
        assert_eq!(papers_range("41-45"), Some((41.0, 45.0)));
        assert_eq!(papers_range("about 95"), Some((95.0, 95.0)));
        assert_eq!(papers_range("1200-1294, 99 % 1228"), Some((1200.0, 1294.0)));
        assert_eq!(papers_range("constant"), None);
        assert_eq!(papers_range("EROS: 20.4 us"), None);
    }

    #[test]
    fn a_distribution_is_drawn_when_there_is_one() -> Result<()> {
        let flat = Samples::parse("figure a parts=1 overhead=0 5:9")?.context("a figure")?;
        assert!(distributions(&[&flat])?.is_none());
        let counts: Vec<String> = (10..30).map(|value| format!("{value}:2")).collect();
        let line = format!("figure spread parts=1 overhead=0 {}", counts.join(" "));
        let spread = Samples::parse(&line)?.context("a figure")?;
        let svg = distributions(&[&flat, &spread])?.context("a plot")?;
        assert!(svg.starts_with("<svg") && svg.contains("spread"));
        Ok(())
    }
}
