//! A dialogue with a run: wait for words on standard output, then type.

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::{bail, Context, Result};
use regex::bytes::Regex;
use serde::Deserialize;
use wait_timeout::ChildExt;

use crate::process::{describe, Finished};

/// One turn of a dialogue.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// Regular expression that standard output must match behind what the turn before matched.
    pub wait: String,
    /// What is typed then.
    #[serde(rename = "type")]
    pub words: String,
}

/// Runs a command to its end, typing what the turns say. Standard input stays open until the end.
pub fn converse(command: &mut Command, turns: &[Turn], limit: Duration) -> Result<Finished> {
    let what = describe(command);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command
        .spawn()
        .with_context(|| format!("cannot start `{what}`"))?;
    let deadline = Instant::now() + limit;
    let output = portions(child.stdout.take());
    let complaints = portions(child.stderr.take());
    let mut input = child.stdin.take();
    let mut talk = Talk::new(turns)?;
    loop {
        match output.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(bytes) => {
                let words = talk.hear(&bytes);
                if let Some(input) = &mut input {
                    // A child may end without reading everything.
                    let _ = input
                        .write_all(words.as_bytes())
                        .and_then(|()| input.flush());
                }
            }
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                child.kill()?;
                child.wait()?;
                bail!("`{what}` did not end within {} seconds", limit.as_secs());
            }
        }
    }
    let Some(status) = child.wait_timeout(Duration::from_secs(10))? else {
        child.kill()?;
        child.wait()?;
        bail!("`{what}` closed its output, but did not end");
    };
    drop(input);
    let stderr: Vec<u8> = complaints.iter().flatten().collect();
    if let Some(missing) = talk.missing() {
        bail!(
            "waited in vain for `{missing}`\nstandard output:\n{}standard error:\n{}",
            String::from_utf8_lossy(&talk.heard),
            String::from_utf8_lossy(&stderr)
        );
    }
    Ok(Finished {
        status,
        stdout: talk.heard,
        stderr,
    })
}

fn portions(source: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let Some(mut source) = source else { return };
        let mut buffer = [0; 4096];
        while let Ok(count) = source.read(&mut buffer) {
            if count == 0 || sender.send(buffer[..count].to_vec()).is_err() {
                return;
            }
        }
    });
    receiver
}

/// How far a dialogue is.
struct Talk<'a> {
    turns: Vec<(Regex, &'a Turn)>,
    next: usize,
    heard: Vec<u8>,
    /// End of what the turn before matched.
    seen: usize,
}

impl<'a> Talk<'a> {
    fn new(turns: &'a [Turn]) -> Result<Self> {
        let turns = turns.iter().map(|turn| {
            let pattern = Regex::new(&format!("(?m){}", turn.wait));
            Ok((
                pattern.with_context(|| format!("pattern `{}`", turn.wait))?,
                turn,
            ))
        });
        Ok(Talk {
            turns: turns.collect::<Result<_>>()?,
            next: 0,
            heard: Vec::new(),
            seen: 0,
        })
    }

    /// Takes output; answers what to type.
    fn hear(&mut self, bytes: &[u8]) -> String {
        self.heard.extend(bytes);
        let mut words = String::new();
        while let Some((pattern, turn)) = self.turns.get(self.next) {
            let Some(found) = pattern.find(&self.heard[self.seen..]) else {
                break;
            };
            self.seen += found.end();
            self.next += 1;
            words += &turn.words;
        }
        words
    }

    /// What was never heard.
    fn missing(&self) -> Option<&str> {
        self.turns
            .get(self.next)
            .map(|(_, turn)| turn.wait.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(wait: &str, words: &str) -> Turn {
        Turn {
            wait: wait.into(),
            words: words.into(),
        }
    }

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    const LIMIT: Duration = Duration::from_secs(20);

    #[test]
    fn each_turn_waits_for_its_words() -> Result<()> {
        let turns = [turn("^name\\?", "Ada\n"), turn("hello \\w+", "3\n")];
        let script = "printf 'name?'; read n; printf \"hello $n\"; read s; echo no >&2; exit $s";
        let done = converse(&mut shell(script), &turns, LIMIT)?;
        assert_eq!(done.status.code(), Some(3));
        assert_eq!(done.stdout_text(), "name?hello Ada");
        assert_eq!(done.stderr_text(), "no\n");
        Ok(())
    }

    #[test]
    fn words_count_once() -> Result<()> {
        let turns = [turn("> ", "a"), turn("> ", "b"), turn("> ", "c")];
        let mut talk = Talk::new(&turns)?;
        assert_eq!(talk.hear(b"welcome >"), "");
        assert_eq!(talk.hear(b" "), "a");
        assert_eq!(talk.hear(b"x> y> "), "bc");
        assert_eq!(talk.missing(), None);
        Ok(())
    }

    #[test]
    fn what_never_comes_is_told() {
        let Err(error) = converse(&mut shell("echo other"), &[turn("this", "x")], LIMIT) else {
            panic!("it was heard")
        };
        let error = error.to_string();
        assert!(
            error.contains("in vain for `this`") && error.contains("other"),
            "{error}"
        );
    }

    #[test]
    fn a_child_that_hangs_is_stopped() {
        let limit = Duration::from_millis(200);
        let Err(error) = converse(&mut shell("exec sleep 30"), &[turn("this", "x")], limit) else {
            panic!("it ended")
        };
        assert!(error.to_string().contains("did not end within"), "{error}");
    }
}
