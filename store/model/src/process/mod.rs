//! Processes: made of nodes, so that they last as everything does (EROS, section 3.2).
//!
//! The root node's slots are the constants here. Two more nodes hold 32 data registers, as numbers, and 32 capability
//! registers.

mod communicate;
mod fault;
mod operations;

use pebble_store_object::{Capability, Kind, ObjectKind, Rights, NODE_SLOTS};

use crate::{named_by, Error, World};

pub(crate) use communicate::Outgoing;
pub use communicate::{Delivery, Manner, Message, ARGUMENTS, FACE_REGISTER};
pub use fault::{Touch, FAULT_ACCESS, FAULT_INVOCATION};

/// Root slot: the node of data registers.
pub const DATA_REGISTERS: usize = 0;
/// Root slot: the node of capability registers.
pub const CAPABILITY_REGISTERS: usize = 1;
/// Root slot: the root of the address space, a node or a single page.
pub const SPACE: usize = 2;
/// Root slot: who is called when the process faults and no keeper of the space is.
pub const KEEPER: usize = 3;
/// Root slot: the [`State`], as a number.
pub const STATE: usize = 4;
/// Root slot: a number other than 0 here turns invocations into faults, for emulation.
pub const NO_INVOCATION: usize = 5;
/// Root slot: what the last fault was, as a number.
pub const FAULT_CODE: usize = 6;
/// Root slot: at which address the last fault was, as a number.
pub const FAULT_ADDRESS: usize = 7;

/// What a process does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[repr(u8)]
pub enum State {
    /// It waits for anybody's call.
    #[default]
    Available = 0,
    /// It runs.
    Running = 1,
    /// It waits for the answer to its call or fault, or is stopped.
    Waiting = 2,
}

/// What of a process its holder can exchange.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// The root of its address space.
    Space,
    /// Who is called when it faults.
    Keeper,
}

impl World {
    /// Lays three empty nodes out as a process that is available. Takes unrestricted capabilities to the nodes; gives
    /// the power over the process.
    ///
    /// # Errors
    /// [`Error::NotUnderstood`] for what is no node, [`Error::Restricted`], [`Error::Void`].
    pub fn make_process(
        &mut self,
        root: Capability,
        data: Capability,
        registers: Capability,
    ) -> Result<Capability, Error> {
        for node in [root, data, registers] {
            match node.kind {
                Kind::Node if node.rights == Rights::FULL => {}
                Kind::Node => return Err(Error::Restricted(node.rights)),
                Kind::Void => return Err(Error::Void),
                other => return Err(Error::NotUnderstood(other)),
            }
            self.node(node)?;
        }
        self.node_mut(data)?.slots = [Capability::number(0); NODE_SLOTS];
        self.node_mut(registers)?.slots = [Capability::VOID; NODE_SLOTS];
        let slots = &mut self.node_mut(root)?.slots;
        *slots = [Capability::VOID; NODE_SLOTS];
        slots[DATA_REGISTERS] = data;
        slots[CAPABILITY_REGISTERS] = registers;
        slots[STATE] = Capability::number(State::Available as u64);
        let kind = Kind::Process;
        Ok(Capability { kind, ..root })
    }

    /// What a process does.
    ///
    /// # Errors
    /// [`Error::Void`], [`Error::Malformed`].
    pub fn state(&self, process: Capability) -> Result<State, Error> {
        match self.node(process)?.slots[STATE] {
            Capability {
                kind: Kind::Number,
                data: 0,
                ..
            } => Ok(State::Available),
            Capability {
                kind: Kind::Number,
                data: 1,
                ..
            } => Ok(State::Running),
            Capability {
                kind: Kind::Number,
                data: 2,
                ..
            } => Ok(State::Waiting),
            _ => Err(Error::Malformed(
                process.object,
                "slot 4 of the process holds no state",
            )),
        }
    }

    fn set_state(&mut self, process: Capability, state: State) -> Result<(), Error> {
        self.node_mut(process)?.slots[STATE] = Capability::number(state as u64);
        Ok(())
    }

    /// The node of data or capability registers.
    fn registers(&self, process: Capability, slot: usize) -> Result<Capability, Error> {
        let node = self.current(self.node(process)?.slots[slot]);
        if node.kind == Kind::Node && node.rights == Rights::FULL {
            return Ok(node);
        }
        Err(Error::Malformed(
            process.object,
            "slot 0 or 1 of the process holds no node of registers",
        ))
    }

    /// Checks that a process is laid out as one.
    fn well_formed(&self, process: Capability) -> Result<State, Error> {
        self.registers(process, DATA_REGISTERS)?;
        self.registers(process, CAPABILITY_REGISTERS)?;
        self.state(process)
    }

    /// A capability of another kind to the same process.
    fn face(&self, process: Capability, kind: Kind, data: u64) -> Capability {
        debug_assert_eq!(named_by(process.kind), Some(ObjectKind::Node));
        Capability {
            kind,
            data,
            rights: Rights::FULL,
            ..process
        }
    }
}
