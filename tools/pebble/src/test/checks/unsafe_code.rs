//! `unsafe` stands only where `tools/unsafe.toml` allows it, each place with its reason.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use regex::Regex;
use serde::Deserialize;

use super::none;
use crate::repository::Repository;
use crate::test::tree;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    allowed: Vec<Allowed>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Allowed {
    /// A file or folder.
    path: PathBuf,
    reason: String,
}

/// No `unsafe` outside the list, and no place in the list that does not need it.
pub fn check(repository: &Repository) -> Result<()> {
    let text = std::fs::read_to_string(repository.path("tools/unsafe.toml"))
        .context("tools/unsafe.toml")?;
    let list: List = toml::from_str(&text).context("tools/unsafe.toml")?;
    let mut used = vec![false; list.allowed.len()];
    let mut complaints = Vec::new();
    for file in tree::files(repository)? {
        if file.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        let text = std::fs::read_to_string(repository.path(&file))?;
        let Some(line) = first_unsafe(&text)? else {
            continue;
        };
        match list.allowed.iter().position(|allowed| file.starts_with(&allowed.path)) {
            Some(index) => used[index] = true,
            None => complaints.push(format!(
                "{}:{line}: `unsafe` outside the places of tools/unsafe.toml; move it behind one of them, or add this with its reason",
                file.display()
            )),
        }
    }
    for (allowed, used) in list.allowed.iter().zip(used) {
        if !used && exists(repository, &allowed.path) {
            complaints.push(format!(
                "tools/unsafe.toml: {} needs no `unsafe`; take it out",
                allowed.path.display()
            ));
        }
        if allowed.reason.trim().is_empty() {
            complaints.push(format!(
                "tools/unsafe.toml: {} has no reason",
                allowed.path.display()
            ));
        }
    }
    none(complaints)
}

fn exists(repository: &Repository, path: &Path) -> bool {
    repository.path(path).exists()
}

/// Line of the first `unsafe` that is code: not a comment, not a text. An attribute's `unsafe(...)` counts as code.
fn first_unsafe(text: &str) -> Result<Option<usize>> {
    let word = Regex::new(r"\bunsafe\b")?;
    let noise = Regex::new(r#"(?s)//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])'"#)?;
    let code = noise.replace_all(text, |found: &regex::Captures<'_>| {
        "\n".repeat(found[0].matches('\n').count())
    });
    Ok(word
        .find(&code)
        .map(|found| code[..found.start()].matches('\n').count() + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_counts() -> Result<()> {
        assert_eq!(
            first_unsafe(
                "// unsafe\nlet x = \"unsafe\\\" unsafe\";\n/* unsafe\n */ forbid(unsafe_code)"
            )?,
            None
        );
        assert_eq!(
            first_unsafe("fn a() {}\n/* two\nlines */\nunsafe fn b() {}")?,
            Some(4)
        );
        assert_eq!(first_unsafe("let quote = '\"'; unsafe {}")?, Some(1));
        Ok(())
    }
}
