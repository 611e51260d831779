//! The object cache: fully associative, write-back, with epochs (EROS, section 3.5.1; here without a pause that grows).
//!
//! Every change carries the number of the epoch that it was made in. A snapshot is a step of that number and the handing
//! over of the list of changed slots: nothing is done per object. An object of the snapshot that is not saved yet is
//! copied when it is changed next; the copy is what is saved, so that an object stays where programs have it mapped.

mod map;
mod pots;

use alloc::boxed::Box;
use alloc::vec::Vec;

use pebble_store_device::{Frame, FRAME_SIZE};
use pebble_store_format::{NodePot, ObjectFrame, Tag};

use crate::mutant::mutated;
use crate::Wait;
use map::Map;
pub(crate) use pots::Pots;

/// Why an object is being read, and what was tried.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loading {
    /// Disks that gave a wrong answer, for the place being tried.
    pub tried: u32,
    /// Whether the home place is tried after the log.
    pub home: bool,
    pub source: crate::index::Source,
    pub at_home: bool,
}

/// A frame of the cache.
pub(crate) struct Slot {
    /// What is in it.
    pub frame: ObjectFrame,
    /// Version, kind; the checksum is that of the contents as long as they are unchanged.
    pub tag: Tag,
    /// The tag of what was saved last.
    pub saved: Tag,
    /// The contents; none while they are being read.
    pub contents: Option<Box<Frame>>,
    /// The epoch of the last change that is not saved; 0 when the contents are as saved.
    pub changed: u64,
    /// Its place in the list of changed slots of that epoch.
    pub listed: u32,
    /// What the snapshot under way has, if the object has changed since.
    pub copy: Option<(Box<Frame>, Tag)>,
    /// Holders that it must stay for.
    pub pins: u32,
    /// Used since the hand of the clock came by.
    pub used: bool,
    pub loading: Option<Loading>,
}

pub(crate) struct Cache {
    pub slots: Vec<Slot>,
    limit: usize,
    vacant: Vec<u32>,
    map: Map,
    hand: usize,
    spares: Vec<Box<Frame>>,
    /// The number of the epoch that changes belong to: the generation that it will be.
    pub epoch: u64,
    /// Slots changed in this epoch, each once.
    pub changed: Vec<u32>,
    /// The list of the epoch before, emptied, for the next exchange.
    pub resting: Vec<u32>,
    #[cfg(feature = "mutants")]
    pub mutant: Option<crate::Mutant>,
}

impl Cache {
    pub fn new(frames: usize, copies: usize, epoch: u64) -> Self {
        let limit = frames.max(2);
        Self {
            slots: Vec::with_capacity(limit),
            limit,
            vacant: Vec::new(),
            map: Map::new(limit),
            hand: 0,
            spares: (0..copies).map(|_| zero_frame()).collect(),
            epoch,
            changed: Vec::with_capacity(limit),
            resting: Vec::with_capacity(limit),
            #[cfg(feature = "mutants")]
            mutant: None,
        }
    }

    /// The slot of a frame.
    #[inline]
    pub fn find(&self, frame: ObjectFrame) -> Option<u32> {
        self.map.find(frame, &self.slots)
    }

    /// A slot for a frame that is not there: a vacant one, or one whose contents can be read again.
    pub fn place(&mut self, frame: ObjectFrame, tag: Tag) -> Result<u32, Wait> {
        let index = match self.vacant.pop() {
            Some(index) => index,
            None if self.slots.len() < self.limit => {
                self.slots.push(Slot::vacant());
                (self.slots.len() - 1) as u32
            }
            None => self.evict()?,
        };
        let slot = &mut self.slots[index as usize];
        slot.frame = frame;
        slot.tag = tag;
        slot.saved = tag;
        slot.changed = 0;
        slot.pins = 0;
        slot.used = true;
        slot.loading = None;
        self.map.insert(index, &self.slots);
        Ok(index)
    }

    /// Takes a frame out. Its slot must be unchanged.
    pub fn remove(&mut self, index: u32) {
        self.map
            .remove(self.slots[index as usize].frame, &self.slots);
        self.slots[index as usize].frame = NO_FRAME;
        self.slots[index as usize].loading = None;
        self.vacant.push(index);
    }

    /// The clock: the first slot that was not used since the hand came by, is unchanged, not pinned and not being read.
    fn evict(&mut self) -> Result<u32, Wait> {
        for _ in 0..2 * self.slots.len() {
            self.hand = (self.hand + 1) % self.slots.len();
            let slot = &mut self.slots[self.hand];
            if slot.changed != 0 || slot.pins != 0 || slot.loading.is_some() || slot.copy.is_some()
            {
                continue;
            }
            if slot.used {
                slot.used = false;
                continue;
            }
            self.map.remove(self.slots[self.hand].frame, &self.slots);
            return Ok(self.hand as u32);
        }
        Err(Wait::CacheSpace)
    }

    /// Makes a slot's contents changeable in this epoch. Log space must be there if [`Cache::is_new_change`] says so.
    ///
    /// An object that belongs to a snapshot and is not saved yet is copied first; says whether it was.
    #[inline]
    pub fn begin_change(&mut self, index: u32) -> Result<bool, Wait> {
        let epoch = self.epoch;
        let slot = &mut self.slots[index as usize];
        if slot.changed == epoch {
            return Ok(false);
        }
        let mut copied = false;
        if slot.changed != 0 && !mutated!(self, CopySkipped) {
            if let Some(contents) = &slot.contents {
                let mut spare = self.spares.pop().ok_or(Wait::CopySpace)?;
                spare.copy_from_slice(&contents[..]);
                slot.copy = Some((spare, slot.tag));
                copied = true;
            }
        }
        slot.changed = epoch;
        slot.listed = self.changed.len() as u32;
        self.changed.push(index);
        Ok(copied)
    }

    /// Whether a change of this slot would be its first in this epoch.
    #[inline]
    pub fn is_new_change(&self, index: u32) -> bool {
        self.slots[index as usize].changed != self.epoch
    }

    /// Begins the next epoch. The answer is the slots that changed in the one before. Nothing here depends on how many.
    pub fn next_epoch(&mut self) -> Vec<u32> {
        if !mutated!(self, EpochNotAdvanced) {
            self.epoch += 1;
        }
        let empty = core::mem::take(&mut self.resting);
        core::mem::replace(&mut self.changed, empty)
    }

    /// What the snapshot of `epoch` has of a slot.
    pub fn frozen(&self, index: u32, epoch: u64) -> Option<(&Frame, Tag)> {
        let slot = &self.slots[index as usize];
        match &slot.copy {
            Some((contents, tag)) => Some((contents, *tag)),
            None if slot.changed == epoch || mutated!(self, CopySkipped) => slot
                .contents
                .as_deref()
                .map(|contents| (contents, slot.tag)),
            None => None,
        }
    }

    /// The snapshot's contents of a slot are on their way to the disk: a buffer with them. A copy is given away itself.
    pub fn hand_over(&mut self, index: u32) -> Option<Box<Frame>> {
        let slot = &mut self.slots[index as usize];
        match slot.copy.take() {
            Some((contents, _)) => {
                // The disk keeps this buffer until the write is done; a fresh one takes its place.
                self.spares.push(zero_frame());
                Some(contents)
            }
            None => slot.contents.clone(),
        }
    }

    /// The snapshot's contents of a slot are saved.
    pub fn saved(&mut self, index: u32, epoch: u64, tag: Tag) {
        let slot = &mut self.slots[index as usize];
        if let Some((spare, _)) = slot.copy.take() {
            self.spares.push(spare);
        }
        slot.saved = tag;
        if slot.changed == epoch {
            slot.changed = 0;
            slot.tag = tag;
        }
    }

    /// The list of a finished checkpoint comes back, for the exchange at a later snapshot.
    pub fn give_back(&mut self, mut list: Vec<u32>) {
        list.clear();
        self.resting = list;
    }

    /// Takes a slot out of the table and leaves it otherwise as it is.
    #[cfg(feature = "mutants")]
    pub fn unmap(&mut self, index: u32) {
        self.map
            .remove(self.slots[index as usize].frame, &self.slots);
    }

    /// Whether a list of changed slots has this one, where the slot says.
    pub fn is_listed(&self, index: u32, list: &[u32]) -> bool {
        list.get(self.slots[index as usize].listed as usize) == Some(&index)
    }

    /// Whether the table finds a slot's frame in it.
    pub fn map_agrees(&self, index: u32) -> bool {
        self.find(self.slots[index as usize].frame) == Some(index)
    }
}

/// The frame number of a slot with nothing in it.
pub(crate) const NO_FRAME: ObjectFrame = ObjectFrame(u64::MAX);

impl Slot {
    fn vacant() -> Self {
        Self {
            frame: NO_FRAME,
            tag: Tag::UNUSED,
            saved: Tag::UNUSED,
            contents: None,
            changed: 0,
            listed: 0,
            copy: None,
            pins: 0,
            used: false,
            loading: None,
        }
    }

    /// Fills the slot with what a null object holds.
    pub fn clear(&mut self) {
        let mut contents = self.contents.take().unwrap_or_else(zero_frame);
        fill_null(self.frame, self.tag, &mut contents);
        self.contents = Some(contents);
    }
}

/// What an object without contents holds: zeros, or empty nodes of the tag's version.
pub(crate) fn fill_null(frame: ObjectFrame, tag: Tag, contents: &mut Frame) {
    contents.fill(0);
    if tag.kind == pebble_store_format::FrameKind::Nodes {
        NodePot::empty(tag.version).encode_into(frame, contents);
    }
}

pub(crate) fn zero_frame() -> Box<Frame> {
    Box::new([0; FRAME_SIZE])
}
