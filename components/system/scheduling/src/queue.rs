//! A first-in first-out queue of threads, as a circular list linked by thread number.
//!
//! A thread is in one queue at most, so the links are in the table of threads and a queue is one number.
//! Every operation touches at most three threads.

use crate::Threads;

/// Marks a queue that is not empty; the low byte is then its first thread.
const PRESENT: u16 = 0x100;

/// A queue of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queue(u16);

impl Queue {
    /// A queue without threads; all bytes zero.
    pub const EMPTY: Queue = Queue(0);

    /// The first thread.
    #[inline(always)]
    pub fn first(self) -> Option<u8> {
        (self.0 != 0).then_some(self.0 as u8)
    }

    /// A queue of one thread.
    #[inline(always)]
    pub fn of(threads: &mut Threads, thread: u8) -> Queue {
        threads[thread].next = thread;
        threads[thread].previous = thread;
        Queue(PRESENT | thread as u16)
    }

    /// Puts a thread that is in no queue last. Answers whether the queue was empty.
    #[inline(always)]
    pub fn append(&mut self, threads: &mut Threads, thread: u8) -> bool {
        let Some(first) = self.first() else {
            *self = Queue::of(threads, thread);
            return true;
        };
        let last = threads[first].previous;
        threads[thread].next = first;
        threads[thread].previous = last;
        threads[last].next = thread;
        threads[first].previous = thread;
        false
    }

    /// Takes out a thread of this queue. Answers whether the queue is now empty.
    #[inline(always)]
    pub fn remove(&mut self, threads: &mut Threads, thread: u8) -> bool {
        let next = threads[thread].next;
        if next == thread {
            self.0 = 0;
            return true;
        }
        let previous = threads[thread].previous;
        threads[previous].next = next;
        threads[next].previous = previous;
        if self.0 as u8 == thread {
            self.0 = PRESENT | next as u16;
        }
        false
    }

    /// Takes out the first thread.
    #[inline(always)]
    pub fn take_first(&mut self, threads: &mut Threads) -> Option<u8> {
        let first = self.first()?;
        self.remove(threads, first);
        Some(first)
    }

    /// Puts the first thread, which the caller names, last. Answers which one is first now.
    #[inline(always)]
    pub fn rotate(&mut self, threads: &Threads, first: u8) -> u8 {
        let next = threads[first].next;
        self.0 = PRESENT | next as u16;
        next
    }
}
