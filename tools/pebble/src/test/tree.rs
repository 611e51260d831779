//! What the checkout holds: crates, descriptions, files under version control.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{bail, Context, Result};
use serde::Deserialize;

use crate::process;
use crate::repository::Repository;

/// A crate.
#[derive(Debug, Clone)]
pub struct Member {
    /// Package name.
    pub name: String,
    /// Folder, relative to the checkout.
    pub folder: PathBuf,
    /// Folders of the crates that it depends on by path, relative to the checkout.
    pub dependencies: Vec<PathBuf>,
    /// It has a `main`: it becomes an image or a command.
    pub binary: bool,
}

#[derive(Deserialize)]
struct Manifest {
    package: Option<Package>,
    #[serde(default)]
    dependencies: BTreeMap<String, toml::Value>,
    #[serde(default, rename = "build-dependencies")]
    build_dependencies: BTreeMap<String, toml::Value>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
}

/// Files that are or would be under version control, relative to the checkout.
pub fn files(repository: &Repository) -> Result<Vec<PathBuf>> {
    let mut command = Command::new("git");
    command.current_dir(repository.root());
    command.args([
        "ls-files",
        "--cached",
        "--others",
        "--exclude-standard",
        "-z",
    ]);
    let done = process::capture(&mut command, Duration::from_secs(60))?;
    if !done.status.success() {
        bail!("`git ls-files` failed: {}", done.stderr_text());
    }
    let text = done.stdout_text();
    let mut files: Vec<PathBuf> = text
        .split('\0')
        .filter(|name| !name.is_empty())
        .map(PathBuf::from)
        .collect();
    files.retain(|file| repository.path(file).is_file());
    files.sort();
    files.dedup();
    Ok(files)
}

/// All crates.
pub fn members(repository: &Repository) -> Result<Vec<Member>> {
    let mut members = Vec::new();
    for file in files(repository)? {
        if !file.ends_with("Cargo.toml") {
            continue;
        }
        let text = std::fs::read_to_string(repository.path(&file))?;
        let manifest: Manifest =
            toml::from_str(&text).with_context(|| file.display().to_string())?;
        let Some(package) = manifest.package else {
            continue;
        };
        let folder = file.parent().unwrap_or(Path::new("")).to_path_buf();
        let binary = repository.path(&folder).join("src/main.rs").is_file();
        let paths = manifest
            .dependencies
            .values()
            .chain(manifest.build_dependencies.values());
        let dependencies = paths
            .filter_map(|dependency| dependency.get("path")?.as_str())
            .map(|path| normal(&folder.join(path)))
            .collect();
        members.push(Member {
            name: package.name,
            folder,
            dependencies,
            binary,
        });
    }
    Ok(members)
}

/// Crates that become images: they have a `main.rs` and belong to the system's workspace.
pub fn binaries(repository: &Repository) -> Vec<Member> {
    let members = members(repository).unwrap_or_default().into_iter();
    members
        .filter(|member| {
            !member.folder.starts_with("tools") && !member.folder.starts_with("sdk/templates")
        })
        .filter(|member| member.binary)
        .collect()
}

/// All system descriptions.
pub fn descriptions(repository: &Repository) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(repository.path("systems"))
        .into_iter()
        .flatten()
        .flatten();
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|file| {
            file.extension()
                .is_some_and(|extension| extension == "toml")
        })
        .collect();
    files.sort();
    files
}

/// A path without `..`, by its text alone.
pub fn normal(path: &Path) -> PathBuf {
    let mut parts: Vec<_> = Vec::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => {
                parts.pop();
            }
            std::path::Component::CurDir => {}
            part => parts.push(part),
        }
    }
    parts.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_leave_a_path() {
        assert_eq!(normal(Path::new("a/b/../../c/./d")), Path::new("c/d"));
    }

    #[test]
    fn this_checkout_has_the_crates_that_it_must_have() -> Result<()> {
        let repository = Repository::at(&normal(
            &Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."),
        ));
        let members = members(&repository)?;
        let tool = members.iter().find(|member| member.name == "pebble-tool");
        assert_eq!(
            tool.and_then(|tool| tool.dependencies.first()),
            Some(&PathBuf::from("abi"))
        );
        assert!(descriptions(&repository).len() >= 3);
        Ok(())
    }
}
