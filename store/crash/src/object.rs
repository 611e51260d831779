//! What the store is to keep: objects and the restart list, as the oracle knows them.

use std::collections::BTreeMap;
use std::rc::Rc;

use pebble_store_object::{CallCount, Capability, ObjectId, ObjectKind, Version, PAGE_SIZE};

/// What an object holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Contents {
    /// Bytes of a data page.
    Bytes(Rc<[u8; PAGE_SIZE]>),
    /// Capabilities of a node or of a capability page.
    Slots(Rc<[Capability]>),
}

/// An object, whole.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Object {
    /// What it is.
    pub kind: ObjectKind,
    /// How often it was given back.
    pub version: Version,
    /// How often calls through it were answered.
    pub call_count: CallCount,
    /// What it holds.
    pub contents: Contents,
}

/// A thread that is to run after a restart.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Restart {
    /// The thread's object.
    pub thread: ObjectId,
    /// Its call count, without which it is not woken.
    pub call_count: CallCount,
    /// What it was doing.
    pub hazard: u8,
    /// Its priority.
    pub priority: u8,
}

/// Everything that a checkpoint saves. A clone shares the contents.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct World {
    /// Every object of the store.
    pub objects: BTreeMap<ObjectId, Object>,
    /// Threads to restart.
    pub restart: Vec<Restart>,
}

impl Object {
    /// How two objects differ, in words.
    pub fn difference(&self, found: &Object) -> Option<String> {
        if self == found {
            return None;
        }
        let head = |object: &Object| (object.kind, object.version, object.call_count);
        if head(self) != head(found) {
            return Some(format!("is {:?}, not {:?}", head(found), head(self)));
        }
        Some(match (&self.contents, &found.contents) {
            (Contents::Bytes(wanted), Contents::Bytes(got)) => {
                let at = (0..PAGE_SIZE).find(|at| wanted[*at] != got[*at]);
                let at = at.unwrap_or(0);
                let (wanted, got) = (wanted[at], got[at]);
                format!("has {got:#04x} at byte {at}, not {wanted:#04x}")
            }
            (Contents::Slots(wanted), Contents::Slots(got)) => {
                let slots = wanted.iter().zip(got.iter());
                match slots.enumerate().find(|(_, (one, other))| one != other) {
                    Some((slot, (wanted, got))) => {
                        format!("has {got:?} in slot {slot}, not {wanted:?}")
                    }
                    None => format!("has {} slots, not {}", got.len(), wanted.len()),
                }
            }
            _ => "has bytes where capabilities belong, or the reverse".into(),
        })
    }
}
