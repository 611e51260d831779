//! What the power over a process is good for.

use pebble_store_object::{Capability, Kind, NODE_SLOTS};

use super::{Part, State, CAPABILITY_REGISTERS, DATA_REGISTERS, KEEPER, SPACE};
use crate::invoke::{Operation, Reply};
use crate::{Error, World};

impl World {
    pub(crate) fn invoke_process(
        &mut self,
        process: Capability,
        operation: Operation<'_>,
    ) -> Result<Reply, Error> {
        match operation {
            Operation::ReadRegister(register) => {
                let stored = self.register(process, DATA_REGISTERS, register)?;
                match stored.kind {
                    Kind::Number => Ok(Reply::Number(stored.data)),
                    _ => Err(Error::Malformed(
                        process.object,
                        "a data register of the process holds no number",
                    )),
                }
            }
            Operation::WriteRegister(register, value) => {
                self.set_register(process, DATA_REGISTERS, register, Capability::number(value))
            }
            Operation::FetchRegister(register) => {
                let stored = self.register(process, CAPABILITY_REGISTERS, register)?;
                Ok(Reply::Capability(stored))
            }
            Operation::StoreRegister(register, capability) => {
                self.set_register(process, CAPABILITY_REGISTERS, register, capability)
            }
            Operation::FetchPart(part) => {
                let stored = self.node(process)?.slots[slot_of(part)];
                Ok(Reply::Capability(self.current(stored)))
            }
            Operation::StorePart(part, capability) => {
                let capability = self.current(capability);
                self.node_mut(process)?.slots[slot_of(part)] = capability;
                Ok(Reply::Done)
            }
            Operation::State => self.state(process).map(Reply::State),
            Operation::Start => {
                match self.well_formed(process)? {
                    State::Running => return Err(Error::NotReady(process.object)),
                    State::Waiting => self.count_call(process.object),
                    State::Available => {}
                }
                self.set_state(process, State::Running)?;
                Ok(Reply::Done)
            }
            Operation::Stop => {
                if self.well_formed(process)? != State::Running {
                    return Err(Error::NotReady(process.object));
                }
                self.set_state(process, State::Waiting)?;
                Ok(Reply::Done)
            }
            Operation::MakeEntry(data) => {
                Ok(Reply::Capability(self.face(process, Kind::Entry, data)))
            }
            _ => Err(Error::NotUnderstood(Kind::Process)),
        }
    }

    /// What is in a register of one of the two nodes.
    pub(super) fn register(
        &self,
        process: Capability,
        node: usize,
        register: usize,
    ) -> Result<Capability, Error> {
        let node = self.registers(process, node)?;
        let stored = self.node(node)?.slots.get(register).copied();
        Ok(self.current(stored.ok_or(no_register(register))?))
    }

    fn set_register(
        &mut self,
        process: Capability,
        node: usize,
        register: usize,
        capability: Capability,
    ) -> Result<Reply, Error> {
        let node = self.registers(process, node)?;
        if register >= NODE_SLOTS {
            return Err(no_register(register));
        }
        let capability = self.current(capability);
        self.node_mut(node)?.slots[register] = capability;
        Ok(Reply::Done)
    }
}

fn slot_of(part: Part) -> usize {
    match part {
        Part::Space => SPACE,
        Part::Keeper => KEEPER,
    }
}

fn no_register(slot: usize) -> Error {
    Error::NoSlot {
        slot,
        slots: NODE_SLOTS,
    }
}
