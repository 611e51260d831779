//! Pipes: bytes from one domain to another, in order, with a bounded buffer between.
//!
//! `create` answers a pipe's number; its two ends are the services `/pipe/NUMBER/...` (see [`EndName`]). Only the
//! domain that made the pipe and the peer it named may use them, whoever else opens the names.

use crate::Service;

/// Make a pipe: `create(a1 = peer's domain)`, 0 for a pipe of one's own.
pub const CREATE: Service = Service {
    c_name: "PIPE_CREATE",
    name: "/pipe/create",
    specification: "nmdi",
    meaning: "make a pipe between the caller and a peer: (peer's domain, 0: only the caller); answers its number",
};

/// All services with a fixed name.
pub const ALL: &[Service] = &[CREATE];

/// Pipes at one time.
pub const PIPES: usize = 8;
/// Bytes that a pipe holds.
pub const CAPACITY: usize = 4096;

/// What can be done to a pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// `read(a1 = buffer, a2 = length)`: waits for at least one byte; 0 when the writing end is closed.
    Read,
    /// `write(a1 = buffer, a2 = length)`: waits until all is taken; `-EPIPE` when the reading end is closed.
    Write,
    /// `close(a1 = end)`: 0 the reading end, 1 the writing end. With both closed the pipe is gone.
    Close,
}

impl Operation {
    /// All of them.
    pub const ALL: [Operation; 3] = [Operation::Read, Operation::Write, Operation::Close];

    /// Last part of the service's name.
    pub const fn word(self) -> &'static str {
        match self {
            Operation::Read => "read",
            Operation::Write => "write",
            Operation::Close => "close",
        }
    }

    /// The invoking domain arrives behind the arguments.
    pub const fn specification(self) -> &'static str {
        match self {
            Operation::Read => "nmcwid",
            Operation::Write => "nmcrid",
            Operation::Close => "nmcid",
        }
    }
}

/// [`Operation::Close`]: the end to close.
pub const READING_END: usize = 0;
/// [`Operation::Close`]: the end to close.
pub const WRITING_END: usize = 1;

/// Name of one service of a pipe, such as `/pipe/3/read`.
#[derive(Clone, Copy, Debug)]
pub struct EndName {
    bytes: [u8; 16],
    length: usize,
}

const _: () = assert!(PIPES <= 10, "one digit");

impl EndName {
    /// The name for pipe `number`, which is below [`PIPES`].
    pub fn new(number: usize, operation: Operation) -> Self {
        let mut bytes = [0; 16];
        let mut length = 0;
        let digit = [b'0' + (number % PIPES) as u8];
        for part in [b"/pipe/", &digit[..], b"/", operation.word().as_bytes()] {
            bytes[length..length + part.len()].copy_from_slice(part);
            length += part.len();
        }
        EndName { bytes, length }
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        core::str::from_utf8(&self.bytes[..self.length]).unwrap_or("")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_ends() {
        assert_eq!(EndName::new(3, Operation::Read).as_str(), "/pipe/3/read");
        assert_eq!(EndName::new(0, Operation::Close).as_str(), "/pipe/0/close");
    }
}
