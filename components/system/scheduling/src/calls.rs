//! What threads ask of the scheduler while they run, and what interrupts bring.

use pebble_abi::errno::Errno;
use pebble_abi::layout::MAX_DOMAINS;
use pebble_abi::semaphore::{is_one, many_wait, one_fewer, one_waits, waiting, WARDEN};

use crate::{Counters, Machine, Next, Policy, Queue, Scheduler, State, EXPIRIES};

const INVALID: i64 = Errno::Invalid.negated() as i64;

impl<P: Policy, M: Machine> Scheduler<P, M> {
    /// The caller lets its equals run.
    #[inline(always)]
    pub fn yield_turn(&mut self, current: u8) -> Next {
        let next = self.end_turn(current);
        if next == current {
            return Next::new(current, 0);
        }
        self.threads[current].result = 0;
        self.since = self.machine.cycles();
        let result = self.threads[next].result;
        if self.policy.level(&self.threads, next).is_none() {
            return self.turn_ends(next, result);
        }
        // Of two threads that took turns each has an equal, and what portal code may leave is the same for both.
        self.turn_ends_after(self.threads[next].remaining, Next::new(next, result))
    }

    /// P when portal code found the counter at zero or less, or the semaphore closed.
    #[inline(always)]
    pub fn p(&mut self, current: u8, semaphore: u16) -> Next {
        match self.machine.counters().later() {
            None => self.wait(current, semaphore),
            Some(which) => self.wait_after(which, current, semaphore),
        }
    }

    /// P after the V that portal code left. Mostly one thread waits for each of the two, and the woken one takes the
    /// caller's place: a token goes round. Everything else is elsewhere, so that this needs no stack frame.
    #[inline(always)]
    fn wait_after(&mut self, which: u16, current: u8, semaphore: u16) -> Next {
        let counters = self.machine.counters();
        if counters.get(semaphore) != 0 || !is_one(counters.get(which)) {
            return self.begin_and_wait(current, semaphore);
        }
        let Some(woken) = self.semaphores.queue(which).first() else {
            return self.begin_and_wait(current, semaphore);
        };
        let Some(level) = self.policy.replace(&mut self.threads, current, woken) else {
            return self.begin_and_wait(current, semaphore);
        };
        counters.done_later();
        counters.set(which, 0);
        counters.set(semaphore, one_waits(level));
        *self.semaphores.queue(which) = Queue::EMPTY;
        self.threads[woken].state = State::Ready;
        let record = &mut self.threads[current];
        record.state = State::Waiting;
        record.waits_for = semaphore;
        *self.semaphores.queue(semaphore) = Queue::of(&mut self.threads, current);
        self.since = self.machine.cycles();
        self.allow_later(woken, level);
        Next::new(woken, 0)
    }

    #[cold]
    #[inline(never)]
    fn begin_and_wait(&mut self, current: u8, semaphore: u16) -> Next {
        self.begin();
        self.wait(current, semaphore)
    }

    #[inline(never)]
    fn wait(&mut self, current: u8, semaphore: u16) -> Next {
        let counter = self.machine.counters().get(semaphore);
        if !Counters::is_open(counter) {
            return Next::new(current, INVALID);
        }
        if counter > 0 {
            self.machine.counters().set(semaphore, counter - 1);
            return Next::new(current, 0);
        }
        let wait = match (counter, self.policy.level(&self.threads, current)) {
            (0, Some(level)) => one_waits(level),
            _ => many_wait(waiting(counter) + 1),
        };
        self.machine.counters().set(semaphore, wait);
        let next = self.leave(current, State::Waiting, semaphore);
        self.semaphores
            .queue(semaphore)
            .append(&mut self.threads, current);
        let now = self.machine.cycles();
        self.resume(next, now)
    }

    /// V, by a thread when portal code found the counter below zero, or by an interrupt.
    #[inline(always)]
    pub fn v(&mut self, current: u8, semaphore: u16) -> Next {
        let counter = self.machine.counters().get(semaphore);
        if !Counters::is_open(counter) {
            return Next::new(current, INVALID);
        }
        let waiter = self
            .semaphores
            .queue(semaphore)
            .take_first(&mut self.threads);
        let Some(waiter) = waiter else {
            return Next::new(current, self.count(semaphore, counter));
        };
        self.machine.counters().set(semaphore, one_fewer(counter));
        self.wake(current, 0, waiter, 0)
    }

    /// V for which nobody waits. Portal code counts without a check; where the counter has wrapped, it stops here.
    pub(crate) fn count(&mut self, semaphore: u16, counter: i32) -> i64 {
        match counter.checked_add(1) {
            Some(more) if more > 0 => {
                self.machine.counters().set(semaphore, more);
                0
            }
            _ => {
                self.machine.counters().set(semaphore, i32::MAX);
                Errno::Overflow.negated() as i64
            }
        }
    }

    /// The caller waits until the cycle counter reaches twice `until`, the unit of `hrtime`.
    #[inline(always)]
    pub fn sleep(&mut self, current: u8, until: u64) -> Next {
        let now = self.machine.cycles();
        let time = until.saturating_mul(2);
        if time <= now {
            return Next::new(current, 0);
        }
        let next = self.leave(current, State::Sleeping, 0);
        self.threads[current].result = 0;
        self.sleep_until(current, time);
        self.resume(next, now)
    }

    /// The timer interrupt: wakes whom it was set for, ends a turn, and is set again.
    #[inline(always)]
    pub fn timer(&mut self, current: u8) -> Next {
        let now = self.machine.cycles();
        // While this runs, no other step may set the timer: it is set once, at the end.
        self.clock.armed = 0;
        for _ in 0..EXPIRIES {
            match self.sleepers.first() {
                Some((thread, time)) if time <= now => {
                    self.sleepers.remove(thread);
                    let result = self.threads[thread].result;
                    self.join(thread, result, now);
                }
                _ => break,
            }
        }
        let used = now.wrapping_sub(self.since);
        let mut next = self.policy.first();
        if next == current {
            if self
                .policy
                .allowance(&self.threads, current)
                .is_some_and(|allowed| used >= allowed)
            {
                next = self.end_turn(current);
                self.since = now;
            }
        } else {
            self.policy.charge(&mut self.threads, current, used);
            self.since = now;
        }
        let turn = self.policy.allowance(&self.threads, next);
        let end = turn.map_or(u64::MAX, |allowed| self.since.wrapping_add(allowed));
        let time = end.min(self.sleepers.next_time());
        self.clock.arm(&mut self.machine, time);
        // The timer is not what it was: nothing is left for later until the next decision says what may.
        self.machine.counters().allow_later(0);
        Next::new(next, self.threads[next].result)
    }

    /// The caller found a domain's stack queue empty. It repeats its trap when it goes on.
    pub fn stack_wait(&mut self, current: u8, domain: u64) -> Next {
        let domain = domain as usize % MAX_DOMAINS;
        self.leave(current, State::Stack, domain as u16);
        self.threads[current].result = 0;
        self.stacks[domain].append(&mut self.threads, current);
        // The warden looks whether the caller waits for itself. One pending call is enough for any number.
        let warden = WARDEN as u16;
        let now = self.machine.cycles();
        if let Some(waiter) = self.semaphores.queue(warden).take_first(&mut self.threads) {
            let counter = self.machine.counters().get(warden);
            self.machine.counters().set(warden, one_fewer(counter));
            self.join(waiter, 0, now);
        } else {
            self.machine.counters().set(warden, 1);
        }
        let next = self.policy.first();
        self.resume(next, now)
    }

    /// A stack came back to a domain: the first thread that waits for one tries again.
    pub fn stack_free(&mut self, current: u8, domain: u64, result: i64) -> Next {
        let waiter = self.stacks[domain as usize % MAX_DOMAINS].take_first(&mut self.threads);
        match waiter {
            Some(waiter) => self.wake(current, result, waiter, 0),
            None => Next::new(current, result),
        }
    }
}
