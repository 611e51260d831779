//! `vm_map`, `vm_pager`, `vm_unmap`: regions that components make and give back.

use pebble_abi::errno::Errno;
use pebble_abi::layout::{GIFT, MAP, PAGE};

use crate::family::Family;
use crate::memory::Memory;
use crate::pager::Name;
use crate::region::{Kind, Region};
use crate::riscv64::entry::Entry;
use crate::server::Server;

impl<M: Memory> Server<M> {
    /// Makes a region of zeros; answers its address.
    pub fn vm_map(&mut self, invoker: usize, home: usize, bytes: u64) -> Result<u64, Errno> {
        let family = self.family(invoker, home)?;
        self.map(&family, bytes, Kind::Anonymous)
    }

    /// Makes a region whose pages a pager supplies; answers its address. `None`: the pager's portal must be
    /// opened first; then call again with the slot.
    pub fn vm_pager(
        &mut self,
        invoker: usize,
        home: usize,
        bytes: u64,
        name: &Name,
        cookie: u64,
        opened: Option<usize>,
    ) -> Result<Option<u64>, Errno> {
        let family = self.family(invoker, home)?;
        let pager = match opened {
            Some(portal) => self.pagers.add(name, portal)?,
            None => match self.pagers.find(name) {
                Some(pager) => pager,
                None => return Ok(None),
            },
        };
        let address = self.map(&family, bytes, Kind::Pager { pager, cookie })?;
        (0..family.count()).for_each(|_| self.pagers.retain(pager));
        Ok(Some(address))
    }

    fn map(&mut self, family: &Family, bytes: u64, kind: Kind) -> Result<u64, Errno> {
        if bytes == 0 {
            return Err(Errno::Invalid);
        }
        if bytes > GIFT - MAP {
            return Err(Errno::NoMemory);
        }
        let bytes = bytes.next_multiple_of(PAGE);
        let start = self.find_gap(family, bytes).ok_or(Errno::NoMemory)?;
        let region = Region::writable(start, start + bytes, kind);
        for place in 0..family.count() {
            let asid = self.member(family, place);
            if let Err(error) = self.insert_region(asid, region) {
                for done in 0..place {
                    self.withdraw(self.member(family, done), start);
                }
                return Err(error);
            }
        }
        Ok(start)
    }

    /// Removes a region that was just made.
    fn withdraw(&mut self, asid: usize, start: u64) {
        if let Some((index, _)) = self.find_region(asid, start) {
            self.remove_region(asid, index);
        }
    }

    /// The lowest addresses that are free in all members.
    fn find_gap(&self, family: &Family, bytes: u64) -> Option<u64> {
        let mut start = MAP;
        while start + bytes <= GIFT {
            // Each step passes at least one region of one member: no more steps than there are regions.
            let obstacle = |asid| self.overlap(asid, start, start + bytes);
            match self.members(family).find_map(obstacle) {
                Some(region) => start = region.end,
                None => return Some(start),
            }
        }
        None
    }

    /// Gives a region back, or one page that a portal gave.
    pub fn vm_unmap(&mut self, invoker: usize, home: usize, address: u64) -> Result<(), Errno> {
        let family = self.family(invoker, home)?;
        let mut found = false;
        for place in 0..family.count() {
            let asid = self.member(&family, place);
            let Some((index, region)) = self.find_region(asid, address) else {
                continue;
            };
            match region.kind {
                Kind::Anonymous | Kind::Pager { .. } if region.start == address => {
                    self.clear_pages(asid, &region, region.start);
                    self.remove_region(asid, index);
                }
                Kind::Gift if address.is_multiple_of(PAGE) && self.has_page(asid, address) => {
                    let page = Region {
                        start: address,
                        end: address + PAGE,
                        ..region
                    };
                    self.clear_pages(asid, &page, address);
                }
                _ => continue,
            }
            if let Kind::Pager { pager, .. } = region.kind {
                self.pagers.release(pager);
            }
            self.memory.flush_domain(asid);
            found = true;
        }
        self.settle();
        if found {
            Ok(())
        } else {
            Err(Errno::Invalid)
        }
    }

    fn has_page(&self, asid: usize, address: u64) -> bool {
        self.entry_address(self.spaces[asid].root, address)
            .is_some_and(|slot| Entry(self.memory.read(slot)).is_valid())
    }
}
