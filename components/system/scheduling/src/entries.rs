//! The functions that portals enter, one per number in `abi::entry::scheduler`, for any [`Server`].
//!
//! Portal code calls them with interrupts off, on the scheduler's one stack, which starts anew each time; the
//! caller is parked by then. They return the thread to resume to the gate stub that invokes `SWITCH`.

use crate::{Machine, Next, Policy, Scheduler};

/// A scheduler component: where its state is.
pub trait Server {
    /// Order of ready threads.
    type Policy: Policy;
    /// Processor.
    type Machine: Machine;
    /// Runs one operation on the state.
    fn with<R>(operation: impl FnOnce(&mut Scheduler<Self::Policy, Self::Machine>) -> R) -> R;
}

macro_rules! entry {
    ($(#[$about:meta])* $name:ident => $method:ident($($argument:ident: $kind:ty),*)) => {
        $(#[$about])*
        pub extern "C" fn $name<S: Server>(current: u64, $($argument: $kind),*) -> Next {
            // The low byte is the thread's number; the high half may hold its domain (specification letter `t`).
            S::with(|scheduler| {
                scheduler.begin();
                scheduler.$method(current as u8, $($argument),*)
            })
        }
    };
}

entry! {
    /// `START`.
    start => start(idle: u64, timebase: u64)
}
/// `YIELD`.
pub extern "C" fn yield_turn<S: Server>(current: u64) -> Next {
    S::with(|scheduler| {
        if scheduler.is_begun() {
            return scheduler.yield_turn(current as u8);
        }
        yield_later(scheduler, current as u8)
    })
}

/// What the common path would need a stack frame for.
#[cold]
#[inline(never)]
fn yield_later<P: Policy, M: Machine>(scheduler: &mut Scheduler<P, M>, current: u8) -> Next {
    scheduler.begin();
    scheduler.yield_turn(current)
}

#[cold]
#[inline(never)]
fn v_later<P: Policy, M: Machine>(
    scheduler: &mut Scheduler<P, M>,
    current: u8,
    semaphore: u16,
) -> Next {
    scheduler.begin();
    scheduler.v(current, semaphore)
}
entry! {
    /// `SLEEP`.
    sleep => sleep(until: u64)
}
entry! {
    /// `TIMER`.
    timer => timer()
}
entry! {
    /// `SEM_ALLOC`.
    sem_alloc => sem_alloc(value: i64, owner: u64)
}
entry! {
    /// `SEM_FREE`.
    sem_free => sem_free(semaphore: u64)
}
entry! {
    /// `THREAD_ADD`.
    thread_add => thread_add(thread: u64, priority: u64, home: u64, time: u64)
}
entry! {
    /// `THREAD_EXIT`.
    thread_exit => thread_exit()
}
entry! {
    /// `THREAD_STOP`.
    thread_stop => thread_stop(thread: u64)
}
entry! {
    /// `THREAD_CONTINUE`.
    thread_continue => thread_continue(thread: u64, result: i64)
}
entry! {
    /// `THREAD_REMOVE`.
    thread_remove => thread_remove(thread: u64)
}
entry! {
    /// `STACK_WAIT`.
    stack_wait => stack_wait(domain: u64)
}
entry! {
    /// `STACK_FREE`.
    stack_free => stack_free(domain: u64, result: i64)
}
entry! {
    /// `THREAD_PRIORITY`.
    thread_priority => thread_priority(priority: u64)
}
entry! {
    /// `THREAD_FORCE`.
    thread_force => thread_force(priority: u64)
}
entry! {
    /// `THREAD_INFO`.
    thread_info => thread_info(thread: u64)
}

/// `P`.
pub extern "C" fn p<S: Server>(current: u64, semaphore: u64) -> Next {
    S::with(|scheduler| scheduler.p(current as u8, semaphore as u16))
}

/// `V`, and `DEVICE`, which is the same by the interrupt dispatcher.
pub extern "C" fn v<S: Server>(current: u64, semaphore: u64) -> Next {
    S::with(|scheduler| {
        if scheduler.is_begun() {
            return scheduler.v(current as u8, semaphore as u16);
        }
        v_later(scheduler, current as u8, semaphore as u16)
    })
}

/// `SPURIOUS`: the interrupted thread goes on.
pub extern "C" fn spurious(current: u64) -> Next {
    Next::new(current as u8, 0)
}
