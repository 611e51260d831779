//! The processor that a scheduler runs on: RISC-V counters, the timer portal, and the shared counters.
#![allow(unsafe_code)]

use core::arch::asm;

use pebble_abi::slot::scheduler::SET_TIMER;
use pebble_server::invoke;

use crate::{Counters, Machine};

/// The semaphore counters, which portal code maps by their physical address.
pub static COUNTERS: Counters = Counters::new();

/// The hart that the scheduler runs on.
pub struct Hart;

impl Machine for Hart {
    const NEW: Hart = Hart;

    #[inline(always)]
    fn cycles(&self) -> u64 {
        let cycles: u64;
        // SAFETY: reads a counter that the nucleus lets user mode read.
        unsafe { asm!("rdcycle {}", out(reg) cycles, options(nomem, nostack, preserves_flags)) };
        cycles
    }

    fn ticks(&self) -> u64 {
        let ticks: u64;
        // SAFETY: as above.
        unsafe { asm!("rdtime {}", out(reg) ticks, options(nomem, nostack, preserves_flags)) };
        ticks
    }

    fn set_timer(&mut self, tick: u64) {
        invoke(SET_TIMER, tick as usize, 0, 0, 0, 0);
    }

    #[inline(always)]
    fn counters(&self) -> &Counters {
        &COUNTERS
    }
}

/// The table below is by position: a change of the numbers must not pass unseen.
const _: () = {
    use pebble_abi::entry::scheduler::*;
    let order = [
        START,
        YIELD,
        P,
        V,
        SLEEP,
        TIMER,
        DEVICE,
        SPURIOUS,
        SEM_ALLOC,
        SEM_FREE,
        THREAD_ADD,
        THREAD_EXIT,
        THREAD_STOP,
        THREAD_CONTINUE,
        THREAD_REMOVE,
        STACK_WAIT,
        STACK_FREE,
        THREAD_PRIORITY,
        THREAD_INFO,
        THREAD_FORCE,
    ];
    let mut index = 0;
    while index < order.len() {
        assert!(
            order[index] == index,
            "the entry table and abi::entry::scheduler differ"
        );
        index += 1;
    }
};

/// Makes a scheduler component of a policy: its state, and the table of its entries.
#[macro_export]
macro_rules! server {
    ($policy:ty) => {
        struct Component;

        struct State(core::cell::UnsafeCell<$crate::Scheduler<$policy, $crate::Hart>>);

        // SAFETY: entered with interrupts off on the one hart that this state belongs to: never by two at once.
        unsafe impl Sync for State {}

        static STATE: State = State(core::cell::UnsafeCell::new($crate::Scheduler::NEW));

        impl $crate::entries::Server for Component {
            type Policy = $policy;
            type Machine = $crate::Hart;

            #[inline(always)]
            fn with<R>(
                operation: impl FnOnce(&mut $crate::Scheduler<$policy, $crate::Hart>) -> R,
            ) -> R {
                // SAFETY: no entry calls another, and none is interrupted, so this is the only reference.
                operation(unsafe { &mut *STATE.0.get() })
            }
        }

        pebble_server::entries! { data: $crate::COUNTERS, [
            $crate::entries::start::<Component>,
            $crate::entries::yield_turn::<Component>,
            $crate::entries::p::<Component>,
            $crate::entries::v::<Component>,
            $crate::entries::sleep::<Component>,
            $crate::entries::timer::<Component>,
            $crate::entries::v::<Component>,
            $crate::entries::spurious,
            $crate::entries::sem_alloc::<Component>,
            $crate::entries::sem_free::<Component>,
            $crate::entries::thread_add::<Component>,
            $crate::entries::thread_exit::<Component>,
            $crate::entries::thread_stop::<Component>,
            $crate::entries::thread_continue::<Component>,
            $crate::entries::thread_remove::<Component>,
            $crate::entries::stack_wait::<Component>,
            $crate::entries::stack_free::<Component>,
            $crate::entries::thread_priority::<Component>,
            $crate::entries::thread_info::<Component>,
            $crate::entries::thread_force::<Component>,
        ] }
    };
}
