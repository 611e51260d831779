//! The area for pages that portals give (specification letters `W`, `G`, `T`).

use pebble_abi::errno::Errno;
use pebble_abi::layout::{GIFT, GIFT_PAGES, PAGE};

use crate::memory::Memory;
use crate::region::{Kind, Region};
use crate::server::Server;

impl<M: Memory> Server<M> {
    /// Makes room for given pages; answers the physical address of the first page-table entry behind all
    /// that are in use (a clone begins with copies of its parent's). The table ends with the page it is
    /// in, and the entry's place in it tells which page from `GIFT` on it maps.
    pub fn gift_prepare(&mut self, asid: usize) -> Result<u64, Errno> {
        let asid = self.living(asid)?;
        if self.region_of_kind(asid, Kind::Gift).is_none() {
            let end = GIFT + GIFT_PAGES * PAGE;
            self.insert_region(asid, Region::writable(GIFT, end, Kind::Gift))?;
        }
        let first = self.make_entry(asid, GIFT)?;
        let in_use = (0..GIFT_PAGES)
            .rev()
            .find(|page| self.memory.read(first + page * 8) != 0)
            .map_or(0, |page| page + 1);
        if in_use == GIFT_PAGES {
            return Err(Errno::NoMemory);
        }
        Ok(first + in_use * 8)
    }
}
