//! Semaphores: P is the portal in slot `semaphore`, V the one after it.

use pebble_abi::slot;

use crate::error::answer;
use crate::{invoke_portal, Error};

/// Makes a semaphore; answers the slot of P.
pub fn sem_create(value: i32) -> Result<usize, Error> {
    answer(invoke_portal(
        slot::SEM_CREATE,
        value as isize as usize,
        0,
        0,
        0,
        0,
    ))
}

/// P: waits until the value is above zero, then takes one.
pub fn sem_wait(semaphore: usize) -> Result<(), Error> {
    answer(invoke_portal(semaphore, 0, 0, 0, 0, 0)).map(drop)
}

/// V: adds one, or wakes a waiting thread.
pub fn sem_post(semaphore: usize) -> Result<(), Error> {
    answer(invoke_portal(semaphore + 1, 0, 0, 0, 0, 0)).map(drop)
}

/// Ends a semaphore; threads that wait get `-EINVAL`.
pub fn sem_destroy(semaphore: usize) -> Result<(), Error> {
    answer(invoke_portal(slot::SEM_DESTROY, semaphore, 0, 0, 0, 0)).map(drop)
}
