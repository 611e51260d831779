//! The graph as text.

use std::fmt::Write;

use pebble_abi::entry::STANDARD;
use pebble_abi::layout::PAGE;
use pebble_abi::object::role;
use pebble_abi::slot;

use super::Graph;

/// Everything, in tables.
pub fn render(graph: &Graph) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = write(graph, &mut out);
    out
}

fn write(graph: &Graph, out: &mut String) -> std::fmt::Result {
    let width = graph
        .domains
        .iter()
        .map(|domain| domain.name.len())
        .max()
        .unwrap_or(0);
    writeln!(
        out,
        "system {}: {} domains\n",
        graph.system,
        graph.domains.len()
    )?;
    writeln!(
        out,
        "{:width$}  {:20}  priority    memory  devices",
        "domain", "role"
    )?;
    for domain in &graph.domains {
        let line = format!(
            "{:width$}  {:20}  {:>8}  {:>4} KiB  {}",
            domain.name,
            domain.role,
            domain.priority,
            u64::from(domain.memory_pages) * PAGE / 1024,
            domain.devices.join(", ")
        );
        writeln!(out, "{}", line.trim_end())?;
    }
    writeln!(out, "\nportals of every domain")?;
    for standard in STANDARD {
        let name = slot::STANDARD
            .iter()
            .find(|(_, number, _)| *number == standard.slot);
        let name = name
            .map_or("", |(name, _, _)| name.trim_start_matches("SYS_"))
            .to_lowercase();
        let server = match standard.server {
            role::ORDINARY => "(short circuit)".to_string(),
            number => graph
                .domains
                .iter()
                .find(|domain| domain.role_number == number)
                .map_or_else(|| format!("role {number}"), |domain| domain.name.clone()),
        };
        writeln!(
            out,
            "{:>4}  {name:20}  {:9} -> {server}",
            standard.slot, standard.specification
        )?;
    }
    writeln!(out, "\nportals by name")?;
    for call in &graph.calls {
        let (from, to) = (&graph.domains[call.from].name, &graph.domains[call.to].name);
        writeln!(
            out,
            "  {from:width$} -> {to:width$}  {}",
            call.names.join(" ")
        )?;
    }
    writeln!(out, "\nnames")?;
    for domain in &graph.domains {
        for name in &domain.registers {
            writeln!(out, "  {name:24} offered by {}", domain.name)?;
        }
    }
    Ok(())
}
