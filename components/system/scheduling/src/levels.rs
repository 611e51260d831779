//! Ready threads by priority: a queue per priority, and bitmaps that find the highest without a search.
//!
//! The base instruction set has no count-leading-zeros, and the compiler's substitute takes some 25
//! instructions for 64 bits. Eight groups of eight priorities and a table of 256 bytes take ten.

use pebble_abi::layout::PRIORITIES;

use crate::{Queue, Threads};

const GROUPS: usize = 8;
const _: () = assert!(
    PRIORITIES == GROUPS * 8,
    "a group is one byte of priorities"
);

/// Number of the highest bit set in a byte; 0 for 0.
static HIGHEST: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 1;
    while byte < 256 {
        table[byte] = 7 - (byte as u8).leading_zeros() as u8;
        byte += 1;
    }
    table
};

/// Threads in order of priority, first in first out within one.
pub struct Levels {
    /// Bit `g`: some priority of group `g` has threads.
    groups: u8,
    /// Bit `b` of byte `g`: priority `8 g + b` has threads.
    bits: [u8; GROUPS],
    queues: [Queue; PRIORITIES],
}

impl Levels {
    /// No threads.
    pub const NEW: Levels = Levels {
        groups: 0,
        bits: [0; GROUPS],
        queues: [Queue::EMPTY; PRIORITIES],
    };

    /// Highest priority that has threads; 0 when none has.
    #[inline(always)]
    pub fn highest(&self) -> u8 {
        let group = HIGHEST[self.groups as usize] & 7;
        group << 3 | HIGHEST[self.bits[group as usize] as usize]
    }

    /// The first thread of the highest priority.
    #[inline(always)]
    pub fn first(&self) -> Option<u8> {
        self.queues[self.highest() as usize % PRIORITIES].first()
    }

    /// Adds a thread last among those of its priority.
    #[inline(always)]
    pub fn append(&mut self, threads: &mut Threads, thread: u8) {
        let (level, group, bit) = Self::place(threads, thread);
        if self.queues[level].append(threads, thread) {
            self.bits[group] |= bit;
            self.groups |= 1 << group;
        }
    }

    /// Takes a thread out. Answers the next one of the same priority, if the thread was the first there.
    #[inline(always)]
    pub fn remove(&mut self, threads: &mut Threads, thread: u8) -> Option<u8> {
        let (level, group, bit) = Self::place(threads, thread);
        if self.queues[level].remove(threads, thread) {
            self.bits[group] &= !bit;
            if self.bits[group] == 0 {
                self.groups &= !(1 << group);
            }
        }
        self.queues[level].first()
    }

    /// Puts a thread in the place of another of the same priority that has no equals, and answers their priority.
    #[inline(always)]
    pub fn replace(&mut self, threads: &mut Threads, from: u8, to: u8) -> Option<u8> {
        let level = threads[from].priority;
        if level != threads[to].priority || self.has_equals(threads, from) {
            return None;
        }
        self.queues[level as usize % PRIORITIES] = Queue::of(threads, to);
        Some(level)
    }

    /// Puts the first thread of its priority last there. Answers which one is first now.
    #[inline(always)]
    pub fn rotate(&mut self, threads: &Threads, first: u8) -> u8 {
        let (level, ..) = Self::place(threads, first);
        self.queues[level].rotate(threads, first)
    }

    /// Whether other threads have the priority of this thread, which is among these.
    #[inline(always)]
    pub fn has_equals(&self, threads: &Threads, thread: u8) -> bool {
        threads[thread].next != thread
    }

    #[inline(always)]
    fn place(threads: &Threads, thread: u8) -> (usize, usize, u8) {
        let level = threads[thread].priority as usize % PRIORITIES;
        (level, level / 8, 1 << (level % 8))
    }
}
