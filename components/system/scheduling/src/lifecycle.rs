//! Semaphores and threads come and go; the portal manager and init ask for it.

use pebble_abi::entry::scheduler::KEEP_RESULT;
use pebble_abi::errno::Errno;
use pebble_abi::layout::{MAX_DOMAINS, MAX_THREADS, PRIORITIES};
use pebble_abi::object::role;
use pebble_abi::semaphore::one_fewer;

use crate::policy::Span;
use crate::{Counters, Machine, Next, Policy, Request, Scheduler, State, Thread, RELEASES};

/// Priority of init until it asks for another; it may ask for any.
const INIT_PRIORITY: u8 = 32;

type Answer = Result<i64, Errno>;

impl<P: Policy, M: Machine> Scheduler<P, M> {
    /// First call: the caller is init, `idle` is the thread that always can run.
    pub fn start(&mut self, current: u8, idle: u64, timebase: u64) -> Next {
        let answer = self.try_start(current, idle, timebase);
        Next::new(current, number(answer))
    }

    fn try_start(&mut self, current: u8, idle: u64, timebase: u64) -> Answer {
        let idle = thread_number(idle)?;
        if idle == current || timebase == 0 {
            return Err(Errno::Invalid);
        }
        if self.threads[idle].state != State::Free {
            return Err(Errno::Exists);
        }
        self.clock.start(&self.machine, timebase);
        self.since = self.machine.cycles();
        let quantum = self.span(P::QUANTUM_MICROSECONDS);
        let budget = self.span(0);
        self.take_on(
            idle,
            Request {
                priority: 0,
                quantum,
                budget,
            },
            0,
            role::IDLE as u8,
        )?;
        let highest = PRIORITIES as u8 - 1;
        self.take_on(
            current,
            Request {
                priority: INIT_PRIORITY,
                quantum,
                budget,
            },
            highest,
            role::INIT as u8,
        )?;
        Ok(0)
    }

    /// A new thread, ready to run.
    pub fn thread_add(
        &mut self,
        current: u8,
        thread: u64,
        priority: u64,
        home: u64,
        time: u64,
    ) -> Next {
        let answer = self.try_thread_add(thread, priority, home, time);
        self.settle(current, number(answer))
    }

    fn try_thread_add(&mut self, thread: u64, priority: u64, home: u64, time: u64) -> Answer {
        let thread = thread_number(thread)?;
        let priority = level(priority)?;
        if home >= MAX_DOMAINS as u64 {
            return Err(Errno::Invalid);
        }
        if self.threads[thread].state != State::Free {
            return Err(Errno::Exists);
        }
        let request = Request {
            priority,
            quantum: self.span((time >> 32) as u32),
            budget: self.span(time as u32),
        };
        self.take_on(thread, request, priority, home as u8)
    }

    fn take_on(&mut self, thread: u8, mut request: Request, maximum: u8, home: u8) -> Answer {
        if request.quantum.microseconds == 0 {
            request.quantum = self.span(P::QUANTUM_MICROSECONDS);
        }
        if request.quantum.microseconds < P::SHORTEST_MICROSECONDS {
            return Err(Errno::Invalid);
        }
        self.policy.admit(thread, &request)?;
        let Request {
            priority, quantum, ..
        } = request;
        self.threads[thread] = Thread {
            priority,
            maximum,
            home,
            quantum: quantum.cycles,
            ..Thread::FREE
        };
        let now = self.machine.cycles();
        self.join(thread, 0, now);
        Ok(0)
    }

    /// The caller ends.
    pub fn thread_exit(&mut self, current: u8) -> Next {
        let next = self.leave(current, State::Free, 0);
        self.policy.dismiss(current);
        let now = self.machine.cycles();
        self.resume(next, now)
    }

    /// Takes another thread out of every queue. Answers 1 if it waited for something, 0 if not.
    pub fn thread_stop(&mut self, current: u8, thread: u64) -> Next {
        let answer = self.try_thread_stop(current, thread);
        Next::new(current, number(answer))
    }

    fn try_thread_stop(&mut self, current: u8, thread: u64) -> Answer {
        let thread = thread_number(thread)?;
        if thread == current {
            return Err(Errno::Invalid);
        }
        let Thread {
            state, waits_for, ..
        } = self.threads[thread];
        match state {
            State::Free => return Err(Errno::NoSuchProcess),
            State::Stopped => return Err(Errno::Busy),
            State::Ready => _ = self.policy.leave(&mut self.threads, thread),
            State::Sleeping | State::Throttled => self.sleepers.remove(thread),
            State::Stack => {
                self.stacks[waits_for as usize % MAX_DOMAINS].remove(&mut self.threads, thread);
            }
            State::Waiting => {
                self.semaphores
                    .queue(waits_for)
                    .remove(&mut self.threads, thread);
                let counters = self.machine.counters();
                let counter = counters.get(waits_for);
                if Counters::is_open(counter) {
                    counters.set(waits_for, one_fewer(counter));
                }
            }
        }
        self.threads[thread].state = State::Stopped;
        Ok(matches!(state, State::Waiting | State::Sleeping | State::Stack).into())
    }

    /// A stopped thread goes on; its call answers `result`.
    pub fn thread_continue(&mut self, current: u8, thread: u64, result: i64) -> Next {
        match self.stopped(thread) {
            Ok(thread) => {
                let own = self.threads[thread].result;
                self.wake(
                    current,
                    0,
                    thread,
                    if result == KEEP_RESULT { own } else { result },
                )
            }
            Err(error) => Next::new(current, number(Err(error))),
        }
    }

    /// Forgets a stopped thread.
    pub fn thread_remove(&mut self, current: u8, thread: u64) -> Next {
        let answer = self.stopped(thread).map(|thread| {
            self.threads[thread].state = State::Free;
            self.policy.dismiss(thread);
            0
        });
        Next::new(current, number(answer))
    }

    fn stopped(&self, thread: u64) -> Result<u8, Errno> {
        let thread = thread_number(thread)?;
        match self.threads[thread].state {
            State::Stopped => Ok(thread),
            State::Free => Err(Errno::NoSuchProcess),
            _ => Err(Errno::Busy),
        }
    }

    /// The caller changes its priority; it is then last among its new equals.
    pub fn thread_priority(&mut self, current: u8, priority: u64) -> Next {
        let answer = level(priority).and_then(|priority| {
            if priority > self.threads[current].maximum {
                return Err(Errno::PermissionDenied);
            }
            let now = self.machine.cycles();
            self.policy
                .charge(&mut self.threads, current, now.wrapping_sub(self.since));
            self.since = now;
            self.policy.leave(&mut self.threads, current);
            self.threads[current].priority = priority;
            self.policy.join(&mut self.threads, current, now);
            Ok(0)
        });
        self.settle(current, number(answer))
    }

    /// As [`Self::thread_priority`], for the portal manager only: whatever the thread's maximum is. Answers the
    /// priority before.
    pub fn thread_force(&mut self, current: u8, priority: u64) -> Next {
        let answer = level(priority).map(|priority| {
            let now = self.machine.cycles();
            let before = self.threads[current].priority;
            self.policy
                .charge(&mut self.threads, current, now.wrapping_sub(self.since));
            self.since = now;
            self.policy.leave(&mut self.threads, current);
            self.threads[current].priority = priority;
            let forced = priority > self.threads[current].maximum;
            self.policy.force(current, forced);
            self.policy.join(&mut self.threads, current, now);
            i64::from(before)
        });
        self.settle(current, number(answer))
    }

    /// Priority, state and what a thread waits for, packed as `abi::entry::scheduler::THREAD_INFO` says.
    pub fn thread_info(&mut self, current: u8, thread: u64) -> Next {
        let answer = thread_number(thread).and_then(|thread| {
            let Thread {
                priority,
                state,
                waits_for,
                ..
            } = self.threads[thread];
            let waits_for = if matches!(state, State::Waiting | State::Stack) {
                waits_for
            } else {
                0
            };
            match state {
                State::Free => Err(Errno::NoSuchProcess),
                _ => Ok(i64::from(priority) | (state as i64) << 8 | i64::from(waits_for) << 16),
            }
        });
        Next::new(current, number(answer))
    }

    /// A new semaphore with this value. Answers its index.
    pub fn sem_alloc(&mut self, current: u8, value: i64, owner: u64) -> Next {
        let answer = i32::try_from(value)
            .map_err(|_| Errno::Invalid)
            .and_then(|value| {
                if value < 0 {
                    return Err(Errno::Invalid);
                }
                let index = self.semaphores.open(owner as usize)?;
                self.machine.counters().set(index, value);
                Ok(index.into())
            });
        Next::new(current, number(answer))
    }

    /// Ends a semaphore: some waiting threads get `-EINVAL`. Answers 1 if more wait, 0 if it is gone.
    pub fn sem_free(&mut self, current: u8, semaphore: u64) -> Next {
        let index = match self.semaphores.close(semaphore, self.machine.counters()) {
            Ok(index) => index,
            Err(error) => return Next::new(current, number(Err(error))),
        };
        let now = self.machine.cycles();
        for _ in 0..RELEASES {
            let Some(waiter) = self.semaphores.queue(index).take_first(&mut self.threads) else {
                break;
            };
            self.join(waiter, number(Err(Errno::Invalid)), now);
        }
        let more = self.semaphores.queue(index).first().is_some();
        if !more {
            self.semaphores.release(index);
        }
        self.settle(current, more.into())
    }

    fn span(&self, microseconds: u32) -> Span {
        Span {
            microseconds,
            cycles: self.clock.cycles(microseconds),
        }
    }
}

/// The thread number in an argument; portal code may put the thread's domain into the high half.
fn thread_number(argument: u64) -> Result<u8, Errno> {
    let number = argument as u32;
    const _: () = assert!(MAX_THREADS == 256, "a thread number is a byte");
    u8::try_from(number).map_err(|_| Errno::NoSuchProcess)
}

/// A priority that a thread may have; 0 is idle's.
fn level(argument: u64) -> Result<u8, Errno> {
    u8::try_from(argument)
        .ok()
        .filter(|&level| level > 0 && (level as usize) < PRIORITIES)
        .ok_or(Errno::Invalid)
}

fn number(answer: Answer) -> i64 {
    answer.unwrap_or_else(|error| error.negated() as i64)
}
