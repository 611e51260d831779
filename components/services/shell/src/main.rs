//! The shell: reads lines from the console, runs commands, prints what they say.
#![cfg_attr(target_os = "none", no_std, no_main)]

extern crate alloc;

mod system;

use alloc::string::String;

use pebble::Error;
use shell_commands::command::{parse, Command};
use shell_commands::editor::{Editor, Outcome};
use shell_commands::keys::{Decoder, Key};
use shell_commands::run::run as run_command;

use system::Portals;

pebble::main!(run);

/// Bytes that are read at a time.
const PORTION: usize = 64;
/// The prompt.
const PROMPT: &str = "pebble> ";

fn run() -> Result<(), Error> {
    pebble::println!("Pebble. `help` lists the commands, `shutdown` ends the system.");
    let system = Portals::new();
    let (mut decoder, mut editor) = (Decoder::new(), Editor::new(PROMPT));
    pebble::print!("{PROMPT}");
    loop {
        let mut bytes = [0; PORTION];
        let count = pebble::read(&mut bytes)?;
        if count == 0 {
            press(&system, &mut editor, Key::EndOfInput);
        }
        for &byte in &bytes[..count] {
            if let Some(key) = decoder.byte(byte) {
                press(&system, &mut editor, key);
            }
        }
    }
}

fn press(system: &Portals, editor: &mut Editor, key: Key) {
    let mut screen = String::new();
    let outcome = editor.press(key, &mut screen);
    pebble::print!("{screen}");
    match outcome {
        Outcome::Editing => return,
        Outcome::Cancelled => {}
        Outcome::Line(line) => obey(system, &line),
        Outcome::End(line) => {
            obey(system, &line);
            obey(system, "shutdown");
        }
    }
    pebble::print!("{}", editor.prompt());
}

fn obey(system: &Portals, line: &str) {
    let outcome = match parse(line) {
        Ok(command) => {
            if let Command::Shutdown(_) = command {
                // Nothing comes back from there.
                pebble::flush();
            }
            run_command(system, &command)
        }
        Err(mistake) => Err(alloc::format!("{mistake}")),
    };
    match outcome {
        Ok(text) => pebble::print!("{text}"),
        Err(text) => pebble::println!("{}", text.trim_end()),
    }
}
