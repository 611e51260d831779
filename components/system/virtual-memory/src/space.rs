//! An address space: what the VM server knows about one domain.

use pebble_abi::page_table::ENTRIES;

/// A domain's address space. The region table is a page of its own, which the space pays for.
#[derive(Clone, Copy, Debug)]
pub struct Space {
    /// Physical address of the root page table, 0 when there is no such domain.
    pub root: u64,
    /// Physical address of the region table.
    pub regions: u64,
    /// Regions in use.
    pub region_count: usize,
    /// Most pages that it may have mapped.
    pub limit: u64,
    /// Pages that it has mapped, shared ones included. Too high after portals gave pages away, too low
    /// after it was given some: counted again when the limit is reached.
    pub used: u64,
    /// Frames that it and its clones were given (kept for the first of a family). Too high after pages were given to
    /// others: counted again when the limit is reached.
    pub family_frames: u64,
    /// Pages of writable regions, used or not.
    pub committed: u64,
    /// Page tables, the root included.
    pub tables: u64,
    /// Start of the heap.
    pub heap: u64,
    /// End of the heap as `sbrk` knows it.
    pub heap_end: u64,
    /// Start of the stack area: a clone keeps its parent's.
    pub stack_area: u64,
    /// The domain that this one is a clone of, 0 for none.
    pub parent: usize,
    /// It is a clone, also after that domain's end.
    pub cloned: bool,
    /// How many spaces were made before this one.
    pub generation: u64,
    /// Made by boot code: never destroyed.
    pub core: bool,
}

impl Space {
    /// No domain.
    pub const NONE: Space = Space {
        root: 0,
        regions: 0,
        region_count: 0,
        limit: 0,
        used: 0,
        family_frames: 0,
        committed: 0,
        tables: 0,
        heap: 0,
        heap_end: 0,
        stack_area: 0,
        parent: 0,
        cloned: false,
        generation: 0,
        core: false,
    };

    /// Most page tables: enough for dense use of all memory the domain may have, and for the few tables
    /// that every domain needs (image, heap, maps, stacks, gifts, devices).
    pub fn table_limit(&self) -> u64 {
        64 + self.limit / (ENTRIES / 16)
    }
}
