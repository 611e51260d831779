//! `pebble graph`: the domains, portals and names of a described system, as text, JSON and SVG.

pub mod layers;
pub mod svg;
mod text;

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde::Serialize;

use crate::arguments;
use crate::build;
use crate::report::Report;
use crate::repository::Repository;
use crate::system::{overlap, Component, Grants, System, ROLES};

/// Name of the node that stands for the program of `pebble run`.
const PROGRAM: &str = "(program)";

/// What is drawn.
#[derive(Debug, Serialize)]
pub struct Graph {
    /// Name of the system.
    pub system: String,
    /// The domains.
    pub domains: Vec<Domain>,
    /// Connections by name.
    pub calls: Vec<Call>,
}

/// A domain.
#[derive(Debug, Serialize)]
pub struct Domain {
    /// Name of its component.
    pub name: String,
    /// Its role's name.
    pub role: &'static str,
    /// Role number.
    pub role_number: u32,
    /// Priority of its first thread.
    pub priority: u32,
    /// Memory limit in pages.
    pub memory_pages: u32,
    /// Devices as text.
    pub devices: Vec<String>,
    /// Names that it offers.
    pub registers: Vec<String>,
}

/// One domain may open portals of another.
#[derive(Debug, PartialEq, Serialize)]
pub struct Call {
    /// Index of the caller in `domains`.
    pub from: usize,
    /// Index of the server.
    pub to: usize,
    /// Under these names.
    pub names: Vec<String>,
}

fn domain(name: &str, role: u32, grants: &Grants, component: Option<&Component>) -> Domain {
    let devices = component
        .map_or(&[][..], |component| &component.devices)
        .iter();
    Domain {
        name: name.to_string(),
        role: ROLES[role as usize],
        role_number: role,
        priority: grants.priority,
        memory_pages: grants.memory_pages,
        devices: devices
            .map(|device| match device.interrupt {
                0 => format!("{:#x}", device.base),
                interrupt => format!("{:#x} interrupt {interrupt}", device.base),
            })
            .collect(),
        registers: grants.register.clone(),
    }
}

impl Graph {
    /// The graph of a system, the program of `pebble run` among its domains.
    pub fn new(system: &System) -> Self {
        let mut grants: Vec<&Grants> = system
            .components
            .iter()
            .map(|component| &component.grants)
            .collect();
        let mut domains: Vec<Domain> = system
            .components
            .iter()
            .map(|component| {
                domain(
                    &component.name,
                    component.role,
                    &component.grants,
                    Some(component),
                )
            })
            .collect();
        grants.push(&system.program);
        domains.push(domain(
            PROGRAM,
            pebble_abi::object::role::ORDINARY,
            &system.program,
            None,
        ));
        let mut calls: BTreeMap<(usize, usize), Vec<String>> = BTreeMap::new();
        for (from, caller) in grants.iter().enumerate() {
            for (to, server) in grants.iter().enumerate() {
                for (open, register) in caller
                    .open
                    .iter()
                    .flat_map(|open| server.register.iter().map(move |register| (open, register)))
                {
                    if from != to && overlap(open, register) {
                        // The narrower of the two says what the connection is.
                        let name = if open.ends_with('*') && open.len() < register.len() {
                            register
                        } else {
                            open
                        };
                        let names = calls.entry((from, to)).or_default();
                        if !names.contains(name) {
                            names.push(name.clone());
                        }
                    }
                }
            }
        }
        let calls = calls
            .into_iter()
            .map(|((from, to), names)| Call { from, to, names })
            .collect();
        Graph {
            system: system.name.clone(),
            domains,
            calls,
        }
    }
}

/// Prints the graph; writes a picture when asked.
pub fn command(repository: &Repository, report: &Report, options: &arguments::Graph) -> Result<u8> {
    let system = build::load_system(repository, options.system.as_ref(), None)?;
    let graph = Graph::new(&system);
    if report.json() {
        println!("{}", serde_json::to_string_pretty(&graph)?);
    } else {
        print!("{}", text::render(&graph));
    }
    if let Some(file) = &options.svg {
        std::fs::write(file, svg::render(&graph))
            .with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn minimal() -> Result<Graph> {
        let repository = Repository::at(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
        Ok(Graph::new(&build::load_system(
            &repository,
            Some(&repository.path("systems/minimal.toml")),
            None,
        )?))
    }

    #[test]
    fn connections_follow_from_names() -> Result<()> {
        let graph = minimal()?;
        let index = |name: &str| {
            graph
                .domains
                .iter()
                .position(|domain| domain.name == name)
                .unwrap_or(usize::MAX)
        };
        let call = |from: &str, to: &str| {
            graph
                .calls
                .iter()
                .find(|call| call.from == index(from) && call.to == index(to))
                .map(|call| call.names.clone())
        };
        assert_eq!(call("init", "power"), Some(vec!["/power/off".into()]));
        assert_eq!(
            call(PROGRAM, "console"),
            Some(vec![
                "/console/write".into(),
                "/console/error".into(),
                "/console/read".into()
            ])
        );
        assert_eq!(call(PROGRAM, "power"), None);
        Ok(())
    }

    #[test]
    fn text_and_picture_name_everything() -> Result<()> {
        let graph = minimal()?;
        let (text, picture) = (text::render(&graph), svg::render(&graph));
        for domain in &graph.domains {
            assert!(
                text.contains(&domain.name) && picture.contains(&domain.name),
                "{}",
                domain.name
            );
        }
        assert!(text.contains("0x10000000 interrupt 10"));
        assert_eq!(
            picture.matches("<path").count(),
            graph.calls.len() + 1,
            "a path for each call and one arrow head"
        );
        assert!(picture.starts_with("<svg") && picture.trim_end().ends_with("</svg>"));
        Ok(())
    }
}
