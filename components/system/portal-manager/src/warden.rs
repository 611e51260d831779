//! The warden: a thread of the portal manager that gives back what ended threads held, and frees threads that
//! wait for a stack which they hold themselves (design, "Stack queues and recursion").

use pebble_abi::errno::Errno;
use pebble_abi::layout::MAX_THREADS;
use pebble_abi::object::{full_offset, Frame, FrameKind, FrameName, Thread};
use pebble_abi::thread_state;

use crate::calls;
use crate::death;
use crate::state::{State, STATE};

/// How long it waits for a thread that is still on its way out, in cycles: at first, and at most. A thread posts before it
/// enters the scheduler for the last time, so there mostly is one, which needs a few hundred instructions more.
const FIRST_PAUSE: u64 = 4_000;
const LONGEST_PAUSE: u64 = 200_000;

/// The warden's life.
pub fn run() -> ! {
    loop {
        calls::warden_wait();
        // A thread on its way out may take long, if its priority is low: the others do not wait for it.
        let mut pause = FIRST_PAUSE;
        loop {
            let done = death::reap();
            STATE.with(|state| state.undisturbed(State::break_deadlocks));
            if done {
                break;
            }
            calls::pause(pause);
            pause = (2 * pause).min(LONGEST_PAUSE);
        }
    }
}

impl State {
    /// Looks at every thread that waits for a stack.
    fn break_deadlocks(&mut self) {
        for number in 0..MAX_THREADS {
            if self.threads[number].used && calls::thread_state(number) == Some(thread_state::STACK)
            {
                let waits_for = (calls::thread_info(number) >> 16) as usize;
                if self.holds_stack_of(number, waits_for) {
                    self.refuse_stack(number);
                }
            }
        }
    }

    /// Whether one of the thread's open calls runs on a stack of `asid`'s queue.
    fn holds_stack_of(&self, number: usize, asid: usize) -> bool {
        let objects = self.objects();
        let record = objects.thread(number);
        let mut current = objects.read::<Thread>(record).stack;
        let mut holds = false;
        self.each_frame(record, |_, frame| {
            let kind = FrameName(frame.name).kind();
            if kind == FrameKind::Partial as u64 && frame.stack != 0 {
                holds |= objects.read_stack(current).domain == asid as u64;
                current = frame.stack;
            } else if kind == FrameKind::Full as u64 {
                current = frame.stack;
            }
        });
        holds
    }

    /// Its call answers `-EDEADLK` instead of being repeated.
    fn refuse_stack(&mut self, number: usize) {
        let objects = self.objects();
        let (place, frame): (u64, Frame) = objects.top_frame(objects.thread(number));
        if FrameName(frame.name).kind() != FrameKind::Full as u64 {
            return;
        }
        let ra: u64 = objects.read(place + full_offset(1));
        objects.write(place, Frame { pc: ra, ..frame });
        objects.write(place + full_offset(10), Errno::Deadlock.negated() as u64);
        self.leave_stack_queue(number);
    }
}
