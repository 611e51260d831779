//! Stack slots: which parts of the domain's stack area are in use, and the thread-local block at the top of each.
//!
//! Slot 0 is the main thread's. `fork`, `thread_create` and the stack queue take the lowest free one.

use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use pebble_abi::errno::Errno;
use pebble_abi::layout::STACK_SLOTS;

use crate::Error;

/// Stacks that `portal_register`, `portal_notify` and `domain_fork` add to an empty queue.
pub const QUEUE_STACKS: usize = 8;

const _: () = assert!(STACK_SLOTS == 32, "one bit per slot in a word of 32");

/// One bit per slot in use.
pub(crate) static SLOTS: AtomicU32 = AtomicU32::new(1);
static QUEUED: AtomicUsize = AtomicUsize::new(0);

/// The lowest free slot of `slots`, marked as used.
pub(crate) fn take(slots: &AtomicU32) -> Result<usize, Error> {
    slots
        .fetch_update(Ordering::Acquire, Ordering::Relaxed, |used| {
            (used != u32::MAX).then(|| used | (used + 1))
        })
        .map(|used| used.trailing_ones() as usize)
        .map_err(|_| Errno::Again.into())
}

/// Puts `count` more stacks into the queue from which portals with letter `n` take theirs.
pub fn stack_add(count: usize) -> Result<(), Error> {
    for _ in 0..count {
        let slot = take(&SLOTS)?;
        if let Err(error) = add(slot) {
            SLOTS.fetch_and(!(1 << slot), Ordering::Release);
            return Err(error);
        }
        QUEUED.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}

#[cfg(target_arch = "riscv64")]
fn add(slot: usize) -> Result<(), Error> {
    use pebble_abi::slot::STACK_ADD;
    let pointer = place::block_create(place::top(slot));
    crate::answer(crate::invoke_portal(STACK_ADD, slot, pointer, 0, 0, 0)).map(drop)
}

#[cfg(not(target_arch = "riscv64"))]
fn add(_slot: usize) -> Result<(), Error> {
    Err(Errno::NoSys.into())
}

/// Sees to it that portals with letter `n` find stacks. One thread adds them; another that comes here meanwhile
/// may go on, its portals wait for a stack.
pub(crate) fn ensure() -> Result<(), Error> {
    if QUEUED
        .compare_exchange(0, 1, Ordering::Relaxed, Ordering::Relaxed)
        .is_err()
    {
        return Ok(());
    }
    let result = stack_add(QUEUE_STACKS);
    QUEUED.fetch_sub(1, Ordering::Relaxed);
    result
}

/// In a `domain_fork` child only the calling thread's stack is in use.
pub(crate) fn reset() {
    #[cfg(target_arch = "riscv64")]
    SLOTS.store(1 << place::current(), Ordering::Relaxed);
    QUEUED.store(0, Ordering::Relaxed);
}

/// Addresses of slots, in a running system.
#[cfg(target_arch = "riscv64")]
pub(crate) mod place {
    use pebble_abi::layout::STACK_SLOT;

    use crate::{riscv64, start};

    extern "C" {
        static __tdata_start: u8;
        static __tdata_size: u8;
        static __tls_size: u8;
    }

    /// First address beyond a slot.
    pub(crate) fn top(slot: usize) -> usize {
        start::information().stack_area as usize + (slot + 1) * STACK_SLOT as usize
    }

    /// The slot of the calling thread, whose thread-local block lies in it.
    pub(crate) fn current() -> usize {
        (own_top() - start::information().stack_area as usize) / STACK_SLOT as usize - 1
    }

    /// First address beyond the calling thread's slot.
    pub(crate) fn own_top() -> usize {
        riscv64::thread_pointer().next_multiple_of(STACK_SLOT as usize)
    }

    /// Fills a thread-local block.
    ///
    /// # Safety
    /// The block's bytes are writable and nobody else's.
    pub(crate) unsafe fn block_fill(block: usize) {
        let (image, image_bytes, bytes) = (
            &raw const __tdata_start,
            &raw const __tdata_size as usize,
            &raw const __tls_size as usize,
        );
        // SAFETY: the linker's symbols bound the initial image; the block is the caller's promise.
        unsafe {
            core::ptr::copy_nonoverlapping(image, block as *mut u8, image_bytes);
            core::ptr::write_bytes((block + image_bytes) as *mut u8, 0, bytes - image_bytes);
        }
    }

    /// Makes a thread-local block below `top` of a slot just taken; answers its address, which is the top of the
    /// stack proper.
    pub(crate) fn block_create(top: usize) -> usize {
        let block = (top - &raw const __tls_size as usize) & !63;
        // SAFETY: the slot was taken by this thread, so its memory is nobody else's.
        unsafe { block_fill(block) };
        block
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_taken_lowest_first_until_none_is_left() {
        let slots = AtomicU32::new(0b1011);
        assert_eq!(take(&slots), Ok(2));
        assert_eq!(take(&slots), Ok(4));
        for expected in 5..32 {
            assert_eq!(take(&slots), Ok(expected));
        }
        assert_eq!(take(&slots), Err(Errno::Again.into()));
        slots.fetch_and(!(1 << 9), Ordering::Release);
        assert_eq!(take(&slots), Ok(9));
    }
}
