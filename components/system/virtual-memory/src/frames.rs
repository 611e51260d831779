//! Physical frames: who holds each page of RAM, and which are free.
//!
//! One word per page, in an array that is itself taken from free memory. The free list and the list of
//! dying frames (held by nobody, perhaps still seen through a window) are threaded through these words.

use pebble_abi::errno::Errno;
use pebble_abi::layout::{PAGE, PAGE_SHIFT};
use pebble_abi::object::Range;

use crate::memory::Memory;

/// What a frame is used for, bits 63..60 of its word. Reserved frames are never given out.
const RESERVED: u64 = 0;
const FREE: u64 = 1;
const HELD: u64 = 2;
const DYING: u64 = 3;
const STATE_SHIFT: u32 = 60;
/// A window shows the frame (found by the scan that comes before freeing).
const SEEN: u64 = 1 << 59;
/// The number of holders, or the next frame of a list (its index plus one).
const VALUE: u64 = (1 << 32) - 1;

/// All physical memory.
pub struct Frames {
    start: u64,
    frames: u64,
    records: u64,
    free: u64,
    dying: u64,
    free_count: u64,
    dying_count: u64,
    all: u64,
}

impl Frames {
    /// Knows no memory yet.
    pub const fn new() -> Self {
        Frames {
            start: 0,
            frames: 0,
            records: 0,
            free: 0,
            dying: 0,
            free_count: 0,
            dying_count: 0,
            all: 0,
        }
    }

    /// Takes over RAM: makes the array of records in the first free range that has room for it.
    pub fn start(
        &mut self,
        memory: &mut impl Memory,
        ram: Range,
        free: &[Range],
    ) -> Result<(), Errno> {
        self.start = ram.start.next_multiple_of(PAGE);
        self.frames = (ram.end - self.start) >> PAGE_SHIFT;
        let bytes = (self.frames * 8).next_multiple_of(PAGE);
        let home = free
            .iter()
            .map(|range| range.start.next_multiple_of(PAGE)..range.end & !(PAGE - 1))
            .find(|range| range.start + bytes <= range.end)
            .ok_or(Errno::NoMemory)?;
        self.records = home.start;
        for page in (0..bytes).step_by(PAGE as usize) {
            memory.zero_page(self.records + page);
        }
        // From the top down, so that the lowest frames are given out first.
        for range in free.iter().rev() {
            let first = range.start.next_multiple_of(PAGE);
            let mut frame = range.end & !(PAGE - 1);
            while frame > first {
                frame -= PAGE;
                let of_records = frame >= self.records && frame < self.records + bytes;
                if !of_records && self.state(memory, frame) == Some(RESERVED) {
                    self.put_free(memory, frame);
                    self.all += 1;
                }
            }
        }
        Ok(())
    }

    /// Frames that nobody holds.
    pub fn free_count(&self) -> u64 {
        self.free_count
    }

    /// Frames that nobody holds, but that a window may still show.
    pub fn dying_count(&self) -> u64 {
        self.dying_count
    }

    /// Frames that can be given out at all.
    pub fn all(&self) -> u64 {
        self.all
    }

    /// A free frame, now held once; its content is whatever it was.
    pub fn allocate(&mut self, memory: &mut impl Memory) -> Option<u64> {
        let index = self.free.checked_sub(1)?;
        let frame = self.start + (index << PAGE_SHIFT);
        self.free = self.word(memory, frame) & VALUE;
        self.free_count -= 1;
        self.set(memory, frame, HELD << STATE_SHIFT | 1);
        Some(frame)
    }

    /// One more holder. Frames that are not ours to give (boot's tables) have no count.
    pub fn share(&mut self, memory: &mut impl Memory, frame: u64) {
        if self.state(memory, frame) == Some(HELD) {
            let word = self.word(memory, frame);
            self.set(memory, frame, word + 1);
        }
    }

    /// One holder less. A frame that nobody holds any more is dying until [`Frames::settle`].
    pub fn release(&mut self, memory: &mut impl Memory, frame: u64) {
        if self.last_holder(memory, frame) {
            self.set(memory, frame, DYING << STATE_SHIFT | self.dying);
            self.dying = self.index(frame) + 1;
            self.dying_count += 1;
        }
    }

    /// One holder less of a page that no window can show: a page table.
    pub fn release_table(&mut self, memory: &mut impl Memory, frame: u64) {
        if self.last_holder(memory, frame) {
            self.put_free(memory, frame);
        }
    }

    /// How many hold this frame; 0 for one that is not ours to give.
    pub fn holders(&self, memory: &impl Memory, frame: u64) -> u64 {
        match self.state(memory, frame) {
            Some(HELD) => self.word(memory, frame) & VALUE,
            _ => 0,
        }
    }

    /// A window shows this frame: do not free it at the next [`Frames::settle`].
    pub fn mark_seen(&mut self, memory: &mut impl Memory, frame: u64) {
        self.mark(memory, frame, DYING);
    }

    /// Somebody may write to this held frame through a window: the next [`Frames::take_mark`] tells.
    pub fn mark_written(&mut self, memory: &mut impl Memory, frame: u64) {
        self.mark(memory, frame, HELD);
    }

    /// Whether this held frame was marked; the mark is gone.
    pub fn take_mark(&mut self, memory: &mut impl Memory, frame: u64) -> bool {
        let marked =
            self.state(memory, frame) == Some(HELD) && self.word(memory, frame) & SEEN != 0;
        if marked {
            let word = self.word(memory, frame);
            self.set(memory, frame, word & !SEEN);
        }
        marked
    }

    /// Frees the dying frames that were not marked; the others stay dying, their marks cleared.
    pub fn settle(&mut self, memory: &mut impl Memory) {
        let mut next = core::mem::take(&mut self.dying);
        self.dying_count = 0;
        while let Some(index) = next.checked_sub(1) {
            let frame = self.start + (index << PAGE_SHIFT);
            let word = self.word(memory, frame);
            next = word & VALUE;
            if word & SEEN == 0 {
                self.put_free(memory, frame);
            } else {
                self.set(memory, frame, DYING << STATE_SHIFT | self.dying);
                self.dying = index + 1;
                self.dying_count += 1;
            }
        }
    }

    fn last_holder(&mut self, memory: &mut impl Memory, frame: u64) -> bool {
        match self.state(memory, frame) {
            Some(HELD) => {}
            Some(RESERVED) | None => return false,
            Some(_) => panic!("frame {frame:#x} was released more often than it was held"),
        }
        let word = self.word(memory, frame);
        if word & VALUE > 1 {
            self.set(memory, frame, word - 1);
        }
        word & VALUE == 1
    }

    fn mark(&mut self, memory: &mut impl Memory, frame: u64, state: u64) {
        if self.state(memory, frame) == Some(state) {
            let word = self.word(memory, frame);
            self.set(memory, frame, word | SEEN);
        }
    }

    fn put_free(&mut self, memory: &mut impl Memory, frame: u64) {
        self.set(memory, frame, FREE << STATE_SHIFT | self.free);
        self.free = self.index(frame) + 1;
        self.free_count += 1;
    }

    fn index(&self, frame: u64) -> u64 {
        (frame - self.start) >> PAGE_SHIFT
    }

    fn state(&self, memory: &impl Memory, frame: u64) -> Option<u64> {
        let known = frame >= self.start && self.index(frame) < self.frames;
        known.then(|| self.word(memory, frame) >> STATE_SHIFT)
    }

    fn word(&self, memory: &impl Memory, frame: u64) -> u64 {
        memory.read(self.records + self.index(frame) * 8)
    }

    fn set(&self, memory: &mut impl Memory, frame: u64, word: u64) {
        memory.write(self.records + self.index(frame) * 8, word);
    }
}

impl Default for Frames {
    fn default() -> Self {
        Self::new()
    }
}
