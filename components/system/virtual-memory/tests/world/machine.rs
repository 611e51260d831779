//! A machine for the tests: RAM as a vector, and a translation cache that forgets nothing by itself.

use std::collections::HashMap;

use virtual_memory::abi::layout::{GATE, PAGE, RAM};
use virtual_memory::abi::object::{role, BootInfo, CoreDomain, Range, BOOT_MAGIC};
use virtual_memory::abi::page_table as bits;
use virtual_memory::memory::Memory;
use virtual_memory::Entry;

/// Pages before free memory: what boot code made.
const BOOT_PAGES: u64 = 16;
/// Pages of the bundle, behind free memory.
const BUNDLE_PAGES: u64 = 8;
/// What boot code put in the upper half of every root.
pub const NUCLEUS_ENTRY: u64 = 0x2000_00cf;

/// RAM and translation cache.
pub struct Machine {
    words: Vec<u64>,
    cache: HashMap<(usize, u64), Entry>,
    /// What a window shows to the server.
    pub window: [u64; 512],
    /// Portal code that preempts the server at its next attempt to change an entry in use.
    pub preemption: Option<fn(&mut Machine)>,
}

/// Root of a domain that boot code made.
pub fn core_root(asid: usize) -> u64 {
    RAM + 3 * asid as u64 * PAGE
}

impl Machine {
    /// A machine as boot code leaves it: two core domains with a gate page, a bundle of known content.
    pub fn boot(free_pages: u64) -> (Machine, BootInfo) {
        let pages = BOOT_PAGES + free_pages + BUNDLE_PAGES;
        let words = vec![0xdead_beef; (pages * PAGE / 8) as usize];
        let mut machine = Machine {
            words,
            cache: HashMap::new(),
            window: [7; 512],
            preemption: None,
        };
        let bundle = RAM + (BOOT_PAGES + free_pages) * PAGE;
        for offset in (0..BUNDLE_PAGES * PAGE).step_by(8) {
            machine.put(bundle + offset, 0xb000_0000 + offset);
        }
        let mut core = [CoreDomain::default(); 8];
        for asid in [role::VM as usize, role::PORTAL_MANAGER as usize] {
            let root = core_root(asid);
            (0..3).for_each(|page| machine.zero_page(root + page * PAGE));
            machine.put(root, Entry::table(root + PAGE).0);
            machine.put(root + 256 * 8, NUCLEUS_ENTRY);
            let (middle, last) = (GATE >> 21 & 511, GATE >> 12 & 511);
            machine.put(root + PAGE + middle * 8, Entry::table(root + 2 * PAGE).0);
            machine.put(root + 2 * PAGE + last * 8, Entry::page(RAM, 5).0);
            core[asid] = CoreDomain {
                role: asid as u32,
                root,
                ..CoreDomain::default()
            };
            core[asid].image_end = 0x120_0000;
        }
        let mut free = [Range::default(); 8];
        let middle = RAM + (BOOT_PAGES + free_pages / 4) * PAGE;
        free[0] = Range {
            start: RAM + BOOT_PAGES * PAGE,
            end: middle,
        };
        free[1] = Range {
            start: middle,
            end: bundle,
        };
        let nothing = Range::default();
        let boot = BootInfo {
            magic: BOOT_MAGIC,
            ram: Range {
                start: RAM,
                end: RAM + pages * PAGE,
            },
            free,
            boot_discarded: 0,
            resident_code: 0,
            objects: 0,
            code_used: 0,
            pool_used: 0,
            stacks_used: 0,
            threads_used: 0,
            bundle: Range {
                start: bundle,
                end: bundle + BUNDLE_PAGES * PAGE,
            },
            timebase: 10_000_000,
            features: 0,
            semaphores: [nothing.start; 2],
            shared_code: [0; 8],
            stack_wait_code: 0,
            fixed_stacks: [0; 2],
            core,
        };
        (machine, boot)
    }

    /// What the processor does with an address: none is a page fault.
    pub fn translate(
        &mut self,
        asid: usize,
        root: u64,
        address: u64,
        access: u64,
    ) -> Option<Entry> {
        let page = address & !(PAGE - 1);
        let entry = match self.cache.get(&(asid, page)) {
            Some(entry) => *entry,
            None => self.walk(root, page),
        };
        if entry.is_valid() {
            let unset = bits::ACCESSED | bits::DIRTY;
            assert_eq!(
                entry.0 & unset,
                unset,
                "accessed and dirty are set from the start"
            );
            self.cache.insert((asid, page), entry);
        }
        entry.allows(access).then_some(entry)
    }

    /// The entry for a page in memory.
    pub fn walk(&self, root: u64, address: u64) -> Entry {
        let mut table = root;
        for shift in [30, 21] {
            let entry = Entry(self.get(table + (address >> shift & 511) * 8));
            if !entry.is_valid() {
                return Entry::EMPTY;
            }
            assert!(entry.is_table(), "a superpage at {address:#x}");
            table = entry.physical();
        }
        Entry(self.get(table + (address >> 12 & 511) * 8))
    }

    /// What the cache remembers.
    pub fn cached(&self) -> impl Iterator<Item = (usize, u64, Entry)> + '_ {
        self.cache
            .iter()
            .map(|(&(asid, page), &entry)| (asid, page, entry))
    }

    /// The word at a physical address.
    pub fn get(&self, physical: u64) -> u64 {
        self.words[((physical - RAM) / 8) as usize]
    }

    /// Writes the word at a physical address.
    pub fn put(&mut self, physical: u64, value: u64) {
        self.words[((physical - RAM) / 8) as usize] = value;
    }
}

impl Memory for Machine {
    fn read(&self, physical: u64) -> u64 {
        assert_eq!(physical % 8, 0);
        self.get(physical)
    }

    fn write(&mut self, physical: u64, value: u64) {
        assert_eq!(physical % 8, 0);
        self.put(physical, value);
    }

    fn replace(&mut self, physical: u64, expected: u64, new: u64) -> bool {
        if let Some(preemption) = self.preemption.take() {
            preemption(self);
        }
        let same = self.get(physical) == expected;
        if same {
            self.put(physical, new);
        }
        same
    }

    fn zero_page(&mut self, frame: u64) {
        (0..512).for_each(|word| self.put(frame + word * 8, 0));
    }

    fn copy(&mut self, from: u64, to: u64, bytes: u64) {
        assert_eq!(from % 8, to % 8, "the tests copy words");
        for offset in (0..bytes).step_by(8) {
            let value = self.get(from + offset);
            let rest = bytes - offset;
            let mask = if rest < 8 {
                (1 << (rest * 8)) - 1
            } else {
                u64::MAX
            };
            let old = self.get(to + offset);
            self.put(to + offset, value & mask | old & !mask);
        }
    }

    fn copy_from_window(&mut self, _: u64, frame: u64) {
        for (word, value) in self.window.into_iter().enumerate() {
            self.put(frame + word as u64 * 8, value);
        }
    }

    fn flush_page(&mut self, asid: usize, address: u64) {
        self.cache.remove(&(asid, address & !(PAGE - 1)));
    }

    fn flush_domain(&mut self, asid: usize) {
        self.cache.retain(|&(of, _), _| of != asid);
    }

    fn code_written(&mut self) {}
}
