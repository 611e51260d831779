//! Random operations: the scheduler does what a model with plain lists does, whatever happens in which order.

use std::collections::VecDeque;

use pebble_abi::errno::Errno;
use scheduler_priority::Priority;
use scheduling::simulation::story::Story;
use scheduling::{Policy, Request, Threads, Turn};

/// Fixed priorities with round robin, by searching lists.
struct Lists(Vec<VecDeque<u8>>);

impl Lists {
    fn level(&mut self, threads: &Threads, thread: u8) -> &mut VecDeque<u8> {
        self.0.resize(64, VecDeque::new());
        &mut self.0[threads[thread].priority as usize]
    }
}

impl Policy for Lists {
    const NEW: Lists = Lists(Vec::new());

    fn admit(&mut self, _thread: u8, request: &Request) -> Result<(), Errno> {
        if request.budget.microseconds > 0 {
            Err(Errno::Invalid)
        } else {
            Ok(())
        }
    }

    fn dismiss(&mut self, _thread: u8) {}

    fn join(&mut self, threads: &mut Threads, thread: u8, _now: u64) {
        threads[thread].remaining = threads[thread].quantum;
        self.level(threads, thread).push_back(thread);
    }

    fn leave(&mut self, threads: &mut Threads, thread: u8) -> u8 {
        self.level(threads, thread).retain(|&other| other != thread);
        self.first()
    }

    fn first(&self) -> u8 {
        self.0
            .iter()
            .rev()
            .find_map(VecDeque::front)
            .copied()
            .unwrap_or_default()
    }

    fn turn(&mut self, threads: &mut Threads, thread: u8) -> Turn {
        self.leave(threads, thread);
        self.join(threads, thread, 0);
        Turn {
            next: self.first(),
            until: None,
        }
    }

    fn precedes(&self, _threads: &Threads, joined: u8, _first: u8) -> bool {
        self.first() == joined
    }

    fn charge(&mut self, threads: &mut Threads, thread: u8, used: u64) {
        threads[thread].remaining = threads[thread].remaining.saturating_sub(used);
    }

    fn allowance(&self, threads: &Threads, thread: u8) -> Option<u64> {
        let level = &self.0[threads[thread].priority as usize];
        (level.len() > 1).then(|| threads[thread].remaining)
    }
}

fn play(seed: u64, threads: u64, budgets: bool) {
    let mut story = Story::<Priority, Lists>::new(seed, threads, budgets);
    story.play(3_000);
    for kind in [
        "timer",
        "device",
        "yield",
        "p",
        "v",
        "sleep",
        "stop",
        "stack wait",
        "sem free",
        "priority",
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
    (0..40).for_each(|seed| play(seed, 5, false));
}

/// As many as a busy system has.
#[test]
fn many_threads() {
    (100..140).for_each(|seed| play(seed, 40, seed % 2 == 0));
}

/// Every number in use.
#[test]
fn all_threads() {
    (200..210).for_each(|seed| play(seed, 255, false));
}
