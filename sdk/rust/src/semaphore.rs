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

/// Takes over a semaphore that the caller passed by its slot of P (letter `k`), while its call lasts; answers the slot
/// of P here. It stays the caller's: only that domain can end it, and it ends with it (`-EOWNERDEAD`).
///
/// # Errors
/// As for [`portal_accept`](crate::portal_accept).
pub fn sem_accept(word: usize) -> Result<usize, Error> {
    crate::portal_accept(word, pebble_abi::semaphore::ACCEPT_BOTH)
}

/// Ends a semaphore; threads that wait get `-EINVAL`.
pub fn sem_destroy(semaphore: usize) -> Result<(), Error> {
    answer(invoke_portal(slot::SEM_DESTROY, semaphore, 0, 0, 0, 0)).map(drop)
}
