//! A run that is described in a file, and what must come out of it.

use std::path::{Path, PathBuf};

use anyhow::{bail, Context, Result};
use regex::Regex;
use serde::Deserialize;

use super::dialogue::Turn;
use crate::process::Finished;

/// `tests/GROUP/NAME.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Program, relative to this file, or to the checkout with `/` before it; none: the shell.
    pub program: Option<String>,
    /// Its arguments.
    #[serde(default)]
    pub args: Vec<String>,
    /// System description, relative to the checkout.
    pub system: Option<PathBuf>,
    /// Further options of `pebble run`; files are relative to this one.
    #[serde(default)]
    pub options: Vec<String>,
    /// Another command than `run`, with its arguments.
    pub command: Option<Vec<String>>,
    /// What is typed.
    #[serde(default)]
    pub input: String,
    /// What is typed when the run has said something; instead of `input`.
    #[serde(default)]
    pub dialogue: Vec<Turn>,
    /// Seconds.
    #[serde(default = "default_timeout")]
    pub timeout: u64,
    /// Deterministic virtual time.
    #[serde(default)]
    pub icount: bool,
    /// Everything that the system says.
    #[serde(default)]
    pub verbose: bool,
    /// Times to run it; each time must be good, and with `icount` all outputs the same.
    #[serde(default = "once")]
    pub times: u32,
    /// What must come out.
    pub expect: Expectation,
}

/// `[expect]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// Exit status.
    #[serde(default)]
    pub exit: i32,
    /// Standard output, exactly.
    pub stdout: Option<String>,
    /// A file beside this one with standard output, exactly; `--bless` writes it.
    pub stdout_file: Option<String>,
    /// Regular expressions that standard output matches somewhere; `^` and `$` are lines' ends.
    #[serde(default)]
    pub stdout_has: Vec<String>,
    /// And those that it does not.
    #[serde(default)]
    pub stdout_lacks: Vec<String>,
    /// Regular expressions that standard error matches somewhere.
    #[serde(default)]
    pub stderr_has: Vec<String>,
    /// And those that it does not.
    #[serde(default)]
    pub stderr_lacks: Vec<String>,
}

fn default_timeout() -> u64 {
    60
}

fn once() -> u32 {
    1
}

impl Scenario {
    /// Reads a file.
    pub fn read(file: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(file)
            .with_context(|| format!("cannot read {}", file.display()))?;
        let scenario: Scenario =
            toml::from_str(&text).with_context(|| file.display().to_string())?;
        if scenario.times == 0 {
            bail!("{}: times = 0 tests nothing", file.display());
        }
        if !scenario.input.is_empty() && !scenario.dialogue.is_empty() {
            bail!(
                "{}: `input` and `dialogue` exclude each other",
                file.display()
            );
        }
        Ok(scenario)
    }
}

impl Expectation {
    /// Compares; every difference is told.
    pub fn check(&self, folder: &Path, done: &Finished, bless: bool) -> Result<()> {
        let (stdout, stderr) = (done.stdout_text(), done.stderr_text());
        let mut complaints = Vec::new();
        if done.status.code() != Some(self.exit) {
            complaints.push(format!(
                "exit status {:?}, expected {}",
                done.status.code(),
                self.exit
            ));
        }
        if let Some(expected) = &self.stdout {
            complaints.extend(difference(expected, &stdout));
        }
        if let Some(name) = &self.stdout_file {
            let file = folder.join(name);
            if bless {
                std::fs::write(&file, &done.stdout)?;
            }
            let expected = std::fs::read_to_string(&file).with_context(|| {
                format!(
                    "{}: not there; `pebble test --bless` writes it",
                    file.display()
                )
            })?;
            complaints.extend(difference(&expected, &stdout));
        }
        for (patterns, text, name, wanted) in [
            (&self.stdout_has, &stdout, "output", true),
            (&self.stdout_lacks, &stdout, "output", false),
            (&self.stderr_has, &stderr, "standard error", true),
            (&self.stderr_lacks, &stderr, "standard error", false),
        ] {
            for pattern in patterns {
                let expression = Regex::new(&format!("(?m){pattern}"))
                    .with_context(|| format!("pattern `{pattern}`"))?;
                if expression.is_match(text) != wanted {
                    let how = if wanted { "does not match" } else { "matches" };
                    complaints.push(format!("{name} {how} `{pattern}`"));
                }
            }
        }
        if complaints.is_empty() {
            return Ok(());
        }
        bail!(
            "{}\nstandard output:\n{stdout}standard error:\n{stderr}",
            complaints.join("\n")
        )
    }
}

/// The first line that differs.
fn difference(expected: &str, found: &str) -> Option<String> {
    if expected == found {
        return None;
    }
    let (mut left, mut right) = (expected.lines(), found.lines());
    let mut number = 1;
    loop {
        match (left.next(), right.next()) {
            (Some(one), Some(two)) if one == two => number += 1,
            (None, None) => return Some("output differs in the end of its last line".into()),
            (one, two) => {
                let show =
                    |line: Option<&str>| line.map_or("nothing".into(), |line| format!("`{line}`"));
                return Some(format!(
                    "output line {number}: {}, expected {}",
                    show(two),
                    show(one)
                ));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    fn check(expect: &str, stdout: &str, stderr: &str, code: i32) -> Result<()> {
        let scenario: Scenario = toml::from_str(&format!("program = \"x.c\"\n[expect]\n{expect}"))?;
        let done = Finished {
            status: ExitStatus::from_raw(code << 8),
            stdout: stdout.into(),
            stderr: stderr.into(),
        };
        scenario.expect.check(Path::new("."), &done, false)
    }

    #[test]
    fn good_runs_pass() -> Result<()> {
        check("stdout = \"hi\\n\"", "hi\n", "noise", 0)?;
        check(
            "exit = 139\nstderr_has = ['^x ended by a fault: .* at x\\.c:3']",
            "",
            "first\nx ended by a fault: store, main at x.c:3\n",
            139,
        )?;
        check("stdout_lacks = ['secret']", "public", "", 0)
    }

    #[test]
    fn each_difference_is_told() {
        for (expect, stdout, stderr, code, told) in [
            ("", "", "", 1, "exit status Some(1), expected 0"),
            (
                "stdout = \"a\\nb\\n\"",
                "a\nc\n",
                "",
                0,
                "output line 2: `c`, expected `b`",
            ),
            ("stdout = \"a\\n\"", "a", "", 0, "end of its last line"),
            (
                "stdout = \"a\\nb\\n\"",
                "a\n",
                "",
                0,
                "nothing, expected `b`",
            ),
            (
                "stdout_has = ['^z']",
                "a z",
                "",
                0,
                "output does not match `^z`",
            ),
            (
                "stderr_lacks = ['panic']",
                "",
                "a panic",
                0,
                "standard error matches `panic`",
            ),
        ] {
            let Err(error) = check(expect, stdout, stderr, code) else {
                panic!("passed: {expect}")
            };
            assert!(error.to_string().contains(told), "{error}");
        }
    }

    #[test]
    fn unknown_keys_are_refused() {
        assert!(check("colour = 3", "", "", 0).is_err());
    }
}
