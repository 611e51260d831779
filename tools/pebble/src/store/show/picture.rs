//! The capabilities as a picture: holders above what they name, in the layout of `pebble graph`.

use std::fmt::Write;

use pebble_store_image::{Graph, Snapshot, VertexKind};

use super::facts::{kind_word, rights_words, vertex_word};
use crate::graph::layers::arrange;
use crate::graph::svg::escape;

const WIDTH: f64 = 120.0;
const HEIGHT: f64 = 40.0;
const GAP_X: f64 = 22.0;
const GAP_Y: f64 = 70.0;
const MARGIN: f64 = 24.0;
/// More would be a grey surface. The first ones that the processes to start reach are drawn.
const DRAWN: usize = 150;

/// The picture, as SVG.
pub fn render(name: &str, snapshot: &Snapshot, graph: &Graph) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = write(name, snapshot, graph, &mut out);
    out
}

fn write(name: &str, snapshot: &Snapshot, graph: &Graph, out: &mut String) -> std::fmt::Result {
    let mut order = graph.from_processes(snapshot);
    let left_out = order.len().saturating_sub(DRAWN);
    order.truncate(DRAWN);
    let drawn = |vertex: usize| order.iter().position(|known| *known == vertex);
    let edges = graph.edges.iter().filter_map(|edge| {
        let (from, to) = (drawn(edge.from)?, drawn(edge.to?)?);
        Some((from, to, edge))
    });
    let edges: Vec<_> = edges.collect();
    let lines = edges.iter().map(|(from, to, _)| (*from, *to)).collect();
    let rows = arrange(order.len(), lines, &|_| true);
    let widest = rows.iter().map(Vec::len).max().unwrap_or(1) as f64;
    let width = MARGIN * 2.0 + widest * (WIDTH + GAP_X) - GAP_X;
    let height = MARGIN * 2.0 + 24.0 + rows.len() as f64 * (HEIGHT + GAP_Y) - GAP_Y;
    let mut corner = vec![(0.0, 0.0); order.len()];
    for (number, row) in rows.iter().enumerate() {
        let used = row.len() as f64 * (WIDTH + GAP_X) - GAP_X;
        for (column, vertex) in row.iter().enumerate() {
            let x = (width - used) / 2.0 + column as f64 * (WIDTH + GAP_X);
            corner[*vertex] = (x, MARGIN + 24.0 + number as f64 * (HEIGHT + GAP_Y));
        }
    }
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"sans-serif\" font-size=\"11\">"
    )?;
    writeln!(out, "<defs><marker id=\"head\" markerWidth=\"8\" markerHeight=\"8\" refX=\"7\" refY=\"4\" orient=\"auto\"><path d=\"M0,0 L8,4 L0,8 z\" fill=\"#456\"/></marker></defs>")?;
    writeln!(out, "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>")?;
    let more = if left_out > 0 {
        format!("; {left_out} more objects are not drawn")
    } else {
        String::new()
    };
    writeln!(
        out,
        "<text x=\"{MARGIN}\" y=\"{MARGIN}\" font-size=\"14\" font-weight=\"bold\">{}, generation {}{more}</text>",
        escape(name),
        snapshot.generation
    )?;
    for (from, to, edge) in &edges {
        let (x1, y1) = (corner[*from].0 + WIDTH / 2.0, corner[*from].1);
        let (x2, y2) = (corner[*to].0 + WIDTH / 2.0, corner[*to].1);
        let down = y2 > y1;
        let (start, end, bend) = if down {
            (y1 + HEIGHT, y2, 35.0)
        } else {
            (y1, y2 + HEIGHT, -35.0)
        };
        let dash = if edge.valid {
            ""
        } else {
            " stroke-dasharray=\"3 4\""
        };
        let mut title = format!("slot {}: {}", edge.slot, kind_word(edge.capability.kind));
        for right in rights_words(edge.capability.rights) {
            title = title + " " + right;
        }
        writeln!(
            out,
            "<path d=\"M{x1:.1},{start:.1} C{x1:.1},{:.1} {x2:.1},{:.1} {x2:.1},{end:.1}\" fill=\"none\" stroke=\"#456\"{dash} marker-end=\"url(#head)\"><title>{}</title></path>",
            start + bend,
            end - bend,
            escape(&title)
        )?;
    }
    for (vertex, (x, y)) in order.iter().zip(&corner) {
        let vertex = &graph.vertices[*vertex];
        let fill = match vertex.kind {
            VertexKind::Process => "#ffeedd",
            VertexKind::Node => "#eef4ff",
            VertexKind::CapabilityPage => "#eeffee",
            VertexKind::DataPage => "#f4f4f4",
        };
        let middle = x + WIDTH / 2.0;
        writeln!(out, "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"5\" fill=\"{fill}\" stroke=\"#456\"/>")?;
        writeln!(out, "<text x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-weight=\"bold\">{}</text>", y + 17.0, vertex.id.0)?;
        writeln!(
            out,
            "<text x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"9\">{}, version {}</text>",
            y + 32.0,
            vertex_word(vertex.kind),
            vertex.version.0
        )?;
    }
    writeln!(out, "</svg>")
}
