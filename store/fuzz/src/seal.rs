//! Puts the checksums of changed records right again, so that what is behind them is reached.

use pebble_store_device::{FRAME_SIZE, SECTOR_SIZE};
use pebble_store_format::checksum;

use crate::base::{JOURNAL, LOG, OBJECTS, OBJECT_RANGE, VOLUME};

/// What the format says a record's checksum is seeded with.
fn seed(place: u64) -> u64 {
    let key = VOLUME as u64 ^ (VOLUME >> 64) as u64;
    key.wrapping_add(place.wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

/// The marks, how much of the frame the checksum covers, and whether the place is a log number.
const RECORDS: [([u8; 8], usize, bool); 8] = [
    (*b"PebSuper", FRAME_SIZE, false),
    (*b"PebCheck", SECTOR_SIZE, false),
    (*b"PebBoots", SECTOR_SIZE, false),
    (*b"PebTags\0", FRAME_SIZE, false),
    (*b"PebJourn", FRAME_SIZE, false),
    (*b"PebGener", SECTOR_SIZE, true),
    (*b"PebObjec", FRAME_SIZE, true),
    (*b"PebStart", FRAME_SIZE, true),
];

/// The checksum that a record in this frame of the disk had, if it was right; what to seed a new one with.
pub fn right_seed(at: u64, frame: &[u8]) -> Option<(usize, u64)> {
    let (_, extent, in_log) = RECORDS.iter().find(|(mark, ..)| frame.starts_with(mark))?;
    let (log, journal, objects) = (
        at.wrapping_sub(LOG.0),
        at.wrapping_sub(JOURNAL.0),
        at.wrapping_sub(OBJECTS.0),
    );
    let right = |seed: &u64| {
        let sum = checksum::of_bytes(*seed, &frame[16..*extent]);
        frame[8..16] == sum.to_le_bytes()
    };
    if *in_log {
        // Which round of the log the frame is of is not written in it.
        let size = LOG.1 - 4;
        let first = log.wrapping_sub(4) % size;
        let found = (0..64).map(|round| seed(first + round * size)).find(right);
        return found.map(|seed| (*extent, seed));
    }
    let place = match at {
        0 | 1 => return Some((*extent, 0)),
        _ if log < LOG.1 => log,
        _ if journal < JOURNAL.1 => journal,
        _ => (objects / 256) | (u64::from(OBJECT_RANGE) << 48),
    };
    Some((*extent, seed(place)))
}

/// Writes the checksum.
pub fn seal(frame: &mut [u8], extent: usize, seed: u64) {
    let sum = checksum::of_bytes(seed, &frame[16..extent]);
    frame[8..16].copy_from_slice(&sum.to_le_bytes());
}
