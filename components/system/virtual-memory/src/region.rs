//! A region: a range of a domain's addresses and what its pages hold.

use pebble_abi::entry::vm;

/// Bytes of one region in a region table.
pub const BYTES: u64 = 64;
/// Words of one region in a region table.
pub const WORDS: usize = BYTES as usize / 8;

/// Of these, the words that mean something.
pub const USED_WORDS: usize = 6;
/// The word that is a region's first address.
pub const START: u64 = 0;
/// The word that is the first address beyond it.
pub const END: u64 = 1;
/// The word whose lowest byte is the kind's tag.
pub const TAG: u64 = 2;

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

impl Kind {
    /// The number of the kind in a region table.
    pub const fn tag(&self) -> u64 {
        match self {
            Kind::Heap => 1,
            Kind::Anonymous => 2,
            Kind::Image { .. } => 3,
            Kind::Stack => 4,
            Kind::SharedStack { .. } => 5,
            Kind::Device => 6,
            Kind::Pager { .. } => 7,
            Kind::Gift => 8,
            Kind::Fixed => 9,
        }
    }
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
        let parts = match self.kind {
            Kind::Image {
                base,
                source,
                bytes,
            } => [base, source, bytes],
            Kind::SharedStack { owner } => [owner as u64, 0, 0],
            Kind::Pager { pager, cookie } => [pager as u64, cookie, 0],
            Kind::Heap
            | Kind::Anonymous
            | Kind::Stack
            | Kind::Device
            | Kind::Gift
            | Kind::Fixed => [0; 3],
        };
        let what = self.kind.tag() | self.protection << 8;
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
