//! The model: domains as maps from pages to values.

mod portals;

use std::collections::{BTreeMap, HashMap};

use virtual_memory::abi::layout::{PAGE, STACKS, STACK_AREA, STACK_SLOT};

use crate::world::{World, DATA, HEAP};

/// One step of a history. Domains are counted from 0; a place is chosen among the pages a domain has.
#[derive(Clone, Copy, Debug)]
pub enum Operation {
    Create(usize),
    Destroy(usize),
    Clone(usize, usize),
    /// By, on a thread of, pages.
    Sbrk(usize, usize, i64),
    Map(usize, usize, u64),
    Unmap(usize, usize, u8),
    Store(usize, u8),
    Load(usize, u8),
    Prepare(usize, u64, u64),
    Share(usize, usize),
    /// Domain, place, window page, for writing.
    Open(usize, u8, u64, bool),
    StoreInWindow(u64),
    Close(u64),
    Give(usize, u8, usize),
    /// Client, pager, place, flags.
    Page(usize, usize, u8, u64),
}

/// What a domain should see.
#[derive(Clone, Default)]
struct Domain {
    /// First word of each page that is not as it was at first.
    values: BTreeMap<u64, u64>,
    maps: Vec<(u64, u64)>,
    gifts: Vec<u64>,
    heap_pages: u64,
    stack_area: u64,
    parent: Option<usize>,
    /// Region of a pager, if it has one.
    paged: Option<u64>,
}

/// World and model side by side.
pub struct Model {
    pub world: World,
    domains: HashMap<usize, Domain>,
    windows: HashMap<u64, (usize, u64, bool)>,
    limit: u64,
    next_value: u64,
}

impl Domain {
    fn places(&self) -> Vec<u64> {
        let mut places = vec![DATA, DATA + PAGE];
        places.extend((0..self.heap_pages).map(|page| HEAP + page * PAGE));
        for &(start, pages) in &self.maps {
            places.extend((0..pages).map(|page| start + page * PAGE));
        }
        for slot in [0, 9, 31] {
            places
                .extend((1..3).map(|page| self.stack_area + (slot + 1) * STACK_SLOT - page * PAGE));
        }
        places.extend(&self.gifts);
        places
    }

    fn place(&self, place: u8) -> u64 {
        let places = self.places();
        places[place as usize % places.len()]
    }

    fn value(&self, page: u64) -> u64 {
        let first = if page == DATA || page == DATA + PAGE {
            0xb000_0000 + page - DATA + 2 * PAGE
        } else {
            0
        };
        self.values.get(&page).copied().unwrap_or(first)
    }
}

impl Model {
    pub fn new(free_pages: u64, limit: u64) -> Model {
        let world = World::new(free_pages);
        Model {
            world,
            domains: HashMap::new(),
            windows: HashMap::new(),
            limit,
            next_value: 1,
        }
    }

    /// Does the step in both, and compares the answers.
    pub fn perform(&mut self, operation: Operation) {
        match operation {
            Operation::Create(asid) => self.create(asid + 20),
            Operation::Destroy(asid) => self.destroy(asid + 20),
            Operation::Clone(from, to) => self.clone_domain(from + 20, to + 20),
            Operation::Sbrk(by, home, pages) => self.sbrk(by + 20, home + 20, pages),
            Operation::Map(by, home, pages) => self.map(by + 20, home + 20, pages),
            Operation::Unmap(by, home, which) => self.unmap(by + 20, home + 20, which),
            Operation::Store(by, place) => self.store(by + 20, place),
            Operation::Load(by, place) => self.load(by + 20, place),
            Operation::Prepare(of, slot, pages) => {
                if let Some(domain) = self.domains.get(&(of + 20)) {
                    let slot = domain.stack_area + slot * STACK_SLOT;
                    let done = self.world.server.stack_prepare(of + 20, slot, pages);
                    assert!(done.is_ok() || self.is_scarce(of + 20));
                }
            }
            Operation::Share(by, to) => self.share(by + 20, to + 20),
            Operation::Open(by, place, window, write) => self.open(by + 20, place, window, write),
            Operation::StoreInWindow(window) => self.store_in_window(window),
            Operation::Close(window) => {
                self.windows.remove(&window);
                self.world.close_window(window);
            }
            Operation::Give(by, place, to) => self.give(by + 20, place, to + 20),
            Operation::Page(client, pager, place, flags) => {
                self.page(client + 20, pager + 20, place, flags);
            }
        }
    }

    /// Reads every page that the page tables say is there, so that nothing is read in by this.
    pub fn read_all(&mut self) {
        let expected: Vec<_> = self
            .domains
            .iter()
            .flat_map(|(&asid, domain)| {
                domain
                    .places()
                    .into_iter()
                    .map(move |page| (asid, page, domain.value(page)))
            })
            .collect();
        for (asid, page, value) in expected {
            if self.world.entry(asid, page).is_valid() {
                assert_eq!(
                    self.world.load(asid, page),
                    Some(value),
                    "{page:#x} in {asid}"
                );
            }
        }
    }

    /// Whether the domain or the system has too little memory left for one more page and its tables.
    fn is_scarce(&mut self, asid: usize) -> bool {
        let info = self
            .world
            .server
            .memory_info(asid)
            .expect("a living domain");
        // The last frames are not for a clone.
        let server = &self.world.server;
        info & 0xffff_ffff >= info >> 32
            || server.is_family_full(asid)
            || server.frames.free_count() < 3 + server.reserve()
    }

    fn create(&mut self, asid: usize) {
        if self.domains.contains_key(&asid) {
            assert!(self.world.server.space_create(asid, 5).is_err());
        } else if self.world.server.frames.free_count() > 5 {
            self.world.component(asid, self.limit);
            let stack_area = STACKS + asid as u64 * STACK_AREA;
            self.domains.insert(
                asid,
                Domain {
                    stack_area,
                    ..Domain::default()
                },
            );
        }
    }

    fn destroy(&mut self, asid: usize) {
        if self.domains.remove(&asid).is_none() {
            assert!(self.world.server.space_destroy(asid).is_err());
            return;
        }
        self.world.destroy(asid);
        self.domains
            .values_mut()
            .filter(|domain| domain.parent == Some(asid))
            .for_each(|domain| {
                domain.parent = None;
            });
    }

    fn clone_domain(&mut self, from: usize, to: usize) {
        let done = self.world.server.space_clone(from, to);
        let (Some(domain), false) = (self.domains.get(&from), self.domains.contains_key(&to))
        else {
            assert!(done.is_err());
            return;
        };
        let mut copy = domain.clone();
        match done {
            Ok(root) => {
                self.world.roots.insert(to, root);
                copy.parent = Some(from);
                self.domains.insert(to, copy);
            }
            // How much a clone needs depends on what is in windows now: it may fail with little left.
            Err(_) => assert!(self.world.server.frames.free_count() < 60),
        }
    }

    fn family(&self, by: usize, home: usize) -> Vec<usize> {
        let mut members = vec![home];
        while let Some(&last) = members.last().filter(|&&last| last != by) {
            match self.domains.get(&last).and_then(|domain| domain.parent) {
                Some(parent) => members.push(parent),
                None => return vec![by],
            }
        }
        members
    }

    fn sbrk(&mut self, by: usize, home: usize, pages: i64) {
        let done = self.world.server.sbrk(by, home, pages * PAGE as i64);
        if !self.domains.contains_key(&by) {
            assert!(done.is_err());
            return;
        }
        let members = self.family(by, home);
        let Ok(old) = done else {
            assert!(
                pages < 0 || self.limit < 60 || members.iter().any(|m| self.committed(*m) > 50)
            );
            return;
        };
        let old = (old - HEAP) / PAGE;
        let new = old.checked_add_signed(pages).expect("sbrk below the heap");
        for member in members {
            let domain = self.domains.get_mut(&member).expect("a member lives");
            if pages > 0 || domain.heap_pages == old {
                domain.heap_pages = new;
                let end = HEAP + new * PAGE;
                domain
                    .values
                    .retain(|&page, _| page < end || page >= 0x1000_0000);
            }
        }
    }

    fn committed(&self, asid: usize) -> u64 {
        let domain = &self.domains[&asid];
        3 + domain.heap_pages + domain.maps.iter().map(|(_, pages)| pages).sum::<u64>()
    }

    fn map(&mut self, by: usize, home: usize, pages: u64) {
        let done = self.world.server.vm_map(by, home, pages * PAGE);
        if !self.domains.contains_key(&by) {
            assert!(done.is_err());
            return;
        }
        let members = self.family(by, home);
        match done {
            Ok(start) => members.iter().for_each(|member| {
                let domain = self.domains.get_mut(member).expect("a member lives");
                domain.maps.push((start, pages));
            }),
            Err(_) => {
                let is_full = |member: &usize| self.committed(*member) + pages > self.limit;
                assert!(members.iter().any(is_full), "vm_map fails without need");
            }
        }
    }

    fn unmap(&mut self, by: usize, home: usize, which: u8) {
        let Some(domain) = self
            .domains
            .get(&by)
            .filter(|domain| !domain.maps.is_empty())
        else {
            return;
        };
        let (start, _) = domain.maps[which as usize % domain.maps.len()];
        self.world
            .server
            .vm_unmap(by, home, start)
            .expect("vm_unmap");
        for member in self.family(by, home) {
            let domain = self.domains.get_mut(&member).expect("a member lives");
            let Some(index) = domain.maps.iter().position(|&(other, _)| other == start) else {
                // A pager's region, or nothing.
                if domain.paged == Some(start) {
                    domain.paged = None;
                }
                continue;
            };
            let (_, pages) = domain.maps.remove(index);
            domain
                .values
                .retain(|&page, _| page < start || page >= start + pages * PAGE);
        }
    }

    fn store(&mut self, by: usize, place: u8) {
        let Some(page) = self.domains.get(&by).map(|domain| domain.place(place)) else {
            return;
        };
        let value = self.value();
        if self.world.store(by, page, value) {
            self.domains
                .get_mut(&by)
                .expect("checked")
                .values
                .insert(page, value);
        } else {
            assert!(
                self.is_scarce(by),
                "a store to {page:#x} in {by} fails without need"
            );
        }
    }

    fn load(&mut self, by: usize, place: u8) {
        let Some(domain) = self.domains.get(&by) else {
            return;
        };
        let (page, value) = (domain.place(place), domain.value(domain.place(place)));
        match self.world.load(by, page) {
            Some(loaded) => assert_eq!(loaded, value, "{page:#x} in {by}"),
            None => assert!(
                self.is_scarce(by),
                "a load from {page:#x} in {by} fails without need"
            ),
        }
    }

    fn value(&mut self) -> u64 {
        self.next_value += 1;
        self.next_value
    }
}
