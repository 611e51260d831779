//! The simulator: built once by `bench/rtl/build-model.sh` and kept outside the checkout.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{bail, Context, Result};

use crate::process;
use crate::report::Report;
use crate::repository::Repository;

/// It takes two minutes on two processors that do nothing else.
const BUILD_LIMIT: Duration = Duration::from_secs(3600);
/// What it is built from, below `bench/rtl`: a change of any makes another folder.
const SOURCES: [&str; 7] = [
    "build-model.sh",
    "requirements.txt",
    "simulator/devices.hpp",
    "simulator/main.cpp",
    "simulator/memory.hpp",
    "simulator/port.hpp",
    "simulator/public.vlt",
];

/// The simulator's program, built if it is not there.
pub fn ensure(repository: &Repository, report: &Report) -> Result<PathBuf> {
    let sources = repository.path("bench/rtl");
    let folder = folder(&sources)?;
    let program = folder.join("simulator");
    if !program.is_file() {
        report.note(&format!(
            "building the simulator of Rocket in {}; this takes some minutes, once",
            folder.display()
        ));
        let mut build = Command::new(sources.join("build-model.sh"));
        let done = process::capture(build.arg(&folder), BUILD_LIMIT)?;
        if !done.status.success() {
            bail!(
                "the simulator of Rocket does not build:\n{}{}\nIf the network dropped something, try again; \
                 otherwise remove {} and try again",
                done.stdout_text(),
                done.stderr_text(),
                folder.display()
            );
        }
    }
    Ok(program)
}

fn folder(sources: &Path) -> Result<PathBuf> {
    let cache = match (std::env::var_os("XDG_CACHE_HOME"), std::env::var_os("HOME")) {
        (Some(cache), _) if !cache.is_empty() => PathBuf::from(cache),
        (_, Some(home)) => PathBuf::from(home).join(".cache"),
        _ => bail!("neither XDG_CACHE_HOME nor HOME is set: where may the simulator be built?"),
    };
    let mut hasher = DefaultHasher::new();
    for file in SOURCES {
        let file = sources.join(file);
        std::fs::read(&file)
            .with_context(|| format!("cannot read {}", file.display()))?
            .hash(&mut hasher);
    }
    let name = format!("rocket-{:08x}", hasher.finish() as u32);
    Ok(cache.join("pebble").join(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_source_of_the_simulator_is_in_the_key() -> Result<()> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/rtl/simulator");
        for entry in std::fs::read_dir(folder)? {
            let name = format!("simulator/{}", entry?.file_name().to_string_lossy());
            assert!(SOURCES.contains(&name.as_str()), "{name}");
        }
        Ok(())
    }
}
