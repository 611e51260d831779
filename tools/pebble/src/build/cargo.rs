//! Builds Rust crates for a bare target and says where the images are.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{bail, Context, Result};
use serde::Deserialize;

use crate::process;
use crate::report::Report;
use crate::repository::Repository;
use crate::setup;
use crate::toolchain::Toolchain;

/// Longest time for one build, a first one on a slow machine included.
const LIMIT: Duration = Duration::from_secs(1800);

/// One cargo invocation.
pub struct Request<'a> {
    /// Folder in whose workspace cargo runs.
    pub folder: &'a Path,
    /// Packages of that workspace; empty for the folder's own.
    pub packages: Vec<String>,
    /// Target.
    pub target: &'static str,
    /// Compiler flags.
    pub flags: Vec<String>,
    /// Kind of results (a folder below `target/`), or the crate's own `target/`.
    pub results: Option<&'static str>,
}

#[derive(Deserialize)]
struct Message {
    reason: String,
    manifest_path: Option<PathBuf>,
    executable: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Manifest {
    package: Option<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
}

/// Name of the package in a folder.
pub fn package_name(folder: &Path) -> Result<String> {
    let file = folder.join("Cargo.toml");
    let text = std::fs::read_to_string(&file)
        .with_context(|| format!("cannot read {}", file.display()))?;
    let manifest: Manifest = toml::from_str(&text).with_context(|| file.display().to_string())?;
    match manifest.package {
        Some(package) => Ok(package.name),
        None => bail!(
            "{}: a workspace, not a package; name the folder of one of its members",
            file.display()
        ),
    }
}

/// Flags that make a component: the memory layout of the SDK, no position-independent code, no use of `gp`.
pub fn component_flags(repository: &Repository) -> Vec<String> {
    vec![
        format!("-Clink-arg=-T{}", repository.path("sdk/user.ld").display()),
        "-Clink-arg=--no-relax".into(),
        "-Crelocation-model=static".into(),
        "-Ccode-model=medium".into(),
        "-Cforce-frame-pointers=no".into(),
    ]
}

/// Builds; answers the executables by the folder of their package.
pub fn build(
    repository: &Repository,
    report: &Report,
    toolchain: &Toolchain,
    request: &Request<'_>,
) -> Result<BTreeMap<PathBuf, PathBuf>> {
    let mut command = toolchain.cargo();
    command.current_dir(request.folder);
    command.args([
        "build",
        "--release",
        "--message-format=json-render-diagnostics",
    ]);
    if let Some(kind) = request.results {
        command.arg("--target-dir").arg(repository.results(kind));
    }
    toolchain.add_bare_target(&mut command, request.target);
    for package in &request.packages {
        command.args(["-p", package]);
    }
    // The encoded form stands above every other source of flags, and blanks in paths survive it.
    command.env("CARGO_ENCODED_RUSTFLAGS", request.flags.join("\x1f"));
    if report.verbose() {
        eprintln!("pebble: {}", process::describe(&command));
    }
    let done = process::capture(&mut command, LIMIT)?;
    if !done.status.success() {
        report.clear();
        eprint!("{}", done.stderr_text());
        let what = if request.packages.is_empty() {
            request.folder.display().to_string()
        } else {
            request.packages.join(", ")
        };
        let advice = setup::network::advice(&done.stderr_text())
            .map_or(String::new(), |advice| format!(": {advice}"));
        bail!(
            "cannot build {what} for {} (cargo's messages are above){advice}",
            request.target
        );
    }
    Ok(executables(&done.stdout_text()))
}

fn executables(messages: &str) -> BTreeMap<PathBuf, PathBuf> {
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Message>(line).ok())
        .filter(|message| message.reason == "compiler-artifact")
        .filter_map(|message| {
            let folder = message.manifest_path?.parent()?.to_path_buf();
            Some((folder, message.executable?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn executables_are_found_among_messages() {
        let text = concat!(
            "{\"reason\":\"compiler-artifact\",\"manifest_path\":\"/r/abi/Cargo.toml\",\"executable\":null}\n",
            "not json\n",
            "{\"reason\":\"compiler-artifact\",\"manifest_path\":\"/r/idle/Cargo.toml\",\"executable\":\"/t/idle\"}\n",
            "{\"reason\":\"build-finished\",\"success\":true}\n",
        );
        let found = executables(text);
        assert_eq!(found.len(), 1);
        assert_eq!(
            found.get(Path::new("/r/idle")),
            Some(&PathBuf::from("/t/idle"))
        );
    }

    #[test]
    fn names_come_from_the_manifest() -> Result<()> {
        assert_eq!(
            package_name(Path::new(env!("CARGO_MANIFEST_DIR")))?,
            "pebble-tool"
        );
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        assert!(package_name(&workspace).is_err());
        Ok(())
    }
}
