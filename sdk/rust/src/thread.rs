//! Threads of this domain: with a stack of their own, or with a copy of the caller's.

use pebble_abi::slot;

use crate::error::answer;
use crate::{invoke_portal, Error};

/// Number of the calling thread.
pub fn get_thread() -> usize {
    invoke_portal(slot::GET_THREAD, 0, 0, 0, 0, 0) as usize
}

/// Lets the next thread of this priority run.
pub fn yield_now() -> Result<(), Error> {
    answer(invoke_portal(slot::YIELD, 0, 0, 0, 0, 0)).map(drop)
}

/// Changes the calling thread's priority, up to its component's limit.
pub fn thread_priority(priority: usize) -> Result<(), Error> {
    answer(invoke_portal(slot::THREAD_PRIORITY, priority, 0, 0, 0, 0)).map(drop)
}

/// Starts `function(argument)` in a thread of its own; answers the thread's number.
pub fn thread_create(function: extern "C" fn(usize), argument: usize) -> Result<usize, Error> {
    #[cfg(target_arch = "riscv64")]
    return machine::create(function, argument);
    #[cfg(not(target_arch = "riscv64"))]
    {
        let _ = (function, argument);
        Err(pebble_abi::errno::Errno::NoSys.into())
    }
}

/// Starts a plain function without argument in a thread of its own.
pub fn thread_spawn(function: fn()) -> Result<usize, Error> {
    extern "C" fn run(function: usize) {
        // SAFETY: `thread_spawn` passed a function of this type.
        let function = unsafe { core::mem::transmute::<usize, fn()>(function) };
        function();
    }
    thread_create(run, function as usize)
}

/// Ends the calling thread. Values on its stack are not dropped.
pub fn thread_exit() -> ! {
    #[cfg(target_arch = "riscv64")]
    machine::leave();
    #[cfg(not(target_arch = "riscv64"))]
    panic!("threads of Pebble exist only in a running system")
}

/// Goes on in two threads of this domain, the new one with a copy of the stack: answers the new thread's number,
/// and 0 in the new thread. See `docs/reference/fork.md`.
///
/// # Safety
/// The copy duplicates values: both threads own what the stack held. Whatever is dropped or changed through a
/// pointer after the fork must belong to one of them only. `main` is best written so that the new thread touches
/// nothing but statics, and ends by [`thread_exit`].
#[inline(never)]
pub unsafe fn fork() -> Result<usize, Error> {
    #[cfg(target_arch = "riscv64")]
    // SAFETY: the caller's promise; the function obeys the C calling convention in both threads.
    return answer(unsafe { crate::riscv64::pebble_fork_stack() });
    #[cfg(not(target_arch = "riscv64"))]
    Err(pebble_abi::errno::Errno::NoSys.into())
}

#[cfg(target_arch = "riscv64")]
mod machine {
    use core::sync::atomic::Ordering;

    use pebble_abi::errno::Errno;
    use pebble_abi::slot;

    use crate::error::{answer, code};
    use crate::relocate::relocate;
    use crate::stack::{place, take, SLOTS};
    use crate::{invoke_portal, riscv64, Error};

    const TRIES: u32 = 10;
    /// Units of `hrtime`.
    const PAUSE: u64 = 200_000;

    /// Takes a slot, lets `prepare` fill its stack, and starts a thread there. A thread that has ended is not quite gone
    /// for a moment. Its slot is refused with `-EEXIST`: others are tried, and the refused ones are free afterwards. It
    /// also still counts in the domain's number of threads: `-EAGAIN` is believed only when it stays so.
    fn start(
        entry: unsafe extern "C" fn(),
        prepare: impl Fn(usize) -> usize,
    ) -> Result<usize, Error> {
        let (mut refused, mut tries) = (0u32, 0);
        let result = loop {
            let slot = match take(&SLOTS) {
                Ok(slot) => slot,
                Err(error) => break Err(error),
            };
            let top = place::top(slot);
            let stack = prepare(top);
            // Every slot is laid out alike: the thread pointer is where its block begins.
            let pointer = top - (place::own_top() - riscv64::thread_pointer());
            let result = answer(invoke_portal(
                slot::THREAD_CREATE,
                entry as usize,
                stack,
                0,
                pointer,
                0,
            ));
            match result {
                Ok(thread) => break Ok(thread),
                Err(error) if error == Errno::Exists => refused |= 1 << slot,
                Err(error) => {
                    SLOTS.fetch_and(!(1 << slot), Ordering::Release);
                    tries += 1;
                    if error != Errno::Again || tries == TRIES {
                        break Err(error);
                    }
                    crate::hrsleep(crate::hrtime() + PAUSE)?;
                }
            }
        };
        SLOTS.fetch_and(!refused, Ordering::Release);
        result
    }

    pub(super) fn create(function: extern "C" fn(usize), argument: usize) -> Result<usize, Error> {
        start(riscv64::pebble_thread_entry, |top| {
            let stack = (place::block_create(top) as *mut [usize; 2]).wrapping_sub(1);
            // SAFETY: below the block of a slot just taken there is free stack.
            unsafe { stack.write([function as usize, argument]) };
            stack as usize
        })
    }

    /// Called by `pebble_fork_stack` with its frame, whose part from `words` on may hold addresses: copies from the
    /// frame to the top of the slot, the thread-local block with it, and makes the copy's pointers into the old range
    /// point into the new one.
    #[no_mangle]
    unsafe extern "C" fn pebble_fork_frame(bottom: usize, words: usize) -> isize {
        let own_top = place::own_top();
        code(start(riscv64::pebble_fork_child, |top| {
            let delta = top.wrapping_sub(own_top);
            // SAFETY: the source is the live part of this stack, the destination a slot just taken; both end at
            // the top of a slot, and words are aligned in a frame.
            let copy = unsafe {
                core::ptr::copy_nonoverlapping(
                    bottom as *const u8,
                    bottom.wrapping_add(delta) as *mut u8,
                    own_top - bottom,
                );
                core::slice::from_raw_parts_mut(
                    words.wrapping_add(delta) as *mut u64,
                    (own_top - words) / size_of::<u64>(),
                )
            };
            relocate(copy, bottom as u64..own_top as u64, delta as u64);
            bottom.wrapping_add(delta)
        }))
    }

    pub(super) fn leave() -> ! {
        // SAFETY: the thread is at its end; the function touches no stack after giving it back.
        unsafe { riscv64::pebble_leave(&SLOTS, !(1 << place::current())) }
    }

    #[no_mangle]
    extern "C" fn pebble_thread_end() -> ! {
        leave()
    }
}
