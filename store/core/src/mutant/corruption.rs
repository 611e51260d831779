//! Damage to memory, for tests of the consistency check: what stray stores and forgotten steps would do.

use pebble_store_device::BlockDevice;
use pebble_store_format::{FrameKind, ObjectFrame};
use pebble_store_object::Version;

use crate::index::Source;
use crate::Store;

/// Something that goes wrong in memory, without any operation of the store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Corruption {
    /// A stray store changes a byte of an object's contents.
    Byte {
        /// The byte, 0 to 4095.
        at: usize,
        /// What is changed in it; 0 changes nothing.
        flip: u8,
    },
    /// A stray store changes a byte of what the snapshot under way has of an object, after it was copied.
    CopyByte {
        /// The byte, 0 to 4095.
        at: usize,
        /// What is changed in it.
        flip: u8,
    },
    /// The contents of a slot vanish.
    ContentsLost,
    /// The slot says that it holds another frame.
    OtherFrame {
        /// Which.
        frame: ObjectFrame,
    },
    /// The object's kind changes.
    Kind {
        /// To what.
        kind: FrameKind,
    },
    /// The object's version changes.
    Version {
        /// To what.
        version: u64,
    },
    /// The object's checksum changes.
    Checksum {
        /// What is changed in it.
        flip: u64,
    },
    /// The object is taken for one without contents, or no longer.
    Null,
    /// A changed object is taken for an unchanged one.
    ChangeForgotten,
    /// An unchanged object is taken for a changed one of some epoch.
    ChangeInvented {
        /// Which epoch.
        epoch: u64,
    },
    /// The object is no longer in the list of changed ones.
    Unlisted,
    /// The slot is no longer in the cache's table.
    Unmapped,
    /// The index says that the object is elsewhere in the log.
    IndexedAt {
        /// The log number.
        log: u64,
    },
    /// The index has another checksum for the object.
    IndexChecksum {
        /// What is changed in it.
        flip: u64,
    },
    /// The index has another version for the object.
    IndexVersion {
        /// Which.
        version: u64,
    },
    /// The end of the log in use moves.
    LogTail {
        /// By how many frames it is too far.
        by: u64,
    },
    /// The reservation of the snapshot under way grows.
    Reservation {
        /// By how many frames.
        by: u64,
    },
}

impl<D: BlockDevice> Store<D> {
    /// Does the damage to a frame's slot, or to what the store knows of it. Says whether there was something to damage.
    pub fn corrupt(&mut self, frame: ObjectFrame, corruption: Corruption) -> bool {
        match corruption {
            Corruption::LogTail { by } => {
                self.log.tail += by;
                return true;
            }
            Corruption::Reservation { by } => {
                self.log.frozen += by;
                return true;
            }
            Corruption::IndexedAt { .. }
            | Corruption::IndexChecksum { .. }
            | Corruption::IndexVersion { .. } => return self.corrupt_index(frame, corruption),
            _ => {}
        }
        let Some(index) = self.cache.find(frame) else {
            return false;
        };
        if corruption == Corruption::Unmapped {
            self.cache.unmap(index);
            return true;
        }
        if corruption == Corruption::Unlisted {
            let place = self.cache.slots[index as usize].listed as usize;
            let other = self.cache.slots.len() as u32;
            return match self.cache.changed.get_mut(place) {
                Some(listed) if *listed == index => {
                    *listed = other.saturating_sub(1) ^ u32::from(index + 1 == other);
                    true
                }
                _ => false,
            };
        }
        let slot = &mut self.cache.slots[index as usize];
        match corruption {
            Corruption::Byte { at, flip } => match &mut slot.contents {
                Some(contents) => contents[at] ^= flip,
                None => return false,
            },
            Corruption::CopyByte { at, flip } => match &mut slot.copy {
                Some((contents, _)) => contents[at] ^= flip,
                None => return false,
            },
            Corruption::ContentsLost => slot.contents = None,
            Corruption::OtherFrame { frame } => slot.frame = frame,
            Corruption::Kind { kind } => slot.tag.kind = kind,
            Corruption::Version { version } => slot.tag.version = Version(version),
            Corruption::Checksum { flip } => slot.tag.checksum ^= flip,
            Corruption::Null => slot.tag.null = !slot.tag.null,
            Corruption::ChangeForgotten => slot.changed = 0,
            Corruption::ChangeInvented { epoch } => slot.changed = epoch,
            _ => return false,
        }
        true
    }

    fn corrupt_index(&mut self, frame: ObjectFrame, corruption: Corruption) -> bool {
        let Some(entry) = self.index.get(frame) else {
            return false;
        };
        let (mut source, mut tag) = (entry.source, entry.tag);
        match corruption {
            Corruption::IndexedAt { log } => source = Source::Log(log),
            Corruption::IndexChecksum { flip } => tag.checksum ^= flip,
            Corruption::IndexVersion { version } => tag.version = Version(version),
            _ => return false,
        }
        self.index.enter(frame, source, tag, 0);
        true
    }
}
