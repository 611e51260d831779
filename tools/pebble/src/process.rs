//! Child processes: every one is bounded in time and ended by its own handle.

use std::io::Read;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{bail, Context, Result};
use wait_timeout::ChildExt;

/// What a child left behind.
pub struct Finished {
    /// How it ended.
    pub status: ExitStatus,
    /// Its standard output.
    pub stdout: Vec<u8>,
    /// Its standard error.
    pub stderr: Vec<u8>,
}

impl Finished {
    /// Standard output as text.
    pub fn stdout_text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Standard error as text.
    pub fn stderr_text(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }
}

/// The command as one would type it, for messages.
pub fn describe(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|word| {
        let word = word.to_string_lossy();
        if word.is_empty() || word.contains([' ', '*', '\'', '"', '$', '\n']) {
            format!("'{}'", word.replace('\'', "'\\''"))
        } else {
            word.into_owned()
        }
    }));
    words.join(" ")
}

fn spawn(command: &mut Command) -> Result<Child> {
    command.spawn().with_context(|| {
        format!(
            "cannot start `{}`; `pebble doctor` says what is missing",
            command.get_program().to_string_lossy()
        )
    })
}

fn wait(child: &mut Child, what: &str, limit: Duration) -> Result<ExitStatus> {
    if let Some(status) = child.wait_timeout(limit)? {
        return Ok(status);
    }
    child.kill()?;
    child.wait()?;
    bail!(
        "`{what}` did not end within {} seconds and was stopped",
        limit.as_secs()
    )
}

fn collect(source: Option<impl Read + Send + 'static>) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut source) = source {
            // A child that dies closes its pipe; what was read until then is what there is.
            let _ = source.read_to_end(&mut bytes);
        }
        bytes
    })
}

/// Runs a command to its end and keeps what it writes; its standard input is empty unless `command` says.
pub fn capture(command: &mut Command, limit: Duration) -> Result<Finished> {
    capture_with_input(command, &[], limit)
}

/// As [`capture`], with something to read.
pub fn capture_with_input(
    command: &mut Command,
    input: &[u8],
    limit: Duration,
) -> Result<Finished> {
    let what = describe(command);
    command.stdin(if input.is_empty() {
        Stdio::null()
    } else {
        Stdio::piped()
    });
    let mut child = spawn(command.stdout(Stdio::piped()).stderr(Stdio::piped()))?;
    if let Some(mut pipe) = child.stdin.take() {
        let input = input.to_vec();
        std::thread::spawn(move || {
            use std::io::Write;
            // A child may end without reading everything.
            let _ = pipe.write_all(&input);
        });
    }
    finish(child, &what, limit)
}

/// As [`capture`], with an input that stays open and empty: even its end would be something to read.
pub fn capture_with_open_input(command: &mut Command, limit: Duration) -> Result<Finished> {
    let what = describe(command);
    command.stdin(Stdio::piped());
    let mut child = spawn(command.stdout(Stdio::piped()).stderr(Stdio::piped()))?;
    let input = child.stdin.take();
    let finished = finish(child, &what, limit);
    drop(input);
    finished
}

fn finish(mut child: Child, what: &str, limit: Duration) -> Result<Finished> {
    let stdout = collect(child.stdout.take());
    let stderr = collect(child.stderr.take());
    let status = wait(&mut child, what, limit)?;
    let join = |handle: JoinHandle<Vec<u8>>| handle.join().unwrap_or_default();
    Ok(Finished {
        status,
        stdout: join(stdout),
        stderr: join(stderr),
    })
}

/// Runs a command whose words matter only when it fails, or when `verbose`; answers whether it succeeded.
pub fn quietly(command: &mut Command, limit: Duration, verbose: bool) -> Result<bool> {
    let done = capture(command, limit)?;
    if verbose || !done.status.success() {
        eprint!("{}{}", done.stdout_text(), done.stderr_text());
    }
    Ok(done.status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captures_both_streams_and_the_status() -> Result<()> {
        let mut command = Command::new("sh");
        command.args(["-c", "cat; echo no >&2; exit 7"]);
        let done = capture_with_input(&mut command, b"yes", Duration::from_secs(10))?;
        assert_eq!(done.status.code(), Some(7));
        assert_eq!(
            (done.stdout_text(), done.stderr_text()),
            ("yes".into(), "no\n".into())
        );
        Ok(())
    }

    #[test]
    fn an_open_input_does_not_end() -> Result<()> {
        let mut command = Command::new("sh");
        // `read` succeeds with a line, fails at the end, and here neither happens.
        command.args(["-c", "timeout 0.2 sh -c read\\ line; echo $?"]);
        let done = capture_with_open_input(&mut command, Duration::from_secs(10))?;
        assert_eq!(done.stdout_text(), "124\n");
        Ok(())
    }

    #[test]
    fn a_child_that_hangs_is_stopped_and_named() {
        let mut command = Command::new("sleep");
        let Err(error) = capture(command.arg("30"), Duration::from_millis(50)) else {
            panic!("it ended")
        };
        assert!(error.to_string().contains("`sleep 30` did not end"));
    }

    #[test]
    fn words_with_blanks_are_quoted() {
        let mut command = Command::new("cc");
        command.args(["-DX=a b", "it's", ""]);
        assert_eq!(describe(&command), "cc '-DX=a b' 'it'\\''s' ''");
    }
}
