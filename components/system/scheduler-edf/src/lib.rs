//! The policy of this scheduler: the earliest deadline first, each thread within the budget it was admitted with.
//!
//! Three bands. Threads without a budget run by priority: from [`SYSTEM`] on before all others, below it after
//! them. Between these bands, threads with a budget `Q` per period `T` run by deadline. Each is a constant
//! bandwidth server (Abeni and Buttazzo 1998) with a hard reservation: when it wakes and cannot use what is left of
//! `Q` before its deadline without exceeding its bandwidth `Q / T`, it gets a new deadline, `T` from now, and a
//! full `Q`; when it has used `Q`, it waits for its deadline before it gets the next. So a thread that
//! does more than it promised delays only itself, and what is left of the time belongs to the lowest band.
#![cfg_attr(target_os = "none", no_std)]
#![forbid(unsafe_code)]

use pebble_abi::errno::Errno;
use pebble_abi::layout::MAX_THREADS;
use scheduling::{Levels, Policy, Request, Threads, Timeline, Turn};

/// Threads without a budget run before those with one from this priority on.
pub const SYSTEM: u8 = 48;
/// Bandwidth is counted in fractions of this.
const WHOLE: u64 = 1 << 20;
/// Most that is promised to threads with a budget: the rest is for the lowest band and the scheduler itself.
const PROMISED: u64 = WHOLE * 95 / 100;
/// Shortest budget: a replenishment costs an interrupt.
pub const SHORTEST_BUDGET_MICROSECONDS: u32 = 50;

/// What a thread with a budget was promised.
#[derive(Clone, Copy)]
struct Server {
    /// Cycles per period; 0 for a thread without a budget.
    budget: u64,
    /// Cycles.
    period: u64,
    /// Until when `Thread::remaining` is to be used.
    deadline: u64,
    /// Runs by its priority for the moment, whatever was promised.
    forced: bool,
    /// `budget / period`, in fractions of [`WHOLE`], rounded down: 256 threads gain 0.03 per cent at most.
    bandwidth: u64,
}

const NONE: Server = Server {
    budget: 0,
    period: 0,
    deadline: 0,
    forced: false,
    bandwidth: 0,
};

/// Earliest deadline first.
pub struct EarliestDeadline {
    servers: [Server; MAX_THREADS],
    /// Ready threads with a budget.
    deadlines: Timeline,
    /// Ready threads without.
    levels: Levels,
    /// Sum of the bandwidths that were promised.
    promised: u64,
}

impl EarliestDeadline {
    fn has_budget(&self, thread: u8) -> bool {
        let server = &self.servers[thread as usize];
        server.budget != 0 && !server.forced
    }

    /// Sum of what was promised, as parts of a million.
    pub fn promised_millionths(&self) -> u64 {
        (self.promised * 1_000_000).div_ceil(WHOLE)
    }

    /// Deadline of a thread with a budget, in cycles.
    pub fn deadline(&self, thread: u8) -> Option<u64> {
        self.has_budget(thread)
            .then(|| self.servers[thread as usize].deadline)
    }
}

impl Policy for EarliestDeadline {
    const NEW: EarliestDeadline = EarliestDeadline {
        servers: [NONE; MAX_THREADS],
        deadlines: Timeline::NEW,
        levels: Levels::NEW,
        promised: 0,
    };

    fn admit(&mut self, thread: u8, request: &Request) -> Result<(), Errno> {
        let (budget, period) = (request.budget.microseconds, request.quantum.microseconds);
        if budget == 0 {
            self.servers[thread as usize] = NONE;
            return Ok(());
        }
        if budget < SHORTEST_BUDGET_MICROSECONDS || budget > period {
            return Err(Errno::Invalid);
        }
        let bandwidth = u64::from(budget) * WHOLE / u64::from(period);
        if self.promised + bandwidth > PROMISED {
            return Err(Errno::Busy);
        }
        self.promised += bandwidth;
        let (budget, period) = (request.budget.cycles.max(1), request.quantum.cycles.max(1));
        self.servers[thread as usize] = Server {
            forced: false,
            budget,
            period,
            deadline: 0,
            bandwidth,
        };
        Ok(())
    }

    fn dismiss(&mut self, thread: u8) {
        self.promised -= self.servers[thread as usize].bandwidth;
        self.servers[thread as usize] = NONE;
    }

    fn force(&mut self, thread: u8, forced: bool) {
        self.servers[thread as usize].forced = forced;
    }

    fn join(&mut self, threads: &mut Threads, thread: u8, now: u64) {
        let server = &mut self.servers[thread as usize];
        if server.budget == 0 || server.forced {
            threads[thread].remaining = threads[thread].quantum;
            self.levels.append(threads, thread);
            return;
        }
        let left = u128::from(threads[thread].remaining);
        let time = server.deadline.saturating_sub(now);
        // left / time >= budget / period: to go on with this deadline would be to run at more than the bandwidth.
        if time == 0
            || left * u128::from(server.period) >= u128::from(time) * u128::from(server.budget)
        {
            server.deadline = now.saturating_add(server.period);
            threads[thread].remaining = server.budget;
        }
        self.deadlines.insert(thread, server.deadline);
    }

    fn leave(&mut self, threads: &mut Threads, thread: u8) -> u8 {
        if self.has_budget(thread) {
            self.deadlines.remove(thread);
        } else {
            self.levels.remove(threads, thread);
        }
        self.first()
    }

    fn first(&self) -> u8 {
        match self.deadlines.first() {
            Some((thread, _)) if self.levels.highest() < SYSTEM => thread,
            _ => self.levels.first().unwrap_or_default(),
        }
    }

    /// Yield, and the end of a turn. A thread with a budget gives up what is left of it, and waits for its deadline.
    fn turn(&mut self, threads: &mut Threads, thread: u8) -> Turn {
        if !self.has_budget(thread) {
            threads[thread].remaining = threads[thread].quantum;
            self.levels.rotate(threads, thread);
            return Turn {
                next: self.first(),
                until: None,
            };
        }
        let server = &mut self.servers[thread as usize];
        let until = server.deadline;
        server.deadline = until.saturating_add(server.period);
        threads[thread].remaining = server.budget;
        self.deadlines.remove(thread);
        Turn {
            next: self.first(),
            until: Some(until),
        }
    }

    fn precedes(&self, _threads: &Threads, joined: u8, _first: u8) -> bool {
        self.first() == joined
    }

    fn charge(&mut self, threads: &mut Threads, thread: u8, used: u64) {
        threads[thread].remaining = threads[thread].remaining.saturating_sub(used);
    }

    fn allowance(&self, threads: &Threads, thread: u8) -> Option<u64> {
        (self.has_budget(thread) || self.levels.has_equals(threads, thread))
            .then(|| threads[thread].remaining)
    }
}
