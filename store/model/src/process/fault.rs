//! Faults: the keeper is called in the process's name, and may let it try again.

use alloc::vec::Vec;

use pebble_store_object::{Capability, Kind, COUNTER_LIMIT};

use super::communicate::{Delivery, ARGUMENTS};
use super::{State, FAULT_ADDRESS, FAULT_CODE, KEEPER, SPACE};
use crate::invoke::Reply;
use crate::space::{Access, Keeper};
use crate::{Error, World};

/// Fault code: the address space does not allow an access.
pub const FAULT_ACCESS: u64 = 1;
/// Fault code: the process has invoked a capability, and may not.
pub const FAULT_INVOCATION: u64 = 2;

/// How an access to memory went.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Touch {
    /// It was allowed: this page, with the rights that the way to it leaves.
    Page(Capability),
    /// A keeper was called, with a fault capability as its last argument; the process waits.
    Fault(Delivery),
}

impl World {
    /// Lets a running process access its memory.
    ///
    /// # Errors
    /// [`Error::NotReady`] if the process does not run, or the keeper is not available: then the process waits and
    /// tries again. [`Error::Void`] if there is no keeper: the process cannot go on.
    pub fn touch(
        &mut self,
        process: Capability,
        address: u64,
        access: Access,
    ) -> Result<Touch, Error> {
        if self.well_formed(process)? != State::Running {
            return Err(Error::NotReady(process.object));
        }
        let translation = self.lookup(self.node(process)?.slots[SPACE], address);
        if let Some(page) = translation.allows(access) {
            return Ok(Touch::Page(page));
        }
        let keeper = translation
            .keeper
            .map(|Keeper { entry, node }| (entry, node));
        let write = u64::from(access == Access::Write);
        self.fault(process, keeper, [FAULT_ACCESS, address, write, 0])
            .map(Touch::Fault)
    }

    /// A process that may not invoke has done so.
    pub(super) fn fault_invocation(&mut self, process: Capability) -> Result<Delivery, Error> {
        self.fault(process, None, [FAULT_INVOCATION, 0, 0, 0])
    }

    /// Calls the keeper that is given, with its node, or the process's own with power over the process.
    fn fault(
        &mut self,
        process: Capability,
        keeper: Option<(Capability, Capability)>,
        words: [u64; ARGUMENTS],
    ) -> Result<Delivery, Error> {
        let own = self.current(self.node(process)?.slots[KEEPER]);
        let power = self.face(process, Kind::Process, 0);
        let (keeper, subject) = keeper.unwrap_or((own, power));
        let keeper = self.forward(keeper)?;
        if keeper.kind != Kind::Entry {
            return Err(Error::NotUnderstood(keeper.kind));
        }
        self.check_ready(keeper)?;
        let restart = self.continuation(process, Kind::Fault)?;
        let slots = &mut self.node_mut(process)?.slots;
        slots[FAULT_CODE] = Capability::number(words[0]);
        slots[FAULT_ADDRESS] = Capability::number(words[1]);
        self.set_state(process, State::Waiting)?;
        self.deliver(
            keeper,
            words,
            [subject, Capability::VOID, Capability::VOID, restart],
        )?;
        Ok(Delivery {
            to: keeper.object,
            bytes: Vec::new(),
        })
    }

    /// Lets a process that has faulted try again. Nothing but its state changes.
    pub(crate) fn restart(&mut self, fault: Capability) -> Result<Reply, Error> {
        if self.well_formed(fault)? != State::Waiting {
            return Err(Error::NotReady(fault.object));
        }
        self.set_state(fault, State::Running)?;
        self.count_call(fault.object);
        Ok(Reply::Done)
    }

    /// Hands a fault to the process's own keeper, which gets a new fault capability.
    pub(crate) fn pass_on(&mut self, fault: Capability) -> Result<Reply, Error> {
        if self.well_formed(fault)? != State::Waiting {
            return Err(Error::NotReady(fault.object));
        }
        let process = self.face(fault, Kind::Process, 0);
        let slots = &self.node(process)?.slots;
        let words = [slots[FAULT_CODE].data, slots[FAULT_ADDRESS].data, 0, 0];
        let keeper = self.forward(slots[KEEPER])?;
        if keeper.kind != Kind::Entry {
            return Err(Error::NotUnderstood(keeper.kind));
        }
        self.check_ready(keeper)?;
        if self.calls(process.object) + 1 >= COUNTER_LIMIT {
            return Err(Error::Retired(process.object));
        }
        self.count_call(process.object);
        self.fault(process, None, words)?;
        Ok(Reply::Done)
    }
}
