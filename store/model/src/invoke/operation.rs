//! What can be asked of the objects that the system itself implements, and what they answer.

use alloc::vec::Vec;

use pebble_store_object::{Capability, Kind, ObjectKind, Rights};

use crate::process::{Part, State};

/// What a capability's holder asks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation<'a> {
    /// What kind of capability is this? All kinds answer.
    TypeOf,
    /// Which number? Number capabilities.
    ReadNumber,
    /// What is in this slot? Nodes and capability pages.
    Fetch(usize),
    /// Put this into that slot. Nodes and capability pages.
    Store(usize, Capability),
    /// As `Store`; answers with what was there.
    Swap(usize, Capability),
    /// Make all of it zero or void. Nodes and pages.
    Clear,
    /// How much of an address space does this node span?
    Height,
    /// Let this node span that much: 0 or one of [`crate::space::HEIGHTS`].
    SetHeight(u8),
    /// Which bytes are there, from where, how many? Data pages.
    ReadBytes(usize, usize),
    /// Put these bytes there. Data pages.
    WriteBytes(usize, &'a [u8]),
    /// Give me this capability with these restrictions too. Nodes and pages.
    Reduce(Rights),
    /// Give me the power over the process of which this node is the root.
    MakeProcess,
    /// Give me the forwarder of which this is the node.
    MakeIndirector,
    /// What is in this data register? Processes.
    ReadRegister(usize),
    /// Put this into that data register. Processes.
    WriteRegister(usize, u64),
    /// What is in this capability register? Processes.
    FetchRegister(usize),
    /// Put this into that capability register. Processes.
    StoreRegister(usize, Capability),
    /// Give me the process's address space, or its keeper.
    FetchPart(Part),
    /// Set the process's address space, or its keeper.
    StorePart(Part, Capability),
    /// Is the process available, running or waiting?
    State,
    /// Let the process run; whoever it waited for can answer no more.
    Start,
    /// Stop the process.
    Stop,
    /// Give me the right to call the process; this word tells it which of its faces was called.
    MakeEntry(u64),
    /// Let the process that has faulted try again, unchanged. Fault capabilities.
    Restart,
    /// Let the process's own keeper deal with its fault. Fault capabilities.
    PassOn,
    /// Make the object at this place exist. Ranges.
    Create(u64, ObjectKind),
    /// End the object at this place. Ranges.
    Destroy(u64),
    /// Give me this part of the range: from where, how many.
    Split(u64, u64),
    /// At which place of the range is the object that this capability names?
    Identify(Capability),
}

/// What an operation answers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reply {
    /// It is done.
    Done,
    /// The kind of the capability.
    Kind(Kind),
    /// A number, a register, a height, a place.
    Number(u64),
    /// A capability.
    Capability(Capability),
    /// Bytes.
    Bytes(Vec<u8>),
    /// The state of a process.
    State(State),
}
