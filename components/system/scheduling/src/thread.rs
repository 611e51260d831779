//! The table of threads: what the scheduler knows of each.

use core::ops::{Index, IndexMut};

use pebble_abi::layout::MAX_THREADS;
use pebble_abi::thread_state;

/// Where a thread is. It is in exactly one of these states, and the state names the one queue it is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum State {
    /// No such thread.
    Free = thread_state::FREE,
    /// It runs or could run: with the policy.
    Ready = thread_state::READY,
    /// In the queue of a semaphore.
    Waiting = thread_state::WAITING,
    /// Among the sleepers, until the time that it asked for.
    Sleeping = thread_state::SLEEPING,
    /// In the queue of a domain that has no free stack.
    Stack = thread_state::STACK,
    /// In no queue: taken out by `thread_stop`.
    Stopped = thread_state::STOPPED,
    /// Among the sleepers: it used up what the policy grants it, until it is granted more.
    Throttled = thread_state::THROTTLED,
}

/// One thread. 32 bytes, so that indexing is a shift.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub struct Thread {
    /// Next thread in the same queue.
    pub(crate) next: u8,
    /// Previous thread in the same queue.
    pub(crate) previous: u8,
    /// Current priority.
    pub priority: u8,
    /// Where it is.
    pub state: State,
    /// Highest priority that it may give itself.
    pub maximum: u8,
    /// Domain that it was made in.
    pub home: u8,
    /// Index of the semaphore or number of the domain that it waits for.
    pub waits_for: u16,
    /// What its call will have answered when it goes on.
    pub result: i64,
    /// Cycles left of its turn.
    pub remaining: u64,
    /// Cycles in a full turn.
    pub quantum: u64,
}

impl Thread {
    /// A number without a thread. All bytes zero, so that the table costs no room in the image.
    pub const FREE: Thread = Thread {
        next: 0,
        previous: 0,
        priority: 0,
        state: State::Free,
        maximum: 0,
        home: 0,
        waits_for: 0,
        result: 0,
        remaining: 0,
        quantum: 0,
    };
}

/// All threads, by number. The index is a byte: no index is out of range, and none needs a check.
pub struct Threads([Thread; MAX_THREADS]);

const _: () = assert!(
    MAX_THREADS == u8::MAX as usize + 1,
    "a thread number is a byte"
);

impl Threads {
    /// An empty table.
    pub const NEW: Threads = Threads([Thread::FREE; MAX_THREADS]);
}

impl Index<u8> for Threads {
    type Output = Thread;
    #[inline(always)]
    fn index(&self, number: u8) -> &Thread {
        &self.0[number as usize]
    }
}

impl IndexMut<u8> for Threads {
    #[inline(always)]
    fn index_mut(&mut self, number: u8) -> &mut Thread {
        &mut self.0[number as usize]
    }
}
