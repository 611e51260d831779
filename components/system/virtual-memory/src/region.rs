//! A region: a range of a domain's addresses and what its pages hold.

use pebble_abi::entry::vm;

/// Bytes of one region in a region table.
pub const BYTES: u64 = 64;
/// Words of one region in a region table.
pub const WORDS: usize = BYTES as usize / 8;

/// A range of addresses, page aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// First address.
    pub start: u64,
    /// First address beyond.
    pub end: u64,
    /// [`vm::READ`], [`vm::WRITE`] and [`vm::EXECUTE`].
    pub protection: u64,
    /// What the pages hold.
    pub kind: Kind,
}

/// What a region's pages hold when they are used for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Zeros; its end moves with `sbrk`.
    Heap,
    /// Zeros; made by `vm_map`.
    Anonymous,
    /// The image's bytes, then zeros.
    Image {
        /// Address of the first byte of file content.
        base: u64,
        /// Physical address of that byte.
        source: u64,
        /// Bytes of file content.
        bytes: u64,
    },
    /// The domain's own stack area: windows, guard pages, stacks of zeros.
    Stack,
    /// Another domain's stack area: its level-0 tables are linked here.
    SharedStack {
        /// That domain.
        owner: usize,
    },
    /// Device registers at physical address `address - DEVICE`.
    Device,
    /// Whatever a pager supplies.
    Pager {
        /// Its index among the pagers.
        pager: usize,
        /// What it wants to be told.
        cookie: u64,
    },
    /// Pages that portals gave.
    Gift,
    /// Pages that are there from the start: gate, start information.
    Fixed,
}

impl Region {
    /// Number of pages.
    pub const fn pages(&self) -> u64 {
        (self.end - self.start) >> pebble_abi::layout::PAGE_SHIFT
    }

    /// Whether stores are allowed.
    pub const fn is_writable(&self) -> bool {
        self.protection & vm::WRITE != 0
    }

    /// Whether the domain's memory limit must cover the whole region when it is made.
    pub const fn is_committed(&self) -> bool {
        self.is_writable() && matches!(self.kind, Kind::Heap | Kind::Anonymous | Kind::Image { .. })
    }

    /// As words of a region table.
    pub fn pack(&self) -> [u64; WORDS] {
        let (tag, parts) = match self.kind {
            Kind::Heap => (1, [0; 3]),
            Kind::Anonymous => (2, [0; 3]),
            Kind::Image {
                base,
                source,
                bytes,
            } => (3, [base, source, bytes]),
            Kind::Stack => (4, [0; 3]),
            Kind::SharedStack { owner } => (5, [owner as u64, 0, 0]),
            Kind::Device => (6, [0; 3]),
            Kind::Pager { pager, cookie } => (7, [pager as u64, cookie, 0]),
            Kind::Gift => (8, [0; 3]),
            Kind::Fixed => (9, [0; 3]),
        };
        let what = tag | self.protection << 8;
        [
            self.start, self.end, what, parts[0], parts[1], parts[2], 0, 0,
        ]
    }

    /// From words of a region table.
    pub fn unpack(words: [u64; WORDS]) -> Region {
        let [start, end, what, first, second, third, ..] = words;
        let kind = match what & 0xff {
            1 => Kind::Heap,
            2 => Kind::Anonymous,
            3 => Kind::Image {
                base: first,
                source: second,
                bytes: third,
            },
            4 => Kind::Stack,
            5 => Kind::SharedStack {
                owner: first as usize,
            },
            6 => Kind::Device,
            7 => Kind::Pager {
                pager: first as usize,
                cookie: second,
            },
            8 => Kind::Gift,
            9 => Kind::Fixed,
            tag => panic!("region table holds the unknown kind {tag} at {start:#x}"),
        };
        Region {
            start,
            end,
            protection: what >> 8,
            kind,
        }
    }
}
