//! The server's state, its start, and the accounts that everything else draws on.

use pebble_abi::errno::Errno;
use pebble_abi::layout::{GATE, MAX_DOMAINS, MAX_THREADS, PAGE, STACKS, STACK_AREA};
use pebble_abi::object::{role, BootInfo, Range, BOOT_MAGIC};

use crate::frames::Frames;
use crate::memory::Memory;
use crate::pager::{Pagers, Pending};
use crate::region::{Kind, Region};
use crate::riscv64::entry::Entry;
use crate::space::Space;

/// Most pages that a domain made by boot code may map beyond what boot code gave it.
const CORE_LIMIT: u64 = 4096;
/// Most frames that only core and modest domains may have: when memory ends, who took much of it misses it, and not the
/// driver that has to make its first page table then.
const MOST_RESERVED: u64 = 256;
/// The reserve is this part of a small machine's memory.
const RESERVED_PART: u64 = 16;
/// A component of the description with fewer pages than this is modest. Clones never are: there may be many.
const MODEST: u64 = 128;

/// Everything the VM server knows. One thread at a time: the caller holds the lock.
pub struct Server<M> {
    /// The machine.
    pub memory: M,
    /// Physical memory.
    pub frames: Frames,
    pub(crate) spaces: [Space; MAX_DOMAINS],
    pub(crate) pagers: Pagers,
    /// What each thread is asking a pager for.
    pub(crate) pending: [Pending; MAX_THREADS],
    /// Spaces made so far.
    pub(crate) created: u64,
    pub(crate) ram: Range,
    pub(crate) bundle: Range,
    pub(crate) gate: Entry,
}

impl<M: Memory> Server<M> {
    /// Knows nothing before [`Server::start`].
    pub const fn new(memory: M) -> Self {
        Server {
            memory,
            frames: Frames::new(),
            spaces: [Space::NONE; MAX_DOMAINS],
            pagers: Pagers::new(),
            pending: [Pending::NOTHING; MAX_THREADS],
            created: 0,
            ram: Range { start: 0, end: 0 },
            bundle: Range { start: 0, end: 0 },
            gate: Entry::EMPTY,
        }
    }

    /// Takes over memory and the domains that boot code made.
    pub fn start(&mut self, boot: &BootInfo) -> Result<(), Errno> {
        if boot.magic != BOOT_MAGIC {
            return Err(Errno::Invalid);
        }
        if self.ram.end != 0 {
            return Err(Errno::Busy);
        }
        self.frames.start(&mut self.memory, boot.ram, &boot.free)?;
        self.ram = boot.ram;
        self.bundle = boot.bundle;
        let own = boot.core[role::VM as usize].root;
        let gate = self.entry_address(own, GATE).ok_or(Errno::Invalid)?;
        self.gate = Entry(self.memory.read(gate)).borrowed();
        for asid in role::VM as usize..role::CORE_END as usize {
            let core = &boot.core[asid];
            if core.root != 0 {
                self.adopt(asid, core.root, core.image_end.next_multiple_of(PAGE))?;
            }
        }
        Ok(())
    }

    /// Makes a domain of boot code's an address space of ours: heap, maps and stacks are added on demand,
    /// what boot code mapped stays.
    fn adopt(&mut self, asid: usize, root: u64, heap: u64) -> Result<(), Errno> {
        let regions = self.zeroed_frame(0).ok_or(Errno::NoMemory)?;
        let stack_area = STACKS + asid as u64 * STACK_AREA;
        self.spaces[asid] = Space {
            root,
            regions,
            limit: CORE_LIMIT,
            tables: 1,
            heap,
            heap_end: heap,
            stack_area,
            core: true,
            ..Space::NONE
        };
        self.insert_region(asid, Region::writable(heap, heap, Kind::Heap))?;
        let stacks = Region::writable(stack_area, stack_area + STACK_AREA, Kind::Stack);
        self.insert_region(asid, stacks)
    }

    /// The number of a domain that exists.
    pub(crate) fn living(&self, asid: usize) -> Result<usize, Errno> {
        match self.spaces.get(asid) {
            Some(space) if space.root != 0 => Ok(asid),
            _ => Err(Errno::NoSuchProcess),
        }
    }

    /// Frames that are left to core and modest domains.
    pub fn reserve(&self) -> u64 {
        (self.frames.all() / RESERVED_PART).min(MOST_RESERVED)
    }

    /// Frames that must stay free when this domain gets one.
    pub(crate) fn floor(&self, asid: usize) -> u64 {
        let space = &self.spaces[asid];
        if space.core || !space.cloned && space.used < MODEST {
            0
        } else {
            self.reserve()
        }
    }

    /// A frame of any content, if need be one that a window was seen to show before; `floor` others stay free.
    pub(crate) fn frame(&mut self, floor: u64) -> Option<u64> {
        if self.frames.free_count() <= floor {
            self.settle();
        }
        if self.frames.free_count() <= floor {
            return None;
        }
        self.frames.allocate(&mut self.memory)
    }

    /// A frame of zeros.
    pub(crate) fn zeroed_frame(&mut self, floor: u64) -> Option<u64> {
        let frame = self.frame(floor)?;
        self.memory.zero_page(frame);
        Some(frame)
    }

    /// One more mapped page for a domain, if its limit allows.
    pub(crate) fn charge(&mut self, asid: usize) -> Result<(), Errno> {
        if self.spaces[asid].used >= self.spaces[asid].limit {
            self.spaces[asid].used = self.count_used(asid);
        }
        let space = &mut self.spaces[asid];
        if space.used >= space.limit {
            return Err(Errno::NoMemory);
        }
        space.used += 1;
        Ok(())
    }

    /// One mapped page less for a domain (which portals may have given it, so that it was never charged).
    pub(crate) fn discharge(&mut self, asid: usize) {
        let space = &mut self.spaces[asid];
        space.used = space.used.saturating_sub(1);
    }

    /// A frame for a domain that pays for it; zeroed.
    pub(crate) fn charged_frame(&mut self, asid: usize) -> Result<u64, Errno> {
        let floor = self.floor(asid);
        self.charge(asid)?;
        let first = self.first_of_family(asid);
        let frame = match self.family_may_grow(first) {
            true => self.zeroed_frame(floor),
            false => None,
        };
        if frame.is_none() {
            self.discharge(asid);
        } else {
            self.spaces[first].family_frames += 1;
        }
        frame.ok_or(Errno::NoMemory)
    }

    /// The domain that a domain is a clone of, directly or through others, or itself.
    pub(crate) fn first_of_family(&self, asid: usize) -> usize {
        let mut at = asid;
        // Bounded: a chain of parents is at most as long as there are domains.
        for _ in 0..MAX_DOMAINS {
            match self.spaces[at].parent {
                0 => break,
                parent => at = parent,
            }
        }
        at
    }

    /// Whether a domain and its clones together may have one more frame: each page that they share counts once.
    fn family_may_grow(&mut self, first: usize) -> bool {
        if self.spaces[first].family_frames >= self.spaces[first].limit {
            self.spaces[first].family_frames = self.count_family(first);
        }
        self.spaces[first].family_frames < self.spaces[first].limit
    }

    /// Whether a domain and its clones hold all the frames that they may.
    pub fn is_family_full(&self, asid: usize) -> bool {
        let first = self.first_of_family(asid);
        self.count_family(first) >= self.spaces[first].limit
    }

    /// Frames of a family, counted one by one: a frame that several mappings hold is a part in each of them.
    fn count_family(&self, first: usize) -> u64 {
        const WHOLE: u64 = 1 << 16;
        let mut parts = 0;
        for asid in (1..MAX_DOMAINS).filter(|&asid| self.spaces[asid].root != 0) {
            if self.first_of_family(asid) != first {
                continue;
            }
            for index in 0..self.spaces[asid].region_count {
                let region = self.region(asid, index);
                let mut from = region.start;
                while let Some((address, slot)) = self.next_own(asid, &region, from) {
                    let entry = Entry(self.memory.read(slot));
                    if entry.is_counted() {
                        let holders = self.frames.holders(&self.memory, entry.physical());
                        parts += WHOLE / holders.max(1);
                    }
                    from = address + PAGE;
                }
            }
        }
        parts / WHOLE
    }

    /// Pages that a domain has mapped, counted one by one: portal code moves given pages without asking.
    fn count_used(&self, asid: usize) -> u64 {
        let mut used = 0;
        for index in 0..self.spaces[asid].region_count {
            let region = self.region(asid, index);
            let mut from = region.start;
            while let Some((address, slot)) = self.next_own(asid, &region, from) {
                used += u64::from(Entry(self.memory.read(slot)).is_counted());
                from = address + PAGE;
            }
        }
        used
    }

    /// Pages in use (low 32 bits) and the limit; for domain 0 free and all pages of the system.
    pub fn memory_info(&mut self, asid: usize) -> Result<u64, Errno> {
        if asid == 0 {
            return Ok(self.frames.free_count() | self.frames.all() << 32);
        }
        let asid = self.living(asid)?;
        self.spaces[asid].used = self.count_used(asid);
        Ok(self.spaces[asid].used | self.spaces[asid].limit << 32)
    }
}
