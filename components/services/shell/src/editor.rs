//! The line editor: a line, a cursor, a history, and what to send to the terminal.
//!
//! Small and our own: `noline` asks the terminal where its cursor is before each line and waits for the answer, which a
//! script's input or a log cannot give; `embedded-cli` knows neither Control-C nor Control-U and brings a command
//! framework along. Text that is typed at the end of a line is only echoed, so a recorded session is readable.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::keys::Key;

/// Characters of a line: what fits a terminal's line behind the prompt, twice.
pub const LONGEST: usize = 160;
/// Lines that are kept.
const KEPT: usize = 32;
/// Tells that a key did nothing.
const BELL: char = '\x07';

/// What a key led to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The line goes on.
    Editing,
    /// The line is complete.
    Line(String),
    /// Control-C: forget the line, show a new prompt.
    Cancelled,
    /// The end of input, behind what was typed without an end.
    End(String),
}

/// State of the line.
#[derive(Debug)]
pub struct Editor {
    prompt: &'static str,
    /// ASCII only, so that characters are bytes.
    line: String,
    cursor: usize,
    history: Vec<String>,
    /// Line of the history that is shown; its length: the new line.
    shown: usize,
    /// The new line, while another one is shown.
    pending: String,
}

impl Editor {
    /// Nothing typed yet.
    pub const fn new(prompt: &'static str) -> Self {
        Editor {
            prompt,
            line: String::new(),
            cursor: 0,
            history: Vec::new(),
            shown: 0,
            pending: String::new(),
        }
    }

    /// The prompt for a new line.
    pub fn prompt(&self) -> &'static str {
        self.prompt
    }

    /// Takes a key; adds to `screen` what the terminal is to show.
    pub fn press(&mut self, key: Key, screen: &mut String) -> Outcome {
        match key {
            Key::Enter => {
                screen.push('\n');
                return Outcome::Line(self.complete());
            }
            Key::Cancel => {
                screen.push_str("^C\n");
                self.clear();
                return Outcome::Cancelled;
            }
            Key::EndOfInput => {
                screen.push('\n');
                return Outcome::End(self.complete());
            }
            Key::Character(letter) => self.insert(letter, screen),
            Key::Backspace if self.cursor > 0 => self.delete(self.cursor - 1, self.cursor, screen),
            Key::Delete if self.cursor < self.line.len() => {
                self.delete(self.cursor, self.cursor + 1, screen);
            }
            Key::DeleteBefore => self.delete(0, self.cursor, screen),
            Key::DeleteAfter => self.delete(self.cursor, self.line.len(), screen),
            Key::DeleteWord => {
                let before = self.line[..self.cursor].trim_end();
                let start = before.rfind(' ').map_or(0, |space| space + 1);
                self.delete(start, self.cursor, screen);
            }
            Key::Left if self.cursor > 0 => self.place(self.cursor - 1, screen),
            Key::Right if self.cursor < self.line.len() => self.place(self.cursor + 1, screen),
            Key::Home => self.place(0, screen),
            Key::End => self.place(self.line.len(), screen),
            Key::Up if self.shown > 0 => self.recall(self.shown - 1, screen),
            Key::Down if self.shown < self.history.len() => self.recall(self.shown + 1, screen),
            Key::Clear => {
                screen.push_str("\x1b[H\x1b[2J");
                self.draw(screen);
            }
            Key::Backspace | Key::Delete | Key::Left | Key::Right | Key::Up | Key::Down => {
                screen.push(BELL);
            }
        }
        Outcome::Editing
    }

    fn insert(&mut self, letter: char, screen: &mut String) {
        if self.line.len() >= LONGEST || !letter.is_ascii() {
            screen.push(BELL);
            return;
        }
        self.line.insert(self.cursor, letter);
        self.cursor += 1;
        if self.cursor == self.line.len() {
            screen.push(letter);
        } else {
            self.draw(screen);
        }
    }

    fn delete(&mut self, start: usize, end: usize, screen: &mut String) {
        if start == end {
            return;
        }
        self.line.drain(start..end);
        self.cursor = start;
        self.draw(screen);
    }

    fn place(&mut self, cursor: usize, screen: &mut String) {
        self.cursor = cursor;
        self.draw(screen);
    }

    /// Shows a line of the history, or the new one behind the last.
    fn recall(&mut self, index: usize, screen: &mut String) {
        if self.shown == self.history.len() {
            self.pending = core::mem::take(&mut self.line);
        }
        self.line = match self.history.get(index) {
            Some(line) => line.clone(),
            None => core::mem::take(&mut self.pending),
        };
        self.shown = index;
        self.cursor = self.line.len();
        self.draw(screen);
    }

    /// The whole line anew, the rest of the terminal's line empty, the cursor in its place.
    fn draw(&self, screen: &mut String) {
        *screen += &format!("\r{}{}\x1b[K", self.prompt, self.line);
        let back = self.line.len() - self.cursor;
        if back > 0 {
            *screen += &format!("\x1b[{back}D");
        }
    }

    fn clear(&mut self) {
        self.line.clear();
        self.cursor = 0;
        self.pending.clear();
        self.shown = self.history.len();
    }

    fn complete(&mut self) -> String {
        let line = core::mem::take(&mut self.line);
        if !line.trim().is_empty() && self.history.last() != Some(&line) {
            if self.history.len() == KEPT {
                self.history.remove(0);
            }
            self.history.push(line.clone());
        }
        self.clear();
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::Decoder;

    /// Types bytes; answers complete lines (`^C` for a cancelled one) and everything that the terminal got.
    fn type_in(editor: &mut Editor, bytes: &[u8]) -> (Vec<String>, String) {
        let (mut decoder, mut lines, mut screen) = (Decoder::new(), Vec::new(), String::new());
        for &byte in bytes {
            match decoder.byte(byte).map(|key| editor.press(key, &mut screen)) {
                Some(Outcome::Line(line)) => lines.push(line),
                Some(Outcome::Cancelled) => lines.push("^C".into()),
                Some(Outcome::End(line)) => lines.push(line + "^D"),
                Some(Outcome::Editing) | None => {}
            }
        }
        (lines, screen)
    }

    fn lines(bytes: &[u8]) -> Vec<String> {
        type_in(&mut Editor::new("> "), bytes).0
    }

    #[test]
    fn what_is_typed_is_echoed_and_nothing_else() {
        let (lines, screen) = type_in(&mut Editor::new("> "), b"memory\rdate\n");
        assert_eq!(lines, ["memory", "date"]);
        assert_eq!(screen, "memory\ndate\n");
    }

    #[test]
    fn the_line_can_be_corrected_everywhere() {
        for (typed, line) in [
            (&b"memri\x7f\x7fory\r"[..], "memory"),
            (b"tart x\x01s\r", "start x"),
            (b"ab\x1b[D\x1b[Dcd\r", "cdab"),
            (b"abc\x1b[D\x1b[3~d\r", "abd"),
            (b"start one  two\x17three\r", "start one  three"),
            (b"nonsense\x15date\r", "date"),
            (
                b"datememory\x1b[D\x1b[D\x1b[D\x1b[D\x1b[D\x1b[D\x0b\r",
                "date",
            ),
            (b"\x7f\x1b[3~\x1b[C\x15x\r", "x"),
        ] {
            assert_eq!(lines(typed), [line], "{:?}", String::from_utf8_lossy(typed));
        }
    }

    #[test]
    fn the_screen_follows() {
        let (_, screen) = type_in(&mut Editor::new("> "), b"ac\x1b[Db");
        assert_eq!(screen, "ac\r> ac\x1b[K\x1b[1D\r> abc\x1b[K\x1b[1D");
    }

    #[test]
    fn control_c_drops_the_line_and_control_d_ends_it() {
        assert_eq!(lines(b"stop console\x03date\r"), ["^C", "date"]);
        assert_eq!(lines(b"\x04"), ["^D"]);
        assert_eq!(lines(b"date\x04"), ["date^D"]);
    }

    #[test]
    fn the_history_goes_back_and_forth() {
        let mut editor = Editor::new("> ");
        type_in(&mut editor, b"one\rtwo\rtwo\r\r  \r");
        let up = b"\x1b[A".as_slice();
        let down = b"\x1b[B".as_slice();
        assert_eq!(type_in(&mut editor, &[up, b"\r"].concat()).0, ["two"]);
        assert_eq!(type_in(&mut editor, &[up, up, b"\r"].concat()).0, ["one"]);
        // What was being typed comes back behind the last line; the history itself does not change.
        let typed = [b"new".as_slice(), up, up, b"X", down, down, b"er\r"].concat();
        assert_eq!(type_in(&mut editor, &typed).0, ["newer"]);
        assert_eq!(
            type_in(&mut editor, &[up, up, up, up, up, b"\r"].concat()).0,
            ["one"]
        );
    }

    #[test]
    fn history_and_line_are_bounded() {
        let mut editor = Editor::new("> ");
        for number in 0..KEPT + 5 {
            type_in(&mut editor, format!("{number}\r").as_bytes());
        }
        let back: Vec<u8> = b"\x1b[A".repeat(KEPT + 20);
        assert_eq!(type_in(&mut editor, &[&back[..], b"\r"].concat()).0, ["5"]);
        let long = [b'x'; LONGEST + 10];
        let (lines, screen) = type_in(&mut editor, &[&long[..], b"\r"].concat());
        assert_eq!(lines, ["x".repeat(LONGEST)]);
        assert_eq!(screen.matches(BELL).count(), 10);
    }
}
