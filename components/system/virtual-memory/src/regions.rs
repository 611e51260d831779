//! Region tables: one page per space, sorted by address, at most 64 regions.

use pebble_abi::errno::Errno;
use pebble_abi::layout::PAGE;

use crate::memory::Memory;
use crate::region::{Kind, Region, BYTES, END, START, TAG, USED_WORDS, WORDS};
use crate::server::Server;

/// Regions of one domain.
pub const MAX_REGIONS: usize = (PAGE / BYTES) as usize;

impl<M: Memory> Server<M> {
    /// The region at an index of the domain's table.
    pub(crate) fn region(&self, asid: usize, index: usize) -> Region {
        let at = self.spaces[asid].regions + index as u64 * BYTES;
        let mut words = [0; WORDS];
        for (word, offset) in words.iter_mut().take(USED_WORDS).zip((0..).step_by(8)) {
            *word = self.memory.read(at + offset);
        }
        Region::unpack(words)
    }

    /// One word of a region, for a search that needs no more.
    pub(crate) fn region_word(&self, asid: usize, index: usize, word: u64) -> u64 {
        let at = self.spaces[asid].regions + index as u64 * BYTES;
        self.memory.read(at + word * 8)
    }

    /// Moves the end of a region.
    pub(crate) fn set_region_end(&mut self, asid: usize, index: usize, end: u64) {
        let at = self.spaces[asid].regions + index as u64 * BYTES;
        self.memory.write(at + END * 8, end);
    }

    /// Changes the region at an index; its start stays the same.
    pub(crate) fn set_region(&mut self, asid: usize, index: usize, region: Region) {
        let at = self.spaces[asid].regions + index as u64 * BYTES;
        for (word, offset) in region
            .pack()
            .into_iter()
            .take(USED_WORDS)
            .zip((0..).step_by(8))
        {
            self.memory.write(at + offset, word);
        }
    }

    /// The region that holds an address, and its index.
    pub(crate) fn find_region(&self, asid: usize, address: u64) -> Option<(usize, Region)> {
        let index = self.first_ending_after(asid, address);
        let region = (index < self.spaces[asid].region_count).then(|| self.region(asid, index))?;
        (region.start <= address).then_some((index, region))
    }

    /// The first region that has an address in common with the range.
    pub(crate) fn overlap(&self, asid: usize, start: u64, end: u64) -> Option<Region> {
        let index = self.first_ending_after(asid, start);
        let region = (index < self.spaces[asid].region_count).then(|| self.region(asid, index))?;
        (region.start < end).then_some(region)
    }

    /// The domain's region of a kind that it has at most once.
    pub(crate) fn region_of_kind(&self, asid: usize, kind: Kind) -> Option<(usize, Region)> {
        (0..self.spaces[asid].region_count)
            .filter(|&index| self.region_word(asid, index, TAG) & 0xff == kind.tag())
            .map(|index| (index, self.region(asid, index)))
            .find(|(_, region)| region.kind == kind)
    }

    /// The index of the first region with a kind's tag, whatever else the kind says.
    pub(crate) fn index_of_kind(&self, asid: usize, kind: &Kind) -> Option<usize> {
        (0..self.spaces[asid].region_count)
            .find(|&index| self.region_word(asid, index, TAG) & 0xff == kind.tag())
    }

    /// Adds a region and commits its pages.
    pub(crate) fn insert_region(&mut self, asid: usize, region: Region) -> Result<(), Errno> {
        let count = self.spaces[asid].region_count;
        if self.overlap(asid, region.start, region.end).is_some() {
            return Err(Errno::Exists);
        }
        if count == MAX_REGIONS {
            return Err(Errno::NoMemory);
        }
        if region.is_committed() {
            self.commit(asid, region.pages())?;
        }
        let place = (0..count)
            .find(|&index| self.region_word(asid, index, START) > region.start)
            .unwrap_or(count);
        for index in (place..count).rev() {
            let moved = self.region(asid, index);
            self.set_region(asid, index + 1, moved);
        }
        self.set_region(asid, place, region);
        self.spaces[asid].region_count += 1;
        Ok(())
    }

    /// Removes a region, whose pages are gone already.
    pub(crate) fn remove_region(&mut self, asid: usize, index: usize) {
        let region = self.region(asid, index);
        if region.is_committed() {
            self.spaces[asid].committed -= region.pages();
        }
        for index in index + 1..self.spaces[asid].region_count {
            let moved = self.region(asid, index);
            self.set_region(asid, index - 1, moved);
        }
        self.spaces[asid].region_count -= 1;
    }

    /// Sets pages of the domain's memory limit aside.
    pub(crate) fn commit(&mut self, asid: usize, pages: u64) -> Result<(), Errno> {
        let space = &mut self.spaces[asid];
        if space.committed + pages > space.limit {
            return Err(Errno::NoMemory);
        }
        space.committed += pages;
        Ok(())
    }

    fn first_ending_after(&self, asid: usize, address: u64) -> usize {
        let (mut low, mut high) = (0, self.spaces[asid].region_count);
        while low < high {
            let middle = (low + high) / 2;
            if self.region_word(asid, middle, END) <= address {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }
}
