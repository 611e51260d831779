//! What people see: standard error only, little of it, and nothing left behind on a terminal.
//!
//! Standard output belongs to the program that runs (or to a command's own result).

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// How to talk to the person or program at the other end.
pub struct Report {
    verbose: bool,
    json: bool,
    terminal: bool,
    pending: AtomicBool,
}

impl Report {
    /// A report with the options `-v` and `--json`.
    pub fn new(verbose: bool, json: bool) -> Self {
        Report {
            verbose,
            json,
            terminal: std::io::stderr().is_terminal(),
            pending: AtomicBool::new(false),
        }
    }

    /// Everything is to be shown.
    pub fn verbose(&self) -> bool {
        self.verbose
    }

    /// Reports are to be JSON.
    pub fn json(&self) -> bool {
        self.json
    }

    /// Says what happens now: a line that the next one replaces, or a lasting line with `-v`.
    pub fn step(&self, text: &str) {
        if self.verbose {
            eprintln!("pebble: {text}");
        } else if self.terminal {
            eprint!("\r\x1b[K{text} ...");
            let _ = std::io::stderr().flush();
            self.pending.store(true, Ordering::Relaxed);
        }
    }

    /// Says something that stays: a set-up step, a long build.
    pub fn note(&self, text: &str) {
        self.clear();
        eprintln!("pebble: {text}");
    }

    /// Takes a pending step off the terminal.
    pub fn clear(&self) {
        if self.pending.swap(false, Ordering::Relaxed) {
            eprint!("\r\x1b[K");
            let _ = std::io::stderr().flush();
        }
    }
}
