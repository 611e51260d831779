//! Making a joining disk look like nothing before it is written to.
//!
//! A disk that is out of date still has headers. With half of its frames new, it must not be started from by them; and
//! its older header may call it the only good disk, from a time before it joined and was lost again. So the older slot is
//! cleared first, for good, then the newer: at no moment does the older one count.

use alloc::boxed::Box;

use pebble_store_device::{BlockDevice, Frame};
use pebble_store_format::{CheckpointHeader, BOOT_SLOTS, HEADER_SLOTS};

use super::{Job, Volume};
use crate::cache::zero_frame;

/// Numbers of a resync's steps that belong to no window: reading a slot, clearing it, the flush behind that.
pub(super) const READ: u32 = 1 << 16;
const CLEAR: u32 = 1 << 17;
const FLUSH: u32 = 1 << 18;

/// How far clearing is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clearing {
    under_way: u64,
    /// The sequence number of the newest header, and its slot.
    newest: Option<(u64, u64)>,
    /// All slots but the newest one are clear.
    others: bool,
    /// The disk may be written to.
    pub done: bool,
}

impl Clearing {
    /// Nothing is to be cleared.
    #[cfg(feature = "mutants")]
    pub(super) fn nothing() -> Self {
        Self {
            done: true,
            ..Self::default()
        }
    }
}

impl<D: BlockDevice> Volume<D> {
    /// Begins to clear a disk's slots.
    pub(super) fn begin_clearing(&mut self, disk: usize) -> Clearing {
        let mut clearing = Clearing::default();
        for slot in 0..HEADER_SLOTS {
            if let Some(at) = self.disks[disk].at(self.geometry.slot(slot)) {
                clearing.under_way += 1;
                self.read_raw(Job::Resync(READ + slot as u32), disk, at);
            }
        }
        // A disk without a log has nothing that it could be started from.
        clearing.done = clearing.under_way == 0;
        clearing
    }

    /// Takes an answer to one of the requests for clearing, which was good unless it was a read.
    pub(super) fn clearing_answer(
        &mut self,
        mut clearing: Clearing,
        disk: usize,
        step: u32,
        contents: Option<Box<Frame>>,
    ) -> Clearing {
        clearing.under_way = clearing.under_way.saturating_sub(1);
        if step & FLUSH != 0 {
            clearing.done = clearing.others;
            clearing.others = true;
            if let (false, Some((_, slot))) = (clearing.done, clearing.newest) {
                clearing.under_way += self.clear(disk, slot);
            } else {
                clearing.done = true;
            }
            return clearing;
        }
        if step & READ != 0 {
            let slot = u64::from(step - READ);
            let header = contents
                .and_then(|frame| CheckpointHeader::decode(self.key, slot, &frame).ok())
                .map(|header| (header.sequence, slot));
            clearing.newest = clearing.newest.max(header);
            if clearing.under_way == 0 {
                for slot in 0..HEADER_SLOTS + BOOT_SLOTS {
                    if clearing.newest.is_none_or(|(_, newest)| newest != slot) {
                        clearing.under_way += self.clear(disk, slot);
                    }
                }
            }
            return clearing;
        }
        if clearing.under_way == 0 {
            clearing.under_way = 1;
            self.flush_raw(Job::Resync(FLUSH), disk);
        }
        clearing
    }

    /// Sends zeros to a slot; says how many requests that were.
    fn clear(&mut self, disk: usize, slot: u64) -> u64 {
        let Some(at) = self.disks[disk].at(self.geometry.slot(slot)) else {
            return 0;
        };
        self.write_raw(Job::Resync(CLEAR + slot as u32), disk, at, zero_frame());
        1
    }
}
