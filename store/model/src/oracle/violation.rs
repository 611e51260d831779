//! What does not hold together in a set of objects.

use core::fmt;

use pebble_store_object::{Capability, ObjectId, ObjectKind};

/// What does not hold together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Violation {
    /// An identity that is in neither range.
    Stranger(ObjectId),
    /// An object of this kind has an identity of the other range.
    WrongRange(ObjectId, ObjectKind),
    /// A version or call count is beyond the limit, or a page has a call count, or an object with its version at the
    /// limit exists.
    Counter(ObjectId),
    /// A node's height is none that a node can have.
    Height(ObjectId, u8),
    /// A slot holds something that is no capability: a void one that is not all zero, a number that names an object,
    /// a range that leaves the store, a restriction of a kind that knows none, or one that names an identity in neither
    /// range.
    NoCapability {
        /// The object with the slot.
        holder: ObjectId,
        /// The slot.
        slot: usize,
        /// What is in it.
        capability: Capability,
    },
    /// A capability's version or call count is greater than the object's, or it has the version at which a free
    /// object will come back: somebody would get an object that was never given to him.
    FromTheFuture {
        /// The object with the slot.
        holder: ObjectId,
        /// The slot.
        slot: usize,
        /// What is in it.
        capability: Capability,
    },
    /// A capability of current version is of another kind than its object.
    WrongKind {
        /// The object with the slot.
        holder: ObjectId,
        /// The slot.
        slot: usize,
        /// What is in it.
        capability: Capability,
    },
    /// An object exists that no bank owns.
    Leak(ObjectId),
    /// A bank owns an object that does not exist.
    Ghost(ObjectId),
    /// The owner of an object is no bank.
    NoOwner(ObjectId, u64),
    /// A bank's node is not laid out as one.
    NoBank(ObjectId),
    /// The bank above a bank is not the owner of its node.
    WrongParent(ObjectId),
    /// A bank from which the way up does not end at the prime bank.
    Cycle(ObjectId),
    /// A bank says that it has another number of objects than it owns, alone or with those below it.
    Count {
        /// The bank.
        bank: ObjectId,
        /// What it says.
        recorded: u64,
        /// What is so.
        counted: u64,
    },
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Violation::Stranger(id) => write!(f, "object {:#x} is in neither range", id.0),
            Violation::WrongRange(id, kind) => {
                write!(f, "object {:#x} is a {kind:?} in the other range", id.0)
            }
            Violation::Counter(id) => {
                write!(f, "object {:#x} has a counter that it cannot have", id.0)
            }
            Violation::Height(id, height) => write!(f, "node {:#x} has height {height}", id.0),
            Violation::NoCapability {
                holder,
                slot,
                capability,
            } => {
                write!(
                    f,
                    "slot {slot} of {:#x} holds no capability: {capability:?}",
                    holder.0
                )
            }
            Violation::FromTheFuture {
                holder,
                slot,
                capability,
            } => {
                write!(
                    f,
                    "slot {slot} of {:#x} is good for what is not given yet: {capability:?}",
                    holder.0
                )
            }
            Violation::WrongKind {
                holder,
                slot,
                capability,
            } => {
                write!(
                    f,
                    "slot {slot} of {:#x} is of another kind than its object: {capability:?}",
                    holder.0
                )
            }
            Violation::Leak(id) => write!(f, "object {:#x} exists and belongs to no bank", id.0),
            Violation::Ghost(id) => {
                write!(f, "object {:#x} belongs to a bank and does not exist", id.0)
            }
            Violation::NoOwner(id, owner) => write!(
                f,
                "object {:#x} belongs to {owner:#x}, which is no bank",
                id.0
            ),
            Violation::NoBank(id) => {
                write!(f, "node {:#x} is a bank's and not laid out as one", id.0)
            }
            Violation::WrongParent(id) => write!(
                f,
                "bank {:#x} is below a bank that does not own its node",
                id.0
            ),
            Violation::Cycle(id) => write!(f, "bank {:#x} is not below the prime bank", id.0),
            Violation::Count {
                bank,
                recorded,
                counted,
            } => {
                write!(
                    f,
                    "bank {:#x} says {recorded} objects and has {counted}",
                    bank.0
                )
            }
        }
    }
}

impl core::error::Error for Violation {}
