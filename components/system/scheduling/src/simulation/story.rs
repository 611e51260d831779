//! Plays random operations to a scheduler and to the model, and compares the two after each.

use pebble_abi::entry::scheduler::KEEP_RESULT;
use pebble_abi::errno::Errno;
use pebble_abi::semaphore::waiting;

use super::model::Model;
use super::{in_state, members, started, Dice, Simulated, IDLE};
use crate::policy::Span;
use crate::{Machine, Next, Policy, Request, Scheduler, State};

/// A scheduler, its model, and the numbers that decide what happens.
pub struct Story<P, N> {
    real: Box<Scheduler<P, Simulated>>,
    model: Model<N>,
    dice: Dice,
    threads: u64,
    /// The thread that makes the present call.
    caller: u8,
    semaphores: Vec<u16>,
    /// The V that was left for the next entry.
    later: Option<u16>,
    /// Whether new threads may have a budget.
    budgets: bool,
    /// How often each kind of operation did something.
    pub done: std::collections::BTreeMap<&'static str, u64>,
}

impl<P: Policy, N: Policy> Story<P, N> {
    /// A story with up to `threads` threads.
    pub fn new(seed: u64, threads: u64, budgets: bool) -> Self {
        // Ratios of the two counters as on the emulator, with a fraction, and on slow and fast processors.
        let kilotick = [100_000, 99_937, 1_000, 241_803][seed as usize % 4];
        let real = started::<P>(kilotick);
        let quantum = Self::request(&real, 32, P::QUANTUM_MICROSECONDS, 0);
        let model = Model::new(&quantum, real.since);
        let semaphores = vec![0, 1, 2, 3];
        Story {
            real,
            model,
            dice: Dice::new(seed),
            threads,
            caller: IDLE,
            semaphores,
            later: None,
            budgets,
            done: Default::default(),
        }
    }

    fn request(real: &Scheduler<P, Simulated>, priority: u8, quantum: u32, budget: u32) -> Request {
        let span = |microseconds| Span {
            microseconds,
            cycles: real.clock.cycles(microseconds),
        };
        Request {
            priority,
            quantum: span(quantum),
            budget: span(budget),
        }
    }

    /// Plays this many operations.
    pub fn play(&mut self, operations: usize) {
        for _ in 0..operations {
            let passing = 1 + self.dice.below(40) * self.dice.below(2_000);
            self.real.machine.pass(passing);
            while self.real.machine.interrupts() {
                // Some cycles pass on the way from the interrupt to the scheduler, and back.
                self.real.machine.pass(60);
                self.interrupt("timer");
                self.real.machine.pass(60);
            }
            self.operation();
            self.check();
        }
    }

    fn now(&self) -> u64 {
        self.real.machine.cycles()
    }

    /// The scheduler is entered: a V that was left is done now, and nobody takes over because of it.
    fn enter(&mut self) {
        if let Some(semaphore) = self.later.take() {
            let now = self.now();
            assert_eq!(self.model.v(semaphore, now), 0);
            let first = self.model.policy.first();
            assert_eq!(
                first, self.model.running,
                "a V that was left changes who runs"
            );
        }
        self.real.begin();
    }

    fn interrupt(&mut self, kind: &'static str) {
        self.enter();
        let (now, current) = (self.now(), self.model.running);
        self.model.answers[current as usize] = None;
        let next = match kind {
            "timer" => {
                self.model.timer(now);
                self.real.timer(current)
            }
            _ => {
                let semaphore = self.semaphore();
                self.model.v(semaphore, now);
                self.model.dispatch(now);
                self.real.v(current, semaphore)
            }
        };
        self.compare(kind, next);
    }

    /// The real scheduler's decision must be the model's.
    fn compare(&mut self, kind: &'static str, next: Next) {
        *self.done.entry(kind).or_default() += 1;
        let running = self.model.running;
        assert_eq!(
            next.thread(),
            u64::from(running),
            "after {kind}: which thread runs"
        );
        if let Some(answer) = self.model.answers[running as usize].take() {
            assert_eq!(
                next.result(),
                answer,
                "after {kind}: what thread {running} is answered"
            );
        }
    }

    /// The running thread made a call that answers this, at once or when it goes on.
    fn called(&mut self, kind: &'static str, answer: i64, next: Next) {
        self.model.answers[self.caller as usize] = Some(answer);
        self.model.dispatch(self.now());
        self.compare(kind, next);
    }

    fn semaphore(&mut self) -> u16 {
        self.semaphores[self.dice.below(self.semaphores.len() as u64) as usize]
    }

    /// A thread other than idle and the running one, in a state that `wanted` accepts if there is one.
    fn other(&mut self, wanted: fn(State) -> bool) -> u8 {
        let offset = self.dice.below(self.threads);
        let candidates = (0..self.threads).map(|index| 1 + ((offset + index) % self.threads) as u8);
        let fitting = candidates
            .filter(|&thread| thread != self.model.running)
            .find(|&thread| wanted(self.model.threads[thread].state));
        fitting.unwrap_or(1 + offset as u8)
    }

    fn operation(&mut self) {
        let current = self.model.running;
        let now = self.now();
        self.caller = current;
        let mut choice = self.dice.below(20);
        if current == IDLE && matches!(choice, 2..=4 | 8 | 12 | 15 | 17) {
            // Idle must stay ready; everything else it may do here, or else nothing would ever happen again.
            choice = 9;
        }
        // P and V mostly stay out of the scheduler.
        if !matches!(choice, 2..=7) {
            self.enter();
        }
        match choice {
            0 | 1 => {
                self.model.turn(now);
                self.called_while_ready("yield", 0, |real| real.yield_turn(current));
            }
            2..=4 => self.p(),
            5..=7 => self.v(),
            8 => self.sleep(now),
            9 => self.interrupt("device"),
            10 | 11 => self.add(now),
            12 if self.dice.below(3) == 0 => {
                self.model.leave(current, State::Free);
                self.model.policy.dismiss(current);
                self.called_while_ready("exit", 0, |real| real.thread_exit(current));
            }
            13 => {
                let thread = self.other(|state| state != State::Free && state != State::Stopped);
                let answer = match self.model.threads[thread].state {
                    _ if thread == current => -22,
                    State::Free => -3,
                    State::Stopped => -16,
                    _ => self.model.stop(thread),
                };
                self.called_while_ready("stop", answer, |real| {
                    real.thread_stop(current, thread.into())
                });
            }
            14 => self.go_on(now),
            15 => {
                let domain = self.dice.below(4);
                self.model.stack_wait(domain as usize, now);
                self.called_while_ready("stack wait", 0, |real| real.stack_wait(current, domain));
            }
            16 => {
                let domain = self.dice.below(4);
                if let Some(waiter) = self.model.stacks[domain as usize].pop_front() {
                    self.model.answers[waiter as usize] = Some(0);
                    self.model.ready(waiter, now);
                }
                self.called_while_ready("stack free", 77, |real| {
                    real.stack_free(current, domain, 77)
                });
            }
            17 => self.priority(now),
            18 => self.sem_alloc(),
            19 => {
                let semaphore = self.semaphore();
                let answer = self.model.sem_free(semaphore, now);
                self.called_while_ready("sem free", answer, |real| {
                    real.sem_free(current, semaphore.into())
                });
            }
            _ => {}
        }
    }

    fn called_while_ready(
        &mut self,
        kind: &'static str,
        answer: i64,
        call: impl FnOnce(&mut Scheduler<P, Simulated>) -> Next,
    ) {
        let next = call(&mut self.real);
        self.called(kind, answer, next);
    }

    /// As portal code does it: inline while the counter is positive.
    fn p(&mut self) {
        let (current, semaphore) = (self.model.running, self.semaphore());
        let counter = self.real.machine.counters().get(semaphore);
        if counter <= 0 {
            self.enter();
        }
        let answer = self.model.p(semaphore);
        if counter > 0 {
            assert_eq!(answer, Some(0), "P passes without the scheduler");
            self.real.machine.counters().set(semaphore, counter - 1);
        } else {
            self.called_while_ready("p", answer.unwrap_or(0), |real| real.p(current, semaphore));
        }
    }

    /// As portal code does it: inline while the counter is not negative, and left for later where the scheduler allows.
    fn v(&mut self) {
        let (current, semaphore, now) = (self.model.running, self.semaphore(), self.now());
        let counter = self.real.machine.counters().get(semaphore);
        if counter != crate::Counters::CLOSED && self.real.machine.counters().may_leave(counter) {
            assert_eq!(self.later, None, "one V at a time is left");
            self.real.machine.counters().leave(semaphore);
            self.later = Some(semaphore);
            *self.done.entry("v left for later").or_default() += 1;
            return;
        }
        if counter < 0 {
            self.enter();
        }
        let answer = self.model.v(semaphore, now);
        if counter >= 0 {
            assert_eq!(answer, 0, "V passes without the scheduler");
            self.real.machine.counters().set(semaphore, counter + 1);
        } else {
            self.called_while_ready("v", answer, |real| real.v(current, semaphore));
        }
    }

    fn sleep(&mut self, now: u64) {
        let current = self.model.running;
        let until = (now + self.dice.below(2_000_000)) / 2 - self.dice.below(50);
        if until * 2 > now {
            self.model.leave(current, State::Sleeping);
            self.model.sleepers.insert((until * 2, current));
        }
        self.called_while_ready("sleep", 0, |real| real.sleep(current, until));
    }

    fn add(&mut self, now: u64) {
        let current = self.model.running;
        let thread = self.other(|state| state == State::Free);
        let priority = self.dice.below(64) as u8;
        // No two periods are the same: equal deadlines may run in any order.
        let (quantum, budget) = match self.dice.below(4) {
            0 => (0, 0),
            1 if self.budgets => {
                let period = 2_000 + 300 * self.dice.below(20) as u32 + u32::from(thread);
                (period, 50 + self.dice.below(600) as u32)
            }
            _ => (100 + self.dice.below(900) as u32, 0),
        };
        let answer = if priority == 0 {
            Err(Errno::Invalid)
        } else if self.model.threads[thread].state != State::Free {
            Err(Errno::Exists)
        } else {
            let turn = if quantum == 0 {
                P::QUANTUM_MICROSECONDS
            } else {
                quantum
            };
            let request = Self::request(&self.real, priority, turn, budget);
            self.model.add(thread, request, priority, now)
        };
        let answer = answer.unwrap_or_else(|error| error.negated() as i64);
        let time = u64::from(quantum) << 32 | u64::from(budget);
        self.called_while_ready("add", answer, |real| {
            real.thread_add(current, thread.into(), priority.into(), 9, time)
        });
    }

    /// Continues or removes a stopped thread.
    fn go_on(&mut self, now: u64) {
        let current = self.model.running;
        let thread = self.other(|state| state == State::Stopped);
        let state = self.model.threads[thread].state;
        let refused = if state == State::Free { -3 } else { -16 };
        if self.dice.below(3) == 0 {
            let answer = if state == State::Stopped {
                self.model.threads[thread].state = State::Free;
                self.model.policy.dismiss(thread);
                0
            } else {
                refused
            };
            return self.called_while_ready("remove", answer, |real| {
                real.thread_remove(current, thread.into())
            });
        }
        let result = if self.dice.below(2) == 0 {
            KEEP_RESULT
        } else {
            -130
        };
        let mut answer = refused;
        if state == State::Stopped {
            answer = 0;
            if result != KEEP_RESULT {
                self.model.answers[thread as usize] = Some(result);
            }
            self.model.ready(thread, now);
        }
        self.called_while_ready("continue", answer, |real| {
            real.thread_continue(current, thread.into(), result)
        });
    }

    fn priority(&mut self, now: u64) {
        let current = self.model.running;
        let priority = self.dice.below(66);
        let maximum = self.model.threads[current].maximum;
        let answer = match priority {
            0 | 64.. => -22,
            _ if priority > maximum.into() => -1,
            _ => {
                let used = now - self.model.since;
                self.model
                    .policy
                    .charge(&mut self.model.threads, current, used);
                self.model.since = now;
                self.model.policy.leave(&mut self.model.threads, current);
                self.model.threads[current].priority = priority as u8;
                self.model.ready(current, now);
                0
            }
        };
        self.called_while_ready("priority", answer, |real| {
            real.thread_priority(current, priority)
        });
    }

    fn sem_alloc(&mut self) {
        let current = self.model.running;
        let value = self.dice.below(3) as i64 - 1;
        let next = self.real.sem_alloc(current, value, 9);
        if value < 0 {
            return self.called("sem alloc", -22, next);
        }
        // Which index is the scheduler's choice, as long as it is free.
        let index = u16::try_from(next.result()).expect("an index");
        assert!(
            index as usize >= pebble_abi::semaphore::FIRST_FREE,
            "a fixed semaphore was given out"
        );
        assert!(
            !self.model.closing.contains(&index),
            "semaphore {index} is still ending"
        );
        assert_eq!(
            self.model.counters.insert(index, value),
            None,
            "semaphore {index} is in use"
        );
        if !self.semaphores.contains(&index) && self.semaphores.len() < 12 {
            self.semaphores.push(index);
        }
        self.called("sem alloc", index.into(), next);
    }

    /// Every thread is where the model has it, in the same order; the counters agree; the timer is set in time.
    fn check(&self) {
        for thread in 0..=255 {
            let (real, model) = (&self.real.threads[thread], &self.model.threads[thread]);
            assert_eq!(real.state, model.state, "state of thread {thread}");
            if real.state != State::Free {
                assert_eq!(real.priority, model.priority, "priority of thread {thread}");
                assert_eq!(
                    real.remaining, model.remaining,
                    "what is left of the turn of thread {thread}"
                );
            }
        }
        let mut in_queues = Vec::new();
        for &semaphore in &self.semaphores {
            let list = members(&self.real, self.real.semaphores.waiters(semaphore));
            assert_eq!(
                self.model.waiting[semaphore as usize], list,
                "who waits for semaphore {semaphore}"
            );
            let counter = self.real.machine.counters().get(semaphore);
            match self.model.counters.get(&semaphore) {
                Some(&expected) => {
                    let waiting = waiting(counter);
                    let count = if counter < 0 { -waiting } else { counter };
                    assert_eq!(
                        i64::from(count),
                        expected,
                        "counter of semaphore {semaphore}"
                    );
                    assert_eq!(
                        list.len() as i32,
                        waiting,
                        "counter and waiters of {semaphore}"
                    );
                }
                None => assert_eq!(
                    counter,
                    crate::Counters::CLOSED,
                    "semaphore {semaphore} is not in use"
                ),
            }
            in_queues.extend(list);
        }
        in_queues.sort_unstable();
        assert_eq!(
            in_queues,
            in_state(&self.real, State::Waiting),
            "a waiting thread is in one queue"
        );
        for domain in 0..4 {
            let list = members(&self.real, self.real.stacks[domain]);
            assert_eq!(
                self.model.stacks[domain], list,
                "who waits for a stack of domain {domain}"
            );
        }
        self.check_timer();
    }

    /// An interrupt comes before anybody's time, or at most a tick after it.
    fn check_timer(&self) {
        let mut due = self
            .model
            .sleepers
            .first()
            .map_or(u64::MAX, |&(time, _)| time);
        let running = self.model.running;
        if let Some(allowed) = self.real.policy.allowance(&self.real.threads, running) {
            due = due.min(self.model.since + allowed);
        }
        // Whoever would take turns with the running thread must not wait longer than its turn.
        let woken = self
            .later
            .and_then(|semaphore| self.model.waiting[semaphore as usize].front());
        if let Some(&woken) = woken {
            let (threads, level) = (&self.real.threads, self.real.threads[running].priority);
            assert!(threads[woken].priority <= level, "thread {woken} must run");
            if threads[woken].priority == level {
                due = due.min(self.model.since + threads[running].remaining);
            }
        }
        if due != u64::MAX {
            let tick = self.real.machine.cycles_per_kilotick / 1000 + 1;
            let comes = self.now() + self.real.machine.until_interrupt();
            assert!(
                comes <= due.max(self.now()) + tick,
                "timer at {comes}, but needed at {due}"
            );
        }
    }
}
