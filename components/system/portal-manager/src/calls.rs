//! Calls to the other core servers.

use pebble_abi::entry::{scheduler, vm};
use pebble_abi::errno::Errno;
use pebble_abi::slot::portal_manager as slot;
use pebble_abi::thread_state;
use pebble_server::invoke;

/// A VM server entry with up to three arguments.
fn vm_call(entry: usize, a: usize, b: usize, c: usize) -> isize {
    invoke(slot::VM + entry, a, b, c, 0, 0)
}

fn scheduler_call(entry: usize, a: usize, b: usize, c: usize, d: usize) -> isize {
    invoke(slot::SCHEDULER + entry, a, b, c, d, 0)
}

/// New address space; answers the physical address of its root page.
pub fn space_create(asid: usize, pages: usize) -> isize {
    vm_call(vm::SPACE_CREATE, asid, pages, 0)
}
/// Copy of an address space.
pub fn space_clone(parent: usize, child: usize) -> isize {
    vm_call(vm::SPACE_CLONE, parent, child, 0)
}
/// Ends an address space.
pub fn space_destroy(asid: usize) -> isize {
    vm_call(vm::SPACE_DESTROY, asid, 0, 0)
}
/// Page-table path of a stack slot; answers the physical address of its first entry.
pub fn stack_prepare(asid: usize, slot_address: u64) -> isize {
    vm_call(vm::STACK_PREPARE, asid, slot_address as usize, 0)
}
/// The caller's stack area appears in the callee.
pub fn stack_share(caller: usize, callee: usize) -> isize {
    vm_call(vm::STACK_SHARE, caller, callee, 0)
}
/// Page-table page for given pages; answers the physical address of the first free entry.
pub fn gift_prepare(asid: usize) -> isize {
    vm_call(vm::GIFT_PREPARE, asid, 0, 0)
}
/// Pages in use and limit.
pub fn memory_info(asid: usize) -> isize {
    vm_call(vm::MEMORY_INFO, asid, 0, 0)
}
/// New semaphore; answers its index.
pub fn sem_alloc(value: usize, owner: usize) -> isize {
    scheduler_call(scheduler::SEM_ALLOC, value, owner, 0, 0)
}
/// Ends a semaphore: the scheduler wakes its waiting threads a few at a time.
pub fn sem_free(index: usize) {
    while scheduler_call(scheduler::SEM_FREE, index, 0, 0, 0) == 1 {}
}
/// Makes a new thread known and ready.
pub fn thread_add(thread: usize, priority: usize, home: usize, shares: usize) -> isize {
    scheduler_call(scheduler::THREAD_ADD, thread, priority, home, shares)
}
/// Ends the calling thread; does not return.
pub fn thread_exit() -> isize {
    scheduler_call(scheduler::THREAD_EXIT, 0, 0, 0, 0)
}
/// Takes a thread off every queue.
pub fn thread_stop(thread: usize) -> isize {
    scheduler_call(scheduler::THREAD_STOP, thread, 0, 0, 0)
}
/// The scheduler forgets a stopped thread.
pub fn thread_remove(thread: usize) -> isize {
    scheduler_call(scheduler::THREAD_REMOVE, thread, 0, 0, 0)
}
/// Makes a stopped thread ready; a waiting call gets `result`.
pub fn thread_continue(thread: usize, result: isize) -> isize {
    scheduler_call(scheduler::THREAD_CONTINUE, thread, result as usize, 0, 0)
}
/// Wakes the first thread that waits for a stack of domain `asid`.
pub fn stack_free(asid: usize) -> isize {
    scheduler_call(scheduler::STACK_FREE, asid, 0, 0, 0)
}
/// Changes the calling thread's priority, whatever its component may have; answers the old one.
pub fn thread_force(priority: usize) -> isize {
    scheduler_call(scheduler::THREAD_FORCE, priority, 0, 0, 0)
}
/// Priority, state, what a thread waits for.
pub fn thread_info(thread: usize) -> isize {
    scheduler_call(scheduler::THREAD_INFO, thread, 0, 0, 0)
}
/// A thread's state as a number of `abi::thread_state`; `None` for a number that is no thread's.
pub fn thread_state(thread: usize) -> Option<u8> {
    let info = thread_info(thread);
    match info {
        0.. => Some((info >> 8) as u8),
        _ if info == Errno::NoSuchProcess.negated() => Some(thread_state::FREE),
        _ => None,
    }
}
/// Sleeps about `cycles` cycles.
pub fn pause(cycles: u64) {
    let until = pebble_server::cycles() / 2 + cycles / 2;
    scheduler_call(scheduler::SLEEP, until as usize, 0, 0, 0);
}
/// There is work for the warden.
pub fn warden_post() {
    invoke(slot::WARDEN_V, 0, 0, 0, 0, 0);
}
/// The dispatcher performs V on `semaphore` for `interrupt`.
pub fn attach(interrupt: usize, semaphore: usize) -> isize {
    invoke(
        slot::DISPATCHER + pebble_abi::entry::dispatcher::ATTACH,
        interrupt,
        semaphore,
        0,
        0,
        0,
    )
}
/// Tells init of a death.
pub fn death_post() {
    invoke(slot::DEATH_V, 0, 0, 0, 0, 0);
}
/// Waits for work for the warden.
pub fn warden_wait() {
    invoke(slot::WARDEN_P, 0, 0, 0, 0, 0);
}
/// Makes new portal code visible to instruction fetch.
pub fn flush_instructions() {
    invoke(slot::FLUSH_INSTRUCTIONS, 0, 0, 0, 0, 0);
}
/// Ends the machine's run.
pub fn reset() {
    invoke(slot::RESET, 0, 0, 0, 0, 0);
}
