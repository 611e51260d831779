//! `domain_fork`: a second address space with the same content, shared until one side writes.

use pebble_abi::errno::Errno;
use pebble_abi::layout::PAGE;

use crate::memory::Memory;
use crate::region::{Kind, Region};
use crate::riscv64::entry::Entry;
use crate::server::Server;

impl<M: Memory> Server<M> {
    /// Makes `child` a copy of `parent`; answers the physical address of its root. The copy has neither
    /// its parent's device registers nor the stacks that others showed it.
    pub fn space_clone(&mut self, parent: usize, child: usize) -> Result<u64, Errno> {
        let parent = self.living(parent)?;
        let space = self.spaces[parent];
        if space.core {
            return Err(Errno::PermissionDenied);
        }
        let root = self.create(child, space.limit, parent)?;
        self.spaces[child].heap = space.heap;
        self.spaces[child].heap_end = space.heap_end;
        // Three passes: first nothing in the parent can be written to; then every window that still
        // can is known, because none can be opened any more; then the pages are shared or copied.
        for index in 0..space.region_count {
            let region = self.region(parent, index);
            if region.is_copied() {
                self.protect(parent, &region);
            }
        }
        self.memory.flush_domain(parent);
        self.flush_sharers(parent);
        self.mark_written();
        for index in 0..space.region_count {
            let region = self.region(parent, index);
            if let Err(error) = self.copy_region(parent, child, &region) {
                self.space_destroy(child)?;
                return Err(error);
            }
        }
        Ok(root)
    }

    /// Makes the pages that only this domain holds read-only until they are written to.
    fn protect(&mut self, asid: usize, region: &Region) {
        let mut from = region.start;
        while let Some((address, slot)) = self.next_own(asid, region, from) {
            let entry = Entry(self.memory.read(slot));
            let alone = self.frames.holders(&self.memory, entry.physical()) == 1;
            let protect = entry.is_counted() && entry.is_writable() && alone;
            // Portal code may have given the page away just now: then look again.
            if !protect
                || self
                    .memory
                    .replace(slot, entry.0, entry.shared_until_written().0)
            {
                from = address + PAGE;
            } else {
                from = address;
            }
        }
    }

    fn copy_region(&mut self, parent: usize, child: usize, region: &Region) -> Result<(), Errno> {
        if let Kind::Pager { pager, .. } = region.kind {
            self.insert_region(child, *region)?;
            self.pagers.retain(pager);
            return Ok(());
        }
        if !region.is_copied() {
            return Ok(());
        }
        // Gate and stack area are there already.
        if self
            .overlap(child, region.start, region.end.max(region.start + 1))
            .is_none()
        {
            self.insert_region(child, *region)?;
        }
        let mut from = region.start;
        while let Some((address, slot)) = self.next_own(parent, region, from) {
            let entry = Entry(self.memory.read(slot));
            if entry.is_counted() {
                self.copy_page(child, region, address, entry)?;
            }
            from = address + PAGE;
        }
        Ok(())
    }

    fn copy_page(
        &mut self,
        child: usize,
        region: &Region,
        address: u64,
        entry: Entry,
    ) -> Result<(), Errno> {
        let slot = self.make_entry(child, address)?;
        let frame = entry.physical();
        let written = self.frames.take_mark(&mut self.memory, frame);
        // Still writable: shared with a pager, on purpose. Written: a server fills a buffer just now.
        let copy = if entry.is_writable() || written {
            let copy = self.charged_frame(child)?;
            self.memory.copy(frame, copy, PAGE);
            Entry::page(copy, region.protection)
        } else {
            self.charge(child)?;
            self.frames.share(&mut self.memory, frame);
            entry
        };
        self.memory.write(slot, copy.0);
        Ok(())
    }
}

impl Region {
    /// Whether a clone gets a copy of the pages; a pager is asked anew, devices and others' stacks are not
    /// the clone's business.
    const fn is_copied(&self) -> bool {
        !matches!(
            self.kind,
            Kind::Pager { .. } | Kind::Device | Kind::SharedStack { .. }
        )
    }
}
