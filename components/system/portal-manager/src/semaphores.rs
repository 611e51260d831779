//! Semaphores: a counter in the scheduler and two hybrid portals, P and V, in the owner's table; the same portals in the
//! tables of those who were passed it (`accept.rs`).

use pebble_abi::errno::Errno;
use pebble_abi::layout::MAX_SEMAPHORES;
use pebble_abi::slot::FIRST_DYNAMIC;

use crate::calls;
use crate::fork::announce;
use crate::state::{State, STATE};
use crate::tables::{Action, Portal};

/// `sem_create`: answers the slot of P; V is the next one.
pub fn create(owner: usize, value: usize) -> Result<isize, Errno> {
    let slot = STATE.with(|state| {
        state
            .semaphore(owner, value, FIRST_DYNAMIC)
            .map(|(slot, _)| slot)
    })?;
    announce(owner, slot, 2);
    Ok(slot as isize)
}

impl State {
    /// Makes a semaphore for `owner`; answers the slot of P and the index.
    pub fn semaphore(
        &mut self,
        owner: usize,
        value: usize,
        _first: usize,
    ) -> Result<(usize, usize), Errno> {
        let slot = self.free_slots(owner, 2)?;
        let index = calls::sem_alloc(value, owner);
        // The index becomes an address in portal code: one beyond the table is no semaphore.
        if !(0..MAX_SEMAPHORES as isize).contains(&index) {
            return Err(if index == Errno::Invalid.negated() {
                Errno::Invalid
            } else {
                Errno::TableFull
            });
        }
        let table = self.domains[owner].table_of as u16;
        self.put_semaphore(owner, slot, index as u16, table)
            .inspect_err(|_| {
                calls::sem_free(index as usize);
            })?;
        Ok((slot, index as usize))
    }

    /// Puts P and V of a semaphore that ends with the domain `owner` into two slots of `domain`: both or none.
    pub fn put_semaphore(
        &mut self,
        domain: usize,
        slot: usize,
        index: u16,
        owner: u16,
    ) -> Result<(), Errno> {
        let (wait, post) = (
            Action::SemaphoreWait { index, owner },
            Action::SemaphorePost { index, owner },
        );
        self.put(domain, slot, b"nmc", wait)?;
        self.put(domain, slot + 1, b"nmc", post).inspect_err(|_| {
            let (objects, empty) = (self.objects(), self.empty());
            let table = self.domains[domain].table_of;
            if let Some(portal) = self.tables.remove(objects, table, slot, empty) {
                self.code.free(portal.code);
            }
        })
    }
}

/// `sem_destroy`: threads that wait get `-EINVAL`.
pub fn destroy(owner: usize, slot: usize) -> Result<isize, Errno> {
    STATE.with(|state| {
        let owner = state.domains[owner].table_of;
        let known = state.tables.get(owner, slot).map(|portal| portal.action);
        let Some(Action::SemaphoreWait { index, owner: of }) = known else {
            return Err(Errno::Invalid);
        };
        if of as usize != owner {
            return Err(Errno::PermissionDenied);
        }
        // Portals that others accepted go first: the number may be another semaphore's afterwards.
        let (objects, empty, dead) = (state.objects(), state.empty(), state.dead);
        let accepted = |portal: &Portal| {
            portal.action.semaphore() == Some(index) && portal.domain as usize != owner
        };
        while let Some(code) = state.tables.bury_next(objects, owner, accepted, dead) {
            state.retire(code);
        }
        calls::sem_free(index as usize);
        for slot in [slot, slot + 1] {
            if let Some(portal) = state.tables.remove(objects, owner, slot, empty) {
                state.retire(portal.code);
            }
        }
        Ok(0)
    })
}
