//! Rules of the tree: dependency direction, generated files, where `unsafe` may stand, READMEs, file sizes.

mod dependencies;
mod links;
mod prose;
mod unsafe_code;

use anyhow::{bail, Result};

use super::{tree, Outcome, Session};
use crate::abi_files;

type Check = fn(&Session<'_>) -> Result<()>;

/// All checks.
pub fn run(session: &Session<'_>) -> Vec<Outcome> {
    let checks: [(&str, Check); 7] = [
        ("check/dependencies", |session| {
            dependencies::check(&tree::members(session.repository)?)
        }),
        ("check/abi", abi),
        ("check/unsafe", |session| {
            unsafe_code::check(session.repository)
        }),
        ("check/links", |session| links::check(session.repository)),
        ("check/readme", |session| prose::readmes(session.repository)),
        ("check/taglines", |session| {
            prose::taglines(session.repository)
        }),
        ("check/size", |session| prose::sizes(session.repository)),
    ];
    checks
        .into_iter()
        .filter(|(name, _)| session.wants(name))
        .map(|(name, check)| Outcome::of(name, check(session)))
        .collect()
}

fn abi(session: &Session<'_>) -> Result<()> {
    let stale = abi_files::stale(session.repository)?;
    if !stale.is_empty() {
        bail!(
            "not what abi/ says: {}; run `./pebble abi --write`",
            stale.join(", ")
        );
    }
    Ok(())
}

/// Turns complaints into one error.
fn none(complaints: Vec<String>) -> Result<()> {
    if complaints.is_empty() {
        Ok(())
    } else {
        bail!("{}", complaints.join("\n"))
    }
}
