//! Memory: the heap's end, regions of whole pages, and pagers.

use pebble_abi::slot;

use crate::error::answer;
use crate::name::Name;
use crate::{invoke_portal, Error};

/// Moves the heap's end by `bytes`; answers where it was. The global allocator uses it: what others take from
/// it stays theirs.
pub fn sbrk(bytes: isize) -> Result<usize, Error> {
    answer(invoke_portal(slot::SBRK, bytes as usize, 0, 0, 0, 0))
}

/// Maps pages that are zero at first touch; answers the address.
pub fn vm_map(bytes: usize) -> Result<usize, Error> {
    answer(invoke_portal(slot::VM_MAP, bytes, 0, 0, 0, 0))
}

/// Gives a region back that `vm_map` or `vm_pager` made.
///
/// # Safety
/// Nothing refers to the region any more.
pub unsafe fn vm_unmap(address: usize) -> Result<(), Error> {
    answer(invoke_portal(slot::VM_UNMAP, address, 0, 0, 0, 0)).map(drop)
}

/// Maps a region whose faults the portal `pager` answers, called as `pager(cookie, asid, address, access)`.
pub fn vm_pager(bytes: usize, pager: &str, cookie: usize) -> Result<usize, Error> {
    let name = Name::new(pager)?;
    answer(invoke_portal(
        slot::VM_PAGER,
        bytes,
        name.address(),
        cookie,
        0,
        0,
    ))
}

/// A pager's answer: its own page `page` appears at `address` of domain `asid`. Flags as in
/// `interfaces::pager::supply`.
///
/// # Safety
/// With `WRITE` the other domain may change the page at any time from now on: no reference into it may exist.
pub unsafe fn vm_supply(
    asid: usize,
    address: usize,
    page: usize,
    flags: usize,
) -> Result<(), Error> {
    answer(invoke_portal(
        slot::VM_SUPPLY,
        asid,
        address,
        page,
        flags,
        0,
    ))
    .map(drop)
}
