//! The superblock: which volume a disk belongs to, and how it is divided. Written when the disk is formatted, never after.

use alloc::boxed::Box;
use alloc::vec::Vec;

use pebble_store_device::{Frame, FRAME_SIZE};

use crate::bytes::{get_u32, get_u64, put, put_u64, zero_frame, Envelope};
use crate::range::{Range, RANGE_BYTES};
use crate::{DecodeError, Problem, VolumeKey};

/// The version of the format that this code writes, and the only one that it reads.
pub const FORMAT_VERSION: u32 = 1;

/// Frames 0 and 1 of a disk: two copies of the superblock.
pub const SUPERBLOCK_FRAMES: u64 = 2;

/// Ranges that a superblock has room for.
pub const RANGES_LIMIT: usize = 32;

/// Disks that a volume may have.
const DISKS_LIMIT: u8 = 8;

const RANGES_AT: usize = 64;

/// What a disk says about itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Superblock {
    /// The volume: drawn at random when its first disk is formatted.
    pub volume: u128,
    /// Which of the volume's disks this is: 0 to 7.
    pub disk: u8,
    /// Its ranges: none overlaps another or the superblocks.
    pub ranges: Vec<Range>,
}

impl Superblock {
    fn envelope() -> Envelope {
        Envelope {
            record: "superblock",
            mark: *b"PebSuper",
            extent: FRAME_SIZE,
            seed: 0,
        }
    }

    /// What this volume's checksums begin with.
    pub fn key(&self) -> VolumeKey {
        VolumeKey::of(self.volume)
    }

    /// Writes it; both copies are the same. Ranges behind the 32nd are left out.
    pub fn encode(&self) -> Box<Frame> {
        let mut frame = zero_frame();
        let count = self.ranges.len().min(RANGES_LIMIT);
        put(&mut frame[..], 16, &FORMAT_VERSION.to_le_bytes());
        put(&mut frame[..], 20, &(FRAME_SIZE as u32).to_le_bytes());
        put(&mut frame[..], 24, &self.volume.to_le_bytes());
        put_u64(&mut frame[..], 40, self.disk.into());
        put_u64(&mut frame[..], 48, count as u64);
        for (index, range) in self.ranges.iter().take(count).enumerate() {
            range.encode(&mut frame[..], RANGES_AT + index * RANGE_BYTES);
        }
        Self::envelope().seal(&mut frame);
        frame
    }

    /// Reads one copy. Whether the ranges lie within the disk is for the caller to see, who knows its size.
    pub fn decode(frame: &Frame) -> Result<Self, DecodeError> {
        let envelope = Self::envelope();
        envelope.open(frame)?;
        let found = get_u32(frame, 16);
        if found != FORMAT_VERSION {
            return Err(DecodeError {
                record: envelope.record,
                offset: 16,
                problem: Problem::FormatVersion {
                    found,
                    known: FORMAT_VERSION,
                },
            });
        }
        let size = get_u32(frame, 20);
        if size as usize != FRAME_SIZE {
            return Err(envelope.value(20, "frame size", size.into(), "4096"));
        }
        let volume = u128::from(get_u64(frame, 24)) | u128::from(get_u64(frame, 32)) << 64;
        let disk = get_u64(frame, 40);
        if disk >= DISKS_LIMIT.into() {
            return Err(envelope.value(40, "disk", disk, "0 to 7"));
        }
        let count = get_u64(frame, 48);
        if count > RANGES_LIMIT as u64 {
            return Err(envelope.value(48, "ranges", count, "0 to 32"));
        }
        let mut ranges = Vec::with_capacity(count as usize);
        for index in 0..count as usize {
            let at = RANGES_AT + index * RANGE_BYTES;
            let range = Range::decode(frame, at)?;
            if range.first < SUPERBLOCK_FRAMES {
                return Err(envelope.value(at + 8, "first frame", range.first, "2 or more"));
            }
            let clash = ranges.iter().any(|other: &Range| {
                range.number == other.number
                    || range.first < other.end() && other.first < range.end()
            });
            if clash {
                let allowed = "a number and frames of its own";
                return Err(envelope.value(at, "range", range.number.into(), allowed));
            }
            ranges.push(range);
        }
        Ok(Self {
            volume,
            disk: disk as u8,
            ranges,
        })
    }
}
