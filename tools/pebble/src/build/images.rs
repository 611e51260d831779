//! All images of one system, with as few compiler runs as there are targets.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{bail, Context, Result};

use super::cargo::{self, Request};
use super::{c, source::Source};
use crate::report::Report;
use crate::repository::Repository;
use crate::toolchain::{Toolchain, SYSTEM_TARGET};

/// Where each component's ELF is.
pub struct Images {
    /// By component name.
    pub components: BTreeMap<String, PathBuf>,
}

/// Builds the nucleus.
pub fn nucleus(repository: &Repository, report: &Report) -> Result<PathBuf> {
    let folder = repository.path("nucleus");
    if !folder.join("Cargo.toml").exists() {
        bail!(
            "there is no nucleus/Cargo.toml in {}: this checkout is incomplete",
            repository.root().display()
        );
    }
    report.step("building the nucleus");
    let request = Request {
        folder: repository.root(),
        packages: vec![cargo::package_name(&folder)?],
        target: SYSTEM_TARGET,
        // The nucleus brings its own linker script.
        flags: Vec::new(),
        results: Some("nucleus"),
    };
    let toolchain = Toolchain::detect(repository)?;
    let built = cargo::build(repository, report, &toolchain, &request)?;
    built
        .get(&folder)
        .cloned()
        .context("cargo built the nucleus but named no image of it")
}

/// Builds every component.
pub fn components(
    repository: &Repository,
    report: &Report,
    sources: &BTreeMap<String, Source>,
) -> Result<Images> {
    let toolchain = Toolchain::detect(repository)?;
    let mut groups: BTreeMap<&'static str, Vec<&Path>> = BTreeMap::new();
    let mut outside = Vec::new();
    for source in sources.values() {
        match source {
            Source::Crate { folder, target } if is_member(repository, folder) => {
                groups.entry(*target).or_default().push(folder);
            }
            Source::Crate { folder, target } => outside.push((folder.as_path(), *target)),
            Source::Files(_) | Source::Elf(_) => {}
        }
    }
    let mut executables = BTreeMap::new();
    for (target, mut folders) in groups {
        folders.sort();
        folders.dedup();
        report.step(&format!(
            "building {} components for {target}",
            folders.len()
        ));
        let packages = folders.iter().map(|folder| cargo::package_name(folder));
        let request = Request {
            folder: repository.root(),
            packages: packages.collect::<Result<_>>()?,
            target,
            flags: cargo::component_flags(repository),
            results: Some(if target == SYSTEM_TARGET {
                "system"
            } else {
                "user"
            }),
        };
        executables.extend(cargo::build(repository, report, &toolchain, &request)?);
    }
    for (folder, target) in outside {
        report.step(&format!("building {}", folder.display()));
        let request = Request {
            folder,
            packages: Vec::new(),
            target,
            flags: cargo::component_flags(repository),
            results: None,
        };
        executables.extend(cargo::build(repository, report, &toolchain, &request)?);
    }
    let mut components = BTreeMap::new();
    for (name, source) in sources {
        let image = match source {
            Source::Crate { folder, .. } => {
                executables.get(folder).cloned().with_context(|| {
                    format!(
                        "{} has no binary: a component's crate needs src/main.rs",
                        folder.display()
                    )
                })?
            }
            Source::Files(files) => c::build(repository, report, name, files)?,
            Source::Elf(file) => file.clone(),
        };
        components.insert(name.clone(), image);
    }
    Ok(Images { components })
}

/// Members of the checkout's workspace are built together; other crates have their own lock file and results.
fn is_member(repository: &Repository, folder: &Path) -> bool {
    folder.starts_with(repository.root()) && !has_own_workspace(folder)
}

fn has_own_workspace(folder: &Path) -> bool {
    std::fs::read_to_string(folder.join("Cargo.toml"))
        .is_ok_and(|text| text.lines().any(|line| line.trim() == "[workspace]"))
}
