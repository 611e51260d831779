//! Semaphores: a counter in the scheduler and two hybrid portals, P and V, in the owner's table.

use pebble_abi::errno::Errno;
use pebble_abi::layout::MAX_SEMAPHORES;
use pebble_abi::slot::FIRST_DYNAMIC;

use crate::calls;
use crate::fork::announce;
use crate::state::{State, STATE};
use crate::tables::Action;

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
        let made = self
            .put(owner, slot, b"nmc", Action::SemaphoreWait(index as u16))
            .and_then(|()| self.put(owner, slot + 1, b"nmc", Action::SemaphorePost(index as u16)));
        if let Err(error) = made {
            let (objects, empty) = (self.objects(), self.empty());
            if let Some(portal) =
                self.tables
                    .remove(objects, self.domains[owner].table_of, slot, empty)
            {
                self.code.free(portal.code);
            }
            calls::sem_free(index as usize);
            return Err(error);
        }
        Ok((slot, index as usize))
    }
}

/// `sem_destroy`: threads that wait get `-EINVAL`.
pub fn destroy(owner: usize, slot: usize) -> Result<isize, Errno> {
    STATE.with(|state| {
        let owner = state.domains[owner].table_of;
        let Some(Action::SemaphoreWait(index)) =
            state.tables.get(owner, slot).map(|portal| portal.action)
        else {
            return Err(Errno::Invalid);
        };
        calls::sem_free(index as usize);
        let (objects, empty) = (state.objects(), state.empty());
        for slot in [slot, slot + 1] {
            if let Some(portal) = state.tables.remove(objects, owner, slot, empty) {
                state.retire(portal.code);
            }
        }
        Ok(0)
    })
}
