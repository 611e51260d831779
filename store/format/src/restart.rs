//! The restart directory: the processes that run again after a restart (EROS, section 3.5.3).

use alloc::boxed::Box;
use alloc::vec::Vec;

use pebble_store_device::{Frame, FRAME_SIZE};
use pebble_store_object::{CallCount, ObjectId, Version, COUNTER_LIMIT};

use crate::bytes::{get_u64, pack, put_u64, unpack, zero_frame, Envelope};
use crate::{DecodeError, VolumeKey};

/// Entries of a frame.
pub const RESTART_ENTRIES: usize = 168;

const ENTRIES_AT: usize = 64;
const ENTRY_BYTES: usize = 24;

/// A process to start.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct RestartEntry {
    /// Its root node.
    pub process: ObjectId,
    /// The node's version for which this is good.
    pub version: Version,
    /// The call count for which this is good: 48 bits.
    pub call_count: CallCount,
    /// What it was in the middle of, in the scheduler's own numbers; 0 when it simply runs.
    pub hazard: u8,
    /// Its priority.
    pub priority: u8,
}

/// A frame of the directory.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RestartFrame {
    /// The generation that it belongs to.
    pub generation: u64,
    /// Which frame of the directory, from 0.
    pub index: u64,
    /// 1 to 168 entries.
    pub entries: Vec<RestartEntry>,
}

impl RestartFrame {
    fn envelope(key: VolumeKey, log: u64) -> Envelope {
        Envelope {
            record: "restart directory",
            mark: *b"PebStart",
            extent: FRAME_SIZE,
            seed: key.seed(log),
        }
    }

    /// Writes it for its place in the log. With it comes its checksum, for [`crate::fold_directory`].
    pub fn encode(&self, key: VolumeKey, log: u64) -> (Box<Frame>, u64) {
        let mut frame = zero_frame();
        let count = self.entries.len().min(RESTART_ENTRIES);
        put_u64(&mut frame[..], 16, self.generation);
        put_u64(&mut frame[..], 24, self.index);
        put_u64(&mut frame[..], 32, count as u64);
        for (index, entry) in self.entries.iter().take(count).enumerate() {
            let at = ENTRIES_AT + index * ENTRY_BYTES;
            put_u64(&mut frame[..], at, entry.process.0);
            let word = pack(entry.version.0, entry.hazard, entry.priority);
            put_u64(&mut frame[..], at + 8, word);
            put_u64(&mut frame[..], at + 16, entry.call_count.0);
        }
        let checksum = Self::envelope(key, log).seal(&mut frame);
        (frame, checksum)
    }

    /// Reads the one at a place in the log. With it comes its checksum.
    pub fn decode(key: VolumeKey, log: u64, frame: &Frame) -> Result<(Self, u64), DecodeError> {
        let envelope = Self::envelope(key, log);
        let checksum = envelope.open(frame)?;
        let count = get_u64(frame, 32);
        if count == 0 || count > RESTART_ENTRIES as u64 {
            return Err(envelope.value(32, "entries", count, "1 to 168"));
        }
        let mut entries = Vec::with_capacity(count as usize);
        for index in 0..count as usize {
            let at = ENTRIES_AT + index * ENTRY_BYTES;
            let (version, hazard, priority) = unpack(get_u64(frame, at + 8));
            let call_count = get_u64(frame, at + 16);
            if call_count > COUNTER_LIMIT {
                return Err(envelope.value(at + 16, "call count", call_count, "below 2^48"));
            }
            entries.push(RestartEntry {
                process: ObjectId(get_u64(frame, at)),
                version: Version(version),
                call_count: CallCount(call_count),
                hazard,
                priority,
            });
        }
        let directory = Self {
            generation: get_u64(frame, 16),
            index: get_u64(frame, 24),
            entries,
        };
        Ok((directory, checksum))
    }
}
