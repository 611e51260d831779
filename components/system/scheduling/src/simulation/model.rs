//! What a scheduler must do, said with ordinary collections: the yardstick of the tests.
//!
//! The model's policy is one with lists that are searched, so that it shares no structure with the real one.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use pebble_abi::errno::Errno;
use pebble_abi::layout::{MAX_DOMAINS, MAX_SEMAPHORES};
use pebble_abi::semaphore::{INITIAL, WARDEN};

use super::{IDLE, INIT};
use crate::{Policy, Request, State, Thread, Threads, EXPIRIES, RELEASES};

/// The state that a scheduler should be in.
pub struct Model<N> {
    /// Ready threads.
    pub policy: N,
    /// Priorities, turns and states; the links are not used.
    pub threads: Threads,
    /// Counter of every semaphore in use.
    pub counters: BTreeMap<u16, i64>,
    /// Semaphores that are ending.
    pub closing: BTreeSet<u16>,
    /// Who waits for each semaphore.
    pub waiting: Vec<VecDeque<u8>>,
    /// Who waits for a stack of each domain.
    pub stacks: Vec<VecDeque<u8>>,
    /// Who sleeps until when.
    pub sleepers: BTreeSet<(u64, u8)>,
    /// The thread that runs.
    pub running: u8,
    /// Since when.
    pub since: u64,
    /// What each thread's call must answer when it goes on; `None` for a thread that an interrupt stopped.
    pub answers: Vec<Option<i64>>,
}

impl<N: Policy> Model<N> {
    /// As after `START`.
    pub fn new(quantum: &Request, since: u64) -> Self {
        let mut model = Model {
            policy: N::NEW,
            threads: Threads::NEW,
            counters: INITIAL
                .iter()
                .enumerate()
                .map(|(index, &value)| (index as u16, value.into()))
                .collect(),
            closing: BTreeSet::new(),
            waiting: vec![VecDeque::new(); MAX_SEMAPHORES],
            stacks: vec![VecDeque::new(); MAX_DOMAINS],
            sleepers: BTreeSet::new(),
            running: INIT,
            since,
            answers: vec![None; 256],
        };
        model
            .add(
                IDLE,
                Request {
                    priority: 0,
                    ..*quantum
                },
                63,
                since,
            )
            .expect("room for idle");
        model.add(INIT, *quantum, 63, since).expect("room for init");
        model
    }

    /// A new thread.
    pub fn add(
        &mut self,
        thread: u8,
        request: Request,
        maximum: u8,
        now: u64,
    ) -> Result<i64, Errno> {
        self.policy.admit(thread, &request)?;
        let Request {
            priority, quantum, ..
        } = request;
        self.threads[thread] = Thread {
            priority,
            maximum,
            quantum: quantum.cycles,
            ..Thread::FREE
        };
        self.ready(thread, now);
        self.answers[thread as usize] = Some(0);
        Ok(0)
    }

    /// A thread gets ready.
    pub fn ready(&mut self, thread: u8, now: u64) {
        self.threads[thread].state = State::Ready;
        self.policy.join(&mut self.threads, thread, now);
    }

    /// A ready thread goes elsewhere.
    pub fn leave(&mut self, thread: u8, state: State) {
        self.policy.leave(&mut self.threads, thread);
        self.threads[thread].state = state;
    }

    /// The first thread runs.
    pub fn dispatch(&mut self, now: u64) {
        let first = self.policy.first();
        if first == self.running {
            return;
        }
        if self.threads[self.running].state == State::Ready {
            let used = now - self.since;
            self.policy.charge(&mut self.threads, self.running, used);
        }
        self.running = first;
        self.since = now;
    }

    /// The running thread's turn is over; it gets a full one when it comes again.
    pub fn turn(&mut self, now: u64) {
        let thread = self.running;
        if let Some(until) = self.policy.turn(&mut self.threads, thread).until {
            self.threads[thread].state = State::Throttled;
            self.sleepers.insert((until, thread));
        }
        self.running = self.policy.first();
        if self.running != thread {
            self.since = now;
        }
    }

    /// V; answers what the caller gets.
    pub fn v(&mut self, semaphore: u16, now: u64) -> i64 {
        let Some(counter) = self.counters.get_mut(&semaphore) else {
            return -22;
        };
        *counter += 1;
        if let Some(waiter) = self.waiting[semaphore as usize].pop_front() {
            self.answers[waiter as usize] = Some(0);
            self.ready(waiter, now);
        }
        0
    }

    /// P; answers what the caller gets, unless it waits.
    pub fn p(&mut self, semaphore: u16) -> Option<i64> {
        let Some(counter) = self.counters.get_mut(&semaphore) else {
            return Some(-22);
        };
        *counter -= 1;
        if *counter >= 0 {
            return Some(0);
        }
        let thread = self.running;
        self.waiting[semaphore as usize].push_back(thread);
        self.leave(thread, State::Waiting);
        None
    }

    /// The timer interrupt. Nobody wakes before its time, the earliest first, a few at a time.
    pub fn timer(&mut self, now: u64) {
        let before = self.running;
        for _ in 0..EXPIRIES {
            match self.sleepers.first() {
                Some(&(time, thread)) if time <= now => {
                    self.sleepers.pop_first();
                    self.ready(thread, now);
                }
                _ => break,
            }
        }
        if self.policy.first() == before {
            let allowed = self.policy.allowance(&self.threads, before);
            if allowed.is_some_and(|allowed| now - self.since >= allowed) {
                self.turn(now);
                self.since = now;
            }
        }
        self.dispatch(now);
    }

    /// The running thread waits for a stack; the warden is called.
    pub fn stack_wait(&mut self, domain: usize, now: u64) {
        let thread = self.running;
        self.stacks[domain].push_back(thread);
        self.leave(thread, State::Stack);
        let warden = WARDEN as u16;
        if self.waiting[WARDEN].is_empty() {
            self.counters.insert(warden, 1);
        } else {
            self.v(warden, now);
        }
    }

    /// Ends a semaphore; answers what the caller gets.
    pub fn sem_free(&mut self, semaphore: u16, now: u64) -> i64 {
        if (semaphore as usize) < INITIAL.len()
            || self.counters.remove(&semaphore).is_none() && !self.closing.contains(&semaphore)
        {
            return -22;
        }
        self.closing.insert(semaphore);
        for _ in 0..RELEASES {
            let Some(waiter) = self.waiting[semaphore as usize].pop_front() else {
                break;
            };
            self.answers[waiter as usize] = Some(-22);
            self.ready(waiter, now);
        }
        if !self.waiting[semaphore as usize].is_empty() {
            return 1;
        }
        self.closing.remove(&semaphore);
        0
    }

    /// Takes a thread out of whatever it is in; answers whether it waited.
    pub fn stop(&mut self, thread: u8) -> i64 {
        let state = self.threads[thread].state;
        match state {
            State::Ready => _ = self.policy.leave(&mut self.threads, thread),
            // Its P is not answered yet: whoever continues it has to say what it answers.
            State::Waiting => self.answers[thread as usize] = None,
            _ => {}
        }
        self.sleepers.retain(|&(_, sleeper)| sleeper != thread);
        for (semaphore, queue) in self.waiting.iter_mut().enumerate() {
            if queue.contains(&thread) {
                queue.retain(|&waiter| waiter != thread);
                if let Some(counter) = self.counters.get_mut(&(semaphore as u16)) {
                    *counter += 1;
                }
            }
        }
        self.stacks
            .iter_mut()
            .for_each(|queue| queue.retain(|&waiter| waiter != thread));
        self.threads[thread].state = State::Stopped;
        matches!(state, State::Waiting | State::Sleeping | State::Stack).into()
    }
}
