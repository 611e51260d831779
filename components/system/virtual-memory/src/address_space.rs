//! Making an address space: the nucleus's half, the gate page, a stack area.

use pebble_abi::entry::vm;
use pebble_abi::errno::Errno;
use pebble_abi::layout::{GATE, MAX_DOMAINS, PAGE, STACKS, STACK_AREA};
use pebble_abi::object::role;

use crate::memory::Memory;
use crate::region::{Kind, Region};
use crate::server::Server;
use crate::space::Space;

/// No limit is above this: it must fit into half a word of `memory_info`.
const MOST_PAGES: u64 = 1 << 28;

impl<M: Memory> Server<M> {
    /// Makes an address space; answers the physical address of its root.
    pub fn space_create(&mut self, asid: usize, limit: u64) -> Result<u64, Errno> {
        self.create(asid, limit, 0)
    }

    /// Makes an address space, a clone of `parent` if that is not 0: its stack area is its parent's.
    pub(crate) fn create(&mut self, asid: usize, limit: u64, parent: usize) -> Result<u64, Errno> {
        if asid == 0 || asid >= MAX_DOMAINS || limit > MOST_PAGES {
            return Err(Errno::Invalid);
        }
        if self.spaces[asid].root != 0 {
            return Err(Errno::Exists);
        }
        let (floor, stack_area) = match parent {
            0 => (0, STACKS + asid as u64 * STACK_AREA),
            _ => (self.reserve(), self.spaces[parent].stack_area),
        };
        let root = self.zeroed_frame(floor).ok_or(Errno::NoMemory)?;
        let Some(regions) = self.zeroed_frame(floor) else {
            self.frames.release_table(&mut self.memory, root);
            return Err(Errno::NoMemory);
        };
        let nucleus = self.spaces[role::VM as usize].root + PAGE / 2;
        self.memory.copy(nucleus, root + PAGE / 2, PAGE / 2);
        self.created += 1;
        let generation = self.created;
        self.spaces[asid] = Space {
            root,
            regions,
            limit,
            tables: 1,
            stack_area,
            parent,
            cloned: parent != 0,
            generation,
            ..Space::NONE
        };
        match self.furnish(asid) {
            Ok(()) => Ok(root),
            Err(error) => {
                self.space_destroy(asid)?;
                Err(error)
            }
        }
    }

    /// What every space has: the gate page and a stack area.
    fn furnish(&mut self, asid: usize) -> Result<(), Errno> {
        let protection = vm::READ | vm::EXECUTE;
        let gate = Region {
            start: GATE,
            end: GATE + PAGE,
            protection,
            kind: Kind::Fixed,
        };
        self.insert_region(asid, gate)?;
        let slot = self.make_entry(asid, GATE)?;
        self.memory.write(slot, self.gate.0);
        let area = self.spaces[asid].stack_area;
        self.insert_region(asid, Region::writable(area, area + STACK_AREA, Kind::Stack))
    }
}
