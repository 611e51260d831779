//! Page tables: finding entries, making the tables on the way, walking what is there.

use pebble_abi::errno::Errno;
use pebble_abi::layout::{PAGE, STACK_SLOT, WINDOW_PAGES};

use crate::memory::Memory;
use crate::region::{Kind, Region};
use crate::riscv64::entry::{
    leaf_offset, middle_offset, root_offset, Entry, ROOT_SPAN, TABLE_SPAN,
};
use crate::server::Server;

impl<M: Memory> Server<M> {
    /// Physical address of the level-1 entry for an address, if its table exists.
    pub(crate) fn middle_address(&self, root: u64, address: u64) -> Option<u64> {
        let middle = Entry(self.memory.read(root + root_offset(address)));
        middle
            .is_table()
            .then(|| middle.physical() + middle_offset(address))
    }

    /// Physical address of the page's entry, if its table exists.
    pub(crate) fn entry_address(&self, root: u64, address: u64) -> Option<u64> {
        let leaf = Entry(self.memory.read(self.middle_address(root, address)?));
        leaf.is_table()
            .then(|| leaf.physical() + leaf_offset(address))
    }

    /// Physical address of the level-1 entry for an address; makes its table.
    pub(crate) fn make_middle(&mut self, asid: usize, address: u64) -> Result<u64, Errno> {
        let at = self.spaces[asid].root + root_offset(address);
        Ok(self.make_table(asid, at)? + middle_offset(address))
    }

    /// Physical address of the page's entry; makes the tables on the way.
    pub(crate) fn make_entry(&mut self, asid: usize, address: u64) -> Result<u64, Errno> {
        let at = self.make_middle(asid, address)?;
        Ok(self.make_table(asid, at)? + leaf_offset(address))
    }

    /// The table that the entry at a physical address points to; makes it if there is none.
    fn make_table(&mut self, asid: usize, at: u64) -> Result<u64, Errno> {
        let entry = Entry(self.memory.read(at));
        if entry.is_table() {
            return Ok(entry.physical());
        }
        if entry.is_valid() {
            // Boot code mapped a superpage here: no place for pages of ours.
            return Err(Errno::Invalid);
        }
        if self.spaces[asid].tables >= self.spaces[asid].table_limit() {
            return Err(Errno::NoMemory);
        }
        let floor = self.floor(asid);
        let table = self.zeroed_frame(floor).ok_or(Errno::NoMemory)?;
        self.spaces[asid].tables += 1;
        self.memory.write(at, Entry::table(table).0);
        Ok(table)
    }

    /// The next entry in use at or after `from` that this domain itself has in the region: address of the
    /// page and physical address of the entry. Leaves out windows, and regions whose tables are another's.
    pub(crate) fn next_own(&self, asid: usize, region: &Region, from: u64) -> Option<(u64, u64)> {
        if matches!(region.kind, Kind::SharedStack { .. }) {
            return None;
        }
        let root = self.spaces[asid].root;
        let mut address = from;
        while address < region.end {
            if region.is_window(address) {
                address = (address & !(STACK_SLOT - 1)) + WINDOW_PAGES * PAGE;
                continue;
            }
            match self.entry_address(root, address) {
                Some(mut slot) => {
                    // Entries of one table lie side by side: no walk for each of them.
                    let end = (address & !(TABLE_SPAN - 1)) + TABLE_SPAN;
                    while address < end.min(region.end) && !region.is_window(address) {
                        if self.memory.read(slot) != 0 {
                            return Some((address, slot));
                        }
                        address += PAGE;
                        slot += size_of::<u64>() as u64;
                    }
                }
                None if self.middle_address(root, address).is_some() => {
                    address = (address & !(TABLE_SPAN - 1)) + TABLE_SPAN;
                }
                None => address = (address & !(ROOT_SPAN - 1)) + ROOT_SPAN,
            }
        }
        None
    }
}

impl Region {
    /// A region of loads and stores.
    pub const fn writable(start: u64, end: u64, kind: Kind) -> Region {
        let protection = pebble_abi::entry::vm::READ | pebble_abi::entry::vm::WRITE;
        Region {
            start,
            end,
            protection,
            kind,
        }
    }

    /// Whether portal code opens windows at this address: the entry is not ours.
    pub const fn is_window(&self, address: u64) -> bool {
        matches!(self.kind, Kind::Stack) && address % STACK_SLOT < WINDOW_PAGES * PAGE
    }

    /// Whether this is the page between windows and stack: its use means that the stack is full.
    pub const fn is_guard(&self, address: u64) -> bool {
        let page = address % STACK_SLOT / PAGE;
        matches!(self.kind, Kind::Stack) && page == WINDOW_PAGES
    }
}
