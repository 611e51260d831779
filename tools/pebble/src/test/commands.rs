//! Tests that other tools do: rustfmt, clippy, cargo's own tests, and the builds.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{bail, Result};

use super::{tree, Outcome, Session};
use crate::build::{self, source};
use crate::process;
use crate::system;
use crate::toolchain::{Toolchain, SYSTEM_TARGET, USER_TARGET};

const LIMIT: Duration = Duration::from_secs(3600);

/// The workspaces of the checkout: its own and the tools'.
fn workspaces(session: &Session<'_>) -> [(&'static str, PathBuf); 2] {
    [
        ("system", session.repository.root().to_path_buf()),
        ("tools", session.repository.path("tools")),
    ]
}

fn cargo(session: &Session<'_>, folder: &PathBuf) -> Result<Command> {
    let mut command = Toolchain::detect(session.repository)?.cargo();
    command.current_dir(folder);
    Ok(command)
}

fn quiet(session: &Session<'_>, name: &str, mut command: Command) -> Result<String> {
    session.report.step(name);
    let done = process::capture(&mut command, LIMIT)?;
    if !done.status.success() {
        bail!(
            "`{}` failed:\n{}{}",
            process::describe(&command),
            done.stdout_text(),
            done.stderr_text()
        );
    }
    Ok(done.stdout_text())
}

/// rustfmt's opinion.
pub fn formats(session: &Session<'_>) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    for (workspace, folder) in workspaces(session) {
        let name = format!("format/{workspace}");
        if session.wants(&name) {
            let result = cargo(session, &folder).and_then(|mut command| {
                // Names of files only: the differences are what `cargo fmt` would do.
                command.args(["fmt", "--check", "--", "-l"]);
                quiet(session, &name, command).map(drop)
            });
            outcomes.push(Outcome::of(&name, result));
        }
    }
    outcomes
}

/// clippy's opinion: host crates with their tests, then each bare target.
pub fn lints(session: &Session<'_>) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    for (workspace, folder) in workspaces(session) {
        let name = format!("lint/{workspace}");
        if session.wants(&name) {
            let result = cargo(session, &folder).and_then(|mut command| {
                command.args([
                    "clippy",
                    "--quiet",
                    "--locked",
                    "--all-targets",
                    "--target-dir",
                ]);
                command.arg(session.repository.results(if workspace == "tools" {
                    "tools"
                } else {
                    "host"
                }));
                deny_warnings(session, &mut command)?;
                quiet(session, &name, command).map(drop)
            });
            outcomes.push(Outcome::of(&name, result));
        }
    }
    let mut groups: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for member in tree::binaries(session.repository) {
        let user = ["components/examples", "tests", "bench"]
            .iter()
            .any(|folder| member.folder.starts_with(folder));
        groups
            .entry(if user { USER_TARGET } else { SYSTEM_TARGET })
            .or_default()
            .push(member.name);
    }
    for (target, packages) in groups {
        let name = format!("lint/{target}");
        if session.wants(&name) {
            let result = lint_target(session, &name, target, &packages);
            outcomes.push(Outcome::of(&name, result));
        }
    }
    outcomes
}

/// Warnings of the pinned compiler are mistakes; those of a newer one, which Debian may have, are news.
fn deny_warnings(session: &Session<'_>, command: &mut Command) -> Result<()> {
    if let Toolchain::Rustup { .. } = Toolchain::detect(session.repository)? {
        command.args(["--", "-D", "warnings"]);
    }
    Ok(())
}

fn lint_target(session: &Session<'_>, name: &str, target: &str, packages: &[String]) -> Result<()> {
    let mut command = cargo(session, &session.repository.root().to_path_buf())?;
    command
        .args(["clippy", "--quiet", "--release", "--target-dir"])
        .arg(session.repository.results("lint"));
    Toolchain::detect(session.repository)?.add_bare_target(&mut command, target);
    for package in packages {
        command.args(["-p", package]);
    }
    deny_warnings(session, &mut command)?;
    quiet(session, name, command).map(drop)
}

/// Every described system builds.
pub fn builds(session: &Session<'_>) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    if session.wants("build/nucleus") {
        let result = build::nucleus(session.repository, session.report).map(drop);
        outcomes.push(Outcome::of("build/nucleus", result));
    }
    for file in tree::descriptions(session.repository) {
        let stem = file
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let name = format!("build/{stem}");
        if session.wants(&name) {
            let result = system::load(&file, &session.repository.show(&file), None)
                .and_then(|system| source::of_system(session.repository, &system))
                .and_then(|sources| build::components(session.repository, session.report, &sources))
                .map(drop);
            outcomes.push(Outcome::of(&name, result));
        }
    }
    outcomes
}

/// cargo's tests of both workspaces; with a filter only if it begins with `host`, `host/NAME` for some of them.
pub fn host(session: &Session<'_>) -> Vec<Outcome> {
    let name = match session.filter {
        None => None,
        Some("host") => None,
        Some(filter) => match filter.strip_prefix("host/") {
            Some(name) => Some(name),
            None => return Vec::new(),
        },
    };
    let mut outcomes = Vec::new();
    for (workspace, folder) in workspaces(session) {
        let group = format!("host/{workspace}");
        session.report.step(&group);
        match run_host(session, workspace, &folder, name) {
            Ok((text, complaints, good)) => {
                let found = parse(&text, &group);
                let explained = found.iter().any(|outcome| outcome.failure.is_some());
                outcomes.extend(found);
                if !good && !explained {
                    outcomes.push(Outcome::failed(&group, without_progress(&complaints)));
                }
            }
            Err(error) => outcomes.push(Outcome::failed(&group, format!("{error:#}"))),
        }
    }
    outcomes
}

fn run_host(
    session: &Session<'_>,
    workspace: &str,
    folder: &PathBuf,
    name: Option<&str>,
) -> Result<(String, String, bool)> {
    let mut command = cargo(session, folder)?;
    command.args(["test", "--locked", "--no-fail-fast", "--target-dir"]);
    command.arg(session.repository.results(if workspace == "tools" {
        "tools"
    } else {
        "host"
    }));
    command.args(name);
    let done = process::capture(&mut command, LIMIT)?;
    Ok((
        done.stdout_text(),
        done.stderr_text(),
        done.status.success(),
    ))
}

/// cargo's words without those about what it is doing.
fn without_progress(text: &str) -> String {
    let progress = [
        "Compiling",
        "Checking",
        "Finished",
        "Running",
        "Doc-tests",
        "Blocking",
        "Downloaded",
        "Downloading",
        "Locking",
    ];
    let kept = text.lines().filter(|line| {
        !progress
            .iter()
            .any(|word| line.trim_start().starts_with(word))
    });
    kept.collect::<Vec<_>>().join("\n")
}

/// Outcomes in the output of `cargo test`; a failure's reason is its captured output.
fn parse(text: &str, group: &str) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    for line in text.lines() {
        let Some((name, result)) = line
            .strip_prefix("test ")
            .and_then(|line| line.rsplit_once(" ... "))
        else {
            continue;
        };
        let name = format!("{group}/{}", name.trim_end_matches(" - should panic"));
        match result {
            "ok" => outcomes.push(Outcome::passed(name)),
            "FAILED" => {
                let test = name.strip_prefix(&format!("{group}/")).unwrap_or_default();
                outcomes.push(Outcome::failed(&name, captured(text, test)));
            }
            // Ignored tests and benchmarks have no outcome.
            _ => {}
        }
    }
    outcomes
}

fn captured(text: &str, test: &str) -> String {
    let head = format!("---- {test} stdout ----");
    let Some((_, rest)) = text.split_once(&head) else {
        return "no output was captured".into();
    };
    let end = rest
        .find("\n---- ")
        .or_else(|| rest.find("\nfailures:"))
        .unwrap_or(rest.len());
    rest[..end].trim().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_s_lines_become_outcomes() {
        let text = "running 3 tests\ntest a::one ... ok\ntest b ... FAILED\ntest c ... ignored\n\
                    \nfailures:\n\n---- b stdout ----\npanicked at x.rs\n\nfailures:\n    b\n\ntest result: FAILED. 1 passed; 1 failed\n";
        let outcomes = parse(text, "host/system");
        assert_eq!(outcomes.len(), 2);
        assert_eq!(
            (outcomes[0].name.as_str(), &outcomes[0].failure),
            ("host/system/a::one", &None)
        );
        assert_eq!(outcomes[1].name, "host/system/b");
        assert_eq!(outcomes[1].failure.as_deref(), Some("panicked at x.rs"));
    }
}
