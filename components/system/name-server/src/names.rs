//! Names and what they mean: a portal's number at the portal manager, and whose it is.

use pebble::abi::layout::MAX_DOMAINS;
use pebble::{Errno, Error};

use crate::Text;

/// Names that one component may offer.
pub const NAMES: usize = 32;

#[derive(Clone, Copy)]
struct Name {
    text: Text,
    portal: usize,
}

/// All names, by the domain that offers them.
pub struct Names {
    names: [[Name; NAMES]; MAX_DOMAINS],
    used: [u8; MAX_DOMAINS],
}

impl Names {
    /// No names.
    pub const fn new() -> Self {
        Names {
            names: [[Name {
                text: Text::EMPTY,
                portal: 0,
            }; NAMES]; MAX_DOMAINS],
            used: [0; MAX_DOMAINS],
        }
    }

    fn all(&self) -> impl Iterator<Item = &Name> {
        self.names
            .iter()
            .zip(&self.used)
            .flat_map(|(names, &used)| &names[..used as usize])
    }

    /// Offers a portal. A name is a leaf or an inner node of the tree, not both: what is offered under `/a` cannot
    /// be shadowed by a service `/a`.
    pub fn bind(&mut self, text: Text, portal: usize, owner: usize) -> Result<(), Error> {
        let clash = |other: &Name| {
            other.text == text || other.text.is_below(&text) || text.is_below(&other.text)
        };
        if self.all().any(clash) {
            return Err(Errno::Exists.into());
        }
        let used = self.used.get_mut(owner).ok_or(Errno::NoSuchProcess)?;
        *self.names[owner]
            .get_mut(*used as usize)
            .ok_or(Errno::TooManyOpen)? = Name { text, portal };
        *used += 1;
        Ok(())
    }

    /// What a name means.
    pub fn find(&self, text: &Text) -> Result<usize, Error> {
        self.all()
            .find(|name| name.text == *text)
            .map(|name| name.portal)
            .ok_or(Errno::NoEntry.into())
    }

    /// The name in place `index` of all places; `None` where there is none.
    ///
    /// # Errors
    /// `-EINVAL` past the last place.
    pub fn at(&self, index: usize) -> Result<Option<(&Text, usize)>, Error> {
        let (owner, place) = (index / NAMES, index % NAMES);
        let used = *self.used.get(owner).ok_or(Errno::Invalid)? as usize;
        let name = self.names[owner][..used].get(place);
        Ok(name.map(|name| (&name.text, name.portal)))
    }

    /// Forgets what a domain offered; answers how many names that were.
    pub fn unbind(&mut self, owner: usize) -> usize {
        self.used.get_mut(owner).map_or(0, core::mem::take) as usize
    }
}

impl Default for Names {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Text {
        Text::name(text.as_bytes()).unwrap()
    }

    #[test]
    fn names_are_found_until_their_owner_is_gone() {
        let mut names = Names::new();
        assert_eq!(names.bind(name("/console/write"), 5, 8), Ok(()));
        assert_eq!(names.bind(name("/console/read"), 6, 8), Ok(()));
        assert_eq!(names.bind(name("/power/off"), 7, 9), Ok(()));
        assert_eq!(names.find(&name("/console/read")), Ok(6));
        assert_eq!(names.find(&name("/console")), Err(Errno::NoEntry.into()));
        assert_eq!(names.unbind(8), 2);
        assert_eq!(names.unbind(8), 0);
        assert_eq!(
            names.find(&name("/console/read")),
            Err(Errno::NoEntry.into())
        );
        assert_eq!(names.find(&name("/power/off")), Ok(7));
        assert_eq!(names.bind(name("/console/read"), 9, 9), Ok(()));
    }

    #[test]
    fn every_name_has_a_place() {
        let mut names = Names::new();
        names.bind(name("/a/b"), 1, 8).unwrap();
        names.bind(name("/a/c"), 2, 8).unwrap();
        names.bind(name("/d"), 3, MAX_DOMAINS - 1).unwrap();
        let mut found = Vec::new();
        for index in 0.. {
            match names.at(index) {
                Ok(place) => found.extend(place.map(|(text, portal)| (*text, portal))),
                Err(error) => {
                    assert_eq!(error, Errno::Invalid);
                    assert_eq!(index, MAX_DOMAINS * NAMES);
                    break;
                }
            }
        }
        assert_eq!(
            found,
            [(name("/a/b"), 1), (name("/a/c"), 2), (name("/d"), 3)]
        );
    }

    #[test]
    fn a_name_is_a_leaf_or_an_inner_node() {
        let mut names = Names::new();
        names.bind(name("/a/b"), 1, 8).unwrap();
        for taken in ["/a/b", "/a", "/a/b/c"] {
            assert_eq!(
                names.bind(name(taken), 2, 9),
                Err(Errno::Exists.into()),
                "{taken}"
            );
        }
        assert_eq!(names.bind(name("/a/bc"), 2, 9), Ok(()));
        assert_eq!(names.bind(name("/ab"), 3, 9), Ok(()));
    }

    #[test]
    fn one_component_cannot_exhaust_the_names() {
        let mut names = Names::new();
        for index in 0..NAMES {
            names
                .bind(name(&format!("/greedy/{index}")), index, 8)
                .unwrap();
        }
        assert_eq!(
            names.bind(name("/greedy/more"), 0, 8),
            Err(Errno::TooManyOpen.into())
        );
        assert_eq!(names.bind(name("/modest"), 0, 9), Ok(()));
        assert_eq!(
            names.bind(name("/nobody"), 0, MAX_DOMAINS),
            Err(Errno::NoSuchProcess.into())
        );
    }
}
