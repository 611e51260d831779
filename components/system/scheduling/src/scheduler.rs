//! The scheduler's state, and the steps that its operations are made of.

use pebble_abi::layout::MAX_DOMAINS;

use pebble_abi::semaphore::one_fewer;

use crate::{Clock, Counters, Machine, Policy, Queue, Semaphores, State, Threads, Timeline};

/// Sleepers woken by one timer interrupt. If more are due, the timer is set for at once, so that a device
/// gets its turn between them.
pub const EXPIRIES: usize = 2;

/// What every entry returns, the result in the first register: portal code hands it to `SWITCH`. Two registers in one value, which the compiler passes on
/// from a function that it jumps to; a structure would cost a stack frame at each such place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Next(u128);

impl Next {
    #[inline(always)]
    pub(crate) fn new(thread: u8, result: i64) -> Next {
        Next(u128::from(result as u64) | u128::from(thread) << 64)
    }

    /// The thread to resume.
    pub fn thread(self) -> u64 {
        (self.0 >> 64) as u64
    }

    /// What the call that it was in answers; without meaning after an interrupt.
    pub fn result(self) -> i64 {
        self.0 as i64
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
    ///
    /// A thread that would get ready now without taking over need not be known to anybody before the scheduler is
    /// entered again: portal code may leave the V that wakes it for then. Below the level of `runs` that is always so;
    /// at its level only if the turn of `runs` ends in time, that is, if the timer is set.
    #[inline(always)]
    pub(crate) fn watch(&mut self, runs: u8, result: i64) -> Next {
        if let Some(level) = self.policy.level(&self.threads, runs) {
            self.allow_later(runs, level);
        }
        self.turn_ends(runs, result)
    }

    /// The second half of that.
    #[inline(always)]
    pub(crate) fn turn_ends(&mut self, runs: u8, result: i64) -> Next {
        let next = Next::new(runs, result);
        match self.policy.allowance(&self.threads, runs) {
            Some(allowance) => self.turn_ends_after(allowance, next),
            None => next,
        }
    }

    #[inline(always)]
    pub(crate) fn turn_ends_after(&mut self, allowance: u64, next: Next) -> Next {
        // A turn is at most 2^32 microseconds: the sum stays far below the end of time.
        let end = self.since.wrapping_add(allowance);
        if !self.clock.covers(end) {
            return self.arm_and(end, next);
        }
        next
    }

    /// Tells portal code which V it may leave while a thread of this level runs.
    #[inline(always)]
    pub(crate) fn allow_later(&mut self, runs: u8, level: u8) {
        let end = self.since.wrapping_add(self.threads[runs].remaining);
        let equals = i32::from(self.clock.covers(end));
        self.machine
            .counters()
            .allow_later(i32::from(level) + equals);
    }

    /// Whether portal code left no V.
    #[inline(always)]
    pub fn is_begun(&self) -> bool {
        self.machine.counters().later().is_none()
    }

    /// At the beginning of each entry: the V that portal code left, if it did.
    #[inline(always)]
    pub fn begin(&mut self) {
        if let Some(semaphore) = self.machine.counters().later() {
            self.later(semaphore);
        }
    }

    #[inline(never)]
    fn later(&mut self, semaphore: u16) {
        self.machine.counters().done_later();
        let counter = self.machine.counters().get(semaphore);
        if !Counters::is_open(counter) {
            return;
        }
        match self
            .semaphores
            .queue(semaphore)
            .take_first(&mut self.threads)
        {
            Some(waiter) => {
                self.machine.counters().set(semaphore, one_fewer(counter));
                let now = self.machine.cycles();
                self.join(waiter, 0, now);
            }
            None => _ = self.count(semaphore, counter),
        }
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
