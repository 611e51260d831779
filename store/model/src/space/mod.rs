//! Address spaces: trees of nodes with pages as leaves.

/// The heights that a node of an address space can have: the address bits that it and what is below it decide. Spans
/// of 32 and 16 slots alternate, so that every second level is one table of the processor (2 MiB, 1 GiB, 512 GiB).
pub const HEIGHTS: [u8; 6] = [17, 21, 26, 30, 35, 39];

/// The height of a page: the address bits within it.
pub const PAGE_HEIGHT: u8 = 12;
