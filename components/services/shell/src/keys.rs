//! Keys: what a terminal's bytes mean.
//!
//! Arrow keys and their like arrive as `ESC [ numbers letter` or `ESC O letter`; a terminal may send them in portions.

/// A key that the line editor knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// A printable character.
    Character(char),
    /// Return: the line is complete.
    Enter,
    /// Delete the character before the cursor.
    Backspace,
    /// Delete the character under the cursor.
    Delete,
    /// One to the left.
    Left,
    /// One to the right.
    Right,
    /// The line before in the history.
    Up,
    /// The line after in the history.
    Down,
    /// Start of the line.
    Home,
    /// End of the line.
    End,
    /// Control-C: drop the line.
    Cancel,
    /// Control-U: delete everything before the cursor.
    DeleteBefore,
    /// Control-K: delete everything from the cursor on.
    DeleteAfter,
    /// Control-W: delete the word before the cursor.
    DeleteWord,
    /// Control-L: clear the screen.
    Clear,
    /// Control-D: the end of input.
    EndOfInput,
}

/// Where in a sequence the last byte was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Plain,
    Escape,
    /// After `ESC [`: the number so far.
    Bracket(u8),
    /// After `ESC O`.
    Letter,
}

/// Puts bytes together to keys.
#[derive(Debug)]
pub struct Decoder {
    state: State,
    /// The last byte was a carriage return: a line feed right behind it belongs to it.
    after_return: bool,
}

impl Decoder {
    /// Before the first byte.
    pub const fn new() -> Self {
        Decoder {
            state: State::Plain,
            after_return: false,
        }
    }

    /// Takes a byte; answers the key that it completes.
    pub fn byte(&mut self, byte: u8) -> Option<Key> {
        let after_return = core::mem::replace(&mut self.after_return, byte == b'\r');
        match self.state {
            State::Plain if byte == b'\n' && after_return => None,
            State::Plain => self.plain(byte),
            State::Escape => {
                self.state = match byte {
                    b'[' => State::Bracket(0),
                    b'O' => State::Letter,
                    _ => State::Plain,
                };
                None
            }
            State::Bracket(number) => match byte {
                b'0'..=b'9' => {
                    let digit = byte - b'0';
                    self.state = State::Bracket(number.saturating_mul(10).saturating_add(digit));
                    None
                }
                // Further numbers tell about Shift and Control: the key stays the key.
                b' '..=b'?' => None,
                letter => {
                    self.state = State::Plain;
                    sequence(letter, number)
                }
            },
            State::Letter => {
                self.state = State::Plain;
                sequence(byte, 0)
            }
        }
    }

    fn plain(&mut self, byte: u8) -> Option<Key> {
        Some(match byte {
            b'\r' | b'\n' => Key::Enter,
            0x08 | 0x7f => Key::Backspace,
            0x01 => Key::Home,
            0x02 => Key::Left,
            0x03 => Key::Cancel,
            0x04 => Key::EndOfInput,
            0x05 => Key::End,
            0x06 => Key::Right,
            0x0b => Key::DeleteAfter,
            0x0c => Key::Clear,
            0x0e => Key::Down,
            0x10 => Key::Up,
            0x15 => Key::DeleteBefore,
            0x17 => Key::DeleteWord,
            0x1b => {
                self.state = State::Escape;
                return None;
            }
            // Names and commands are ASCII; what is not is no part of any.
            b' '..=b'~' => Key::Character(char::from(byte)),
            _ => return None,
        })
    }
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new()
    }
}

/// What a sequence with this letter and first number means.
fn sequence(letter: u8, number: u8) -> Option<Key> {
    match (letter, number) {
        (b'A', _) => Some(Key::Up),
        (b'B', _) => Some(Key::Down),
        (b'C', _) => Some(Key::Right),
        (b'D', _) => Some(Key::Left),
        (b'H', _) | (b'~', 1 | 7) => Some(Key::Home),
        (b'F', _) | (b'~', 4 | 8) => Some(Key::End),
        (b'~', 3) => Some(Key::Delete),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(bytes: &[u8]) -> Vec<Key> {
        let mut decoder = Decoder::new();
        bytes
            .iter()
            .filter_map(|&byte| decoder.byte(byte))
            .collect()
    }

    #[test]
    fn sequences_are_one_key_and_unknown_ones_none() {
        assert_eq!(
            keys(b"\x1b[A\x1b[B\x1b[C\x1b[D"),
            [Key::Up, Key::Down, Key::Right, Key::Left]
        );
        assert_eq!(
            keys(b"\x1bOA\x1b[1;5C\x1b[3~"),
            [Key::Up, Key::Right, Key::Delete]
        );
        assert_eq!(
            keys(b"\x1b[H\x1b[4~\x1b[7~\x1bOF"),
            [Key::Home, Key::End, Key::Home, Key::End]
        );
        assert_eq!(
            keys(b"\x1b[15~\x1b[999999~\x1bxa\x1b[Z"),
            [Key::Character('a')]
        );
    }

    #[test]
    fn a_line_ends_once_however_it_ends() {
        assert_eq!(keys(b"\r"), [Key::Enter]);
        assert_eq!(keys(b"\n\n"), [Key::Enter, Key::Enter]);
        assert_eq!(keys(b"\r\n\r\n"), [Key::Enter, Key::Enter]);
        assert_eq!(
            keys(b"\ra\n"),
            [Key::Enter, Key::Character('a'), Key::Enter]
        );
    }

    #[test]
    fn control_keys_and_what_is_not_ascii() {
        assert_eq!(
            keys(b"\x03\x15\x17\x7f\x08\x0c\x04\x01\x05"),
            [
                Key::Cancel,
                Key::DeleteBefore,
                Key::DeleteWord,
                Key::Backspace,
                Key::Backspace,
                Key::Clear,
                Key::EndOfInput,
                Key::Home,
                Key::End
            ]
        );
        assert_eq!(keys("äx\0\t".as_bytes()), [Key::Character('x')]);
    }
}
