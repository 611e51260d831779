//! Reading and writing the fields of a record, and the mark and checksum that every record begins with.
//!
//! A record is: 8 bytes mark, 8 bytes checksum over everything behind it, fields. The checksum covers the whole extent of
//! the record (a sector or a frame), so that no byte can change unnoticed.

use alloc::boxed::Box;

use pebble_store_device::{Frame, FRAME_SIZE};

use crate::{checksum, DecodeError, Problem};

/// Where the checksum is.
const CHECKSUM_AT: usize = 8;
/// Where the fields begin.
pub(crate) const FIELDS_AT: usize = 16;

pub(crate) fn zero_frame() -> Box<Frame> {
    Box::new([0; FRAME_SIZE])
}

#[inline]
pub(crate) fn get_u64(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(word)
}

#[inline]
pub(crate) fn get_u32(bytes: &[u8], at: usize) -> u32 {
    let mut word = [0; 4];
    word.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(word)
}

#[inline]
pub(crate) fn get_u16(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

pub(crate) fn put(bytes: &mut [u8], at: usize, field: &[u8]) {
    bytes[at..at + field.len()].copy_from_slice(field);
}

pub(crate) fn put_u64(bytes: &mut [u8], at: usize, value: u64) {
    put(bytes, at, &value.to_le_bytes());
}

/// A 48-bit counter with two bytes on top: how versions share a word with kinds and rights.
#[inline]
pub(crate) fn pack(counter: u64, low: u8, high: u8) -> u64 {
    (counter & ((1 << 48) - 1)) | u64::from(low) << 48 | u64::from(high) << 56
}

/// The counter and the two bytes of [`pack`].
#[inline]
pub(crate) fn unpack(word: u64) -> (u64, u8, u8) {
    (
        word & ((1 << 48) - 1),
        (word >> 48) as u8,
        (word >> 56) as u8,
    )
}

/// Which record, how long it is, and where it belongs.
#[derive(Clone, Copy)]
pub(crate) struct Envelope {
    pub record: &'static str,
    pub mark: [u8; 8],
    /// Bytes that the checksum covers, from the start of the frame; the rest of the frame means nothing.
    pub extent: usize,
    pub seed: u64,
}

impl Envelope {
    /// Writes mark and checksum, once every field is there. The answer is the checksum.
    pub(crate) fn seal(&self, frame: &mut Frame) -> u64 {
        put(frame, 0, &self.mark);
        let sum = checksum::of_bytes(self.seed, &frame[FIELDS_AT..self.extent]);
        put_u64(frame, CHECKSUM_AT, sum);
        sum
    }

    /// Checks mark and checksum. The answer is the checksum.
    pub(crate) fn open(&self, frame: &Frame) -> Result<u64, DecodeError> {
        let error = |offset, problem| DecodeError {
            record: self.record,
            offset,
            problem,
        };
        if frame[..8] != self.mark {
            let found = get_u64(frame, 0);
            return Err(error(0, Problem::Magic { found }));
        }
        let found = get_u64(frame, CHECKSUM_AT);
        let computed = checksum::of_bytes(self.seed, &frame[FIELDS_AT..self.extent]);
        if found != computed {
            return Err(error(CHECKSUM_AT, Problem::Checksum { found, computed }));
        }
        Ok(found)
    }

    /// Refuses a number so great that counting on could overflow: none gets there by counting.
    pub(crate) fn counter(&self, frame: &Frame, at: usize) -> Result<(), DecodeError> {
        let found = get_u64(frame, at);
        if found >> 60 != 0 {
            return Err(self.value(at, "counter", found, "below 2^60"));
        }
        Ok(())
    }

    /// The error for a field without a meaning.
    pub(crate) fn value(
        &self,
        offset: usize,
        field: &'static str,
        found: u64,
        allowed: &'static str,
    ) -> DecodeError {
        DecodeError::value(self.record, offset, field, found, allowed)
    }
}
