//! `sbrk`: the heap grows and shrinks.

use pebble_abi::errno::Errno;
use pebble_abi::layout::{HEAP_LIMIT, PAGE};

use crate::memory::Memory;
use crate::region::{self, Kind};
use crate::server::Server;

impl<M: Memory> Server<M> {
    /// Moves the end of the heap; answers where it was. In a family the end is the highest one.
    pub fn sbrk(&mut self, invoker: usize, home: usize, bytes: i64) -> Result<u64, Errno> {
        let family = self.family(invoker, home)?;
        let ends = self.members(&family).map(|asid| self.spaces[asid].heap_end);
        let old = ends.max().ok_or(Errno::Invalid)?;
        if bytes == 0 {
            return Ok(old);
        }
        let new = old
            .checked_add_signed(bytes)
            .filter(|&new| new <= HEAP_LIMIT)
            .ok_or(if bytes > 0 {
                Errno::NoMemory
            } else {
                Errno::Invalid
            })?;
        if bytes < 0 {
            let refuses = |asid: usize| {
                let space = &self.spaces[asid];
                space.heap_end == old && new < space.heap
            };
            if self.members(&family).any(refuses) {
                return Err(Errno::Invalid);
            }
            for place in 0..family.count() {
                let asid = self.member(&family, place);
                if self.spaces[asid].heap_end == old {
                    self.move_heap_end(asid, new)?;
                }
            }
            self.settle();
            return Ok(old);
        }
        for asid in self.members(&family) {
            self.check_growth(asid, new)?;
        }
        for place in 0..family.count() {
            self.move_heap_end(self.member(&family, place), new)?;
        }
        Ok(old)
    }

    /// Whether the heap could end there, so that a family grows together or not at all.
    fn check_growth(&self, asid: usize, new: u64) -> Result<(), Errno> {
        let (index, end) = self.heap_region(asid)?;
        let new = new.next_multiple_of(PAGE);
        let space = &self.spaces[asid];
        let pages = new.saturating_sub(end) / PAGE;
        let next = index + 1;
        let meets_next =
            next < space.region_count && self.region_word(asid, next, region::START) < new;
        if space.committed + pages > space.limit || meets_next {
            return Err(Errno::NoMemory);
        }
        Ok(())
    }

    fn move_heap_end(&mut self, asid: usize, new: u64) -> Result<(), Errno> {
        let (index, end) = self.heap_region(asid)?;
        let new_end = new.next_multiple_of(PAGE);
        if new_end > end {
            self.commit(asid, (new_end - end) / PAGE)?;
        } else if new_end < end {
            let heap = self.region(asid, index);
            self.clear_pages(asid, &heap, new_end);
            self.memory.flush_domain(asid);
            self.spaces[asid].committed -= (end - new_end) / PAGE;
        }
        self.set_region_end(asid, index, new_end);
        self.spaces[asid].heap_end = new;
        Ok(())
    }

    /// Index and end of the heap's region.
    fn heap_region(&self, asid: usize) -> Result<(usize, u64), Errno> {
        let index = self
            .index_of_kind(asid, &Kind::Heap)
            .ok_or(Errno::Invalid)?;
        Ok((index, self.region_word(asid, index, region::END)))
    }
}
