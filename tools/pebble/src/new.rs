//! `pebble new`: a component outside the tree that builds and runs at once.

use std::path::{Path, PathBuf};

use anyhow::{bail, Context, Result};

use crate::arguments::{self, Language};
use crate::repository::Repository;

/// Copies the SDK's template; in contents and file names `{name}` and `{sdk}` are replaced.
pub fn command(repository: &Repository, options: &arguments::New) -> Result<u8> {
    let name = options
        .name
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or("")
        .to_string();
    let good = name.starts_with(|letter: char| letter.is_ascii_lowercase())
        && name
            .chars()
            .all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-');
    if !good || name.len() >= pebble_abi::bundle::NAME {
        bail!(
            "`{name}` is not a component's name: small letters, digits and `-`, at most {}",
            pebble_abi::bundle::NAME - 1
        );
    }
    let language = match options.lang {
        Language::C => "c",
        Language::Rust => "rust",
    };
    let template = repository.path("sdk/templates").join(language);
    if !template.is_dir() {
        bail!(
            "there is no template {}: this checkout is incomplete",
            repository.show(&template)
        );
    }
    if options.name.exists() {
        bail!(
            "{} is already there; take another name",
            options.name.display()
        );
    }
    let sdk = repository.path("sdk").display().to_string();
    let written = copy(&template, &options.name, &|text| {
        text.replace("{name}", &name).replace("{sdk}", &sdk)
    })?;
    for file in &written {
        println!("{}", file.display());
    }
    let program = match options.lang {
        Language::C => written
            .iter()
            .find(|file| file.extension().is_some_and(|extension| extension == "c")),
        Language::Rust => None,
    };
    let program = program.unwrap_or(&options.name);
    println!(
        "next: {} run {}",
        repository.path("pebble").display(),
        program.display()
    );
    Ok(0)
}

fn copy(from: &Path, to: &Path, replace: &dyn Fn(&str) -> String) -> Result<Vec<PathBuf>> {
    std::fs::create_dir_all(to).with_context(|| format!("cannot make {}", to.display()))?;
    let mut written = Vec::new();
    let mut entries: Vec<PathBuf> = std::fs::read_dir(from)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    entries.sort();
    for entry in entries {
        let name = entry
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        // A manifest in the tree would be taken for a member of the workspace, so templates end in `.template`.
        let target = to.join(replace(name.strip_suffix(".template").unwrap_or(name)));
        if entry.is_dir() {
            written.extend(copy(&entry, &target, replace)?);
        } else {
            let text =
                std::fs::read_to_string(&entry).with_context(|| entry.display().to_string())?;
            std::fs::write(&target, replace(&text))?;
            written.push(target);
        }
    }
    Ok(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_filled_in() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let from = folder.path().join("from");
        std::fs::create_dir_all(from.join("src"))?;
        std::fs::write(from.join("Cargo.toml.template"), "name = \"{name}\"")?;
        std::fs::write(from.join("src/{name}.c"), "x {sdk}")?;
        let to = folder.path().join("to");
        let written = copy(&from, &to, &|text| {
            text.replace("{name}", "echo").replace("{sdk}", "/s")
        })?;
        assert_eq!(written, [to.join("Cargo.toml"), to.join("src/echo.c")]);
        assert_eq!(std::fs::read_to_string(&written[0])?, "name = \"echo\"");
        assert_eq!(std::fs::read_to_string(&written[1])?, "x /s");
        Ok(())
    }
}
