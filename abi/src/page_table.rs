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
