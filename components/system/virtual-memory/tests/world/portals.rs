//! What portal code does to page tables behind the server's back: windows and given pages.

use virtual_memory::abi::layout::{GIFT, PAGE, WINDOW_PAGES};
use virtual_memory::abi::object::role;
use virtual_memory::abi::page_table as bits;
use virtual_memory::memory::Memory;
use virtual_memory::{Entry, Outcome};

use super::World;

/// The domain whose stack slots take windows: a core server.
pub const WINDOW_SERVER: usize = role::PORTAL_MANAGER as usize;

impl World {
    /// Opens a window on a page in window page `place` of the server's first stack slot. False: refused.
    pub fn open_window(&mut self, asid: usize, address: u64, place: u64, writable: bool) -> bool {
        let slot = self.window_slot(place);
        let mut entry = self.entry(asid, address);
        if !entry.is_valid() || (writable && !entry.is_writable()) {
            match self.fault(asid, address & !1 | writable as u64, 8) {
                Outcome::Retry => entry = self.entry(asid, address),
                Outcome::Refuse(_) | Outcome::Ask(_) => return false,
                Outcome::Report | Outcome::OutOfMemory => {
                    panic!("a window fault is never reported")
                }
            }
        }
        if !entry.is_valid() || (writable && !entry.is_writable()) {
            return false;
        }
        let shown = if writable {
            entry.0
        } else {
            entry.0 & !bits::WRITE
        };
        self.server.memory.put(slot, shown);
        true
    }

    /// Closes the window again.
    pub fn close_window(&mut self, place: u64) {
        let slot = self.window_slot(place);
        self.server.memory.put(slot, 0);
    }

    /// The entry in a window page.
    pub fn window_slot(&mut self, place: u64) -> u64 {
        let area = virtual_memory::abi::layout::STACKS
            + WINDOW_SERVER as u64 * virtual_memory::abi::layout::STACK_AREA;
        let first = self
            .server
            .stack_prepare(WINDOW_SERVER, area, 0)
            .expect("core stack slot");
        first + place % WINDOW_PAGES * 8
    }

    /// Closes all windows.
    pub fn close_core_windows(&mut self) {
        (0..WINDOW_PAGES).for_each(|place| self.close_window(place));
    }

    /// Gives a page away, as the letter `G` does; answers where the receiver finds it.
    pub fn give(&mut self, from: usize, address: u64, to: usize) -> Option<u64> {
        let entry = self.entry(from, address);
        if address >= virtual_memory::abi::layout::STACKS
            || !entry.is_writable()
            || entry.0 & bits::BORROWED != 0
        {
            return None;
        }
        let slot = self.server.gift_prepare(to).ok()?;
        let source = self.leaf_slot(from, address);
        self.server.memory.put(source, 0);
        self.server.memory.flush_page(from, address);
        self.server.memory.put(slot, entry.0);
        Some(GIFT + slot % PAGE / 8 * PAGE)
    }

    /// Physical address of the entry for a page.
    pub fn leaf_slot(&self, asid: usize, address: u64) -> u64 {
        let middle = Entry(
            self.server
                .memory
                .get(self.roots[&asid] + (address >> 30 & 511) * 8),
        );
        let leaf = middle.physical() + (address >> 21 & 511) * 8;
        Entry(self.server.memory.get(leaf)).physical() + (address >> 12 & 511) * 8
    }
}
