//! Page-table entries (RISC-V, Sv39): what the VM server, boot code and portal code agree on.
//!
//! Rules for portal code, which copies and moves leaf entries: a window copies the entry of the buffer's
//! page, and for writing asks for [`WRITE`] there (a page that is shared until written has none: raise the
//! window fault). A page may be given away only if its entry has [`WRITE`] and not [`BORROWED`], and never
//! from a stack area (an address from [`crate::layout::STACKS`] on): other domains may see the same entry,
//! and entries of windows there keep no page allocated. The entry moves as it is. A window that stays
//! open is a copy of the entry with [`BORROWED`] set; only `vm_unmap` of its holder's closes it.

/// The entry means something.
pub const VALID: u64 = 1 << 0;
/// Loads.
pub const READ: u64 = 1 << 1;
/// Stores.
pub const WRITE: u64 = 1 << 2;
/// Instruction fetches.
pub const EXECUTE: u64 = 1 << 3;
/// For user mode.
pub const USER: u64 = 1 << 4;
/// The same in every address space.
pub const GLOBAL: u64 = 1 << 5;
/// Was used; set from the start, because the processor need not set it.
pub const ACCESSED: u64 = 1 << 6;
/// Was written to; set from the start, because the processor need not set it.
pub const DIRTY: u64 = 1 << 7;
/// Left to software: the page is shared until one side writes to it ([`WRITE`] is clear).
pub const SHARED_UNTIL_WRITTEN: u64 = 1 << 8;
/// Left to software: this entry is not among those that keep the page allocated (device registers,
/// pages of the bundle, windows that stay open).
pub const BORROWED: u64 = 1 << 9;
/// Position of the page number.
pub const NUMBER_SHIFT: u32 = 10;
/// The page number, in place.
pub const NUMBER: u64 = ((1 << 44) - 1) << NUMBER_SHIFT;
/// Entries in a table.
pub const ENTRIES: u64 = 512;

/// How portal code deals with page-table entries for the letters `w r W G T`: an argument-transformation template
/// (USENIX paper, "The Portal Manager"). The VM server, which alone knows what its entries mean, registers it with the
/// portal manager; without one those letters are refused. Masks have at most eleven bits, so that an instruction can
/// hold them.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageTemplate {
    /// An entry above the last level leads to a table if these bits...
    pub table_mask: u32,
    /// ...have this value.
    pub table_value: u32,
    /// Bits of an entry whose page may be read by its domain.
    pub readable: u32,
    /// Bits of an entry whose page may also be written.
    pub writable: u32,
    /// Bits that an entry for a window has besides.
    pub add: u32,
    /// Bits of an entry that must not change its place.
    pub fixed: u32,
    /// Bits that a window which stays open does not take over.
    pub drop: u32,
    /// Bits that mark such a window.
    pub mark: u32,
}

/// The template for the entries described in this module.
pub const TEMPLATE: PageTemplate = PageTemplate {
    table_mask: (VALID | READ | WRITE | EXECUTE) as u32,
    table_value: VALID as u32,
    readable: (VALID | READ | USER) as u32,
    writable: (VALID | READ | WRITE | USER) as u32,
    add: (ACCESSED | DIRTY) as u32,
    fixed: (BORROWED | EXECUTE) as u32,
    drop: (EXECUTE | SHARED_UNTIL_WRITTEN) as u32,
    mark: BORROWED as u32,
};

impl Default for PageTemplate {
    fn default() -> Self {
        TEMPLATE
    }
}

impl PageTemplate {
    /// Whether every mask fits an instruction.
    pub const fn fits(&self) -> bool {
        let all = self.table_mask | self.table_value | self.readable | self.writable;
        (all | self.add | self.fixed | self.drop | self.mark) < 1 << 11
    }
}
