//! The scheduler's state, and the steps that its operations are made of.

use pebble_abi::layout::MAX_DOMAINS;

use crate::{Clock, Machine, Policy, Queue, Semaphores, State, Threads, Timeline};

/// Sleepers woken by one timer interrupt. If more are due, the timer is set for at once, so that a device
/// gets its turn between them.
pub const EXPIRIES: usize = 2;

/// What every entry returns: portal code hands it to `SWITCH`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Next {
    /// The thread to resume.
    pub thread: u64,
    /// What the call that it was in answers; without meaning after an interrupt.
    pub result: i64,
}

impl Next {
    #[inline(always)]
    pub(crate) fn new(thread: u8, result: i64) -> Next {
        Next {
            thread: thread.into(),
            result,
        }
    }
}

/// All state of a scheduler. What every switch touches comes first, where it is in reach of a short offset.
#[repr(C)]
pub struct Scheduler<P, M> {
    /// When the running thread was resumed.
    pub(crate) since: u64,
    /// Time.
    pub clock: Clock,
    /// The ready threads.
    pub policy: P,
    /// Every thread.
    pub threads: Threads,
    /// Every semaphore.
    pub semaphores: Semaphores,
    /// Threads that wait for a stack, by domain.
    pub stacks: [Queue; MAX_DOMAINS],
    /// Threads that wait for a time.
    pub sleepers: Timeline,
    /// The processor.
    pub machine: M,
}

impl<P: Policy, M: Machine> Scheduler<P, M> {
    /// Without threads. Apart from the policy all bytes are zero, so it costs no room in the image.
    pub const NEW: Self = Scheduler {
        since: 0,
        clock: Clock::NEW,
        policy: P::NEW,
        threads: Threads::NEW,
        semaphores: Semaphores::NEW,
        stacks: [Queue::EMPTY; MAX_DOMAINS],
        sleepers: Timeline::NEW,
        machine: M::NEW,
    };

    /// Takes a ready thread from the policy, to put it elsewhere. Answers who runs instead.
    #[inline(always)]
    pub(crate) fn leave(&mut self, thread: u8, state: State, waits_for: u16) -> u8 {
        let next = self.policy.leave(&mut self.threads, thread);
        let record = &mut self.threads[thread];
        record.state = state;
        record.waits_for = waits_for;
        next
    }

    /// Makes a thread that is in no queue ready.
    #[inline(always)]
    pub(crate) fn join(&mut self, thread: u8, result: i64, now: u64) {
        let record = &mut self.threads[thread];
        record.state = State::Ready;
        record.result = result;
        self.policy.join(&mut self.threads, thread, now);
    }

    /// Resumes a thread that did not run before this entry.
    #[inline(always)]
    pub(crate) fn resume(&mut self, next: u8, now: u64) -> Next {
        self.since = now;
        self.watch(next, self.threads[next].result)
    }

    /// Goes on with `runs`, and sees to it that its turn ends, if somebody would take over.
    #[inline(always)]
    pub(crate) fn watch(&mut self, runs: u8, result: i64) -> Next {
        if let Some(allowance) = self.policy.allowance(&self.threads, runs) {
            // A turn is at most 2^32 microseconds: the sum stays far below the end of time.
            let end = self.since.wrapping_add(allowance);
            if !self.clock.covers(end) {
                return self.arm_and(end, Next::new(runs, result));
            }
        }
        Next::new(runs, result)
    }

    /// Sets the timer. Kept out of the common paths, as a tail call, so that those need no stack frame.
    #[cold]
    #[inline(never)]
    fn arm_and(&mut self, time: u64, next: Next) -> Next {
        self.clock.arm(&mut self.machine, time);
        next
    }

    /// Makes one thread ready and switches to it if it comes before the caller, who is to get `result`.
    #[inline(always)]
    pub(crate) fn wake(&mut self, current: u8, result: i64, woken: u8, woken_result: i64) -> Next {
        let now = self.machine.cycles();
        self.join(woken, woken_result, now);
        let mut runs = (current, result);
        if self.policy.precedes(&self.threads, woken, current) {
            self.preempt(current, result, now);
            self.since = now;
            runs = (woken, woken_result);
        }
        self.watch(runs.0, runs.1)
    }

    /// Goes on with whoever is first now; the caller, if still ready, is to get `result`.
    pub(crate) fn settle(&mut self, current: u8, result: i64) -> Next {
        let first = self.policy.first();
        if first == current {
            return self.watch(current, result);
        }
        let now = self.machine.cycles();
        if self.threads[current].state == State::Ready {
            self.preempt(current, result, now);
        }
        self.resume(first, now)
    }

    /// The running thread stays ready but stops running.
    #[inline(always)]
    pub(crate) fn preempt(&mut self, current: u8, result: i64, now: u64) {
        self.threads[current].result = result;
        self.policy
            .charge(&mut self.threads, current, now.wrapping_sub(self.since));
    }

    /// The turn of the first thread is over. Answers who is first now.
    #[inline(always)]
    pub(crate) fn end_turn(&mut self, thread: u8) -> u8 {
        let turn = self.policy.turn(&mut self.threads, thread);
        if let Some(until) = turn.until {
            self.threads[thread].state = State::Throttled;
            self.sleep_until(thread, until);
        }
        turn.next
    }

    /// Puts a thread that left the ready ones among the sleepers.
    pub(crate) fn sleep_until(&mut self, thread: u8, time: u64) {
        self.sleepers.insert(thread, time);
        if !self.clock.covers(time) {
            self.clock.arm(&mut self.machine, time);
        }
    }
}
