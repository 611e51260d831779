//! Nodes: 800 bytes each, five to a frame.

use alloc::boxed::Box;

use pebble_store_device::Frame;
use pebble_store_object::{CallCount, Capability, ObjectId, Version, COUNTER_LIMIT, NODE_SLOTS};

use crate::bytes::{get_u64, pack, put_u64, unpack, zero_frame};
use crate::capability::{decode_capability, encode_capability, CAPABILITY_BYTES};
use crate::{node_id, DecodeError, ObjectFrame};

/// Nodes of a pot.
pub const NODES_PER_POT: usize = 5;

const HEADER_BYTES: usize = 32;

/// What every node has where a capability would have its rights: no node passes for a capability, and no page of them for
/// a pot.
const MARK: u8 = 0xA5;

/// Bytes of a node: number 8, version 6, height 1, mark 1, call count 8, guard 8, 32 capabilities.
pub const NODE_BYTES: usize = HEADER_BYTES + NODE_SLOTS * CAPABILITY_BYTES;

/// A node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Node {
    /// How often it was given back.
    pub version: Version,
    /// How often calls through it were answered.
    pub call_count: CallCount,
    /// The logarithm of the bytes that it spans when it is part of an address space: 0 if it is not, 12 to 64.
    pub height: u8,
    /// The part of an address that is skipped on the way into it.
    pub guard: u64,
    /// Its capabilities.
    pub slots: [Capability; NODE_SLOTS],
}

impl Node {
    /// A node without contents, of some version.
    pub fn empty(version: Version) -> Self {
        Self {
            version,
            call_count: CallCount(0),
            height: 0,
            guard: 0,
            slots: [Capability::VOID; NODE_SLOTS],
        }
    }

    /// Writes the node into its 800 bytes of a pot, from byte `at` on: [`NODE_BYTES`] times its index.
    pub fn encode(&self, id: ObjectId, frame: &mut Frame, at: usize) {
        put_u64(frame, at, id.0);
        put_u64(frame, at + 8, pack(self.version.0, self.height, MARK));
        put_u64(frame, at + 16, self.call_count.0);
        put_u64(frame, at + 24, self.guard);
        for (slot, capability) in self.slots.iter().enumerate() {
            let place = at + HEADER_BYTES + slot * CAPABILITY_BYTES;
            encode_capability(capability, frame, place);
        }
    }

    /// Reads the node with this number from the bytes of a pot from `at` on.
    pub fn decode(id: ObjectId, frame: &Frame, at: usize) -> Result<Self, DecodeError> {
        let error = |offset, field, found, allowed| {
            DecodeError::value("node", at + offset, field, found, allowed)
        };
        let found = get_u64(frame, at);
        if found != id.0 {
            return Err(error(0, "number", found, "the one of its place"));
        }
        let (version, height, mark) = unpack(get_u64(frame, at + 8));
        if height > 64 {
            return Err(error(14, "height", height.into(), "0 to 64"));
        }
        if mark != MARK {
            return Err(error(15, "mark", mark.into(), "165"));
        }
        let call_count = get_u64(frame, at + 16);
        if call_count > COUNTER_LIMIT {
            return Err(error(16, "call count", call_count, "below 2^48"));
        }
        let mut node = Self::empty(Version(version));
        node.call_count = CallCount(call_count);
        node.height = height;
        node.guard = get_u64(frame, at + 24);
        for (slot, capability) in node.slots.iter_mut().enumerate() {
            *capability = decode_capability(frame, at + HEADER_BYTES + slot * CAPABILITY_BYTES)?;
        }
        Ok(node)
    }
}

/// The nodes of a frame. The 96 bytes behind them are zero.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NodePot {
    /// The nodes, in the order of their numbers.
    pub nodes: [Node; NODES_PER_POT],
}

impl NodePot {
    /// A pot of nodes without contents, all of one version.
    pub fn empty(version: Version) -> Self {
        Self {
            nodes: core::array::from_fn(|_| Node::empty(version)),
        }
    }

    /// Writes the pot as the contents of an object frame.
    pub fn encode(&self, place: ObjectFrame) -> Box<Frame> {
        let mut frame = zero_frame();
        self.encode_into(place, &mut frame);
        frame
    }

    /// Writes the pot into a frame that is there already. Its last 96 bytes are set to zero.
    pub fn encode_into(&self, place: ObjectFrame, frame: &mut Frame) {
        for (index, node) in self.nodes.iter().enumerate() {
            node.encode(node_id(place, index), frame, index * NODE_BYTES);
        }
        frame[NODES_PER_POT * NODE_BYTES..].fill(0);
    }

    /// Reads the pot of an object frame.
    pub fn decode(place: ObjectFrame, frame: &Frame) -> Result<Self, DecodeError> {
        let mut pot = Self::empty(Version(0));
        for (index, node) in pot.nodes.iter_mut().enumerate() {
            *node = Node::decode(node_id(place, index), frame, index * NODE_BYTES)?;
        }
        let end = NODES_PER_POT * NODE_BYTES;
        match frame[end..].iter().position(|byte| *byte != 0) {
            None => Ok(pot),
            Some(behind) => {
                let found = u64::from(frame[end + behind]);
                Err(DecodeError::value(
                    "node pot",
                    end + behind,
                    "rest",
                    found,
                    "0",
                ))
            }
        }
    }

    /// The greatest version of its nodes: what the frame's tag and directory entry say.
    pub fn version(&self) -> Version {
        let versions = self.nodes.iter().map(|node| node.version);
        versions.max().unwrap_or_default()
    }
}
