//! Making one page usable: what a fault does, and what others do before they touch a page.

use pebble_abi::entry::vm;
use pebble_abi::errno::Errno;
use pebble_abi::layout::{DEVICE, MAX_DOMAINS, PAGE};

use crate::memory::Memory;
use crate::region::{Kind, Region};
use crate::riscv64::entry::Entry;
use crate::server::Server;

/// What became of a request for a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Filled {
    /// The access is possible now.
    Usable,
    /// Only this pager knows what the page holds.
    AskPager {
        /// Its index.
        pager: usize,
        /// What it wants to be told.
        cookie: u64,
    },
}

impl<M: Memory> Server<M> {
    /// Makes an access to a page of a domain possible, if its regions allow it.
    pub(crate) fn fill(&mut self, asid: usize, address: u64, access: u64) -> Result<Filled, Errno> {
        let page = address & !(PAGE - 1);
        let (_, region) = self.find_region(asid, page).ok_or(Errno::Fault)?;
        if region.protection & access == 0 {
            return Err(Errno::Fault);
        }
        let Kind::SharedStack { owner } = region.kind else {
            return self.fill_own(asid, &region, page, access);
        };
        // The page is the owner's; only the link to its table is ours. A window may be there already.
        let (_, stacks) = self.find_region(owner, page).ok_or(Errno::Fault)?;
        self.link_stack_table(owner, asid, page)?;
        let filled = self.fill_own(owner, &stacks, page, access)?;
        self.link_stack_table(owner, asid, page)?;
        self.memory.flush_page(asid, page);
        Ok(filled)
    }

    fn fill_own(
        &mut self,
        asid: usize,
        region: &Region,
        page: u64,
        access: u64,
    ) -> Result<Filled, Errno> {
        let slot = match self.entry_address(self.spaces[asid].root, page) {
            Some(slot) => slot,
            None if region.is_window(page) || region.is_guard(page) => return Err(Errno::Fault),
            None => self.make_entry(asid, page)?,
        };
        let entry = Entry(self.memory.read(slot));
        if entry.allows(access) {
            // Another thread was faster, or the processor remembered that nothing was here.
            self.memory.flush_page(asid, page);
            return Ok(Filled::Usable);
        }
        if region.is_window(page) || region.is_guard(page) {
            return Err(Errno::Fault);
        }
        if let Kind::Pager { pager, cookie } = region.kind {
            return Ok(Filled::AskPager { pager, cookie });
        }
        if entry.is_valid() {
            if access != vm::WRITE || !entry.is_shared_until_written() {
                return Err(Errno::Fault);
            }
            self.break_share(asid, region, slot, entry, page)?;
        } else {
            let new = self.first_content(asid, region, page)?;
            self.memory.write(slot, new.0);
            self.memory.flush_page(asid, page);
        }
        Ok(Filled::Usable)
    }

    /// What the page holds when it is used for the first time.
    fn first_content(&mut self, asid: usize, region: &Region, page: u64) -> Result<Entry, Errno> {
        match region.kind {
            Kind::Heap | Kind::Anonymous | Kind::Stack => {
                Ok(Entry::page(self.charged_frame(asid)?, region.protection))
            }
            Kind::Image {
                base,
                source,
                bytes,
            } => self.image_page(asid, region, page, base, source, bytes),
            Kind::Device => Ok(Entry::page(page - DEVICE, region.protection).borrowed()),
            Kind::Fixed | Kind::Gift | Kind::Pager { .. } | Kind::SharedStack { .. } => {
                Err(Errno::Fault)
            }
        }
    }

    /// A page of an image: the bundle's own page where nothing but file content is in it and nobody can
    /// write to it, else a copy.
    fn image_page(
        &mut self,
        asid: usize,
        region: &Region,
        page: u64,
        base: u64,
        source: u64,
        bytes: u64,
    ) -> Result<Entry, Errno> {
        let (first, end) = (base.max(page), (base + bytes).min(page + PAGE));
        let is_whole = first == page && end == page + PAGE;
        let in_bundle = source.wrapping_add(first.wrapping_sub(base));
        if is_whole && !region.is_writable() && in_bundle % PAGE == 0 {
            return Ok(Entry::page(in_bundle, region.protection).borrowed());
        }
        let frame = self.charged_frame(asid)?;
        if first < end {
            self.memory
                .copy(in_bundle, frame + (first - page), end - first);
        }
        if region.protection & vm::EXECUTE != 0 {
            self.memory.code_written();
        }
        Ok(Entry::page(frame, region.protection))
    }

    /// Ends the sharing of a page before a store: the last holder keeps the frame, others get a copy.
    fn break_share(
        &mut self,
        asid: usize,
        region: &Region,
        slot: u64,
        entry: Entry,
        page: u64,
    ) -> Result<(), Errno> {
        let shared = entry.physical();
        if self.frames.holders(&self.memory, shared) == 1 {
            self.memory.replace(slot, entry.0, entry.own().0);
        } else {
            let frame = self.frame(self.floor(asid)).ok_or(Errno::NoMemory)?;
            self.memory.copy(shared, frame, PAGE);
            self.memory
                .write(slot, Entry::page(frame, region.protection).0);
            self.frames.release(&mut self.memory, shared);
        }
        self.memory.flush_page(asid, page);
        if region.kind == Kind::Stack {
            self.flush_sharers(asid);
        }
        Ok(())
    }

    /// Makes the domains that see a domain's stack area forget it as it was.
    pub(crate) fn flush_sharers(&mut self, owner: usize) {
        for asid in 0..MAX_DOMAINS {
            let living = self.spaces[asid].root != 0;
            if living
                && self
                    .region_of_kind(asid, Kind::SharedStack { owner })
                    .is_some()
            {
                self.memory.flush_domain(asid);
            }
        }
    }
}
