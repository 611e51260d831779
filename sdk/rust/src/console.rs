//! Standard input, output and error: the console's portals, opened when first used.
//!
//! A line goes out when it ends, in one call, so that lines of several threads do not mix.

use core::fmt::{self, Write};
use core::sync::atomic::{AtomicUsize, Ordering};

use pebble_interfaces::{console, Service};

use crate::error::answer;
use crate::{invoke_portal, portal_open, Error, Mutex};

/// One of the console's outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Output,
    /// Standard error.
    Error,
    /// The system's messages: whole lines.
    Log,
}

/// The portal of one console service, opened when first used. Two threads may both open it: what they find is the
/// same service.
struct Portal(AtomicUsize, Service);

impl Portal {
    const fn new(service: Service) -> Self {
        Portal(AtomicUsize::new(0), service)
    }

    fn slot(&self) -> Result<usize, Error> {
        match self.0.load(Ordering::Relaxed) {
            0 => {
                let slot = portal_open(self.1.name)?;
                self.0.store(slot, Ordering::Relaxed);
                Ok(slot)
            }
            slot => Ok(slot),
        }
    }
}

static INPUT: Portal = Portal::new(console::READ);
static OUTPUTS: [Portal; 3] = [
    Portal::new(console::WRITE),
    Portal::new(console::ERROR),
    Portal::new(console::LOG),
];

/// How many of `length` bytes at `address` lie in the first page: what one window shows.
fn piece(address: usize, length: usize) -> usize {
    length.min(console::MOST - address % console::MOST)
}

/// Writes all bytes.
pub fn console_write(stream: Stream, mut bytes: &[u8]) -> Result<(), Error> {
    let slot = OUTPUTS[stream as usize].slot()?;
    while !bytes.is_empty() {
        let address = bytes.as_ptr() as usize;
        let written = answer(invoke_portal(
            slot,
            address,
            piece(address, bytes.len()),
            0,
            0,
            0,
        ))?;
        bytes = bytes.get(written.max(1)..).unwrap_or(&[]);
    }
    Ok(())
}

/// Reads what there is, at least one byte, after sending what was printed; 0 at the end of input or for an empty buffer.
pub fn read(buffer: &mut [u8]) -> Result<usize, Error> {
    if buffer.is_empty() {
        return Ok(0);
    }
    flush();
    let address = buffer.as_mut_ptr() as usize;
    answer(invoke_portal(
        INPUT.slot()?,
        address,
        piece(address, buffer.len()),
        0,
        0,
        0,
    ))
}

/// Bytes of a line that are collected; a longer line goes out in parts.
const LINE: usize = 512;

/// A line not yet ended. Aligned, so that one window shows it. All zero at first, so that it costs no image.
#[repr(align(512))]
struct Line {
    bytes: [u8; LINE],
    used: usize,
}

impl Line {
    const fn new() -> Self {
        Line {
            bytes: [0; LINE],
            used: 0,
        }
    }

    fn flush(&mut self, stream: Stream) {
        // Like `printf` to a closed descriptor: output that cannot go out is lost, the program goes on.
        let _ = console_write(stream, &self.bytes[..self.used]);
        self.used = 0;
    }
}

/// Formatted text on its way through a line to a stream.
struct Writer<'a>(&'a mut Line, Stream);

impl Write for Writer<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let Writer(line, stream) = self;
        for byte in text.bytes() {
            line.bytes[line.used] = byte;
            line.used += 1;
            if byte == b'\n' || line.used == LINE {
                line.flush(*stream);
            }
        }
        Ok(())
    }
}

const STREAMS: [Stream; 3] = [Stream::Output, Stream::Error, Stream::Log];
static LINES: [Mutex<Line>; 3] = [const { Mutex::new(Line::new()) }; 3];

/// What `print!`, `eprint!` and `log!` call.
pub fn print(stream: Stream, arguments: fmt::Arguments<'_>) {
    let mut line = LINES[stream as usize].lock();
    // A `Writer` takes everything; a failing `Display` of the caller ends the text early, as in `std`.
    let _ = Writer(&mut line, stream).write_fmt(arguments);
}

/// Sends lines that have not ended: prompts.
pub fn flush() {
    for stream in STREAMS {
        let mut line = LINES[stream as usize].lock();
        if line.used > 0 {
            line.flush(stream);
        }
    }
}

/// Runs `function` while no other thread is in the middle of a line.
pub(crate) fn while_locked<T>(function: impl FnOnce() -> T) -> T {
    let _guards = [LINES[0].lock(), LINES[1].lock(), LINES[2].lock()];
    function()
}

/// A panic's message: without locks, which the panicking thread may hold.
#[cfg(target_os = "none")]
pub(crate) fn last_words(arguments: fmt::Arguments<'_>) {
    let mut line = Line::new();
    let _ = Writer(&mut line, Stream::Error).write_fmt(arguments);
    line.flush(Stream::Error);
}

/// Formatted text to standard output.
#[macro_export]
macro_rules! print {
    ($($argument:tt)*) => { $crate::print($crate::Stream::Output, format_args!($($argument)*)) };
}
/// A formatted line to standard output.
#[macro_export]
macro_rules! println {
    () => { $crate::print!("\n") };
    ($($argument:tt)*) => { $crate::print($crate::Stream::Output, format_args!("{}\n", format_args!($($argument)*))) };
}
/// Formatted text to standard error.
#[macro_export]
macro_rules! eprint {
    ($($argument:tt)*) => { $crate::print($crate::Stream::Error, format_args!($($argument)*)) };
}
/// A formatted line to standard error.
#[macro_export]
macro_rules! eprintln {
    () => { $crate::eprint!("\n") };
    ($($argument:tt)*) => { $crate::print($crate::Stream::Error, format_args!("{}\n", format_args!($($argument)*))) };
}
/// A formatted line to the system's messages, for drivers and services.
#[macro_export]
macro_rules! log {
    ($($argument:tt)*) => { $crate::print($crate::Stream::Log, format_args!("{}\n", format_args!($($argument)*))) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_end_at_pages() {
        assert_eq!(piece(0x1000, 10_000), 4096);
        assert_eq!(piece(0x1ff0, 10_000), 16);
        assert_eq!(piece(0x1ff0, 5), 5);
    }

    #[test]
    fn a_line_is_sent_when_it_ends() {
        let mut line = Line::new();
        let mut write = |text: &str| {
            Writer(&mut line, Stream::Output).write_str(text).unwrap();
            line.bytes[..line.used].to_vec()
        };
        assert_eq!(write("no end"), b"no end");
        assert_eq!(write(" yet\nnext"), b"next");
        assert_eq!(write(&"x".repeat(LINE)), b"xxxx");
    }
}
