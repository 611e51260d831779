//! Builds C and C++ programs with the compiler and flags that the SDK names in `sdk/c/flags.toml`.
//!
//! The SDK's own files are compiled once for each set of flags and contents; a program's files every time, since
//! one compiler run is quicker than finding out what they include.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{bail, Context, Result};
use serde::Deserialize;

use super::source::is_cpp;
use crate::process;
use crate::report::Report;
use crate::repository::Repository;

const LIMIT: Duration = Duration::from_secs(600);

/// `sdk/c/flags.toml`; `{sdk}` stands for the folder `sdk/`.
#[derive(Deserialize, Hash)]
#[serde(deny_unknown_fields)]
struct Flags {
    /// The SDK's own files: paths, the last part of which may be `*.EXTENSION`.
    sources: Vec<String>,
    cc: String,
    cflags: Vec<String>,
    cxx: String,
    cxxflags: Vec<String>,
    ldflags: Vec<String>,
    libs: Vec<String>,
}

impl Flags {
    fn read(repository: &Repository) -> Result<Self> {
        let file = repository.path("sdk/c/flags.toml");
        let text = std::fs::read_to_string(&file).with_context(|| {
            format!(
                "cannot read {}: the C SDK is not in this checkout",
                file.display()
            )
        })?;
        let mut flags: Flags = toml::from_str(&text).context("sdk/c/flags.toml")?;
        let sdk = repository.path("sdk").display().to_string();
        for list in [
            &mut flags.sources,
            &mut flags.cflags,
            &mut flags.cxxflags,
            &mut flags.ldflags,
            &mut flags.libs,
        ] {
            for flag in list.iter_mut() {
                *flag = flag.replace("{sdk}", &sdk);
            }
        }
        Ok(flags)
    }

    fn compile(&self, file: &Path, object: &Path) -> Command {
        let (compiler, flags) = if is_cpp(file) {
            (&self.cxx, &self.cxxflags)
        } else {
            (&self.cc, &self.cflags)
        };
        let mut command = Command::new(compiler);
        command
            .args(flags)
            .arg("-c")
            .arg(file)
            .arg("-o")
            .arg(object);
        command
    }
}

/// Builds one program; answers its ELF.
pub fn build(
    repository: &Repository,
    report: &Report,
    name: &str,
    files: &[PathBuf],
) -> Result<PathBuf> {
    let flags = Flags::read(repository)?;
    let sdk_objects = sdk_objects(repository, report, &flags)?;
    let mut hasher = DefaultHasher::new();
    files.hash(&mut hasher);
    let folder = repository
        .results("programs")
        .join(format!("{name}-{:016x}", hasher.finish()));
    std::fs::create_dir_all(&folder)?;
    report.step(&format!("compiling {name}"));
    // Each build has names of its own until it is done, so that two runs of one program do not mix.
    let scratch = tempfile::tempdir_in(&folder)?;
    let objects = compile_all(report, &flags, files, scratch.path())?;
    let image = scratch.path().join("image.elf");
    let mut link = Command::new(&flags.cc);
    link.args(&flags.ldflags).args(&objects).args(&sdk_objects);
    link.args(&flags.libs).arg("-o").arg(&image);
    run(report, link, || {
        format!("cannot link {name} (the linker's messages are above)")
    })?;
    let finished = folder.join(format!("{name}.elf"));
    std::fs::rename(&image, &finished)?;
    Ok(finished)
}

fn compile_all(
    report: &Report,
    flags: &Flags,
    files: &[PathBuf],
    folder: &Path,
) -> Result<Vec<PathBuf>> {
    let mut objects = Vec::new();
    for (index, file) in files.iter().enumerate() {
        let object = folder.join(format!("{index}.o"));
        run(report, flags.compile(file, &object), || {
            format!(
                "{} does not compile (the compiler's messages are above)",
                file.display()
            )
        })?;
        objects.push(object);
    }
    Ok(objects)
}

/// Runs a compiler; its warnings are shown, they are about the user's own program.
fn run(report: &Report, mut command: Command, failure: impl Fn() -> String) -> Result<()> {
    if report.verbose() {
        eprintln!("pebble: {}", process::describe(&command));
    }
    let done = process::capture(&mut command, LIMIT)?;
    if !done.stderr.is_empty() {
        report.clear();
        eprint!("{}", done.stderr_text());
    }
    if !done.status.success() {
        bail!(failure());
    }
    Ok(())
}

/// The SDK's sources and headers, in a fixed order.
fn sdk_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder)
            .with_context(|| format!("cannot read {}", folder.display()))?;
        for entry in entries {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

/// The files that the patterns name, in order.
fn expand(patterns: &[String]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for pattern in patterns {
        let Some((folder, extension)) = pattern.rsplit_once("/*.") else {
            files.push(PathBuf::from(pattern));
            continue;
        };
        let entries = std::fs::read_dir(folder)
            .with_context(|| format!("cannot read {folder} (sdk/c/flags.toml)"))?;
        let mut found: Vec<PathBuf> = entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|file| file.extension().is_some_and(|found| found == extension))
            .collect();
        found.sort();
        files.append(&mut found);
    }
    Ok(files)
}

fn sdk_objects(repository: &Repository, report: &Report, flags: &Flags) -> Result<Vec<PathBuf>> {
    let sdk = repository.path("sdk/c");
    let mut hasher = DefaultHasher::new();
    flags.hash(&mut hasher);
    let mut inputs = sdk_files(&sdk)?;
    inputs.push(repository.path("sdk/user.ld"));
    for file in inputs {
        file.hash(&mut hasher);
        std::fs::read(&file)?.hash(&mut hasher);
    }
    let folder = repository
        .results("sdk")
        .join(format!("c-{:016x}", hasher.finish()));
    let sources = expand(&flags.sources)?;
    let objects = |folder: &Path| -> Vec<PathBuf> {
        (0..sources.len())
            .map(|index| folder.join(format!("{index}.o")))
            .collect()
    };
    if folder.is_dir() {
        return Ok(objects(&folder));
    }
    report.step("compiling the C SDK");
    std::fs::create_dir_all(repository.results("sdk"))?;
    let scratch = tempfile::tempdir_in(repository.results("sdk"))?;
    compile_all(report, flags, &sources, scratch.path())?;
    // Complete or not there: another run may have been quicker, with the same contents.
    let scratch = scratch.keep();
    if std::fs::rename(&scratch, &folder).is_err() {
        std::fs::remove_dir_all(&scratch)?;
        if !folder.is_dir() {
            bail!("cannot keep the compiled SDK in {}", folder.display());
        }
    }
    Ok(objects(&folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_name_files_in_order() -> Result<()> {
        let folder = tempfile::tempdir()?;
        for name in ["b.c", "a.c", "x.S", "notes.md"] {
            std::fs::write(folder.path().join(name), "")?;
        }
        let root = folder.path().display().to_string();
        let found = expand(&[format!("{root}/*.c"), format!("{root}/x.S")])?;
        let names: Vec<_> = found.iter().filter_map(|file| file.file_name()).collect();
        assert_eq!(names, ["a.c", "b.c", "x.S"]);
        assert!(expand(&[format!("{root}/none/*.c")]).is_err());
        Ok(())
    }
}
