//! Page-table entries of RISC-V (Sv39): three levels of 512, pages of 4 KiB.

use pebble_abi::entry::vm;
use pebble_abi::layout::PAGE_SHIFT;
use pebble_abi::page_table::{
    ACCESSED, BORROWED, DIRTY, ENTRIES, EXECUTE, NUMBER, NUMBER_SHIFT, READ, SHARED_UNTIL_WRITTEN,
    USER, VALID, WRITE,
};

/// Bytes that one level-0 table maps.
pub const TABLE_SPAN: u64 = ENTRIES << PAGE_SHIFT;
/// Bytes that one level-1 table maps.
pub const ROOT_SPAN: u64 = ENTRIES * TABLE_SPAN;

/// A page-table entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry(pub u64);

impl Entry {
    /// Maps nothing.
    pub const EMPTY: Entry = Entry(0);

    /// Points to a table of the next level.
    pub const fn table(physical: u64) -> Entry {
        Entry(physical >> PAGE_SHIFT << NUMBER_SHIFT | VALID)
    }

    /// Maps a page for user mode. `protection` as in [`pebble_abi::entry::vm`]; stores imply loads,
    /// because a page that can only be written has no encoding.
    pub const fn page(physical: u64, protection: u64) -> Entry {
        let mut bits = Entry::table(physical).0 | USER | ACCESSED | DIRTY;
        if protection & (vm::READ | vm::WRITE) != 0 {
            bits |= READ;
        }
        if protection & vm::WRITE != 0 {
            bits |= WRITE;
        }
        if protection & vm::EXECUTE != 0 {
            bits |= EXECUTE;
        }
        Entry(bits)
    }

    /// The same entry, not counted among those that keep the page allocated.
    pub const fn borrowed(self) -> Entry {
        Entry(self.0 | BORROWED)
    }

    /// The same entry, read-only until the share is broken.
    pub const fn shared_until_written(self) -> Entry {
        Entry(self.0 & !WRITE | SHARED_UNTIL_WRITTEN)
    }

    /// The same entry, writable and no longer shared.
    pub const fn own(self) -> Entry {
        Entry(self.0 & !SHARED_UNTIL_WRITTEN | WRITE)
    }

    /// Whether the entry means something.
    pub const fn is_valid(self) -> bool {
        self.0 & VALID != 0
    }

    /// Whether the entry points to a table.
    pub const fn is_table(self) -> bool {
        self.0 & (VALID | READ | WRITE | EXECUTE) == VALID
    }

    /// Whether the entry is among those that keep its page allocated.
    pub const fn is_counted(self) -> bool {
        self.0 & (VALID | BORROWED) == VALID
    }

    /// Whether user mode may store.
    pub const fn is_writable(self) -> bool {
        self.0 & (VALID | WRITE) == VALID | WRITE
    }

    /// Whether the first store must make a copy.
    pub const fn is_shared_until_written(self) -> bool {
        self.0 & (VALID | SHARED_UNTIL_WRITTEN) == VALID | SHARED_UNTIL_WRITTEN
    }

    /// Whether user mode may do this kind of access ([`vm::READ`], [`vm::WRITE`] or [`vm::EXECUTE`]).
    pub const fn allows(self, access: u64) -> bool {
        let bit = match access {
            vm::WRITE => WRITE,
            vm::EXECUTE => EXECUTE,
            _ => READ,
        };
        self.0 & (VALID | USER | bit) == VALID | USER | bit
    }

    /// Physical address of the page or table.
    pub const fn physical(self) -> u64 {
        (self.0 & NUMBER) >> NUMBER_SHIFT << PAGE_SHIFT
    }
}

/// Where in the root the entry for an address is, in bytes.
pub const fn root_offset(address: u64) -> u64 {
    (address / ROOT_SPAN) % ENTRIES * 8
}

/// Where in a level-1 table the entry for an address is, in bytes.
pub const fn middle_offset(address: u64) -> u64 {
    (address / TABLE_SPAN) % ENTRIES * 8
}

/// Where in a level-0 table the entry for an address is, in bytes.
pub const fn leaf_offset(address: u64) -> u64 {
    (address >> PAGE_SHIFT) % ENTRIES * 8
}
