//! Names on their way through a window.

use pebble_abi::errno::Errno;
use pebble_abi::slot::NAMELEN;

use crate::Error;

/// A name or specification with its closing NUL. Aligned to its size, so that it never crosses a page: a window
/// shows one.
#[repr(C, align(64))]
pub(crate) struct Name([u8; NAMELEN]);

const _: () = assert!(NAMELEN == 64, "the alignment above is the size");

impl Name {
    pub(crate) fn new(text: &str) -> Result<Self, Error> {
        if text.len() >= NAMELEN {
            return Err(Errno::NameTooLong.into());
        }
        if text.as_bytes().contains(&0) {
            return Err(Errno::Invalid.into());
        }
        let mut bytes = [0; NAMELEN];
        bytes[..text.len()].copy_from_slice(text.as_bytes());
        Ok(Name(bytes))
    }

    /// For a portal's argument; valid while `self` lives.
    pub(crate) fn address(&self) -> usize {
        self.0.as_ptr() as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_ends_with_nul_within_one_page() {
        let name = Name::new("/console/write").unwrap();
        assert_eq!(&name.0[..15], b"/console/write\0");
        assert_eq!(name.address() % NAMELEN, 0);
    }

    #[test]
    fn names_that_do_not_fit_are_refused() {
        let longest = "x".repeat(NAMELEN - 1);
        assert!(Name::new(&longest).is_ok());
        assert_eq!(
            Name::new(&(longest + "x")).err(),
            Some(Errno::NameTooLong.into())
        );
        assert_eq!(Name::new("a\0b").err(), Some(Errno::Invalid.into()));
    }
}
