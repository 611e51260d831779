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
    GIFT, GIFT_PAGES, MAX_DOMAINS, PAGE, STACKS, STACK_AREA, STACK_SLOT, WINDOW_PAGES,
};

use crate::frames::Frames;
use crate::memory::Memory;
use crate::riscv64::entry::{Entry, TABLE_SPAN};
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
            // Where there is no table there is no stack: most of the area is skipped a table at a time.
            for span in (area..area + STACK_AREA).step_by(TABLE_SPAN as usize) {
                let root = self.spaces[asid].root;
                let Some(first) = self.entry_address(root, span) else {
                    continue;
                };
                for pages in (0..TABLE_SPAN / PAGE).step_by((STACK_SLOT / PAGE) as usize) {
                    self.each_entry(first + 8 * pages, WINDOW_PAGES, mark);
                }
            }
        }
        for asid in 0..MAX_DOMAINS {
            if self.spaces[asid].root != 0 {
                let root = self.spaces[asid].root;
                if let Some(first) = self.entry_address(root, GIFT) {
                    self.each_entry(first, GIFT_PAGES, mark);
                }
            }
        }
    }

    /// The entries of so many pages from the one at physical address `first` on, which are in one level-0 table.
    fn each_entry(&mut self, first: u64, pages: u64, mark: fn(&mut Frames, &mut M, Entry)) {
        for slot in (first..first + pages * 8).step_by(8) {
            let entry = Entry(self.memory.read(slot));
            if entry.is_valid() {
                mark(&mut self.frames, &mut self.memory, entry);
            }
        }
    }
}

const _: () = assert!(GIFT_PAGES * 8 == PAGE);
const _: () = assert!(STACKS.is_multiple_of(TABLE_SPAN) && STACK_AREA.is_multiple_of(TABLE_SPAN));
const _: () = assert!(TABLE_SPAN.is_multiple_of(STACK_SLOT));
