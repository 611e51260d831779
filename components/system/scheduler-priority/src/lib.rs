//! The policy of this scheduler: the highest priority runs, equals take turns.
#![cfg_attr(target_os = "none", no_std)]
#![forbid(unsafe_code)]

use pebble_server::abi::errno::Errno;
use scheduling::{Levels, Policy, Request, Threads, Turn};

/// Fixed priorities with round robin.
pub struct Priority {
    ready: Levels,
}

impl Policy for Priority {
    const NEW: Priority = Priority { ready: Levels::NEW };

    fn admit(&mut self, _thread: u8, request: &Request) -> Result<(), Errno> {
        // A budget is a promise that only the deadline scheduler can keep.
        if request.budget.microseconds == 0 {
            Ok(())
        } else {
            Err(Errno::Invalid)
        }
    }

    fn dismiss(&mut self, _thread: u8) {}

    #[inline(always)]
    fn join(&mut self, threads: &mut Threads, thread: u8, _now: u64) {
        threads[thread].remaining = threads[thread].quantum;
        self.ready.append(threads, thread);
    }

    #[inline(always)]
    fn leave(&mut self, threads: &mut Threads, thread: u8) -> u8 {
        // The first thread's equals come before all others; no need to look for the highest priority.
        match self.ready.remove(threads, thread) {
            Some(next) => next,
            None => self.first(),
        }
    }

    #[inline(always)]
    fn replace(&mut self, threads: &mut Threads, from: u8, to: u8) -> Option<u8> {
        let level = self.ready.replace(threads, from, to)?;
        threads[to].remaining = threads[to].quantum;
        Some(level)
    }

    #[inline(always)]
    fn first(&self) -> u8 {
        self.ready.first().unwrap_or_default()
    }

    #[inline(always)]
    fn turn(&mut self, threads: &mut Threads, thread: u8) -> Turn {
        threads[thread].remaining = threads[thread].quantum;
        Turn {
            next: self.ready.rotate(threads, thread),
            until: None,
        }
    }

    #[inline(always)]
    fn precedes(&self, threads: &Threads, joined: u8, first: u8) -> bool {
        threads[joined].priority > threads[first].priority
    }

    #[inline(always)]
    fn charge(&mut self, threads: &mut Threads, thread: u8, used: u64) {
        let record = &mut threads[thread];
        record.remaining = record.remaining.saturating_sub(used);
    }

    #[inline(always)]
    fn level(&self, threads: &Threads, thread: u8) -> Option<u8> {
        Some(threads[thread].priority)
    }

    #[inline(always)]
    fn allowance(&self, threads: &Threads, thread: u8) -> Option<u64> {
        self.ready
            .has_equals(threads, thread)
            .then(|| threads[thread].remaining)
    }
}
