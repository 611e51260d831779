//! The order of ready threads: the part that makes one scheduler different from another.

use pebble_abi::errno::Errno;

use crate::Threads;

/// What `thread_add` asks for.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// Priority.
    pub priority: u8,
    /// High half of the last argument: a full turn, or the period of a thread with a budget; 0 when not given.
    pub quantum: Span,
    /// Low half of the last argument: 0 when not given.
    pub budget: Span,
}

/// A length of time, in both units that matter.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// As it was asked for.
    pub microseconds: u32,
    /// As the scheduler counts.
    pub cycles: u64,
}

/// Who runs when a thread's turn is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The first thread now.
    pub next: u8,
    /// The thread has left the ready ones and must not run before this time.
    pub until: Option<u64>,
}

/// The ready threads, in the order of one policy. The running thread is among them, and is always
/// [`Policy::first`]. Every operation does a bounded amount of work. Times are in cycles.
pub trait Policy {
    /// Without threads.
    const NEW: Self;
    /// Length of a turn when none is asked for.
    const QUANTUM_MICROSECONDS: u32 = 10_000;
    /// Shortest turn: keeps the cost of switching below a few per cent.
    const SHORTEST_MICROSECONDS: u32 = 100;

    /// Takes on a new thread, which is not ready yet, or says why not.
    fn admit(&mut self, thread: u8, request: &Request) -> Result<(), Errno>;
    /// Forgets a thread, which is not ready.
    fn dismiss(&mut self, thread: u8);
    /// A thread gets ready: last among its equals, with a full turn.
    fn join(&mut self, threads: &mut Threads, thread: u8, now: u64);
    /// A thread is not ready any more. If it was the first, answers who is now; else the answer means nothing.
    fn leave(&mut self, threads: &mut Threads, thread: u8) -> u8;
    /// `to` gets ready and `from`, the first thread, is not ready any more; with that `to` is the first, and has no
    /// equals. Answers their level; `None`, with nothing changed, where it is not as simple as that.
    fn replace(&mut self, threads: &mut Threads, from: u8, to: u8) -> Option<u8> {
        let _ = (threads, from, to);
        None
    }
    /// The thread that should run.
    fn first(&self) -> u8;
    /// The first thread's turn is over.
    fn turn(&mut self, threads: &mut Threads, thread: u8) -> Turn;
    /// Whether a thread that just joined comes before the one that was first.
    fn precedes(&self, threads: &Threads, joined: u8, first: u8) -> bool;
    /// A thread ran for this long and is still ready.
    fn charge(&mut self, threads: &mut Threads, thread: u8, used: u64);
    /// The portal manager lets a thread run before all others (`forced`), or takes that back. The thread is not
    /// among the ready ones at this moment; its priority says the rest.
    fn force(&mut self, thread: u8, forced: bool) {
        let _ = (thread, forced);
    }
    /// How urgent a thread is by itself, 0 to 63, if a thread never takes over from one of its own level or a higher one
    /// before that one's turn is over. A policy for which that is not so has no levels.
    fn level(&self, threads: &Threads, thread: u8) -> Option<u8> {
        let _ = (threads, thread);
        None
    }
    /// How long the first thread may run before its turn is over; `None` when nobody would take over.
    fn allowance(&self, threads: &Threads, thread: u8) -> Option<u64>;
}
