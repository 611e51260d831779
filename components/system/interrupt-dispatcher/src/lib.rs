//! Which semaphore belongs to which interrupt, and what happens when one arrives.
//!
//! `interrupt` runs with interrupts off and may stop `attach` or `acknowledge`, which run with interrupts on, at
//! any instruction; they can also stop each other. That is safe without a lock, because there is no
//! read-modify-write anywhere: a source has a register of its own for its priority, completion is one store,
//! the enable bits are all set, always to the same value, and a source is masked by its priority 0. The
//! order of stores does the rest: a source gets its semaphore before it can interrupt, and loses it after.
//!
//! A claimed source stays quiet until it is completed, which the driver's acknowledgement does. So nothing has to
//! be masked per interrupt; and completing a source whose enable bit is clear, which masking by that bit would
//! lead to, is ignored by the controller and loses the source for good.
#![cfg_attr(target_os = "none", no_std)]
#![deny(unsafe_code)]

use core::sync::atomic::{AtomicU16, Ordering};

use pebble_server::abi::errno::Errno;
use pebble_server::abi::layout::MAX_SEMAPHORES;

#[cfg(target_arch = "riscv64")]
mod riscv64;
#[cfg(target_arch = "riscv64")]
pub use riscv64::Plic;

/// Interrupt sources, 0 among them, which is none.
pub const SOURCES: usize = 128;
/// As the semaphore in `attach`: take the source's semaphore away.
pub const DETACH: u64 = u64::MAX;

/// The interrupt controller, as far as one hart needs it.
pub trait Controller {
    /// Lets all sources that have a priority reach this hart. Always the same stores.
    fn open(&self);
    /// Takes the waiting source of the highest priority, 0 when none waits. It stays quiet until completed.
    fn claim(&self) -> u32;
    /// Lets a claimed source interrupt again; without effect for any other.
    fn complete(&self, source: u32);
    /// Sets a source's priority; 0 keeps it quiet.
    fn set_priority(&self, source: u32, priority: u32);
}

/// What the dispatcher does about an interrupt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// V on this semaphore.
    Notify(u16),
    /// Nothing.
    Resume,
}

/// Interrupt sources and their semaphores.
pub struct Dispatcher<C> {
    controller: C,
    /// Index of the semaphore plus one, 0 for none.
    semaphores: [AtomicU16; SOURCES],
}

impl<C: Controller> Dispatcher<C> {
    /// No source has a semaphore.
    pub const fn new(controller: C) -> Self {
        Dispatcher {
            controller,
            semaphores: [const { AtomicU16::new(0) }; SOURCES],
        }
    }

    /// An external interrupt. One source per interrupt: if more wait, they interrupt again.
    #[inline(always)]
    pub fn external(&self) -> Action {
        let source = self.controller.claim();
        let entry = self.semaphores[source as usize % SOURCES].load(Ordering::Relaxed);
        if entry != 0 {
            return Action::Notify(entry - 1);
        }
        self.unexpected(source)
    }

    /// Nobody wants this source: keep it quiet until somebody does.
    #[cold]
    #[inline(never)]
    fn unexpected(&self, source: u32) -> Action {
        if source != 0 {
            self.controller.set_priority(source, 0);
            self.controller.complete(source);
        }
        Action::Resume
    }

    /// Gives a source its semaphore, or with [`DETACH`] takes it away.
    pub fn attach(&self, interrupt: u64, semaphore: u64) -> Result<(), Errno> {
        let (source, entry) = self.entry(interrupt)?;
        if semaphore == DETACH {
            self.controller.set_priority(source, 0);
            entry.store(0, Ordering::Relaxed);
            return Ok(());
        }
        if semaphore >= MAX_SEMAPHORES as u64 {
            return Err(Errno::Invalid);
        }
        entry.store(semaphore as u16 + 1, Ordering::Relaxed);
        self.controller.open();
        // The driver before may have died between interrupt and acknowledgement.
        self.controller.complete(source);
        self.controller.set_priority(source, 1);
        Ok(())
    }

    /// The driver has served the device.
    pub fn acknowledge(&self, interrupt: u64) -> Result<(), Errno> {
        let (source, entry) = self.entry(interrupt)?;
        if entry.load(Ordering::Relaxed) == 0 {
            return Err(Errno::NoSuchProcess);
        }
        self.controller.complete(source);
        Ok(())
    }

    fn entry(&self, interrupt: u64) -> Result<(u32, &AtomicU16), Errno> {
        let source = usize::try_from(interrupt).unwrap_or(SOURCES);
        let entry = self
            .semaphores
            .get(source)
            .filter(|_| source != 0)
            .ok_or(Errno::Invalid)?;
        Ok((source as u32, entry))
    }
}
