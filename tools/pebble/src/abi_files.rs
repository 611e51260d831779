//! The files that are generated from `abi/`: the C header and the reference's tables.

use std::path::PathBuf;

use anyhow::{bail, Context, Result};
use pebble_abi::header;

use crate::arguments;
use crate::repository::Repository;

/// Each generated file with its present text.
fn generated(repository: &Repository) -> Result<Vec<(PathBuf, String)>> {
    let mut c_header = String::new();
    header::write_header(&mut c_header).context("the C header")?;
    let mut reference = String::new();
    header::write_reference(&mut reference).context("the reference")?;
    Ok(vec![
        (repository.path("sdk/c/include/pebble/abi.h"), c_header),
        (repository.path("docs/reference/abi.md"), reference),
    ])
}

/// The files that differ from what `abi/` says.
pub fn stale(repository: &Repository) -> Result<Vec<String>> {
    Ok(generated(repository)?
        .into_iter()
        .filter(|(file, text)| std::fs::read_to_string(file).ok().as_ref() != Some(text))
        .map(|(file, _)| repository.show(&file))
        .collect())
}

/// `pebble abi [--write]`.
pub fn command(repository: &Repository, options: &arguments::Abi) -> Result<u8> {
    if options.write {
        for (file, text) in generated(repository)? {
            if let Some(folder) = file.parent() {
                std::fs::create_dir_all(folder)?;
            }
            std::fs::write(&file, text)
                .with_context(|| format!("cannot write {}", file.display()))?;
            println!("{}", repository.show(&file));
        }
        return Ok(0);
    }
    let stale = stale(repository)?;
    if !stale.is_empty() {
        bail!(
            "not what abi/ says: {}; run `./pebble abi --write`",
            stale.join(", ")
        );
    }
    println!("the generated files are what abi/ says");
    Ok(0)
}
