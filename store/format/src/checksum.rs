//! The 64-bit checksums of records and objects: XXH3 with a seed that says where the bytes belong.
//!
//! 32 bits would be too few: a campaign of some million damaged images would meet a collision. They find accidents, not
//! forgers: who can write to the disk directly can make any image.

use pebble_store_device::Frame;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::ObjectFrame;

/// What the checksums of a volume's records begin with, so that another volume's records are not taken for this one's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VolumeKey(u64);

impl VolumeKey {
    /// The key of the volume with this identity.
    pub fn of(volume: u128) -> Self {
        Self(volume as u64 ^ (volume >> 64) as u64)
    }

    #[cfg(test)]
    pub(crate) const fn from_word(word: u64) -> Self {
        Self(word)
    }

    /// The seed for a record that belongs to `place`: a log number, a slot, a cluster.
    pub(crate) fn seed(self, place: u64) -> u64 {
        self.0
            .wrapping_add(place.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }
}

/// The checksum of bytes under a seed.
pub fn of_bytes(seed: u64, bytes: &[u8]) -> u64 {
    xxh3_64_with_seed(bytes, seed)
}

/// The checksum of an object frame's contents. It depends on which frame it is, and not on the volume: an object can be
/// copied to another volume with its checksum.
pub fn of_object(frame: ObjectFrame, contents: &Frame) -> u64 {
    xxh3_64_with_seed(contents, frame.0)
}
