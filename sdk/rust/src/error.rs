//! Errors: what a portal answers below zero.

use core::fmt;

use pebble_abi::errno::{Errno, ALL};

/// A failed call: one POSIX number. Servers may answer numbers that the system itself does not use, so this is
/// not an enumeration; compare with [`Errno`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Error(pub i32);

impl From<Errno> for Error {
    fn from(errno: Errno) -> Self {
        Error(errno as i32)
    }
}

impl PartialEq<Errno> for Error {
    fn eq(&self, other: &Errno) -> bool {
        self.0 == *other as i32
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match ALL.iter().find(|(_, number, _)| *number == self.0) {
            Some((name, _, meaning)) => write!(formatter, "{meaning} ({name})"),
            None => write!(formatter, "error {}", self.0),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl core::error::Error for Error {}

/// Takes a portal's answer apart: below zero is an error.
pub fn answer(value: isize) -> Result<usize, Error> {
    usize::try_from(value).map_err(|_| Error(value.unsigned_abs() as i32))
}

/// Puts an answer together, for entries of servers.
pub fn code(result: Result<usize, Error>) -> isize {
    match result {
        Ok(value) => value as isize,
        Err(error) => -(error.0 as isize),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_survive_the_wire() {
        for value in [0, 1, 0x7fff_ffff, -1, -13, -130] {
            assert_eq!(code(answer(value)), value);
        }
        assert_eq!(answer(-13), Err(Error::from(Errno::Access)));
        assert!(Error(2) == Errno::NoEntry && Error(3) != Errno::NoEntry);
    }

    #[test]
    fn errors_say_what_they_mean() {
        assert_eq!(std::format!("{}", Error(2)), "no such name (ENOENT)");
        assert_eq!(std::format!("{}", Error(99)), "error 99");
    }
}
