//! The checkpoint header: the one sector whose arrival on disk commits a checkpoint.
//!
//! There are two slots; header number n goes into slot n mod 2, so that a torn write leaves the one before it whole.

use alloc::boxed::Box;
use alloc::vec::Vec;

use pebble_store_device::{Frame, SECTOR_SIZE};

use crate::bytes::{get_u64, put_u64, zero_frame, Envelope};
use crate::{DecodeError, LogLayout, VolumeKey};

/// Generations that a header has room for.
pub const LISTED_GENERATIONS: usize = 20;

const LIST_AT: usize = 112;
const REFERENCE_BYTES: usize = 16;

/// Where a generation's header frame is in the log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GenerationReference {
    /// Its log number.
    pub log: u64,
    /// The checksum in it: a frame of an earlier attempt at the same place has another.
    pub checksum: u64,
}

/// What the whole store's state hangs on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CheckpointHeader {
    /// Grows by one with each header. The greatest valid one counts.
    pub sequence: u64,
    /// The newest generation listed.
    pub generation: u64,
    /// The first log number that is not used by this header's generations or by ones dropped lately.
    pub next_log: u64,
    /// Every log number below this is free: the first log number of the oldest generation listed.
    pub oldest_log: u64,
    /// How often the system was started before this checkpoint.
    pub restart: u64,
    /// When the newest generation's snapshot was taken: nanoseconds since 1970.
    pub time: u64,
    /// How often the set of replicas that can be trusted has changed.
    pub replica_sequence: u64,
    /// The disks that can be trusted: bit n for disk n.
    pub in_sync: u8,
    /// Generations below this one may be under migration: they are needed to read the newer ones, and cannot be started
    /// from. From this one up all can.
    pub bootable_from: u64,
    /// The generations that are not migrated completely, newest first: 1 to 20.
    pub generations: Vec<GenerationReference>,
}

impl CheckpointHeader {
    fn envelope(key: VolumeKey, slot: u64) -> Envelope {
        Envelope {
            record: "checkpoint header",
            mark: *b"PebCheck",
            extent: SECTOR_SIZE,
            seed: key.seed(slot),
        }
    }

    /// Writes it, for the slot that its sequence number says. Generations behind the 20th are left out.
    pub fn encode(&self, key: VolumeKey) -> Box<Frame> {
        let mut frame = zero_frame();
        let count = self.generations.len().min(LISTED_GENERATIONS);
        let fields = [
            self.sequence,
            self.generation,
            self.next_log,
            self.oldest_log,
            self.restart,
            self.time,
            self.replica_sequence,
            self.in_sync.into(),
            self.bootable_from,
            count as u64,
        ];
        for (index, field) in fields.into_iter().enumerate() {
            put_u64(&mut frame[..], 16 + 8 * index, field);
        }
        for (index, reference) in self.generations.iter().take(count).enumerate() {
            let at = LIST_AT + index * REFERENCE_BYTES;
            put_u64(&mut frame[..], at, reference.log);
            put_u64(&mut frame[..], at + 8, reference.checksum);
        }
        Self::envelope(key, LogLayout::header_slot(self.sequence)).seal(&mut frame);
        frame
    }

    /// Makes the checksum of whatever is in a slot right.
    #[cfg(feature = "mutants")]
    pub fn reseal(key: VolumeKey, slot: u64, mut frame: Box<Frame>) -> Box<Frame> {
        if frame[..4] == *b"PebC" {
            Self::envelope(key, slot).seal(&mut frame);
        }
        frame
    }

    /// Reads the header in a slot, 0 or 1.
    pub fn decode(key: VolumeKey, slot: u64, frame: &Frame) -> Result<Self, DecodeError> {
        let envelope = Self::envelope(key, slot);
        envelope.open(frame)?;
        let field = |index: usize| get_u64(frame, 16 + 8 * index);
        let [sequence, generation, next_log, oldest_log] = [field(0), field(1), field(2), field(3)];
        for index in [0, 1, 2, 4, 6] {
            envelope.counter(frame, 16 + 8 * index)?;
        }
        if LogLayout::header_slot(sequence) != slot {
            return Err(envelope.value(16, "sequence", sequence, "one of this slot"));
        }
        if generation == 0 {
            return Err(envelope.value(24, "generation", generation, "1 or more"));
        }
        if oldest_log == 0 || oldest_log >= next_log {
            return Err(envelope.value(40, "oldest log number", oldest_log, "1 to the next one"));
        }
        let in_sync = field(7);
        if in_sync == 0 || in_sync > 0xFF {
            return Err(envelope.value(72, "disks in sync", in_sync, "1 to 255"));
        }
        let bootable_from = field(8);
        if bootable_from > generation {
            let allowed = "the newest generation or one before it";
            return Err(envelope.value(80, "bootable from", bootable_from, allowed));
        }
        let count = field(9);
        if count == 0 || count > LISTED_GENERATIONS as u64 {
            return Err(envelope.value(88, "generations", count, "1 to 20"));
        }
        let mut generations = Vec::with_capacity(count as usize);
        for index in 0..count as usize {
            let at = LIST_AT + index * REFERENCE_BYTES;
            let log = get_u64(frame, at);
            if log < oldest_log || log >= next_log {
                return Err(envelope.value(at, "log number", log, "from the oldest to the next"));
            }
            generations.push(GenerationReference {
                log,
                checksum: get_u64(frame, at + 8),
            });
        }
        Ok(Self {
            sequence,
            generation,
            next_log,
            oldest_log,
            restart: field(4),
            time: field(5),
            replica_sequence: field(6),
            in_sync: in_sync as u8,
            bootable_from,
            generations,
        })
    }
}
