//! Names and patterns of names: `/console/write`, and `/console/*` for a whole subtree.

use pebble::abi::slot::NAMELEN;
use pebble::{Errno, Error};

/// A name: absolute, its parts not empty, of letters, digits, `.`, `_` and `-`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Text {
    bytes: [u8; NAMELEN - 1],
    length: u8,
}

impl Text {
    /// No name; a place for one.
    pub const EMPTY: Text = Text {
        bytes: [0; NAMELEN - 1],
        length: 0,
    };

    /// Checks a name.
    pub fn name(bytes: &[u8]) -> Result<Text, Error> {
        let parts = bytes.strip_prefix(b"/").ok_or(Errno::Invalid)?;
        for part in parts.split(|&byte| byte == b'/') {
            let known = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-".contains(byte);
            // A part of dots only would look like a way up.
            if part.iter().all(|&byte| byte == b'.') || !part.iter().all(known) {
                return Err(Errno::Invalid.into());
            }
        }
        Text::copy(bytes)
    }

    fn copy(from: &[u8]) -> Result<Text, Error> {
        let mut text = Text::EMPTY;
        text.bytes
            .get_mut(..from.len())
            .ok_or(Errno::NameTooLong)?
            .copy_from_slice(from);
        text.length = from.len() as u8;
        Ok(text)
    }

    /// The bytes of it.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length as usize]
    }

    /// This name lies in the subtree below `other`.
    pub fn is_below(&self, other: &Text) -> bool {
        self.bytes()
            .strip_prefix(other.bytes())
            .is_some_and(|rest| rest.first() == Some(&b'/'))
    }
}

impl core::fmt::Debug for Text {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.write_str(core::str::from_utf8(self.bytes()).unwrap_or("?"))
    }
}

/// One name, or all names below one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pattern {
    name: Text,
    subtree: bool,
}

impl Pattern {
    /// Covers nothing; a place for a pattern.
    pub const NONE: Pattern = Pattern {
        name: Text::EMPTY,
        subtree: false,
    };

    /// Checks a pattern: a name, a name with `/*` at its end, or `/*`.
    pub fn new(bytes: &[u8]) -> Result<Pattern, Error> {
        match bytes.strip_suffix(b"/*") {
            Some(b"") => Ok(Pattern {
                name: Text::EMPTY,
                subtree: true,
            }),
            Some(name) => Ok(Pattern {
                name: Text::name(name)?,
                subtree: true,
            }),
            None => Ok(Pattern {
                name: Text::name(bytes)?,
                subtree: false,
            }),
        }
    }

    /// The name is one of those meant. A subtree's own root is not below itself.
    pub fn covers(&self, name: &Text) -> bool {
        if self.subtree {
            name.is_below(&self.name)
        } else {
            *name == self.name && name.length > 0
        }
    }

    /// Every name that `other` means is meant by this pattern too.
    pub fn includes(&self, other: &Pattern) -> bool {
        match (self.subtree, other.subtree) {
            (_, false) => self.covers(&other.name),
            (true, true) => self.name == other.name || other.name.is_below(&self.name),
            (false, true) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Text {
        Text::name(text.as_bytes()).unwrap()
    }

    fn pattern(text: &str) -> Pattern {
        Pattern::new(text.as_bytes()).unwrap()
    }

    #[test]
    fn bad_names_are_refused() {
        for bad in [
            "", "/", "console", "/a//b", "/a/", "/a b", "/a/*", "/a/..", "/.", "/a\n", "/\u{e9}",
        ] {
            assert_eq!(
                Text::name(bad.as_bytes()),
                Err(Errno::Invalid.into()),
                "{bad:?}"
            );
        }
        for good in ["/a", "/console/write", "/pipe/3/read", "/a.b/c_d-e"] {
            assert_eq!(name(good).bytes(), good.as_bytes());
        }
        let long = format!("/{}", "x".repeat(NAMELEN - 2));
        assert!(Text::name(long.as_bytes()).is_ok());
        assert_eq!(
            Text::name((long + "x").as_bytes()),
            Err(Errno::NameTooLong.into())
        );
    }

    #[test]
    fn a_subtree_ends_at_a_slash() {
        assert!(pattern("/console/*").covers(&name("/console/write")));
        assert!(pattern("/console/*").covers(&name("/console/a/b")));
        assert!(!pattern("/console/*").covers(&name("/console")));
        assert!(!pattern("/console/*").covers(&name("/consoles/write")));
        assert!(pattern("/*").covers(&name("/anything")));
        assert!(pattern("/a").covers(&name("/a")));
        assert!(!pattern("/a").covers(&name("/a/b")));
        assert!(!Pattern::NONE.covers(&name("/a")));
    }

    /// `includes` says the same as comparing what both cover, over all short patterns and names.
    #[test]
    fn inclusion_agrees_with_coverage() {
        let names: Vec<Text> = [
            "/a", "/b", "/a/a", "/a/b", "/b/a", "/a/a/a", "/a/a/b", "/a/b/a", "/ab", "/ab/a",
        ]
        .map(name)
        .to_vec();
        let patterns: Vec<Pattern> = [
            "/*", "/a", "/a/*", "/b/*", "/a/a", "/a/a/*", "/a/b", "/a/b/*", "/ab", "/ab/*",
        ]
        .map(pattern)
        .to_vec();
        for wide in &patterns {
            for narrow in &patterns {
                let expected = names
                    .iter()
                    .all(|name| !narrow.covers(name) || wide.covers(name));
                // A subtree has names beyond the sample: a single name never includes one.
                let expected = expected && (wide.subtree || !narrow.subtree);
                assert_eq!(wide.includes(narrow), expected, "{wide:?} {narrow:?}");
            }
        }
    }
}
