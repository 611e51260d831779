//! Ranges: the parts that a disk is divided into.

use crate::bytes::{get_u16, get_u64, put, put_u64};
use crate::DecodeError;

/// Bytes of a range in the superblock.
pub(crate) const RANGE_BYTES: usize = 40;

/// What a range is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum RangeKind {
    /// The first of two images that the machine starts from. Never found through a checkpoint.
    BootA = 1,
    /// The second.
    BootB = 2,
    /// Checkpoint headers, boot records and the circular log. A volume has one.
    Log = 3,
    /// Objects at home, in clusters.
    Object = 4,
    /// The journal for data pages. A volume has one, or none.
    Journal = 5,
}

impl RangeKind {
    fn from_number(number: u8) -> Option<Self> {
        [
            Self::BootA,
            Self::BootB,
            Self::Log,
            Self::Object,
            Self::Journal,
        ]
        .into_iter()
        .find(|kind| *kind as u8 == number)
    }
}

/// A range of a disk. The same range on another disk of the volume (same `number`) is its replica.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    /// What it is for.
    pub kind: RangeKind,
    /// The range's number in the volume: copies of one range on several disks have the same.
    pub number: u16,
    /// Its first frame on this disk.
    pub first: u64,
    /// Its frames; the same on every disk.
    pub frames: u64,
    /// Object ranges: the number of its first object frame. Others: 0.
    pub object_base: u64,
    /// How often the volume's replicas had changed when this disk was formatted. A disk that joins a volume as a new replica
    /// has a lower one than the volume, and is brought up to date before anything on it is believed.
    pub replica_sequence: u64,
}

impl Range {
    pub(crate) fn encode(&self, bytes: &mut [u8], at: usize) {
        bytes[at] = self.kind as u8;
        put(bytes, at + 2, &self.number.to_le_bytes());
        put_u64(bytes, at + 8, self.first);
        put_u64(bytes, at + 16, self.frames);
        put_u64(bytes, at + 24, self.object_base);
        put_u64(bytes, at + 32, self.replica_sequence);
    }

    pub(crate) fn decode(bytes: &[u8], at: usize) -> Result<Self, DecodeError> {
        let error = |offset, field, found, allowed| {
            DecodeError::value("range", at + offset, field, found, allowed)
        };
        let kind = bytes[at];
        let range = Self {
            kind: RangeKind::from_number(kind).ok_or(error(0, "kind", kind.into(), "1 to 5"))?,
            number: get_u16(bytes, at + 2),
            first: get_u64(bytes, at + 8),
            frames: get_u64(bytes, at + 16),
            object_base: get_u64(bytes, at + 24),
            replica_sequence: get_u64(bytes, at + 32),
        };
        if range.frames == 0 || range.first.checked_add(range.frames).is_none() {
            return Err(error(16, "frames", range.frames, "1 up to the disk's end"));
        }
        if range.object_base.checked_add(range.frames).is_none() || range.object_base >> 60 != 0 {
            return Err(error(24, "object base", range.object_base, "below 2^60"));
        }
        if range.kind != RangeKind::Object && range.object_base != 0 {
            return Err(error(24, "object base", range.object_base, "0"));
        }
        Ok(range)
    }

    /// The frame behind the last.
    pub fn end(&self) -> u64 {
        self.first + self.frames
    }
}
