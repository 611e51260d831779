//! What a path is: a Rust crate, C or C++ sources, or a ready ELF.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{bail, Context, Result};

use crate::repository::Repository;
use crate::system::{Component, System};
use crate::toolchain::{SYSTEM_TARGET, USER_TARGET};

/// Where an image comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// A folder with a `Cargo.toml`.
    Crate {
        /// The folder.
        folder: PathBuf,
        /// Compilation target.
        target: &'static str,
    },
    /// C and C++ files.
    Files(Vec<PathBuf>),
    /// A ready image.
    Elf(PathBuf),
}

impl Source {
    /// Built by a C compiler.
    pub fn is_c(&self) -> bool {
        matches!(self, Source::Files(_))
    }

    /// Some file is C++.
    pub fn is_cpp(&self) -> bool {
        matches!(self, Source::Files(files) if files.iter().any(|file| is_cpp(file)))
    }
}

/// Whether a file name says C++.
pub fn is_cpp(file: &Path) -> bool {
    matches!(extension(file), "cpp" | "cc" | "cxx")
}

fn extension(file: &Path) -> &str {
    file.extension()
        .and_then(|extension| extension.to_str())
        .unwrap_or("")
}

/// Components here are trusted with devices and page tables and run without floating-point registers.
const SYSTEM_FOLDERS: [&str; 3] = [
    "components/system",
    "components/drivers",
    "components/services",
];

/// Decides what `path` is.
pub fn classify(repository: &Repository, path: &Path) -> Result<Source> {
    let path = path
        .canonicalize()
        .with_context(|| format!("there is no {}", path.display()))?;
    if path.is_dir() {
        if path.join("Cargo.toml").is_file() {
            let system = SYSTEM_FOLDERS
                .iter()
                .any(|folder| path.starts_with(repository.path(folder)));
            let target = if system { SYSTEM_TARGET } else { USER_TARGET };
            return Ok(Source::Crate {
                folder: path,
                target,
            });
        }
        return folder_of_files(&path);
    }
    match extension(&path) {
        "c" | "cpp" | "cc" | "cxx" | "S" => Ok(Source::Files(vec![path])),
        "rs" => bail!(
            "{}: a Rust program is a crate; name the folder with its Cargo.toml (`pebble new NAME --lang rust` makes one)",
            path.display()
        ),
        _ => {
            let mut magic = [0; 4];
            let read = std::fs::File::open(&path)
                .and_then(|mut file| std::io::Read::read_exact(&mut file, &mut magic));
            if read.is_ok() && magic == *b"\x7fELF" {
                return Ok(Source::Elf(path));
            }
            bail!(
                "{}: not a .c or .cpp file, a crate's folder or an ELF image",
                path.display()
            )
        }
    }
}

fn folder_of_files(folder: &Path) -> Result<Source> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|file| matches!(extension(file), "c" | "cpp" | "cc" | "cxx" | "S"))
        .collect();
    files.sort();
    if files.is_empty() {
        bail!(
            "{}: neither a Cargo.toml nor C files in this folder",
            folder.display()
        );
    }
    Ok(Source::Files(files))
}

/// The source of a described component.
pub fn of_component(repository: &Repository, component: &Component) -> Result<Source> {
    let path = repository.path(&component.path);
    if !path.exists() {
        bail!(
            "component `{}` (line {} of the description): there is no {}; correct its `path`, or take it out",
            component.name,
            component.line,
            component.path
        );
    }
    classify(repository, &path)
}

/// The sources of all components of a system, by component; everything that is missing is told at once.
pub fn of_system(repository: &Repository, system: &System) -> Result<BTreeMap<String, Source>> {
    let mut sources = BTreeMap::new();
    let mut problems = Vec::new();
    for component in &system.components {
        match of_component(repository, component) {
            Ok(source) => {
                sources.insert(component.name.clone(), source);
            }
            Err(error) => problems.push(format!("{error:#}")),
        }
    }
    if problems.is_empty() {
        Ok(sources)
    } else {
        bail!("system `{}`:\n{}", system.name, problems.join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_told_apart() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let root = folder.path().canonicalize()?;
        let repository = Repository::at(&root);
        let driver = root.join("components/drivers/uart");
        let user = root.join("user");
        let mixed = root.join("mixed");
        for folder in [&driver, &user, &mixed] {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(driver.join("Cargo.toml"), "")?;
        std::fs::write(user.join("Cargo.toml"), "")?;
        std::fs::write(mixed.join("b.cpp"), "")?;
        std::fs::write(mixed.join("a.c"), "")?;
        std::fs::write(mixed.join("notes.txt"), "")?;
        std::fs::write(root.join("ready"), b"\x7fELF...")?;
        std::fs::write(root.join("main.rs"), "")?;
        let classify = |path: &str| classify(&repository, &root.join(path));
        assert_eq!(
            classify("components/drivers/uart")?,
            Source::Crate {
                folder: driver,
                target: SYSTEM_TARGET
            }
        );
        assert_eq!(
            classify("user")?,
            Source::Crate {
                folder: user,
                target: USER_TARGET
            }
        );
        assert_eq!(
            classify("mixed")?,
            Source::Files(vec![mixed.join("a.c"), mixed.join("b.cpp")])
        );
        assert!(classify("mixed")?.is_cpp() && !classify("mixed/a.c")?.is_cpp());
        assert_eq!(classify("ready")?, Source::Elf(root.join("ready")));
        for bad in ["main.rs", "mixed/notes.txt", "nowhere", "components"] {
            assert!(classify(bad).is_err(), "{bad}");
        }
        Ok(())
    }
}
