//! Documents point at what exists: links between them, and files of this tree that they name.

use std::path::{Component, Path};

use anyhow::Result;
use regex::Regex;

use super::none;
use crate::repository::Repository;
use crate::test::tree;

/// Every relative link in a Markdown file, and every `path/of/a.file` in backticks that begins at the top of the tree.
pub fn check(repository: &Repository) -> Result<()> {
    let files = tree::files(repository)?;
    let tops: Vec<&str> = files
        .iter()
        .filter(|file| file.components().count() > 1)
        .filter_map(|file| match file.components().next() {
            Some(Component::Normal(top)) => top.to_str(),
            _ => None,
        })
        .collect();
    let mut complaints = Vec::new();
    for file in files
        .iter()
        .filter(|file| file.extension().is_some_and(|end| end == "md"))
    {
        let text = std::fs::read_to_string(repository.path(file))?;
        let folder = file.parent().unwrap_or(Path::new(""));
        for (line, target) in targets(&text, &tops)? {
            let (path, found) = match &target {
                Target::Link(path) => (path, repository.path(folder).join(path).exists()),
                // A folder's README may also mean its own.
                Target::Name(path) => (
                    path,
                    repository.path(path).exists() || repository.path(folder).join(path).exists(),
                ),
            };
            if !found {
                complaints.push(format!("{}:{line}: there is no {path}", file.display()));
            }
        }
    }
    none(complaints)
}

#[derive(Debug, PartialEq)]
enum Target {
    /// As seen from the document.
    Link(String),
    /// As seen from the top of the tree.
    Name(String),
}

/// What a document points at, with lines from 1. Code blocks are not looked at, nor words with a place to fill in.
fn targets(text: &str, tops: &[&str]) -> Result<Vec<(usize, Target)>> {
    let link = Regex::new(r"\]\(([^)#]+)(#[^)]*)?\)")?;
    let name = Regex::new(r"`([A-Za-z0-9_./{}-]+/[A-Za-z0-9_./{}-]*)`")?;
    let mut found = Vec::new();
    let mut code = false;
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            code = !code;
        }
        if code {
            continue;
        }
        for target in link.captures_iter(line).map(|found| found[1].to_string()) {
            if !target.contains("://") {
                found.push((index + 1, Target::Link(target)));
            }
        }
        for target in name.captures_iter(line).map(|found| found[1].to_string()) {
            let top = target.split('/').next().unwrap_or_default();
            let to_fill_in = target.contains(['{', '}'])
                || ["NAME", "GROUP", "FILE", "WORKSPACE"]
                    .iter()
                    .any(|word| target.contains(word) && !target.contains("README"));
            if tops.contains(&top) && !to_fill_in {
                found.push((index + 1, Target::Name(target)));
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_and_names_are_found() -> Result<()> {
        let text = "see [a](b/c.md#d), [web](https://x/y)\n`docs/x.md` `tests/NAME.toml` `other/x`\n```\n`docs/y.md`\n```\n`docs/z`";
        assert_eq!(
            targets(text, &["docs", "tests"])?,
            [
                (1, Target::Link("b/c.md".into())),
                (2, Target::Name("docs/x.md".into())),
                (6, Target::Name("docs/z".into())),
            ]
        );
        Ok(())
    }
}
