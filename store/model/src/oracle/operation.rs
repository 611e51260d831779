//! What a workload does to its objects, in words for a failing run's report.

use core::fmt;

use pebble_store_object::{Capability, ObjectId, ObjectKind};

use crate::bank::Destroy;

/// One operation. Everything that it changes is changed together: a checkpoint has all of it or nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    /// An object was bought.
    Allocate {
        /// From this bank.
        bank: ObjectId,
        /// What it is.
        kind: ObjectKind,
        /// Its identity.
        made: ObjectId,
    },
    /// An object was given back.
    Deallocate {
        /// To this bank.
        bank: ObjectId,
        /// Its identity.
        object: ObjectId,
    },
    /// A bank was made.
    MakeBank {
        /// Below this one.
        above: ObjectId,
        /// Its node.
        made: ObjectId,
    },
    /// A bank was destroyed.
    DestroyBank {
        /// Its node.
        bank: ObjectId,
        /// What became of its objects.
        how: Destroy,
    },
    /// A capability was stored.
    WriteSlot {
        /// In this node or capability page.
        object: ObjectId,
        /// In this slot.
        slot: usize,
        /// What was stored.
        capability: Capability,
    },
    /// Bytes were written.
    WritePage {
        /// To this data page.
        object: ObjectId,
        /// From this byte on.
        offset: usize,
        /// How many.
        length: usize,
    },
    /// A node was made part of an address space, or of none.
    SetHeight {
        /// The node.
        node: ObjectId,
        /// Its height now.
        height: u8,
    },
    /// A call was answered: the node's call count grew by one.
    Answer {
        /// The node.
        node: ObjectId,
    },
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Operation::Allocate { bank, kind, made } => {
                write!(f, "bank {:#x} sells {kind:?} {:#x}", bank.0, made.0)
            }
            Operation::Deallocate { bank, object } => {
                write!(f, "bank {:#x} takes back {:#x}", bank.0, object.0)
            }
            Operation::MakeBank { above, made } => {
                write!(f, "bank {:#x} is made below {:#x}", made.0, above.0)
            }
            Operation::DestroyBank { bank, how } => {
                write!(f, "bank {:#x} is destroyed: {how:?}", bank.0)
            }
            Operation::WriteSlot {
                object,
                slot,
                capability,
            } => {
                write!(f, "slot {slot} of {:#x} becomes {capability:?}", object.0)
            }
            Operation::WritePage {
                object,
                offset,
                length,
            } => {
                write!(
                    f,
                    "{length} bytes from {offset} of page {:#x} are written",
                    object.0
                )
            }
            Operation::SetHeight { node, height } => {
                write!(f, "node {:#x} gets height {height}", node.0)
            }
            Operation::Answer { node } => write!(f, "a call through {:#x} is answered", node.0),
        }
    }
}
