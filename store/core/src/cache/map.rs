//! From a frame's number to its slot: an open hash table of slot numbers, twice as large as the cache.

use alloc::vec;
use alloc::vec::Vec;

use pebble_store_format::ObjectFrame;

use super::Slot;

const FREE: u32 = u32::MAX;

pub(crate) struct Map {
    slots: Vec<u32>,
    shift: u32,
}

impl Map {
    pub fn new(limit: usize) -> Self {
        let size = (limit * 2).next_power_of_two();
        Self {
            slots: vec![FREE; size],
            shift: 64 - size.trailing_zeros(),
        }
    }

    fn wanted(&self, frame: ObjectFrame) -> usize {
        (frame.0.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift) as usize
    }

    /// The place of a frame in the table, or the free one where it would go.
    fn search(&self, frame: ObjectFrame, slots: &[Slot]) -> usize {
        let mask = self.slots.len() - 1;
        let mut place = self.wanted(frame);
        loop {
            let slot = self.slots[place];
            if slot == FREE || slots[slot as usize].frame == frame {
                return place;
            }
            place = (place + 1) & mask;
        }
    }

    pub fn find(&self, frame: ObjectFrame, slots: &[Slot]) -> Option<u32> {
        let slot = self.slots[self.search(frame, slots)];
        (slot != FREE).then_some(slot)
    }

    pub fn insert(&mut self, slot: u32, slots: &[Slot]) {
        let place = self.search(slots[slot as usize].frame, slots);
        self.slots[place] = slot;
    }

    /// Takes a frame out and closes the gap, so that no search ends too early.
    pub fn remove(&mut self, frame: ObjectFrame, slots: &[Slot]) {
        let mask = self.slots.len() - 1;
        let mut gap = self.search(frame, slots);
        let mut place = gap;
        loop {
            place = (place + 1) & mask;
            let slot = self.slots[place];
            if slot == FREE {
                break;
            }
            let wanted = self.wanted(slots[slot as usize].frame);
            if (place.wrapping_sub(wanted) & mask) >= (place.wrapping_sub(gap) & mask) {
                self.slots[gap] = slot;
                gap = place;
            }
        }
        self.slots[gap] = FREE;
    }
}
