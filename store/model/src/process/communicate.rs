//! Calls between processes (EROS, section 3.3).
//!
//! A call leaves a resume capability with whoever is called. It is good while the caller's call count is what it was:
//! the answer counts, and with that all copies are void, however many there are.

use alloc::vec::Vec;

use pebble_store_object::{Capability, Kind, ObjectId, COUNTER_LIMIT, PAGE_SIZE};

use super::{State, CAPABILITY_REGISTERS, DATA_REGISTERS, NO_INVOCATION};
use crate::{Error, World};

/// Words and capabilities that a message carries; they arrive in registers 0 to 3.
pub const ARGUMENTS: usize = 4;
/// The data register in which a process finds which of its faces was called; 0 for an answer.
pub const FACE_REGISTER: usize = ARGUMENTS;

/// What is sent.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Message {
    /// Words.
    pub words: [u64; ARGUMENTS],
    /// Capabilities: in which of the sender's registers they are. A call puts the resume capability in place of the
    /// last.
    pub capabilities: [Option<usize>; ARGUMENTS],
    /// Bytes, at most a page of them.
    pub bytes: Vec<u8>,
}

/// What becomes of the sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Manner {
    /// It waits for the answer.
    Call,
    /// It goes on: there is one running process more.
    Send,
    /// It waits for anybody's call: if it answers, there is one running process less than during the call.
    Return,
}

/// Who got a message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Delivery {
    /// The process's root node.
    pub to: ObjectId,
    /// The bytes that it got.
    pub bytes: Vec<u8>,
}

/// A message on its way, with its capabilities themselves.
#[derive(Clone, Debug)]
pub(crate) struct Outgoing {
    pub(crate) target: Capability,
    pub(crate) words: [u64; ARGUMENTS],
    pub(crate) capabilities: [Capability; ARGUMENTS],
    pub(crate) bytes: Vec<u8>,
}

impl World {
    /// Lets a running process invoke the entry or resume capability in one of its registers.
    ///
    /// # Errors
    /// [`Error::NotReady`] if the process does not run, or the called one is not available: then the caller waits and
    /// tries again. [`Error::Void`] for a resume capability of which any copy was used before. Nothing has changed
    /// then. [`Error::Retired`] for a caller whose call count is at its limit.
    pub fn communicate(
        &mut self,
        sender: Capability,
        manner: Manner,
        register: usize,
        message: &Message,
    ) -> Result<Delivery, Error> {
        if self.well_formed(sender)? != State::Running {
            return Err(Error::NotReady(sender.object));
        }
        if !self.may_invoke(sender)? {
            return self.fault_invocation(sender);
        }
        let outgoing = self.outgoing(sender, register, message)?;
        self.send(sender, manner, outgoing, None)
    }

    /// Whether the process's invocations are not faults.
    pub(crate) fn may_invoke(&self, process: Capability) -> Result<bool, Error> {
        let mode = self.node(process)?.slots[NO_INVOCATION];
        Ok(mode.kind != Kind::Number || mode.data == 0)
    }

    /// What a process sends, with the capabilities that are in the registers now.
    pub(crate) fn outgoing(
        &self,
        sender: Capability,
        register: usize,
        message: &Message,
    ) -> Result<Outgoing, Error> {
        if self.well_formed(sender)? != State::Running {
            return Err(Error::NotReady(sender.object));
        }
        let target = self.register(sender, CAPABILITY_REGISTERS, register)?;
        let mut capabilities = [Capability::VOID; ARGUMENTS];
        for (capability, register) in capabilities.iter_mut().zip(message.capabilities) {
            if let Some(register) = register {
                *capability = self.register(sender, CAPABILITY_REGISTERS, register)?;
            }
        }
        let length = message.bytes.len();
        if length > PAGE_SIZE {
            return Err(Error::OutOfPage { offset: 0, length });
        }
        Ok(Outgoing {
            target,
            words: message.words,
            capabilities,
            bytes: message.bytes.clone(),
        })
    }

    /// Delivers, and does to the sender what its manner says. A call leaves the resume capability that is given, if
    /// somebody has put one in front of it.
    pub(crate) fn send(
        &mut self,
        sender: Capability,
        manner: Manner,
        mut outgoing: Outgoing,
        resume: Option<Capability>,
    ) -> Result<Delivery, Error> {
        let target = self.forward(outgoing.target)?;
        self.check_ready(target)?;
        if manner == Manner::Call {
            let own = self.continuation(sender, Kind::Resume)?;
            outgoing.capabilities[ARGUMENTS - 1] = resume.unwrap_or(own);
        }
        self.deliver(target, outgoing.words, outgoing.capabilities)?;
        match manner {
            Manner::Call => self.set_state(sender, State::Waiting)?,
            Manner::Send => {}
            Manner::Return => self.set_state(sender, State::Available)?,
        }
        Ok(Delivery {
            to: target.object,
            bytes: outgoing.bytes,
        })
    }

    /// Lets a running process wait for anybody's call without answering one: it returns to nobody, having kept or
    /// passed on the resume capability.
    ///
    /// # Errors
    /// [`Error::NotReady`] if the process does not run.
    pub fn listen(&mut self, process: Capability) -> Result<(), Error> {
        if self.well_formed(process)? != State::Running {
            return Err(Error::NotReady(process.object));
        }
        self.set_state(process, State::Available)
    }

    /// Checks that a message can be delivered: a called process must be available, an answered one waiting.
    pub(crate) fn check_ready(&self, target: Capability) -> Result<(), Error> {
        let expected = match target.kind {
            Kind::Entry => State::Available,
            Kind::Resume => State::Waiting,
            other => return Err(Error::NotUnderstood(other)),
        };
        if self.well_formed(target)? != expected {
            return Err(Error::NotReady(target.object));
        }
        Ok(())
    }

    /// The capability that lets its holder make this process run again, once.
    pub(crate) fn continuation(
        &self,
        process: Capability,
        kind: Kind,
    ) -> Result<Capability, Error> {
        let calls = self.calls(process.object);
        if calls >= COUNTER_LIMIT {
            return Err(Error::Retired(process.object));
        }
        Ok(self.face(process, kind, calls))
    }

    /// Gives a message to a process that is ready for it, and lets it run.
    pub(super) fn deliver(
        &mut self,
        target: Capability,
        words: [u64; ARGUMENTS],
        capabilities: [Capability; ARGUMENTS],
    ) -> Result<(), Error> {
        let data = self.registers(target, DATA_REGISTERS)?;
        let slots = self.registers(target, CAPABILITY_REGISTERS)?;
        let face = if target.kind == Kind::Entry {
            target.data
        } else {
            0
        };
        let registers = &mut self.node_mut(data)?.slots;
        for (register, word) in registers.iter_mut().zip(words) {
            *register = Capability::number(word);
        }
        registers[FACE_REGISTER] = Capability::number(face);
        self.node_mut(slots)?.slots[..ARGUMENTS].copy_from_slice(&capabilities);
        self.set_state(target, State::Running)?;
        if target.kind == Kind::Resume {
            // Last, because the capability is void from here on.
            self.count_call(target.object);
        }
        Ok(())
    }
}
