//! Faults: what the processor could not do, and what becomes of it.

use pebble_abi::entry::vm;
use pebble_abi::errno::Errno;
use pebble_abi::layout::PAGE;
use pebble_abi::slot;

use crate::fill::Filled;
use crate::memory::Memory;
use crate::pager::Pending;
use crate::server::Server;

/// Cause: instruction page fault.
const FETCH: usize = 12;
/// Cause: load page fault.
const LOAD: usize = 13;
/// Cause: store page fault.
const STORE: usize = 15;

/// A fault as the portal describes it.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// The thread.
    pub thread: usize,
    /// The domain in which it executes.
    pub asid: usize,
    /// The processor's cause, or [`slot::WINDOW_FAULT`].
    pub cause: usize,
    /// The address that it used.
    pub address: u64,
}

/// What the fault portal does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The access is possible now.
    Retry,
    /// The portal call for whose window this was fails.
    Refuse(Errno),
    /// Nothing answers: the portal manager ends the domain.
    Report,
    /// The same, because there is no memory for a page that would be the domain's.
    OutOfMemory,
    /// Ask a pager, without the lock, and go on with [`Server::answered`].
    Ask(Question),
}

/// A question to a pager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    /// Slot of its portal.
    pub portal: usize,
    /// What it wants to be told.
    pub cookie: u64,
    /// The domain that needs a page.
    pub asid: usize,
    /// The page's address there.
    pub page: u64,
    /// The access, as a protection bit.
    pub access: u64,
    pager: usize,
    /// What the thread was asking for before: a pager may itself fault.
    outer: Pending,
}

impl<M: Memory> Server<M> {
    /// Handles a fault.
    pub fn fault(&mut self, fault: &Fault) -> Outcome {
        let Some(access) = self.access(fault) else {
            return Outcome::Report;
        };
        match self.attempt(fault, access) {
            Ok(Filled::Usable) => Outcome::Retry,
            Err(error) => fault.unresolved(error),
            Ok(Filled::AskPager { pager, cookie }) => {
                let page = fault.address & !(PAGE - 1);
                let generation = self.spaces[fault.asid].generation;
                let asked = Pending {
                    asid: fault.asid,
                    generation,
                    page,
                };
                let outer = core::mem::replace(&mut self.pending[fault.thread], asked);
                let portal = self.pagers.portal(pager);
                Outcome::Ask(Question {
                    portal,
                    cookie,
                    asid: fault.asid,
                    page,
                    access,
                    pager,
                    outer,
                })
            }
        }
    }

    /// Goes on after a pager's answer: 0 if it supplied the page.
    pub fn answered(&mut self, fault: &Fault, question: &Question, answer: isize) -> Outcome {
        self.pending[fault.thread] = question.outer;
        let is_gone = [Errno::NoSys, Errno::OwnerDead, Errno::BadDescriptor]
            .iter()
            .any(|error| error.negated() == answer);
        if is_gone && self.pagers.portal(question.pager) == question.portal {
            self.pagers.forget_name(question.pager);
        }
        match self.attempt(fault, question.access) {
            Ok(Filled::Usable) => Outcome::Retry,
            Ok(Filled::AskPager { .. }) => fault.unresolved(Errno::Fault),
            Err(error) => fault.unresolved(error),
        }
    }

    /// A portal to close: its pager serves nobody any more.
    pub fn take_idle_pager(&mut self) -> Option<usize> {
        self.pagers.take_idle()
    }

    fn attempt(&mut self, fault: &Fault, access: u64) -> Result<Filled, Errno> {
        if fault.thread >= self.pending.len() {
            return Err(Errno::Invalid);
        }
        let asid = self.living(fault.asid).map_err(|_| Errno::Fault)?;
        self.fill(asid, fault.address, access)
    }

    /// The access that failed, as a protection bit; none if no page would help.
    fn access(&self, fault: &Fault) -> Option<u64> {
        match fault.cause {
            FETCH => Some(vm::EXECUTE),
            LOAD => Some(vm::READ),
            STORE => Some(vm::WRITE),
            // Portal code says in the address's lowest bit whether it wants to show the page for writing.
            slot::WINDOW_FAULT if fault.address & 1 != 0 => Some(vm::WRITE),
            slot::WINDOW_FAULT => Some(vm::READ),
            _ => None,
        }
    }
}

impl Fault {
    fn unresolved(&self, error: Errno) -> Outcome {
        match self.cause {
            slot::WINDOW_FAULT => Outcome::Refuse(error),
            _ if error == Errno::NoMemory => Outcome::OutOfMemory,
            _ => Outcome::Report,
        }
    }
}
