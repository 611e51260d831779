//! The graph as a picture.

use std::fmt::Write;

use super::layers;
use super::Graph;

const WIDTH: f64 = 170.0;
const HEIGHT: f64 = 58.0;
const GAP_X: f64 = 40.0;
const GAP_Y: f64 = 110.0;
const MARGIN: f64 = 30.0;

/// A complete SVG document.
pub fn render(graph: &Graph) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = write(graph, &mut out);
    out
}

fn write(graph: &Graph, out: &mut String) -> std::fmt::Result {
    let rows = layers::rows(graph);
    let widest = rows.iter().map(Vec::len).max().unwrap_or(1) as f64;
    let width = MARGIN * 2.0 + widest * (WIDTH + GAP_X) - GAP_X;
    let height = MARGIN * 2.0 + 24.0 + rows.len() as f64 * (HEIGHT + GAP_Y) - GAP_Y;
    let mut corner = vec![(0.0, 0.0); graph.domains.len()];
    for (row_number, row) in rows.iter().enumerate() {
        let used = row.len() as f64 * (WIDTH + GAP_X) - GAP_X;
        for (column, index) in row.iter().enumerate() {
            let x = (width - used) / 2.0 + column as f64 * (WIDTH + GAP_X);
            corner[*index] = (x, MARGIN + 24.0 + row_number as f64 * (HEIGHT + GAP_Y));
        }
    }
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"sans-serif\" font-size=\"12\">"
    )?;
    writeln!(out, "<defs><marker id=\"head\" markerWidth=\"8\" markerHeight=\"8\" refX=\"7\" refY=\"4\" orient=\"auto\"><path d=\"M0,0 L8,4 L0,8 z\" fill=\"#456\"/></marker></defs>")?;
    writeln!(out, "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>")?;
    writeln!(out, "<text x=\"{MARGIN}\" y=\"{MARGIN}\" font-size=\"15\" font-weight=\"bold\">system {}</text>", escape(&graph.system))?;
    for (number, call) in graph.calls.iter().enumerate() {
        line(
            out,
            corner[call.from],
            corner[call.to],
            &call.names.join(" "),
            number,
        )?;
    }
    for (domain, (x, y)) in graph.domains.iter().zip(&corner) {
        let fill = match domain.role {
            "ordinary" => "#eef4ff",
            _ => "#ffeedd",
        };
        let middle = x + WIDTH / 2.0;
        writeln!(out, "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"6\" fill=\"{fill}\" stroke=\"#456\"/>")?;
        writeln!(out, "<text x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-weight=\"bold\">{}</text>", y + 22.0, escape(&domain.name))?;
        let detail = match domain.devices.first() {
            Some(device) => format!("priority {}, {device}", domain.priority),
            None => format!("priority {}", domain.priority),
        };
        writeln!(
            out,
            "<text x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"10\">{}</text>",
            y + 42.0,
            escape(&detail)
        )?;
    }
    writeln!(out, "</svg>")
}

/// A curve from caller to server; its label stands at a place of its own, so that labels do not cover each other.
fn line(
    out: &mut String,
    from: (f64, f64),
    to: (f64, f64),
    label: &str,
    number: usize,
) -> std::fmt::Result {
    let (x1, x2) = (from.0 + WIDTH / 2.0, to.0 + WIDTH / 2.0);
    let down = to.1 >= from.1;
    let (y1, y2) = if down {
        (from.1 + HEIGHT, to.1)
    } else {
        (from.1, to.1 + HEIGHT)
    };
    let bend = if down { 50.0 } else { -50.0 };
    writeln!(
        out,
        "<path d=\"M{x1:.1},{y1:.1} C{x1:.1},{:.1} {x2:.1},{:.1} {x2:.1},{y2:.1}\" fill=\"none\" stroke=\"#456\" marker-end=\"url(#head)\"/>",
        y1 + bend,
        y2 - bend
    )?;
    let share = 0.35 + 0.1 * (number % 4) as f64;
    writeln!(
        out,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"9\" fill=\"#345\">{}</text>",
        x1 + (x2 - x1) * share,
        y1 + (y2 - y1) * share,
        escape(label)
    )
}

/// Text as it stands in a picture.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
