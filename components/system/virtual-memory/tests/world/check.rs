//! The invariants, found out from the page tables alone.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use virtual_memory::abi::layout::{BOOT_INFO, PAGE, USER_LIMIT};
use virtual_memory::abi::page_table as bits;
use virtual_memory::Entry;

use super::machine::{core_root, NUCLEUS_ENTRY};
use super::{is_counted, is_window_address, World};

/// Everything that all page tables hold.
struct Census {
    /// Links to each table.
    tables: BTreeMap<u64, u64>,
    /// Counted entries for each frame, and how many of them are writable.
    frames: HashMap<u64, (u64, u64)>,
    /// Frames that windows show.
    seen: BTreeSet<u64>,
}

impl World {
    /// Checks every invariant.
    pub fn check(&mut self) {
        let census = self.census();
        let mut in_use = self.roots.len() as u64;
        for (&table, &links) in &census.tables {
            if table >= self.first_frame() {
                in_use += 1;
                let holders = self.server.frames.holders(&self.server.memory, table);
                assert_eq!(holders, links, "links to the table {table:#x}");
            }
        }
        for (&frame, &(entries, writable)) in &census.frames {
            let holders = self.server.frames.holders(&self.server.memory, frame);
            assert_eq!(holders, entries, "entries for the frame {frame:#x}");
            let shared = self.supplied.contains(&frame);
            assert!(
                writable <= 1 || shared,
                "frame {frame:#x} is writable in {writable} places"
            );
            assert!(
                writable == 0 || entries == 1 || shared,
                "{frame:#x} is shared, and writable"
            );
            assert!(
                !self.ghosts.contains(&frame),
                "{frame:#x} is in a window, and was given out"
            );
        }
        // Each space that boot code did not make has a root and a region table; the others only the latter.
        let core = 2;
        let total = in_use + core + census.frames.len() as u64;
        let (free, dying) = (
            self.server.frames.free_count(),
            self.server.frames.dying_count(),
        );
        assert_eq!(
            free + dying + total,
            self.server.frames.all(),
            "every frame is somewhere"
        );
        self.ghosts = census
            .seen
            .iter()
            .copied()
            .filter(|f| !census.frames.contains_key(f))
            .collect();
        self.supplied
            .retain(|frame| census.frames.contains_key(frame));
        self.check_cache();
    }

    /// The cache holds nothing that the tables do not allow.
    fn check_cache(&self) {
        for (asid, page, cached) in self.server.memory.cached() {
            let Some(root) = self.roots.get(&asid) else {
                panic!("a translation of domain {asid} outlived it");
            };
            let entry = self.server.memory.walk(*root, page);
            let same = cached.physical() == entry.physical();
            let allowed = bits::VALID | bits::READ | bits::WRITE | bits::EXECUTE;
            let more = cached.0 & !entry.0 & allowed;
            assert!(
                same && more == 0,
                "domain {asid} still sees {page:#x} as it was"
            );
        }
    }

    fn census(&self) -> Census {
        let mut census = Census {
            tables: BTreeMap::new(),
            frames: HashMap::new(),
            seen: BTreeSet::new(),
        };
        let memory = &self.server.memory;
        for (asid, root) in self.all_roots() {
            *census.tables.entry(root).or_default() += 1;
            assert_eq!(
                memory.get(root + 256 * 8),
                NUCLEUS_ENTRY,
                "the nucleus's half of {asid}"
            );
            for (top, middle) in tables_in(self, root, 256) {
                *census.tables.entry(middle).or_default() += 1;
                for (next, leaf) in tables_in(self, middle, 512) {
                    let links = census.tables.entry(leaf).or_default();
                    *links += 1;
                    if *links == 1 {
                        let start = (top * 512 + next) * 512 * PAGE;
                        self.count_leaf(&mut census, asid, leaf, start);
                    }
                }
            }
        }
        census
    }

    fn count_leaf(&self, census: &mut Census, asid: usize, leaf: u64, start: u64) {
        for index in 0..512 {
            let entry = Entry(self.server.memory.get(leaf + index * 8));
            let address = start + index * PAGE;
            if !entry.is_valid() {
                assert_eq!(entry.0, 0);
                continue;
            }
            assert!(address < USER_LIMIT && !entry.is_table() && entry.0 & bits::USER != 0);
            let both = bits::WRITE | bits::EXECUTE;
            assert_ne!(
                entry.0 & both,
                both,
                "{address:#x} in {asid}: writable and executable"
            );
            if is_window_address(address) {
                census.seen.insert(entry.physical());
            } else if is_counted(entry) && address >= BOOT_INFO {
                let (entries, writable) = census.frames.entry(entry.physical()).or_default();
                *entries += 1;
                *writable += u64::from(entry.is_writable());
            }
        }
    }

    /// Tables that the server made for domains of boot code's, and their region tables, which stay.
    pub fn core_tables(&self) -> u64 {
        let tables = self.census().tables;
        tables
            .keys()
            .filter(|&&table| table >= self.first_frame())
            .count() as u64
    }

    /// Where free memory starts.
    fn first_frame(&self) -> u64 {
        core_root(0) + 16 * PAGE
    }
}

fn tables_in(world: &World, table: u64, count: u64) -> Vec<(u64, u64)> {
    (0..count)
        .map(|index| (index, Entry(world.server.memory.get(table + index * 8))))
        .filter(|(_, entry)| entry.is_table())
        .map(|(index, entry)| (index, entry.physical()))
        .collect()
}
