//! Stack slots, and stack areas that a caller shows to a callee it trusts.

use pebble_abi::entry::vm;
use pebble_abi::errno::Errno;
use pebble_abi::layout::{PAGE, STACK_AREA, STACK_BOTTOM, STACK_SLOT};

use crate::memory::Memory;
use crate::region::{Kind, Region};
use crate::riscv64::entry::{Entry, TABLE_SPAN};
use crate::server::Server;

impl<M: Memory> Server<M> {
    /// Makes the table for a stack slot and fills the top pages of the stack; answers the physical address
    /// of the entry for the slot's first page, from which portal code opens windows.
    pub fn stack_prepare(&mut self, asid: usize, slot: u64, pages: u64) -> Result<u64, Errno> {
        let asid = self.living(asid)?;
        let area = self.spaces[asid].stack_area;
        let is_slot = slot.is_multiple_of(STACK_SLOT) && (area..area + STACK_AREA).contains(&slot);
        if !is_slot || pages > (STACK_SLOT - STACK_BOTTOM) / PAGE {
            return Err(Errno::Invalid);
        }
        let entry = self.make_entry(asid, slot)?;
        let top = slot + STACK_SLOT;
        for page in (top - pages * PAGE..top).step_by(PAGE as usize) {
            self.fill(asid, page, vm::WRITE)?;
        }
        Ok(entry)
    }

    /// Shows the caller's stack area to the callee, at the same address. `Exists`: something else is there
    /// (a clone has its stacks where its parent has them).
    pub fn stack_share(&mut self, caller: usize, callee: usize) -> Result<(), Errno> {
        let (caller, callee) = (self.living(caller)?, self.living(callee)?);
        let area = self.spaces[caller].stack_area;
        let kind = Kind::SharedStack { owner: caller };
        match self.overlap(callee, area, area + STACK_AREA) {
            Some(region) if region.kind == kind => return Ok(()),
            Some(_) => return Err(Errno::Exists),
            None => {}
        }
        self.insert_region(callee, Region::writable(area, area + STACK_AREA, kind))?;
        for address in (area..area + STACK_AREA).step_by(TABLE_SPAN as usize) {
            // A table for which there is no room now is linked when it is needed.
            if self.link_stack_table(caller, callee, address).is_err() {
                break;
            }
        }
        Ok(())
    }

    /// Makes the owner's level-0 table for a stack address the callee's too, if there is one.
    pub(crate) fn link_stack_table(
        &mut self,
        owner: usize,
        callee: usize,
        address: u64,
    ) -> Result<(), Errno> {
        let theirs = self.middle_address(self.spaces[owner].root, address);
        let table = theirs.map_or(Entry::EMPTY, |at| Entry(self.memory.read(at)));
        if !table.is_table() {
            return Ok(());
        }
        let at = self.make_middle(callee, address)?;
        if self.memory.read(at) != table.0 {
            self.frames.share(&mut self.memory, table.physical());
            self.memory.write(at, table.0);
            self.memory.flush_domain(callee);
        }
        Ok(())
    }

    /// Unlinks another's level-0 tables; the caller flushes.
    pub(crate) fn unlink_stack(&mut self, callee: usize, region: &Region) {
        for address in (region.start..region.end).step_by(TABLE_SPAN as usize) {
            let Some(at) = self.middle_address(self.spaces[callee].root, address) else {
                continue;
            };
            let table = Entry(self.memory.take(at));
            if table.is_table() {
                self.frames
                    .release_table(&mut self.memory, table.physical());
            }
        }
    }
}
