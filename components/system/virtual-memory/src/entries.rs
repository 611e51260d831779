//! Portal entries that do one thing under the lock, in the order of `abi::entry::vm`.
//!
//! `a0` is the portal's constant; `invoker` comes from the letter `d`, `thread` (its number, and its home
//! domain in the upper half) from `t`. Both are written by portal code: no caller can forge them.

use pebble_server::abi::errno::Errno;
use pebble_server::abi::page_table::{PageTemplate, TEMPLATE};
use pebble_server::abi::slot;
use pebble_server::invoke;
use virtual_memory::{Segment, Server, Supply};

use crate::raw::{boot_info, locked, PhysicalWindow};

/// The home domain in a thread word.
pub const fn home(thread: u64) -> usize {
    (thread >> 32) as usize
}

/// The thread's number in a thread word.
pub const fn number(thread: u64) -> usize {
    (thread & 0xffff_ffff) as usize
}

/// Runs an operation under the lock and answers what the portal returns.
pub fn serve(work: impl FnOnce(&mut Server<PhysicalWindow>) -> Result<u64, Errno>) -> isize {
    let result = locked(work).and_then(|result| result);
    result.map_or_else(Errno::negated, |value| value as isize)
}

/// As [`serve`], for a component's own call: afterwards closes the portals of pagers that serve nobody any
/// more. Never in a call of the portal manager's, which may hold the lock that closing takes.
pub fn serve_component(
    work: impl FnOnce(&mut Server<PhysicalWindow>) -> Result<u64, Errno>,
) -> isize {
    let result = serve(work);
    // No more rounds than there are pagers, one per lock, so that others get in between.
    while let Ok(Some(portal)) = locked(|server| server.take_idle_pager()) {
        invoke(slot::PORTAL_CLOSE, portal, 0, 0, 0, 0);
    }
    result
}

/// `start()`.
pub extern "C" fn start() -> isize {
    let started = serve(|server| server.start(boot_info()).map(|()| 0));
    if started < 0 {
        return started;
    }
    register_template()
}

/// Tells the portal manager how portals deal with page-table entries: nobody else knows what they mean.
fn register_template() -> isize {
    /// A window shows one page: the record must not straddle two.
    #[repr(align(64))]
    struct Shown(PageTemplate);
    static SHOWN: Shown = Shown(TEMPLATE);
    let address = core::ptr::from_ref(&SHOWN.0) as usize;
    invoke(slot::vm::TEMPLATE, address, 0, 0, 0, 0)
}

/// `sbrk(a1 = bytes, a2 = d, a3 = t)`.
pub extern "C" fn sbrk(_: usize, bytes: i64, invoker: usize, thread: u64) -> isize {
    serve(|server| server.sbrk(invoker, home(thread), bytes))
}

/// `vm_map(a1 = bytes, a2 = d, a3 = t)`.
pub extern "C" fn vm_map(_: usize, bytes: u64, invoker: usize, thread: u64) -> isize {
    serve_component(|server| server.vm_map(invoker, home(thread), bytes))
}

/// `vm_unmap(a1 = address, a2 = d, a3 = t)`.
pub extern "C" fn vm_unmap(_: usize, address: u64, invoker: usize, thread: u64) -> isize {
    serve_component(|server| server.vm_unmap(invoker, home(thread), address).map(|()| 0))
}

/// `vm_supply(a0 = d, a1 = asid, a2 = address, a3 = page, a4 = flags, a5 = t)`.
pub extern "C" fn vm_supply(
    pager: usize,
    asid: usize,
    address: u64,
    page: u64,
    flags: u64,
    thread: u64,
) -> isize {
    let supply = Supply {
        pager,
        thread: number(thread),
        asid,
        address,
        page,
        flags,
    };
    serve(|server| server.vm_supply(supply).map(|()| 0))
}

/// `space_create(a1 = asid, a2 = memory pages)`.
pub extern "C" fn space_create(_: usize, asid: usize, pages: u64) -> isize {
    serve(|server| server.space_create(asid, pages))
}

/// `space_clone(a1 = parent, a2 = child)`.
pub extern "C" fn space_clone(_: usize, parent: usize, child: usize) -> isize {
    serve(|server| server.space_clone(parent, child))
}

/// `space_destroy(a1 = asid)`.
pub extern "C" fn space_destroy(_: usize, asid: usize) -> isize {
    serve(|server| server.space_destroy(asid).map(|()| 0))
}

/// `stack_prepare(a1 = asid, a2 = slot address, a3 = pages)`.
pub extern "C" fn stack_prepare(_: usize, asid: usize, slot: u64, pages: u64) -> isize {
    serve(|server| server.stack_prepare(asid, slot, pages))
}

/// `stack_share(a1 = caller, a2 = callee)`.
pub extern "C" fn stack_share(_: usize, caller: usize, callee: usize) -> isize {
    serve(|server| server.stack_share(caller, callee).map(|()| 0))
}

/// `image_map(a1 = asid, a2 = address, a3 = bytes, a4 = offset, a5 = file bytes | protection << 56)`.
pub extern "C" fn image_map(
    _: usize,
    asid: usize,
    address: u64,
    bytes: u64,
    offset: u64,
    file: u64,
) -> isize {
    let protection = file >> 56;
    let file_bytes = file & ((1 << 56) - 1);
    let segment = Segment {
        address,
        bytes,
        offset,
        file_bytes,
        protection,
    };
    serve(|server| server.image_map(asid, segment).map(|()| 0))
}

/// `start_info(a1 = asid, a2 = window on one page)`.
pub extern "C" fn start_info(_: usize, asid: usize, window: u64) -> isize {
    serve(|server| server.start_info(asid, window).map(|()| 0))
}

/// `device_map(a1 = asid, a2 = physical address, a3 = bytes)`.
pub extern "C" fn device_map(_: usize, asid: usize, physical: u64, bytes: u64) -> isize {
    serve(|server| server.device_map(asid, physical, bytes).map(|()| 0))
}

/// `image_end(a1 = asid, a2 = address)`.
pub extern "C" fn image_end(_: usize, asid: usize, address: u64) -> isize {
    serve(|server| server.image_end(asid, address).map(|()| 0))
}

/// `memory_info(a1 = asid)`.
pub extern "C" fn memory_info(_: usize, asid: usize) -> isize {
    serve(|server| server.memory_info(asid))
}

/// `gift_prepare(a1 = asid)`.
pub extern "C" fn gift_prepare(_: usize, asid: usize) -> isize {
    serve(|server| server.gift_prepare(asid))
}
