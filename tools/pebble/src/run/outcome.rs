//! One run as seen from outside: passes output on, understands messages, and decides the exit status.

use std::collections::{BTreeMap, VecDeque};
use std::io::Write;
use std::process::ExitStatus;

use anyhow::{bail, Result};
use serde_json::json;

use super::fault;
use super::message::{self, Message};
use super::serial::{Channel, Lines, Splitter};
use super::symbols::Symbols;
use super::Plan;

/// Exit status of a program that a fault ended.
const FAULTED: u8 = 139;
/// Lines that are kept for a report about a system that did not come up.
const KEPT: usize = 12;

/// State of a run.
pub struct Session<'a> {
    program: Option<&'a str>,
    shell: Option<String>,
    symbols: &'a Symbols,
    verbose: bool,
    splitter: Splitter,
    firmware: Lines,
    system: Lines,
    last: VecDeque<String>,
    spoke: bool,
    /// Names of domains by number.
    pub domains: BTreeMap<u64, String>,
    /// Physical address of the nucleus objects.
    pub objects: Option<u64>,
    program_domain: Option<u64>,
    faults: Vec<String>,
    program_faulted: bool,
    program_status: Option<i64>,
}

impl<'a> Session<'a> {
    /// Before the first byte.
    pub fn new(plan: &'a Plan, verbose: bool) -> Self {
        let core = plan.core.iter().cloned().collect();
        let mut session = Session::with(plan.program.as_deref(), &plan.symbols, core, verbose);
        session.shell.clone_from(&plan.shell);
        session
    }

    fn with(
        program: Option<&'a str>,
        symbols: &'a Symbols,
        domains: BTreeMap<u64, String>,
        verbose: bool,
    ) -> Self {
        Session {
            program,
            shell: None,
            symbols,
            verbose,
            splitter: Splitter::new(),
            firmware: Lines::default(),
            system: Lines::default(),
            last: VecDeque::new(),
            spoke: false,
            domains,
            objects: None,
            program_domain: None,
            faults: Vec::new(),
            program_faulted: false,
            program_status: None,
        }
    }

    /// Takes bytes from the serial line.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<()> {
        let mut parts = Vec::new();
        self.splitter
            .split(bytes, |channel, run| parts.push((channel, run.to_vec())));
        for (channel, run) in parts {
            match channel {
                Channel::Firmware => {
                    for line in self.firmware.add(&run) {
                        self.keep(&line);
                        if self.verbose {
                            eprintln!("firmware: {line}");
                        }
                    }
                }
                Channel::System => {
                    self.spoke = true;
                    for line in self.system.add(&run) {
                        self.system_line(&line);
                    }
                }
                Channel::Output => {
                    self.spoke = true;
                    let mut stdout = std::io::stdout().lock();
                    stdout.write_all(&run)?;
                    stdout.flush()?;
                }
                Channel::Error => {
                    self.spoke = true;
                    std::io::stderr().lock().write_all(&run)?;
                }
            }
        }
        Ok(())
    }

    /// Someone in the guest reads the console.
    pub fn ready_for_input(&self) -> bool {
        match self.program {
            Some(_) => self.program_domain.is_some(),
            // The shell is loaded after the console driver, which loses what came before it.
            None => self
                .domains
                .values()
                .any(|name| Some(name) == self.shell.as_ref()),
        }
    }

    fn keep(&mut self, line: &str) {
        if !line.trim().is_empty() {
            self.last.push_back(line.to_string());
            if self.last.len() > KEPT {
                self.last.pop_front();
            }
        }
    }

    fn system_line(&mut self, line: &str) {
        self.keep(line);
        let message = message::parse(line);
        // Without a program the system's own words are for the person at the shell; records are not.
        let shown = match message {
            Message::Error(_) => true,
            Message::Other => self.program.is_none(),
            _ => false,
        };
        if self.verbose || shown {
            self.tell(&[line.to_string()]);
        }
        match message {
            Message::Domain { asid, name } => {
                if Some(name.as_str()) == self.program && self.program_domain.is_none() {
                    self.program_domain = Some(asid);
                }
                self.domains.insert(asid, name);
            }
            Message::Fault(found) => {
                let text = fault::describe(&found, self.symbols);
                self.tell(std::slice::from_ref(&text));
                self.faults.push(text);
                if Some(found.asid) == self.program_domain {
                    self.program_faulted = true;
                }
            }
            Message::Exit { asid, status, .. } => {
                if Some(asid) == self.program_domain {
                    self.program_status.get_or_insert(status);
                }
            }
            Message::Objects(physical) => self.objects = Some(physical),
            Message::Error(_) | Message::Other => {}
        }
    }

    /// Lines for standard error.
    pub fn tell(&self, lines: &[String]) {
        for line in lines {
            eprintln!("pebble: {line}");
        }
    }

    /// How the program ended, when the system said so.
    pub fn program_status(&self) -> Option<i64> {
        self.program_status
    }

    /// The last words of firmware and system.
    pub fn last_words(&self) -> Vec<String> {
        self.last.iter().cloned().collect()
    }

    /// The system has said anything at all.
    pub fn came_up(&self) -> bool {
        self.spoke
    }

    /// The exit status of a run whose machine ended by itself.
    pub fn finish(&mut self, machine: ExitStatus, complaints: &str) -> Result<u8> {
        for line in [self.firmware.rest(), self.system.rest()]
            .into_iter()
            .flatten()
        {
            self.system_line(&line);
        }
        let Some(code) = machine.code() else {
            bail!("QEMU was ended by a signal ({machine})\n{complaints}");
        };
        if self.program_faulted {
            return Ok(FAULTED);
        }
        let Some(program) = self.program else {
            if !complaints.is_empty() && code != 0 {
                eprint!("{complaints}");
            }
            return Ok(code as u8);
        };
        match self.program_status {
            Some(status) if status as u8 == code as u8 => Ok(code as u8),
            Some(status) => {
                let line = format!(
                    "error: `{program}` ended with status {status}, but the machine with {code}"
                );
                self.tell(&[line]);
                Ok(status as u8)
            }
            None => {
                let words = self.last_words().join("\n  ");
                bail!(
                    "the machine ended (status {code}) before `{program}` did{}; last words:\n  {words}\n{complaints}",
                    if self.program_domain.is_none() { ", which was never started" } else { "" }
                )
            }
        }
    }

    /// The run as JSON.
    pub fn summary(&self, status: Option<u8>) -> String {
        json!({
            "program": self.program,
            "status": status,
            "timed_out": status == Some(124),
            "faults": self.faults,
            "domains": self.domains.values().collect::<Vec<_>>(),
        })
        .to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;

    fn run(stream: &[u8], code: i32) -> Result<u8> {
        let symbols = Symbols::new("/nowhere".into(), BTreeMap::new());
        let mut session = Session::with(Some("hello"), &symbols, BTreeMap::new(), false);
        session.feed(stream)?;
        session.finish(ExitStatus::from_raw(code << 8), "")
    }

    #[test]
    fn the_program_s_status_is_passed_on() -> Result<()> {
        assert_eq!(run(b"\x100domain 9 hello\nexit hello 9 0\n", 0)?, 0);
        assert_eq!(run(b"\x100domain 9 hello\nexit hello 9 3\n", 3)?, 3);
        assert_eq!(run(b"\x100domain 9 hello\nexit hello 9 259\n", 3)?, 3);
        Ok(())
    }

    #[test]
    fn keys_wait_for_the_shell() -> Result<()> {
        let symbols = Symbols::new("/nowhere".into(), BTreeMap::new());
        let mut session = Session::with(None, &symbols, BTreeMap::new(), false);
        session.shell = Some("shell".into());
        session.feed(b"\x100objects 8000\ndomain 9 console\n")?;
        assert!(!session.ready_for_input());
        session.feed(b"domain 12 shell\n")?;
        assert!(session.ready_for_input());
        Ok(())
    }

    #[test]
    fn a_fault_of_the_program_is_139_and_one_of_another_is_not() -> Result<()> {
        assert_eq!(
            run(b"\x100domain 9 hello\nfault hello 9 f 0 1000\n", 139)?,
            139
        );
        let child =
            b"\x100domain 9 hello\ndomain 10 hello\nfault hello a f 0 1000\nexit hello 9 0\n";
        assert_eq!(run(child, 0)?, 0);
        Ok(())
    }

    #[test]
    fn a_machine_that_ends_early_is_an_error() {
        for stream in [&b"OpenSBI\nboot failed\n"[..], b"\x100domain 9 hello\n"] {
            let Err(error) = run(stream, 0) else {
                panic!("accepted")
            };
            assert!(error.to_string().contains("before `hello` did"), "{error}");
        }
        let Err(error) = run(b"boot failed\n", 0) else {
            panic!("accepted")
        };
        assert!(
            error.to_string().contains("boot failed")
                && error.to_string().contains("never started")
        );
    }

    #[test]
    fn statuses_that_disagree_go_with_the_program() -> Result<()> {
        assert_eq!(run(b"\x100domain 9 hello\nexit hello 9 3\n", 0)?, 3);
        Ok(())
    }
}
