//! Where the sources and the build results are.

use std::path::{Path, PathBuf};

use anyhow::{bail, Result};

/// A checkout of Pebble.
#[derive(Clone)]
pub struct Repository {
    root: PathBuf,
}

impl Repository {
    /// The checkout that this command belongs to: named by the launcher, else found from the command's own
    /// place, else from the current folder.
    pub fn find() -> Result<Self> {
        if let Some(root) = std::env::var_os("PEBBLE_ROOT") {
            return Ok(Repository { root: root.into() });
        }
        let starts = [std::env::current_exe(), std::env::current_dir()];
        for start in starts.into_iter().flatten() {
            for folder in start.ancestors() {
                if folder.join("abi/src/bundle.rs").exists() && folder.join("tools").exists() {
                    return Ok(Repository {
                        root: folder.to_path_buf(),
                    });
                }
            }
        }
        bail!("no Pebble checkout around this command; run it as ./pebble from the checkout, or set PEBBLE_ROOT")
    }

    /// A checkout at a known place.
    #[cfg(test)]
    pub fn at(root: &Path) -> Self {
        Repository {
            root: root.to_path_buf(),
        }
    }

    /// The checkout's top folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A file of the checkout.
    pub fn path(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.root.join(relative)
    }

    /// A folder for build results, one per kind, so that parallel builds do not wait for each other's lock.
    pub fn results(&self, kind: &str) -> PathBuf {
        self.root.join("target").join(kind)
    }

    /// The path as people should read it: relative to the checkout when it is in it.
    pub fn show(&self, path: &Path) -> String {
        let path = path.strip_prefix(&self.root).unwrap_or(path);
        path.display().to_string()
    }

    /// The system description that is used when none is named.
    pub fn default_system(&self) -> PathBuf {
        self.path("systems/default.toml")
    }
}
