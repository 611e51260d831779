//! `sbrk`: the heap grows and shrinks.

use pebble_abi::errno::Errno;
use pebble_abi::layout::{HEAP_LIMIT, PAGE};

use crate::memory::Memory;
use crate::region::Kind;
use crate::server::Server;

impl<M: Memory> Server<M> {
    /// Moves the end of the heap; answers where it was. In a family the end is the highest one.
    pub fn sbrk(&mut self, invoker: usize, home: usize, bytes: i64) -> Result<u64, Errno> {
        let family = self.family(invoker, home)?;
        let ends = family.members().map(|asid| self.spaces[asid].heap_end);
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
            let mut shrinking = family
                .members()
                .filter(|&asid| self.spaces[asid].heap_end == old);
            if shrinking.any(|asid| new < self.spaces[asid].heap) {
                return Err(Errno::Invalid);
            }
            for asid in family.members() {
                if self.spaces[asid].heap_end == old {
                    self.move_heap_end(asid, new)?;
                }
            }
            self.settle();
            return Ok(old);
        }
        for asid in family.members() {
            self.check_growth(asid, new)?;
        }
        for asid in family.members() {
            self.move_heap_end(asid, new)?;
        }
        Ok(old)
    }

    /// Whether the heap could end there, so that a family grows together or not at all.
    fn check_growth(&self, asid: usize, new: u64) -> Result<(), Errno> {
        let (_, heap) = self
            .region_of_kind(asid, Kind::Heap)
            .ok_or(Errno::Invalid)?;
        let end = new.next_multiple_of(PAGE);
        let space = &self.spaces[asid];
        let pages = end.saturating_sub(heap.end) / PAGE;
        if space.committed + pages > space.limit || self.overlap(asid, heap.end, end).is_some() {
            return Err(Errno::NoMemory);
        }
        Ok(())
    }

    fn move_heap_end(&mut self, asid: usize, new: u64) -> Result<(), Errno> {
        let (index, heap) = self
            .region_of_kind(asid, Kind::Heap)
            .ok_or(Errno::Invalid)?;
        let end = new.next_multiple_of(PAGE);
        if end > heap.end {
            self.commit(asid, (end - heap.end) / PAGE)?;
        } else if end < heap.end {
            self.clear_pages(asid, &heap, end);
            self.memory.flush_domain(asid);
            self.spaces[asid].committed -= (heap.end - end) / PAGE;
        }
        let mut moved = heap;
        moved.end = end;
        self.set_region(asid, index, moved);
        self.spaces[asid].heap_end = new;
        Ok(())
    }
}
