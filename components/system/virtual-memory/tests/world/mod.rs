//! A system for the tests: a machine, the server on it, and threads that touch memory.
#![allow(dead_code, reason = "each test file uses a part of it")]

pub mod check;
pub mod machine;
pub mod portals;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use machine::Machine;
use virtual_memory::abi::entry::vm;
use virtual_memory::abi::layout::PAGE;
use virtual_memory::abi::object::role;
use virtual_memory::abi::page_table as bits;
use virtual_memory::{Entry, Fault, Outcome, Question, Segment, Server, Supply};

/// Cause numbers of page faults by access.
pub fn cause(access: u64) -> usize {
    match access {
        vm::WRITE => 15,
        vm::EXECUTE => 12,
        _ => 13,
    }
}

/// The system.
pub struct World {
    /// The server under test.
    pub server: Server<Machine>,
    /// Root of each living domain that `space_create` or `space_clone` made.
    pub roots: BTreeMap<usize, u64>,
    /// Frames that a pager shared on purpose.
    pub supplied: HashSet<u64>,
    /// Frames that only a window shows.
    pub ghosts: BTreeSet<u64>,
    /// Free frames after the start.
    pub free_at_start: u64,
}

impl World {
    /// A started server on a machine with this much free memory.
    pub fn new(free_pages: u64) -> World {
        let (machine, boot) = Machine::boot(free_pages);
        let mut server = Server::new(machine);
        server.start(&boot).expect("the server starts");
        let free_at_start = server.frames.free_count();
        World {
            server,
            roots: BTreeMap::new(),
            supplied: HashSet::new(),
            ghosts: BTreeSet::new(),
            free_at_start,
        }
    }

    /// A domain with text from the bundle, a writable segment and a heap.
    pub fn component(&mut self, asid: usize, limit: u64) {
        let root = self.server.space_create(asid, limit).expect("space_create");
        self.roots.insert(asid, root);
        let text = Segment {
            address: TEXT,
            bytes: 2 * PAGE,
            offset: 0,
            file_bytes: PAGE + 100,
            protection: vm::READ | vm::EXECUTE,
        };
        let data = Segment {
            address: DATA,
            bytes: 3 * PAGE,
            offset: 2 * PAGE,
            file_bytes: PAGE + 8,
            protection: vm::READ | vm::WRITE,
        };
        self.server.image_map(asid, text).expect("text");
        self.server.image_map(asid, data).expect("data");
        self.server.image_end(asid, HEAP).expect("heap");
    }

    /// A clone of a domain.
    pub fn fork(&mut self, parent: usize, child: usize) {
        let root = self.server.space_clone(parent, child).expect("space_clone");
        self.roots.insert(child, root);
        self.check();
    }

    /// Ends a domain, if its number is in use.
    pub fn destroy(&mut self, asid: usize) {
        self.server.space_destroy(asid).expect("space_destroy");
        self.roots.remove(&asid);
    }

    /// What a thread gets that executes in the domain: the physical address, or none if it died.
    pub fn touch(&mut self, asid: usize, address: u64, access: u64) -> Option<u64> {
        let root = self.roots[&asid];
        if let Some(entry) = self.server.memory.translate(asid, root, address, access) {
            return Some(entry.physical() + address % PAGE);
        }
        match self.fault(asid, address, cause(access)) {
            Outcome::Retry => {}
            Outcome::Report | Outcome::OutOfMemory => return None,
            outcome => panic!("{outcome:?} for a page fault"),
        }
        let entry = self.server.memory.translate(asid, root, address, access);
        let entry = entry.unwrap_or_else(|| {
            panic!("domain {asid} was told to try {address:#x} again, and faults again")
        });
        Some(entry.physical() + address % PAGE)
    }

    /// Raises a fault on thread 1.
    pub fn fault(&mut self, asid: usize, address: u64, cause: usize) -> Outcome {
        self.server.fault(&Fault {
            thread: 1,
            asid,
            cause,
            address,
        })
    }

    /// Stores a word; answers whether the thread survived.
    #[must_use]
    pub fn store(&mut self, asid: usize, address: u64, value: u64) -> bool {
        let at = self.touch(asid, address, vm::WRITE);
        at.map(|at| self.server.memory.put(at, value)).is_some()
    }

    /// Loads a word.
    pub fn load(&mut self, asid: usize, address: u64) -> Option<u64> {
        self.touch(asid, address, vm::READ)
            .map(|at| self.server.memory.get(at))
    }

    /// The entry for a page, as the processor would find it.
    pub fn entry(&self, asid: usize, address: u64) -> Entry {
        self.server.memory.walk(self.roots[&asid], address)
    }

    /// Lets a store fault ask its pager, which answers with its page.
    pub fn page_in(&mut self, asid: usize, address: u64, access: u64, supply: Supply) -> Outcome {
        let fault = Fault {
            thread: 1,
            asid,
            cause: cause(access),
            address,
        };
        let outcome = self.server.fault(&fault);
        let Outcome::Ask(question) = outcome else {
            return outcome;
        };
        let answer = self.supply(&question, supply);
        self.server.answered(&fault, &question, answer)
    }

    fn supply(&mut self, question: &Question, supply: Supply) -> isize {
        assert_eq!(
            (question.asid, question.page),
            (supply.asid, supply.address & !(PAGE - 1))
        );
        match self.server.vm_supply(supply) {
            Ok(()) => {
                let frame = self.entry(supply.asid, supply.address).physical();
                self.supplied.insert(frame);
                0
            }
            Err(error) => error.negated(),
        }
    }

    /// Ends every domain and checks that all memory came back.
    pub fn end(mut self) {
        for asid in self.roots.keys().copied().collect::<Vec<_>>() {
            self.destroy(asid);
            self.check();
        }
        self.close_core_windows();
        // A page that dies makes the server look for windows again.
        self.component(9, 8);
        assert!(self.store(9, DATA, 1));
        self.destroy(9);
        assert_eq!(self.server.frames.dying_count(), 0);
        let kept = self.core_tables();
        assert_eq!(self.server.frames.free_count() + kept, self.free_at_start);
    }

    /// Roots of all domains, those of boot code included.
    pub fn all_roots(&self) -> Vec<(usize, u64)> {
        let core = [role::VM as usize, role::PORTAL_MANAGER as usize];
        let mut all: Vec<_> = core
            .iter()
            .map(|&asid| (asid, machine::core_root(asid)))
            .collect();
        all.extend(self.roots.iter().map(|(&asid, &root)| (asid, root)));
        all
    }
}

/// Text of [`World::component`].
pub const TEXT: u64 = 0x110_0000;
/// Writable segment of [`World::component`].
pub const DATA: u64 = 0x110_2000;
/// Heap of [`World::component`].
pub const HEAP: u64 = 0x110_5000;

/// An entry that is a window: writable, as portal code copies it.
pub fn is_window_address(address: u64) -> bool {
    use virtual_memory::abi::layout::{STACKS, STACK_SLOT, WINDOW_PAGES};
    (STACKS..STACKS + (1 << 30)).contains(&address) && address % STACK_SLOT < WINDOW_PAGES * PAGE
}

/// Whether the entry keeps its page allocated.
pub fn is_counted(entry: Entry) -> bool {
    entry.0 & (bits::VALID | bits::BORROWED) == bits::VALID
}
