//! Domains: their numbers, copies with every portal interposed, and their end.

use pebble_abi::slot;

use crate::error::answer;
use crate::{invoke_portal, stack, Entry, Error};

/// Number of this domain.
pub fn get_asid() -> usize {
    invoke_portal(slot::GET_ASID, 0, 0, 0, 0, 0) as usize
}

/// Makes a copy of this domain's memory in which every portal leads to `intercept(slot, p1..p5)` in this domain.
/// Answers the child's number, and 0 in the child, which begins with a copy of the calling thread alone.
///
/// # Safety
/// Other threads of this domain do not exist in the child: locks that they hold at this moment stay locked there,
/// and values that they own are never dropped.
pub unsafe fn domain_fork(intercept: Entry) -> Result<usize, Error> {
    stack::ensure()?;
    let fork = || invoke_portal(slot::DOMAIN_FORK, intercept as usize, 0, 0, 0, 0);
    // The child must not inherit a line or a heap that another thread is in the middle of.
    #[cfg(target_os = "none")]
    let fork = || crate::heap::while_locked(fork);
    let child = crate::console::while_locked(fork);
    if child == 0 {
        stack::reset();
    }
    answer(child)
}

/// Ends a child domain.
pub fn domain_kill(asid: usize) -> Result<(), Error> {
    answer(invoke_portal(slot::DOMAIN_KILL, asid, 0, 0, 0, 0)).map(drop)
}

/// Reads one record about the system into `buffer`, which must not cross a page; see the reference for kinds.
pub fn system_info(kind: usize, index: usize, buffer: &mut [u8]) -> Result<usize, Error> {
    answer(invoke_portal(
        slot::INFO,
        kind,
        index,
        buffer.as_mut_ptr() as usize,
        0,
        0,
    ))
}
