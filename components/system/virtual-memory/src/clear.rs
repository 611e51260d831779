//! Taking pages away from a domain, and the end of an address space.

use pebble_abi::errno::Errno;
use pebble_abi::layout::{MAX_DOMAINS, PAGE};
use pebble_abi::page_table::ENTRIES;

use crate::memory::Memory;
use crate::region::{Kind, Region};
use crate::riscv64::entry::Entry;
use crate::server::Server;
use crate::space::Space;

impl<M: Memory> Server<M> {
    /// Empties the domain's own entries of a region from an address on, and releases the frames. The
    /// caller flushes and settles.
    pub(crate) fn clear_pages(&mut self, asid: usize, region: &Region, from: u64) {
        let mut from = from;
        while let Some((address, slot)) = self.next_own(asid, region, from) {
            let entry = Entry(self.memory.take(slot));
            if entry.is_counted() {
                if self.frames.holders(&self.memory, entry.physical()) == 1 {
                    let first = self.first_of_family(asid);
                    let family = &mut self.spaces[first];
                    family.family_frames = family.family_frames.saturating_sub(1);
                }
                self.frames.release(&mut self.memory, entry.physical());
                self.discharge(asid);
            }
            from = address + PAGE;
        }
    }

    /// Ends an address space. No thread executes in it any more.
    pub fn space_destroy(&mut self, asid: usize) -> Result<(), Errno> {
        let asid = self.living(asid)?;
        if self.spaces[asid].core {
            return Err(Errno::PermissionDenied);
        }
        for index in 0..self.spaces[asid].region_count {
            let region = self.region(asid, index);
            self.clear_pages(asid, &region, region.start);
            if let Kind::Pager { pager, .. } = region.kind {
                self.pagers.release(pager);
            }
        }
        self.end_shares(asid);
        self.memory.flush_domain(asid);
        self.free_tables(asid);
        self.frames
            .release_table(&mut self.memory, self.spaces[asid].regions);
        self.spaces[asid] = Space::NONE;
        for space in self.spaces.iter_mut().filter(|space| space.parent == asid) {
            space.parent = 0;
        }
        self.settle();
        Ok(())
    }

    /// Takes the domain's stack area out of every domain that it was shown to.
    fn end_shares(&mut self, owner: usize) {
        for asid in 0..MAX_DOMAINS {
            if self.spaces[asid].root == 0 {
                continue;
            }
            if let Some((index, region)) = self.region_of_kind(asid, Kind::SharedStack { owner }) {
                self.unlink_stack(asid, &region);
                self.remove_region(asid, index);
                self.memory.flush_domain(asid);
            }
        }
    }

    /// Lets go of the domain's page tables; others' level-0 tables among them (shared stacks) stay theirs.
    fn free_tables(&mut self, asid: usize) {
        let root = self.spaces[asid].root;
        // The upper half of a root is the nucleus's.
        for at in (root..root + ENTRIES / 2 * 8).step_by(8) {
            let middle = Entry(self.memory.read(at));
            if !middle.is_table() {
                continue;
            }
            for at in (middle.physical()..middle.physical() + PAGE).step_by(8) {
                let leaf = Entry(self.memory.read(at));
                if leaf.is_table() {
                    self.frames.release_table(&mut self.memory, leaf.physical());
                }
            }
            self.frames
                .release_table(&mut self.memory, middle.physical());
        }
        self.frames.release_table(&mut self.memory, root);
    }
}
