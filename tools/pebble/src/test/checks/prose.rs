//! Words for people: READMEs, the first line of each file, and files short enough to read.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::none;
use crate::repository::Repository;
use crate::test::tree;

/// Most lines of a source file.
const LONGEST: usize = 500;
/// Lines of a README: enough to say what a folder owns, short enough to be read.
const README: std::ops::RangeInclusive<usize> = 5..=60;

/// Every top folder and every component has a README.
pub fn readmes(repository: &Repository) -> Result<()> {
    let mut folders: BTreeSet<PathBuf> = BTreeSet::new();
    for file in tree::files(repository)? {
        let parts: Vec<_> = file.components().collect();
        if parts.len() > 1 && !file.starts_with(".ci") {
            folders.insert(PathBuf::from(parts[0].as_os_str()));
        }
        if parts.len() > 3 && parts[0].as_os_str() == "components" {
            folders.insert(parts[..3].iter().collect());
        }
    }
    let mut complaints = Vec::new();
    for folder in folders {
        let file = repository.path(&folder).join("README.md");
        match std::fs::read_to_string(&file) {
            Err(_) => complaints.push(format!(
                "{}: no README.md (what it owns, privilege, interface, tests)",
                folder.display()
            )),
            Ok(text) if !README.contains(&text.lines().count()) => complaints.push(format!(
                "{}/README.md has {} lines; {} to {} are asked for",
                folder.display(),
                text.lines().count(),
                README.start(),
                README.end()
            )),
            Ok(_) => {}
        }
    }
    none(complaints)
}

fn rust_files(repository: &Repository) -> Result<Vec<(PathBuf, String)>> {
    let files = tree::files(repository)?.into_iter();
    files
        .filter(|file| file.extension().is_some_and(|extension| extension == "rs"))
        .map(|file| {
            Ok((
                file.clone(),
                std::fs::read_to_string(repository.path(&file))?,
            ))
        })
        .collect()
}

/// Each Rust file opens with a line that says what it is.
pub fn taglines(repository: &Repository) -> Result<()> {
    let files = rust_files(repository)?;
    let bad = files.iter().filter(|(_, text)| !text.starts_with("//! "));
    none(
        bad.map(|(file, _)| {
            format!(
                "{}:1: the first line is not a tagline `//! ...`",
                file.display()
            )
        })
        .collect(),
    )
}

/// No Rust file is too long.
pub fn sizes(repository: &Repository) -> Result<()> {
    let complain = |file: &Path, lines: usize| {
        format!(
            "{}: {lines} lines; at most {LONGEST}: split it",
            file.display()
        )
    };
    let files = rust_files(repository)?;
    let long = files
        .iter()
        .map(|(file, text)| (file, text.lines().count()))
        .filter(|(_, lines)| *lines > LONGEST);
    none(long.map(|(file, lines)| complain(file, lines)).collect())
}
