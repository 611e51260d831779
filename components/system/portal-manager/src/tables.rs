//! Portal tables and the record of every portal in them.

use pebble_abi::errno::Errno;
use pebble_abi::layout::MAX_DOMAINS;
use pebble_abi::slot::{INTERRUPT, NPORTALS};

use crate::code::Placed;
use crate::objects::Objects;

/// Portals at one time, the standard ones not counted.
pub const MAX_PORTALS: usize = 3072;
/// Most portals of one domain, so that what it exhausts only it misses.
pub const MAX_OF_DOMAIN: usize = NPORTALS - INTERRUPT - 16;

/// A specification's text; valid ones have at most 14 characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text {
    bytes: [u8; 15],
    length: u8,
}

impl Text {
    /// `text`, cut to 15 bytes.
    pub fn new(text: &[u8]) -> Text {
        let mut bytes = [0; 15];
        let length = text.len().min(bytes.len());
        bytes[..length].copy_from_slice(&text[..length]);
        Text {
            bytes,
            length: length as u8,
        }
    }

    /// The text.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length as usize]
    }
}

impl Action {
    /// The domain with which the portal ends: its callee, or whose the semaphore is.
    pub fn depends_on(self) -> Option<usize> {
        match self {
            Action::Call { target, .. } => Some(target as usize),
            Action::SemaphoreWait { owner, .. } | Action::SemaphorePost { owner, .. } => {
                Some(owner as usize)
            }
            Action::Dead => None,
        }
    }

    /// The semaphore that it is about.
    pub fn semaphore(self) -> Option<u16> {
        match self {
            Action::SemaphoreWait { index, .. } | Action::SemaphorePost { index, .. } => {
                Some(index)
            }
            _ => None,
        }
    }
}

/// What a portal does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A call into `target`.
    Call {
        /// Callee's domain.
        target: u16,
        /// Address of the entry there.
        entry: u64,
        /// Constant for the letter `c`.
        constant: u64,
    },
    /// P on the semaphore.
    SemaphoreWait {
        /// Which.
        index: u16,
        /// Domain in whose table it was made, and with which it ends; others have it by `portal_accept`.
        owner: u16,
    },
    /// V on the semaphore.
    SemaphorePost {
        /// Which.
        index: u16,
        /// As for P.
        owner: u16,
    },
    /// The callee died.
    Dead,
}

/// A portal in a table.
#[derive(Clone, Copy, Debug)]
pub struct Portal {
    /// Domain whose table it is in.
    pub domain: u16,
    /// Slot.
    pub slot: u16,
    /// What it does.
    pub action: Action,
    /// Specification as it was generated.
    pub text: Text,
    /// Its code.
    pub code: Placed,
}

impl Portal {
    /// Another domain that this portal ends with.
    fn ends_with(&self) -> Option<usize> {
        self.action
            .depends_on()
            .filter(|&owner| owner != self.domain as usize)
    }
}

/// All portals but the standard ones.
pub struct Tables {
    records: [Option<Portal>; MAX_PORTALS],
    /// Index of the record + 1, by domain and slot.
    index: [[u16; NPORTALS]; MAX_DOMAINS],
    /// Portals of each domain.
    pub count: [u16; MAX_DOMAINS],
    /// Code units of each domain's portals.
    pub units: [u16; MAX_DOMAINS],
    /// Portals in other tables that end with each domain.
    into: [u16; MAX_DOMAINS],
    next: usize,
}

impl Tables {
    /// No portals.
    pub const fn new() -> Self {
        Tables {
            records: [const { None }; MAX_PORTALS],
            index: [[0; NPORTALS]; MAX_DOMAINS],
            count: [0; MAX_DOMAINS],
            units: [0; MAX_DOMAINS],
            into: [0; MAX_DOMAINS],
            next: 0,
        }
    }

    /// The portal in a slot.
    pub fn get(&self, domain: usize, slot: usize) -> Option<&Portal> {
        let index = *self.index.get(domain)?.get(slot)?;
        self.records.get((index as usize).checked_sub(1)?)?.as_ref()
    }

    /// All portals.
    pub fn all(&self) -> impl Iterator<Item = &Portal> {
        self.records.iter().flatten()
    }

    /// The first of `count` consecutive free slots of `domain`, from `first` on.
    pub fn free_slots(&self, domain: usize, first: usize, count: usize) -> Result<usize, Errno> {
        let slots = &self.index[domain];
        (first..=NPORTALS - count)
            .find(|&slot| slots[slot..slot + count].iter().all(|&index| index == 0))
            .ok_or(Errno::TooManyOpen)
    }

    /// Enters a portal whose code is in place, and lets the table lead to it.
    pub fn enter(&mut self, objects: Objects, portal: Portal) -> Result<(), Errno> {
        let (domain, slot) = (portal.domain as usize, portal.slot as usize);
        let free = (0..MAX_PORTALS)
            .map(|step| (self.next + step) % MAX_PORTALS)
            .find(|&index| self.records[index].is_none())
            .ok_or(Errno::TableFull)?;
        self.next = (free + 1) % MAX_PORTALS;
        self.records[free] = Some(portal);
        self.index[domain][slot] = free as u16 + 1;
        self.count[domain] += 1;
        self.units[domain] += portal.code.units;
        if let Some(owner) = portal.ends_with() {
            self.into[owner] += 1;
        }
        objects.write(
            objects.read_domain(domain).table + 8 * slot as u64,
            portal.code.address,
        );
        Ok(())
    }

    /// Empties a slot: the table leads to `empty`. Answers the portal that was there.
    pub fn remove(
        &mut self,
        objects: Objects,
        domain: usize,
        slot: usize,
        empty: u64,
    ) -> Option<Portal> {
        let entry = *self.index.get(domain)?.get(slot)?;
        let index = (entry as usize).checked_sub(1)?;
        objects.write(objects.read_domain(domain).table + 8 * slot as u64, empty);
        self.index[domain][slot] = 0;
        self.count[domain] -= 1;
        let portal = self.records[index].take();
        self.units[domain] -= portal.map_or(0, |portal| portal.code.units);
        if let Some(owner) = portal.and_then(|portal| portal.ends_with()) {
            self.into[owner] -= 1;
        }
        portal
    }

    /// Lets one portal that depends on `owner`, and whose action is `doomed`, answer `-EOWNERDEAD` from now on; answers its
    /// former code, `None` when there is none left.
    pub fn bury_next(
        &mut self,
        objects: Objects,
        owner: usize,
        doomed: impl Fn(&Portal) -> bool,
        dead: u64,
    ) -> Option<Placed> {
        // All portals are looked through only if there is one.
        if self.into[owner] == 0 {
            return None;
        }
        let portal = self
            .records
            .iter_mut()
            .flatten()
            .find(|portal| doomed(portal))?;
        objects.write(
            objects.read_domain(portal.domain as usize).table + 8 * portal.slot as u64,
            dead,
        );
        if let Some(owner) = portal.ends_with() {
            self.into[owner] -= 1;
        }
        portal.action = Action::Dead;
        self.units[portal.domain as usize] -= portal.code.units;
        Some(core::mem::take(&mut portal.code))
    }
}
