//! The boot record: which generation was started how often. What fall-back after failed boots goes by.
//!
//! It is the only thing that is written before the first checkpoint of a run. Losing it loses a count, nothing else.

use alloc::boxed::Box;

use pebble_store_device::{Frame, SECTOR_SIZE};

use crate::bytes::{get_u64, put_u64, zero_frame, Envelope};
use crate::{DecodeError, LogLayout, VolumeKey};

/// Starts of a generation that may go without a checkpoint after them; the next one starts from an older generation.
pub const BOOT_ATTEMPTS_LIMIT: u64 = 3;

/// A start of the system.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BootRecord {
    /// Grows by one with each record; record n lies in boot slot n mod 2.
    pub sequence: u64,
    /// The checkpoint header that was found. A record of another header says nothing.
    pub header: u64,
    /// The generation that was started.
    pub generation: u64,
    /// How often it was started under this header, this time included.
    pub attempts: u64,
    /// How often the system has been started, this time included.
    pub restart: u64,
    /// When an older generation than the newest was started: the first journal record that may be applied to it. 0 for the
    /// newest generation, which says itself.
    pub journal_sequence: u64,
}

impl BootRecord {
    fn envelope(key: VolumeKey, slot: u64) -> Envelope {
        Envelope {
            record: "boot record",
            mark: *b"PebBoots",
            extent: SECTOR_SIZE,
            seed: key.seed(slot),
        }
    }

    /// Writes it, for the slot that its sequence number says.
    pub fn encode(&self, key: VolumeKey) -> Box<Frame> {
        let mut frame = zero_frame();
        let fields = [
            self.sequence,
            self.header,
            self.generation,
            self.attempts,
            self.restart,
            self.journal_sequence,
        ];
        for (index, field) in fields.into_iter().enumerate() {
            put_u64(&mut frame[..], 16 + 8 * index, field);
        }
        Self::envelope(key, LogLayout::boot_slot(self.sequence)).seal(&mut frame);
        frame
    }

    /// Reads the one in a frame of the log range, 2 or 3.
    pub fn decode(key: VolumeKey, slot: u64, frame: &Frame) -> Result<Self, DecodeError> {
        let envelope = Self::envelope(key, slot);
        envelope.open(frame)?;
        let field = |index: usize| get_u64(frame, 16 + 8 * index);
        for index in 0..6 {
            envelope.counter(frame, 16 + 8 * index)?;
        }
        let record = Self {
            sequence: field(0),
            header: field(1),
            generation: field(2),
            attempts: field(3),
            restart: field(4),
            journal_sequence: field(5),
        };
        if LogLayout::boot_slot(record.sequence) != slot {
            return Err(envelope.value(16, "sequence", record.sequence, "one of this slot"));
        }
        Ok(record)
    }
}
