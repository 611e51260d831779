//! Capabilities: what is named, and what the holder may do with it.

use crate::{ObjectId, Version};

/// What a capability lets its holder speak to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[repr(u8)]
pub enum Kind {
    /// Nothing: what a rescinded capability reads as.
    #[default]
    Void = 0,
    /// An unsigned number, in [`Capability::data`].
    Number = 1,
    /// A node.
    Node = 2,
    /// A page of bytes.
    DataPage = 3,
    /// A page of capabilities.
    CapabilityPage = 4,
    /// The power over a process; the object is its root node.
    Process = 5,
    /// The right to call a process; `data` tells the server which of its faces was called.
    Entry = 6,
    /// The right to answer a call once; `data` is the call count for which it is good.
    Resume = 7,
    /// The right to restart a process that has faulted, without changing it; `data` as for [`Kind::Resume`].
    Fault = 8,
    /// A forwarder that can be withdrawn; the object is its node.
    Indirector = 9,
    /// The power to make and destroy the objects of a range: `object` is its first, `data` their number.
    Range = 10,
}

impl Kind {
    /// Every kind, in the order of their numbers.
    pub const ALL: [Kind; 11] = [
        Kind::Void,
        Kind::Number,
        Kind::Node,
        Kind::DataPage,
        Kind::CapabilityPage,
        Kind::Process,
        Kind::Entry,
        Kind::Resume,
        Kind::Fault,
        Kind::Indirector,
        Kind::Range,
    ];

    /// The kind with this number, if there is one.
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }
}

/// Restrictions. More bits are less power; no bit is full power.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Rights(u8);

impl Rights {
    /// No restriction.
    pub const FULL: Rights = Rights(0);
    /// The named object is not changed through this capability.
    pub const READ_ONLY: Rights = Rights(1);
    /// What is fetched through this capability comes out read-only and weak: reading for ever, all the way down.
    pub const WEAK: Rights = Rights(2);
    /// The slots of a node are used by the system in the holder's name, and not shown to the holder.
    pub const OPAQUE: Rights = Rights(4);

    /// The restrictions with these bits, if all of them have a meaning.
    pub fn from_bits(bits: u8) -> Option<Self> {
        (bits < 8).then_some(Self(bits))
    }

    /// The bits: 1 read-only, 2 weak, 4 opaque.
    pub fn bits(self) -> u8 {
        self.0
    }

    /// Both restrictions together.
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether every restriction of `other` holds here.
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// An object's identity and what may be done with it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Capability {
    /// What is spoken to.
    pub kind: Kind,
    /// What is not allowed.
    pub rights: Rights,
    /// Which object; 0 for kinds that name none.
    pub object: ObjectId,
    /// The object's version for which this is good.
    pub version: Version,
    /// What the kind says it is.
    pub data: u64,
}

impl Capability {
    /// The capability that conveys nothing.
    pub const VOID: Capability = Capability {
        kind: Kind::Void,
        rights: Rights::FULL,
        object: ObjectId(0),
        version: Version(0),
        data: 0,
    };

    /// The capability to a number.
    pub fn number(value: u64) -> Self {
        Self {
            kind: Kind::Number,
            data: value,
            ..Self::VOID
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_in_the_order_of_their_numbers() {
        for (number, kind) in Kind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, number);
        }
        assert_eq!(Kind::from_number(Kind::ALL.len() as u8), None);
    }

    #[test]
    fn rights_refuse_bits_without_a_meaning() {
        assert_eq!(Rights::from_bits(8), None);
        let all = Rights::READ_ONLY.and(Rights::WEAK).and(Rights::OPAQUE);
        assert_eq!(Rights::from_bits(7), Some(all));
        assert!(all.has(Rights::WEAK) && !Rights::READ_ONLY.has(Rights::WEAK));
    }
}
