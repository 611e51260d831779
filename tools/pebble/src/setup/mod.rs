//! What must be on this machine, why, and how it gets there.
//!
//! Probing is looking for files, so a second run costs nothing; installing says first what and why.

mod apt;
pub mod network;
pub mod packages;
mod requirement;
mod rust;

use anyhow::{bail, Result};

use crate::build::source;
use crate::report::Report;
use crate::repository::Repository;
use crate::toolchain::Toolchain;

pub use requirement::{all, Purpose, Requirement, Source};

/// For what something is needed.
#[derive(Clone, Debug, Default)]
pub struct Needs {
    purposes: Vec<Purpose>,
}

impl Needs {
    /// Building these sources.
    pub fn of_sources<'a>(sources: impl Iterator<Item = &'a source::Source>) -> Self {
        let mut needs = Needs {
            purposes: vec![Purpose::Build],
        };
        for source in sources {
            if source.is_c() {
                needs.purposes.push(Purpose::C);
            }
            if source.is_cpp() {
                needs.purposes.push(Purpose::Cpp);
            }
        }
        needs
    }

    /// This too.
    pub fn and(mut self, purpose: Purpose) -> Self {
        self.purposes.push(purpose);
        self
    }

    /// Everything that tests use.
    pub fn everything() -> Self {
        Needs {
            purposes: vec![
                Purpose::Build,
                Purpose::Run,
                Purpose::C,
                Purpose::Cpp,
                Purpose::Lint,
                Purpose::Debug,
            ],
        }
    }

    fn include(&self, requirement: &Requirement) -> bool {
        self.purposes.contains(&requirement.purpose)
    }
}

/// Installs what is missing for these needs.
pub fn ensure(repository: &Repository, report: &Report, needs: Needs) -> Result<()> {
    let toolchain = Toolchain::detect(repository)?;
    let missing: Vec<Requirement> = all(repository, &toolchain)?
        .into_iter()
        .filter(|requirement| needs.include(requirement) && !requirement.present())
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    for requirement in &missing {
        report.note(&format!(
            "installing {}: {}",
            requirement.what, requirement.why
        ));
    }
    apt::install(report, &missing)?;
    rust::install(report, &toolchain, &missing)?;
    let still: Vec<String> = missing
        .iter()
        .filter(|requirement| !requirement.present())
        .map(|requirement| {
            format!(
                "{} ({}); {}",
                requirement.what,
                requirement.why,
                requirement.mend()
            )
        })
        .collect();
    if !still.is_empty() {
        bail!("still missing after the set-up:\n{}", still.join("\n"));
    }
    Ok(())
}
