//! Objects: what is in a page or a node, and the counters that go with it.

use alloc::boxed::Box;

use pebble_store_object::{
    CallCount, Capability, Kind, ObjectKind, Version, COUNTER_LIMIT, NODE_SLOTS, PAGE_SIZE,
};

/// Capabilities in a capability page: a capability takes 32 bytes in memory (EROS, section 4.1).
pub const CAPABILITY_PAGE_SLOTS: usize = PAGE_SIZE / 32;

/// A node: slots, and how much of an address space it spans.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Node {
    /// 0 for a node that is part of no address space, otherwise one of [`crate::space::HEIGHTS`]: the number of
    /// address bits that the node decides, with those below it.
    pub height: u8,
    /// The slots.
    pub slots: [Capability; NODE_SLOTS],
}

impl Node {
    /// A node of void slots, part of no address space.
    pub const EMPTY: Node = Node {
        height: 0,
        slots: [Capability::VOID; NODE_SLOTS],
    };
}

/// What an object that exists holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Contents {
    /// Bytes.
    DataPage(Box<[u8; PAGE_SIZE]>),
    /// Capabilities in a page that is never mapped.
    CapabilityPage(Box<[Capability; CAPABILITY_PAGE_SLOTS]>),
    /// A node.
    Node(Box<Node>),
}

impl Contents {
    /// What a new object of this kind holds: zeros or void, never what was there before.
    pub fn empty(kind: ObjectKind) -> Self {
        match kind {
            ObjectKind::DataPage => Contents::DataPage(Box::new([0; PAGE_SIZE])),
            ObjectKind::CapabilityPage => {
                Contents::CapabilityPage(Box::new([Capability::VOID; CAPABILITY_PAGE_SLOTS]))
            }
            ObjectKind::Node => Contents::Node(Box::new(Node::EMPTY)),
        }
    }

    /// The kind of object that holds this.
    pub fn kind(&self) -> ObjectKind {
        match self {
            Contents::DataPage(_) => ObjectKind::DataPage,
            Contents::CapabilityPage(_) => ObjectKind::CapabilityPage,
            Contents::Node(_) => ObjectKind::Node,
        }
    }

    /// The capabilities in it; none in a data page.
    pub fn slots(&self) -> &[Capability] {
        match self {
            Contents::DataPage(_) => &[],
            Contents::CapabilityPage(slots) => &slots[..],
            Contents::Node(node) => &node.slots,
        }
    }

    /// As [`Contents::slots`], to change them.
    pub fn slots_mut(&mut self) -> &mut [Capability] {
        match self {
            Contents::DataPage(_) => &mut [],
            Contents::CapabilityPage(slots) => &mut slots[..],
            Contents::Node(node) => &mut node.slots,
        }
    }
}

/// An object under its identity: its counters, and its contents while it exists.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Object {
    /// How often it was given back.
    pub version: Version,
    /// How often calls through it were answered. 0 for pages.
    pub calls: CallCount,
    /// What it holds; nothing while it is free.
    pub contents: Option<Contents>,
}

impl Object {
    /// Whether one of the counters is at its limit, so that the object is never used again.
    pub fn is_retired(&self) -> bool {
        self.version.0 >= COUNTER_LIMIT || self.calls.0 >= COUNTER_LIMIT
    }
}

/// The kind of object that a capability of this kind names, if it names one that has a version.
pub fn named_by(kind: Kind) -> Option<ObjectKind> {
    match kind {
        Kind::Void | Kind::Number | Kind::Range => None,
        Kind::DataPage => Some(ObjectKind::DataPage),
        Kind::CapabilityPage => Some(ObjectKind::CapabilityPage),
        Kind::Node
        | Kind::Process
        | Kind::Entry
        | Kind::Resume
        | Kind::Fault
        | Kind::Indirector => Some(ObjectKind::Node),
    }
}

/// The kind of capability that lets its holder read and write an object of this kind.
pub fn memory_kind(kind: ObjectKind) -> Kind {
    match kind {
        ObjectKind::DataPage => Kind::DataPage,
        ObjectKind::CapabilityPage => Kind::CapabilityPage,
        ObjectKind::Node => Kind::Node,
    }
}
