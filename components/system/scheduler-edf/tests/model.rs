//! Random operations: the scheduler does what a model that searches lists does, deadlines and budgets included.

use std::collections::BTreeMap;

use pebble_abi::errno::Errno;
use scheduler_edf::{EarliestDeadline, SHORTEST_BUDGET_MICROSECONDS, SYSTEM};
use scheduling::simulation::story::Story;
use scheduling::{Policy, Request, Threads, Turn};

/// What a thread with a budget was promised, and its deadline.
struct Promise {
    budget: u64,
    period: u64,
    deadline: u64,
    share: f64,
}

/// The policy, by searching lists.
struct Lists {
    promises: BTreeMap<u8, Promise>,
    /// Ready threads with a budget.
    by_deadline: Vec<u8>,
    /// Ready threads without, with their priority, in order of arrival.
    by_priority: Vec<(u8, u8)>,
}

impl Lists {
    fn best(&self, band: impl Fn(u8) -> bool) -> Option<u8> {
        let in_band = || {
            self.by_priority
                .iter()
                .filter(|(priority, _)| band(*priority))
        };
        let highest = in_band().map(|(priority, _)| priority).max()?;
        in_band()
            .find(|(priority, _)| priority == highest)
            .map(|(_, thread)| *thread)
    }
}

impl Policy for Lists {
    const NEW: Lists = Lists {
        promises: BTreeMap::new(),
        by_deadline: Vec::new(),
        by_priority: Vec::new(),
    };

    fn admit(&mut self, thread: u8, request: &Request) -> Result<(), Errno> {
        let (budget, period) = (request.budget, request.quantum);
        if budget.microseconds == 0 {
            return Ok(());
        }
        if budget.microseconds < SHORTEST_BUDGET_MICROSECONDS
            || budget.microseconds > period.microseconds
        {
            return Err(Errno::Invalid);
        }
        let share = f64::from(budget.microseconds) / f64::from(period.microseconds);
        // Whether a sum is just above or just below the limit is a matter of rounding: the real one rounds down.
        let share = (share * f64::from(1 << 20)).floor() / f64::from(1 << 20);
        let sum: f64 = self.promises.values().map(|promise| promise.share).sum();
        if sum + share > (0.95 * f64::from(1 << 20)).floor() / f64::from(1 << 20) {
            return Err(Errno::Busy);
        }
        let promise = Promise {
            budget: budget.cycles,
            period: period.cycles,
            deadline: 0,
            share,
        };
        self.promises.insert(thread, promise);
        Ok(())
    }

    fn dismiss(&mut self, thread: u8) {
        self.promises.remove(&thread);
    }

    fn join(&mut self, threads: &mut Threads, thread: u8, now: u64) {
        let record = &mut threads[thread];
        let Some(promise) = self.promises.get_mut(&thread) else {
            record.remaining = record.quantum;
            self.by_priority.push((record.priority, thread));
            return;
        };
        let time = promise.deadline.saturating_sub(now);
        let needed = u128::from(time) * u128::from(promise.budget);
        if time == 0 || u128::from(record.remaining) * u128::from(promise.period) >= needed {
            promise.deadline = now + promise.period;
            record.remaining = promise.budget;
        }
        self.by_deadline.push(thread);
    }

    fn leave(&mut self, _threads: &mut Threads, thread: u8) -> u8 {
        self.by_deadline.retain(|&other| other != thread);
        self.by_priority.retain(|&(_, other)| other != thread);
        self.first()
    }

    fn first(&self) -> u8 {
        let earliest = self
            .by_deadline
            .iter()
            .min_by_key(|thread| self.promises[*thread].deadline);
        self.best(|priority| priority >= SYSTEM)
            .or(earliest.copied())
            .or(self.best(|_| true))
            .unwrap_or_default()
    }

    fn turn(&mut self, threads: &mut Threads, thread: u8) -> Turn {
        self.leave(threads, thread);
        let mut until = None;
        if let Some(promise) = self.promises.get_mut(&thread) {
            until = Some(promise.deadline);
            promise.deadline += promise.period;
            threads[thread].remaining = promise.budget;
        } else {
            self.join(threads, thread, 0);
        }
        Turn {
            next: self.first(),
            until,
        }
    }

    fn precedes(&self, _threads: &Threads, joined: u8, _first: u8) -> bool {
        self.first() == joined
    }

    fn charge(&mut self, threads: &mut Threads, thread: u8, used: u64) {
        threads[thread].remaining = threads[thread].remaining.saturating_sub(used);
    }

    fn allowance(&self, threads: &Threads, thread: u8) -> Option<u64> {
        let equal = |&&(priority, _): &&(u8, u8)| priority == threads[thread].priority;
        let shared = self.by_priority.iter().filter(equal).count() > 1;
        (shared || self.promises.contains_key(&thread)).then(|| threads[thread].remaining)
    }
}

fn play(seed: u64, threads: u64) {
    let mut story = Story::<EarliestDeadline, Lists>::new(seed, threads, true);
    story.play(3_000);
    for kind in [
        "timer", "device", "yield", "p", "v", "sleep", "stop", "add", "sem free",
    ] {
        assert!(
            story.done.get(kind).is_some_and(|&count| count > 10),
            "{kind} in {:?}",
            story.done
        );
    }
}

/// Few threads, so that queues run empty often and idle runs.
#[test]
fn few_threads() {
    (0..40).for_each(|seed| play(seed, 5));
}

/// As many as a busy system has.
#[test]
fn many_threads() {
    (100..140).for_each(|seed| play(seed, 40));
}
