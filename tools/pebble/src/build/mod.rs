//! From sources to images: the nucleus, the components of a system, and a program.
//!
//! `source` decides what a path is, `cargo` builds Rust, `c` builds C and C++, `strip` keeps
//! what is loaded.

pub mod c;
pub mod cargo;
mod images;
pub mod source;
mod strip;

use std::path::PathBuf;

use anyhow::{Context, Result};
use pebble_abi::bundle::{CRITICAL, SHELL, START};

use crate::arguments;
use crate::bundle::{self, Packed};
use crate::report::Report;
use crate::repository::Repository;
use crate::setup::{self, Needs};
use crate::system::{self, System};

pub use images::{components, nucleus, Images};

/// The description that was asked for, or the default one, with what is added to it.
pub fn load_system(
    repository: &Repository,
    file: Option<&PathBuf>,
    addition: Option<&PathBuf>,
) -> Result<System> {
    let file = file.cloned().unwrap_or_else(|| repository.default_system());
    let shown = |file: &PathBuf| repository.show(file);
    let addition = addition.map(|addition| (addition.as_path(), shown(addition)));
    system::load(&file, &shown(&file), addition)
}

/// Reads an image that was just built, as it goes into a bundle.
pub fn read_image(file: &std::path::Path) -> Result<Vec<u8>> {
    let image =
        std::fs::read(file).with_context(|| format!("cannot read the image {}", file.display()))?;
    Ok(strip::to_segments(image))
}

/// Flags of a component's record.
pub fn record_flags(component: &system::Component, start: bool) -> u32 {
    let start = if start { START } else { 0 };
    start | if component.critical { CRITICAL } else { 0 }
}

/// What a component's record says beyond that when no program is run.
pub fn shell_flags(component: &system::Component, system: &system::System) -> u32 {
    if Some(&component.name) == system.shell.as_ref() {
        START | SHELL
    } else {
        0
    }
}

/// `pebble build`: everything but the run.
pub fn command(repository: &Repository, report: &Report, options: &arguments::Build) -> Result<u8> {
    let system = load_system(repository, options.system.as_ref(), None)?;
    let sources = source::of_system(repository, &system)?;
    setup::ensure(repository, report, Needs::of_sources(sources.values()))?;
    let nucleus = nucleus(repository, report)?;
    let images = components(repository, report, &sources)?;
    let mut packed = Vec::new();
    for component in &system.components {
        packed.push(Packed {
            component,
            image: read_image(&images.components[&component.name])?,
            flags: record_flags(component, component.start) | shell_flags(component, &system),
        });
    }
    let bytes = bundle::write(&system, &packed, pebble_abi::bundle::INTERACTIVE)?;
    let output = options.output.clone().unwrap_or_else(|| {
        repository
            .results("bundles")
            .join(format!("{}.bundle", system.name))
    });
    if let Some(folder) = output.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(&output, &bytes)
        .with_context(|| format!("cannot write {}", output.display()))?;
    report.clear();
    println!("nucleus {}", nucleus.display());
    println!(
        "bundle  {} ({} KiB)",
        output.display(),
        bytes.len().div_ceil(1024)
    );
    Ok(0)
}
