//! `vm_supply`: a pager answers a fault with one of its own pages.

use pebble_abi::entry::vm;
use pebble_abi::errno::Errno;
use pebble_abi::layout::PAGE;

use crate::fill::Filled;
use crate::memory::Memory;
use crate::pager::Pending;
use crate::region::Kind;
use crate::riscv64::entry::Entry;
use crate::server::Server;

/// A pager's answer.
#[derive(Clone, Copy, Debug)]
pub struct Supply {
    /// The pager's domain.
    pub pager: usize,
    /// The thread it runs on: the one that faulted, because a fault is a portal call.
    pub thread: usize,
    /// The domain that needs the page.
    pub asid: usize,
    /// The address that it needs.
    pub address: u64,
    /// The pager's page.
    pub page: u64,
    /// [`vm::SUPPLY_MOVE`], [`vm::SUPPLY_WRITE`].
    pub flags: u64,
}

impl<M: Memory> Server<M> {
    /// Maps the pager's page where the fault was.
    pub fn vm_supply(&mut self, supply: Supply) -> Result<(), Errno> {
        let (asid, pager) = (self.living(supply.asid)?, self.living(supply.pager)?);
        let generation = self.spaces[asid].generation;
        let asked = Pending {
            asid,
            generation,
            page: supply.address & !(PAGE - 1),
        };
        if self.pending.get(supply.thread) != Some(&asked) {
            return Err(Errno::PermissionDenied);
        }
        let is_known = supply.flags & !(vm::SUPPLY_MOVE | vm::SUPPLY_WRITE) == 0;
        if asid == pager || !supply.page.is_multiple_of(PAGE) || !is_known {
            return Err(Errno::Invalid);
        }
        let (_, region) = self.find_region(asid, asked.page).ok_or(Errno::Fault)?;
        if !matches!(region.kind, Kind::Pager { .. }) {
            return Err(Errno::Fault);
        }
        let from = self.source(pager, supply.page)?;
        let entry = Entry(self.memory.read(from));
        if !entry.is_counted() || (supply.flags & vm::SUPPLY_WRITE != 0 && !entry.is_writable()) {
            return Err(Errno::Fault);
        }
        let to = self.make_entry(asid, asked.page)?;
        if !Entry(self.memory.read(to)).is_counted() {
            self.charge(asid)?;
        }
        if supply.flags & vm::SUPPLY_MOVE != 0 {
            if !self.memory.replace(from, entry.0, 0) {
                self.discharge(asid);
                return Err(Errno::Again);
            }
            self.discharge(pager);
            self.memory.flush_page(pager, supply.page);
        } else {
            self.frames.share(&mut self.memory, entry.physical());
        }
        let allowed = if supply.flags & vm::SUPPLY_WRITE != 0 {
            vm::WRITE
        } else {
            vm::READ
        };
        let old = Entry(self.memory.take(to));
        self.memory
            .write(to, Entry::page(entry.physical(), allowed).0);
        self.memory.flush_page(asid, asked.page);
        if old.is_counted() {
            self.frames.release(&mut self.memory, old.physical());
            self.settle();
        }
        Ok(())
    }

    /// Physical address of the entry for a page that the pager may pass on: its very own, made present.
    fn source(&mut self, pager: usize, page: u64) -> Result<u64, Errno> {
        let (_, region) = self.find_region(pager, page).ok_or(Errno::Fault)?;
        if !matches!(
            region.kind,
            Kind::Heap | Kind::Anonymous | Kind::Image { .. } | Kind::Gift
        ) {
            return Err(Errno::Fault);
        }
        // For writing where that is possible: a page shared until written would leave us with a copy.
        let access = if region.is_writable() {
            vm::WRITE
        } else {
            vm::READ
        };
        match self.fill(pager, page, access)? {
            Filled::Usable => {}
            Filled::AskPager { .. } => return Err(Errno::Fault),
        }
        self.entry_address(self.spaces[pager].root, page)
            .ok_or(Errno::Fault)
    }
}
