//! What the store is to keep: objects and the restart list, as the oracle knows them.

use std::collections::BTreeMap;
use std::rc::Rc;

use pebble_store_object::{
    CallCount, Capability, ObjectId, ObjectKind, Version, NODE_SLOTS, PAGE_SIZE,
};

/// What an object holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Contents {
    /// Nothing: it is free. Its kind then says only whether it is a page or a node.
    Nothing,
    /// Bytes of a data page.
    Bytes(Rc<[u8; PAGE_SIZE]>),
    /// Capabilities of a capability page, without the void ones at its end.
    Slots(Rc<[Capability]>),
    /// A node.
    Node(Rc<Node>),
}

/// What a node holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Node {
    /// How much of an address space it spans.
    pub height: u8,
    /// What part of an address it skips.
    pub guard: u64,
    /// Its capabilities.
    pub slots: [Capability; NODE_SLOTS],
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
    /// The thread's node.
    pub thread: ObjectId,
    /// The node's version.
    pub version: Version,
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

impl World {
    /// The threads to restart that are still there, as they are now: what goes with a snapshot.
    pub fn runnable(&self) -> Vec<Restart> {
        let list = self.restart.iter().filter_map(|entry| {
            let object = self.objects.get(&entry.thread)?;
            matches!(object.contents, Contents::Node(_)).then_some(Restart {
                version: object.version,
                call_count: object.call_count,
                ..*entry
            })
        });
        list.collect()
    }
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
            (Contents::Slots(wanted), Contents::Slots(got)) => slots(wanted, got),
            (Contents::Node(wanted), Contents::Node(got)) => {
                let span = |node: &Node| (node.height, node.guard);
                if span(wanted) == span(got) {
                    slots(&wanted.slots, &got.slots)
                } else {
                    let (wanted, got) = (span(wanted), span(got));
                    format!("has height and guard {got:?}, not {wanted:?}")
                }
            }
            (Contents::Nothing, _) => "holds something, and is free".into(),
            (_, Contents::Nothing) => "holds nothing".into(),
            _ => "has bytes where capabilities belong, or the reverse".into(),
        })
    }
}

/// How two rows of capabilities differ.
fn slots(wanted: &[Capability], got: &[Capability]) -> String {
    let mut both = wanted.iter().zip(got).enumerate();
    match both.find(|(_, (wanted, got))| wanted != got) {
        Some((slot, (wanted, got))) => format!("has {got:?} in slot {slot}, not {wanted:?}"),
        None => format!("has {} slots in use, not {}", got.len(), wanted.len()),
    }
}
