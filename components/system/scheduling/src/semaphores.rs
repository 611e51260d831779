//! The table of semaphores: who waits for each, and which indices are in use.

use pebble_abi::errno::Errno;
use pebble_abi::layout::{MAX_DOMAINS, MAX_SEMAPHORES};
use pebble_abi::semaphore::FIRST_FREE;

use crate::{Counters, Queue};

/// Waiting threads released by one call that ends a semaphore: the time with interrupts off is bounded.
pub const RELEASES: usize = 4;
/// Semaphores that one domain may have, so that none can use up all.
pub const SHARE: u16 = 256;

/// Use of an index. Whether P and V mean something is told by the counter alone ([`Counters::CLOSED`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Use {
    /// Never given out, or a fixed semaphore.
    Initial,
    /// Given out.
    Open,
    /// Ended, but threads still wait.
    Closing,
    /// Given back; `next` in the list of free indices.
    Free,
}

/// What P and V do not need.
#[derive(Clone, Copy)]
struct Record {
    /// Next free index, while this one is free.
    next: u16,
    usage: Use,
    owner: u8,
}

/// All semaphores but their counters, which are [`Counters`].
pub struct Semaphores {
    /// Threads that wait for each.
    queues: [Queue; MAX_SEMAPHORES],
    records: [Record; MAX_SEMAPHORES],
    /// First of the indices that were given back; 0 for none, which is a fixed semaphore.
    free: u16,
    /// Indices beyond the fixed ones that were ever given out: those above were not.
    used: u16,
    /// Semaphores of each domain.
    owned: [u16; MAX_DOMAINS],
}

impl Semaphores {
    /// The fixed semaphores only; all bytes zero.
    pub const NEW: Semaphores = Semaphores {
        queues: [Queue::EMPTY; MAX_SEMAPHORES],
        records: [Record {
            next: 0,
            usage: Use::Initial,
            owner: 0,
        }; MAX_SEMAPHORES],
        free: 0,
        used: 0,
        owned: [0; MAX_DOMAINS],
    };

    /// The threads that wait for a semaphore.
    #[inline(always)]
    pub fn queue(&mut self, semaphore: u16) -> &mut Queue {
        &mut self.queues[semaphore as usize % MAX_SEMAPHORES]
    }

    /// A copy of that, to look at.
    pub fn waiters(&self, semaphore: u16) -> Queue {
        self.queues[semaphore as usize % MAX_SEMAPHORES]
    }

    /// Gives out an index; its counter is for the caller to set.
    pub fn open(&mut self, owner: usize) -> Result<u16, Errno> {
        let owned = self.owned.get_mut(owner).ok_or(Errno::Invalid)?;
        if *owned >= SHARE {
            return Err(Errno::TableFull);
        }
        let index = if self.free != 0 {
            let index = self.free;
            self.free = self.records[index as usize % MAX_SEMAPHORES].next;
            index
        } else if FIRST_FREE + (self.used as usize) < MAX_SEMAPHORES {
            self.used += 1;
            FIRST_FREE as u16 + self.used - 1
        } else {
            return Err(Errno::TableFull);
        };
        *owned += 1;
        let entry = &mut self.records[index as usize % MAX_SEMAPHORES];
        entry.usage = Use::Open;
        entry.owner = owner as u8;
        Ok(index)
    }

    /// Begins to end a semaphore, or goes on with that: no P or V means it from now on.
    pub fn close(&mut self, semaphore: u64, counters: &Counters) -> Result<u16, Errno> {
        let index = u16::try_from(semaphore).map_err(|_| Errno::Invalid)?;
        if index as usize >= MAX_SEMAPHORES
            || !matches!(
                self.records[index as usize % MAX_SEMAPHORES].usage,
                Use::Open | Use::Closing
            )
        {
            return Err(Errno::Invalid);
        }
        self.records[index as usize % MAX_SEMAPHORES].usage = Use::Closing;
        counters.set(index, Counters::CLOSED);
        Ok(index)
    }

    /// Takes back the index of a closed semaphore for which no thread waits any more.
    pub fn release(&mut self, semaphore: u16) {
        let entry = &mut self.records[semaphore as usize % MAX_SEMAPHORES];
        entry.usage = Use::Free;
        entry.next = self.free;
        self.free = semaphore;
        self.owned[entry.owner as usize % MAX_DOMAINS] -= 1;
    }
}
