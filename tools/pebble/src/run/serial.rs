//! Takes the serial line apart: program output, program errors, system messages, firmware noise.

use pebble_abi::log::{ERROR, ESCAPE, OUTPUT, SYSTEM};

/// Where bytes belong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// Before the system's first word.
    Firmware,
    /// The system's messages.
    System,
    /// Standard output.
    Output,
    /// Standard error.
    Error,
}

/// A splitter; bytes may arrive in any portions.
pub struct Splitter {
    channel: Channel,
    escaped: bool,
}

impl Splitter {
    /// At the start of the line.
    pub fn new() -> Self {
        Splitter {
            channel: Channel::Firmware,
            escaped: false,
        }
    }

    /// Hands on each run of bytes with its channel.
    pub fn split(&mut self, bytes: &[u8], mut sink: impl FnMut(Channel, &[u8])) {
        let mut run = Vec::with_capacity(bytes.len());
        for byte in bytes {
            if self.escaped {
                self.escaped = false;
                let channel = match *byte {
                    SYSTEM => Channel::System,
                    OUTPUT => Channel::Output,
                    ERROR => Channel::Error,
                    // The escape itself, or a channel that this tool does not know: keep the byte.
                    _ => {
                        run.push(*byte);
                        continue;
                    }
                };
                if !run.is_empty() {
                    sink(self.channel, &run);
                    run.clear();
                }
                self.channel = channel;
            } else if *byte == ESCAPE {
                self.escaped = true;
            } else {
                run.push(*byte);
            }
        }
        if !run.is_empty() {
            sink(self.channel, &run);
        }
    }
}

/// Puts the bytes of one channel together to lines.
#[derive(Default)]
pub struct Lines(Vec<u8>);

impl Lines {
    /// Adds bytes; answers the lines that they complete.
    pub fn add(&mut self, bytes: &[u8]) -> Vec<String> {
        let mut lines = Vec::new();
        for byte in bytes {
            match byte {
                b'\n' => lines.push(self.take()),
                b'\r' => {}
                byte => self.0.push(*byte),
            }
        }
        lines
    }

    /// What is left without a line's end.
    pub fn rest(&mut self) -> Option<String> {
        (!self.0.is_empty()).then(|| self.take())
    }

    fn take(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.0)).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &[u8] = b"OpenSBI\n\x100domain 7 a\n\x101out\x10\x10put\x102oops\x101more";

    fn parts(portion: usize) -> Vec<(Channel, Vec<u8>)> {
        let mut splitter = Splitter::new();
        let mut parts: Vec<(Channel, Vec<u8>)> = Vec::new();
        for bytes in STREAM.chunks(portion) {
            splitter.split(bytes, |channel, run| match parts.last_mut() {
                Some((last, bytes)) if *last == channel => bytes.extend(run),
                _ => parts.push((channel, run.to_vec())),
            });
        }
        parts
    }

    #[test]
    fn channels_are_told_apart_in_portions_of_any_size() {
        let expected = vec![
            (Channel::Firmware, b"OpenSBI\n".to_vec()),
            (Channel::System, b"domain 7 a\n".to_vec()),
            (Channel::Output, b"out\x10put".to_vec()),
            (Channel::Error, b"oops".to_vec()),
            (Channel::Output, b"more".to_vec()),
        ];
        for portion in 1..=STREAM.len() {
            assert_eq!(parts(portion), expected, "portions of {portion}");
        }
    }

    #[test]
    fn lines_lose_their_ends_and_nothing_else() {
        let mut lines = Lines::default();
        assert_eq!(lines.add(b"one\r\ntw"), ["one"]);
        assert_eq!(lines.add(b"o\n\nthr"), ["two", ""]);
        assert_eq!(lines.rest(), Some("thr".into()));
        assert_eq!(lines.rest(), None);
    }
}
