//! What a portal must do, written to be read: no code is generated here, nothing is fast.
//!
//! A [`Machine`] is the program's registers, the control registers and the records in privileged memory. A
//! [`World`] knows which portal is at which address. [`World::enter`] does to a machine what the portal there must
//! do to it; the tests run the generated code in an emulator on the same machine and compare everything.
//!
//! What is left open is open in the portals too: words of the invocation stack beneath its top
//! ([`Machine::forget`]), the registers `t0` to `t6` wherever neither side may count on them
//! ([`Machine::temporaries`]), and readings of a clock ([`Machine::stamps`]).
#![forbid(unsafe_code)]

mod call;
mod float;
mod machine;
mod scheduler;
mod short;
mod trap;
mod window;

pub use machine::{Machine, Stamp};

use std::collections::BTreeMap;

use pebble_portal_spec::portal::{Kind, Name, System};

/// A portal: where its block is entered, what it is, what its frames are named after.
#[derive(Clone, Copy, Debug)]
pub struct Portal<'a> {
    /// Address of the block's entry.
    pub entry: u64,
    /// What it does.
    pub kind: Kind<'a>,
    /// What its frames are named after.
    pub name: Name,
}

/// All portals that a run can come to, by the address of their entry.
#[derive(Clone, Debug, Default)]
pub struct World<'a> {
    /// The system that they were made for.
    pub system: System,
    /// Portals by entry.
    pub portals: BTreeMap<u64, Portal<'a>>,
}

impl<'a> World<'a> {
    /// Adds a portal.
    pub fn add(&mut self, entry: u64, kind: Kind<'a>, name: Name) {
        self.portals.insert(entry, Portal { entry, kind, name });
    }

    fn portal(&self, entry: u64) -> Portal<'a> {
        *self
            .portals
            .get(&entry)
            .unwrap_or_else(|| panic!("no portal was added at {entry:#x}"))
    }

    /// The thread traps into the portal at `entry`.
    pub fn enter(&self, m: &mut Machine, entry: u64) {
        let portal = self.portal(entry);
        match portal.kind {
            Kind::Call {
                specification,
                target,
                constant,
            } => self.call(m, &portal, specification, target, constant),
            Kind::Scheduler { entry } => self.scheduler_entry(m, &portal, entry),
            Kind::SemaphoreWait { index } => self.semaphore_wait(m, &portal, index),
            Kind::SemaphorePost { index } => self.semaphore_post(m, &portal, index),
            Kind::SchedulerTail { entry } => self.enter_scheduler(m, entry),
            Kind::Switch => self.switch(m),
            Kind::Interrupt => self.interrupt(m, &portal),
            Kind::Fault => self.fault(m, &portal),
            Kind::WindowFault => self.window_fault(m, &portal),
            Kind::Illegal => self.illegal(m),
            Kind::Return => self.return_from_portal(m),
            Kind::FloatPush | Kind::StackFree | Kind::StackWait => {
                panic!("a shared block is entered from other portals only")
            }
            _ => self.short_circuit(m, &portal.kind),
        }
    }

    /// Slot 0, and a thread that the switch resumes: the portal that pushed the top frame goes on.
    pub fn return_from_portal(&self, m: &mut Machine) {
        let frame = m.frame();
        let portal = self.portal(m.get(frame));
        match portal.kind {
            Kind::Call { specification, .. } => self.call_returns(m, specification),
            Kind::Scheduler { .. }
            | Kind::SemaphoreWait { .. }
            | Kind::SemaphorePost { .. }
            | Kind::StackFree => self.scheduler_returns(m),
            Kind::Interrupt | Kind::StackWait => self.restore(m),
            Kind::Fault => self.fault_returns(m, false),
            Kind::WindowFault => self.fault_returns(m, true),
            Kind::FloatPush => self.drop_floats(m),
            // Beneath everything is a frame of the empty slot: a thread that returns once too often.
            _ => self.short_circuit(m, &portal.kind),
        }
    }
}
