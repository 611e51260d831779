//! The report: one page with tables and plots, and all samples beside it.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::budget::{Budget, Standing};
use super::peer::Peer;
use super::result::{Figure, Measured};
use super::samples::{number, Samples};
use super::trace::Listing;
use super::{plot, raw, table};

const STYLE: &str = "body{font:15px/1.45 sans-serif;max-width:1100px;margin:2em auto;padding:0 1em;color:#222}\
table{border-collapse:collapse;margin:1em 0}td,th{padding:2px 9px;border-bottom:1px solid #ddd;text-align:right;\
vertical-align:top}td:first-child,th:first-child,td.w,th.w{text-align:left}th{background:#f3f3f0}\
.over{color:#b00020;font-weight:bold}.held{color:#9a6700}.reached{color:#2e7d32}.note{color:#666;font-size:13px}\
svg{max-width:100%;height:auto}code{background:#f3f3f0;padding:0 3px}";

const MEANING: &str = "<p>All figures are <b>guest instructions</b>: QEMU runs with <code>-icount \
shift=0,sleep=off</code>, so that one instruction is one nanosecond of virtual time and one step of the cycle counter, \
and every run gives the same numbers. They say exactly how much code a path executes. They do <b>not</b> say how long it \
takes on a processor: a load that misses every cache, a trap, a change of the page table and a flush count 1 each.</p>\
<p>The <b>papers'</b> figures are cycles of three MIPS boards of 1999; they stand here for orientation and for the shape \
(what grows, what does not), not for a ratio. <b>Linux</b> was measured in the same QEMU with the same options: counts \
that can be compared, as far as both do the same; what each figure does is said beside it.</p>\
<p>Overhead of reading the counter is subtracted. Median, minimum, 99th percentile and maximum are over all samples \
after a warm-up. Where one sample covers several equal things, it is divided by their number.</p>";

/// What a page shows.
pub struct Shown<'a> {
    /// Rows with their figures.
    pub measured: &'a [Measured],
    /// For each row, the figures whose instructions are listed.
    pub listings: &'a [Vec<Listing>],
    /// Limits.
    pub budgets: &'a [Budget],
    /// Another system.
    pub peer: Option<&'a Peer>,
    /// Few samples.
    pub quick: bool,
}

/// Writes `index.html` and `data/` into `folder`; answers the page.
pub fn write(folder: &Path, shown: &Shown<'_>) -> Result<PathBuf> {
    let data = folder.join("data");
    std::fs::create_dir_all(&data).with_context(|| format!("cannot make {}", data.display()))?;
    let save = |file: PathBuf, text: String| {
        std::fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))
    };
    for row in shown.measured {
        save(data.join(format!("{}.txt", row.row.name)), raw(row))?;
    }
    if let Some(peer) = shown.peer {
        let lines: String = peer.figures.iter().map(|f| f.line() + "\n").collect();
        save(data.join("linux.txt"), lines)?;
    }
    let file = folder.join("index.html");
    save(file.clone(), page(shown)?)?;
    Ok(file)
}

fn page(shown: &Shown<'_>) -> Result<String> {
    let mut html = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Pebble: measurements</title>\
         <style>{STYLE}</style><h1>Pebble: measurements</h1>"
    );
    if shown.quick {
        html.push_str("<p class=\"held\">The quick form: few samples.</p>");
    }
    html.push_str(MEANING);
    if let Some(peer) = shown.peer {
        let _ = write!(
            html,
            "<p class=\"note\">{}; <a href=\"data/linux.txt\">all samples</a></p>",
            escape(&peer.line())
        );
    }
    let mut listings = shown.listings.iter();
    for row in shown.measured {
        section(&mut html, row, shown.budgets, shown.peer)?;
        for listing in listings.next().into_iter().flatten() {
            lines(&mut html, listing);
        }
    }
    html.push_str("</html>\n");
    Ok(html)
}

fn section(
    html: &mut String,
    measured: &Measured,
    budgets: &[Budget],
    peer: Option<&Peer>,
) -> Result<()> {
    let row = &measured.row;
    let _ = write!(
        html,
        "<h2 id=\"{}\">{}. {}</h2><p>{}</p>",
        row.name,
        row.number,
        escape(&row.title),
        escape(&row.method)
    );
    html.push_str(
        "<table><tr><th>figure<th class=\"w\">meaning<th>median<th>minimum<th>99 %<th>maximum\
         <th>limit<th>goal<th class=\"w\"><th class=\"w\">papers",
    );
    if peer.is_some() {
        html.push_str("<th>Linux<th>Linux / Pebble");
    }
    for figure in &measured.figures {
        line(html, measured, figure, budgets, peer);
    }
    html.push_str("</table>");
    let median = |name: &str| peer.and_then(|peer| peer.median(name));
    if let Some(svg) = plot::bars(measured, &median)? {
        html.push_str(&svg);
    }
    let samples: Vec<&Samples> = measured
        .figures
        .iter()
        .filter_map(|figure| figure.samples.as_ref())
        .collect();
    if let Some(svg) = plot::distributions(&samples)? {
        html.push_str(&svg);
    }
    let _ = write!(
        html,
        "<p class=\"note\"><a href=\"data/{}.txt\">all samples</a>: a figure on each line, value:count</p>",
        row.name
    );
    Ok(())
}

/// Where the instructions of one sample went: sums, and every line.
fn lines(html: &mut String, listing: &Listing) {
    let _ = write!(
        html,
        "<details><summary>{}: where {} instructions go</summary><table><tr><th>instructions<th class=\"w\">place",
        escape(&listing.figure),
        listing.count()
    );
    for stretch in &listing.stretches {
        let _ = write!(
            html,
            "<tr><td>{}<td class=\"w\"><details><summary>{}</summary><pre>{}</pre></details>",
            stretch.lines.len(),
            escape(&stretch.place),
            escape(&stretch.lines.join("\n"))
        );
    }
    html.push_str("</table></details>");
}

fn line(
    html: &mut String,
    measured: &Measured,
    figure: &Figure,
    budgets: &[Budget],
    peer: Option<&Peer>,
) {
    let s = &figure.summary;
    let _ = write!(
        html,
        "<tr><td>{}<td class=\"w\">{}<td><b>{}</b>",
        escape(&figure.name),
        escape(figure.what.as_deref().unwrap_or_default()),
        number(s.median)
    );
    for value in [s.minimum, s.percentile_99, s.maximum] {
        let shown = if s.number == 1 {
            String::new()
        } else {
            number(value)
        };
        let _ = write!(html, "<td>{shown}");
    }
    let limits: Vec<&Budget> = budgets
        .iter()
        .filter(|b| b.row == measured.row.name && b.figure == figure.name)
        .collect();
    let cell = |show: &dyn Fn(&Budget) -> String| -> String {
        let lines: Vec<String> = limits.iter().map(|limit| show(limit)).collect();
        lines.join("<br>")
    };
    let limit = cell(&|b| number(b.limit));
    let goal = cell(&|b| b.goal.or(b.stretch).map(number).unwrap_or_default());
    let standing = cell(&|b| {
        let standing = b.standing(b.statistic.of(s));
        let class = match standing {
            Standing::Over => "over",
            Standing::Held => "held",
            Standing::Reached | Standing::Stretch => "reached",
        };
        format!(
            "<span class=\"{class}\">{}: {}</span>",
            b.statistic.title(),
            table::word(standing)
        )
    });
    let _ = write!(
        html,
        "<td>{limit}<td>{goal}<td class=\"w\">{standing}<td class=\"w\">{}",
        escape(figure.papers.as_deref().unwrap_or_default())
    );
    if let Some(peer) = peer {
        let [value, ratio] = table::beside(figure, peer);
        let name = figure.linux.as_deref().filter(|_| !value.is_empty());
        let _ = write!(
            html,
            "<td title=\"{}\">{value}<td>{ratio}",
            escape(name.unwrap_or_default())
        );
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::super::trace::Stretch;
    use super::*;

    #[test]
    fn a_page_has_every_row_and_its_samples() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let row: super::super::row::Row = toml::from_str(
            "number = 1\ntitle = 'A < B'\nmethod = 'm'\n[[run]]\nprogram = 'p.c'\n\
             [[figure]]\nname = 'a'\nwhat = 'w'\npapers = '41-45'",
        )?;
        let told = Samples::parse("figure a parts=1 overhead=1 21:10")?;
        let measured = [Measured::new(row, told.into_iter().collect(), false)?];
        let listing = Listing {
            figure: "a".into(),
            stretches: vec![Stretch {
                place: "trampoline".into(),
                lines: vec!["0  nop".into()],
            }],
        };
        let shown = Shown {
            measured: &measured,
            listings: &[vec![listing]],
            budgets: &[],
            peer: None,
            quick: false,
        };
        let html = std::fs::read_to_string(write(folder.path(), &shown)?)?;
        let parts = ["1. A &lt; B", "<b>20</b>", "41-45", "<svg", "where 1 instr"];
        for part in parts {
            assert!(html.contains(part), "{part}");
        }
        let data = std::fs::read_dir(folder.path().join("data"))?.count();
        assert_eq!(data, 1);
        Ok(())
    }
}
