//! Which frames are seen through windows, so that none of them is given to somebody else.
//!
//! Portal code opens windows without telling anybody: it copies a page-table entry to the stack slot on
//! which the callee runs, or (windows that stay open) to the area of given pages. A frame that its last
//! holder gave back is therefore freed only after a look at all those entries.
//!
//! Threads come and go during that look, and still it misses nothing. Once the frame's own entries are gone,
//! a window on it can be made only from a window. Windows on stacks are nested: the outermost is open as
//! long as any is, so a look at each of them once is enough. One that stays open can be left behind by one on
//! a stack, so these are looked at last; they disappear only by `vm_unmap`, which takes the lock.

use pebble_abi::layout::{
    GIFT, GIFT_PAGES, MAX_DOMAINS, PAGE, STACK_AREA, STACK_SLOT, WINDOW_PAGES,
};

use crate::frames::Frames;
use crate::memory::Memory;
use crate::riscv64::entry::Entry;
use crate::server::Server;

impl<M: Memory> Server<M> {
    /// Frees what was released and is not seen through a window any more.
    pub(crate) fn settle(&mut self) {
        if self.frames.dying_count() == 0 {
            return;
        }
        self.each_window(|frames, memory, entry| frames.mark_seen(memory, entry.physical()));
        self.frames.settle(&mut self.memory);
    }

    /// Marks the frames that can be written to through a window.
    pub(crate) fn mark_written(&mut self) {
        self.each_window(|frames, memory, entry| {
            if entry.is_writable() {
                frames.mark_written(memory, entry.physical());
            }
        });
    }

    fn each_window(&mut self, mark: fn(&mut Frames, &mut M, Entry)) {
        for asid in 0..MAX_DOMAINS {
            if self.spaces[asid].root == 0 {
                continue;
            }
            let area = self.spaces[asid].stack_area;
            for slot in (area..area + STACK_AREA).step_by(STACK_SLOT as usize) {
                self.each_entry(asid, slot, WINDOW_PAGES, mark);
            }
        }
        for asid in 0..MAX_DOMAINS {
            if self.spaces[asid].root != 0 {
                self.each_entry(asid, GIFT, GIFT_PAGES, mark);
            }
        }
    }

    /// The entries for these pages, which are in one level-0 table.
    fn each_entry(
        &mut self,
        asid: usize,
        address: u64,
        pages: u64,
        mark: fn(&mut Frames, &mut M, Entry),
    ) {
        let Some(first) = self.entry_address(self.spaces[asid].root, address) else {
            return;
        };
        for slot in (first..first + pages * 8).step_by(8) {
            let entry = Entry(self.memory.read(slot));
            if entry.is_valid() {
                mark(&mut self.frames, &mut self.memory, entry);
            }
        }
    }
}

const _: () = assert!(GIFT_PAGES * 8 == PAGE);
