//! The object directory: where the objects of a generation are in the log.

use alloc::boxed::Box;
use alloc::vec::Vec;

use pebble_store_device::{Frame, FRAME_SIZE};

use crate::bytes::{get_u64, put_u64, zero_frame, Envelope};
use crate::{checksum, DecodeError, ObjectFrame, Tag, VolumeKey};

/// Entries of a frame.
pub const DIRECTORY_ENTRIES: usize = 126;

const ENTRIES_AT: usize = 64;
const ENTRY_BYTES: usize = 32;

/// One object frame of a generation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DirectoryEntry {
    /// Which.
    pub frame: ObjectFrame,
    /// Where its contents are; 0 when it is null.
    pub log: u64,
    /// Version, kind and checksum.
    pub tag: Tag,
}

/// A frame of the directory.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DirectoryFrame {
    /// The generation that it belongs to.
    pub generation: u64,
    /// Which frame of the directory, from 0.
    pub index: u64,
    /// 1 to 126 entries.
    pub entries: Vec<DirectoryEntry>,
}

impl DirectoryFrame {
    fn envelope(key: VolumeKey, log: u64) -> Envelope {
        Envelope {
            record: "object directory",
            mark: *b"PebObjec",
            extent: FRAME_SIZE,
            seed: key.seed(log),
        }
    }

    /// Writes it for its place in the log. With it comes its checksum, for [`fold_directory`].
    pub fn encode(&self, key: VolumeKey, log: u64) -> (Box<Frame>, u64) {
        let mut frame = zero_frame();
        let count = self.entries.len().min(DIRECTORY_ENTRIES);
        put_u64(&mut frame[..], 16, self.generation);
        put_u64(&mut frame[..], 24, self.index);
        put_u64(&mut frame[..], 32, count as u64);
        for (index, entry) in self.entries.iter().take(count).enumerate() {
            let at = ENTRIES_AT + index * ENTRY_BYTES;
            put_u64(&mut frame[..], at, entry.frame.0);
            put_u64(&mut frame[..], at + 8, entry.log);
            put_u64(&mut frame[..], at + 16, entry.tag.word());
            put_u64(&mut frame[..], at + 24, entry.tag.checksum);
        }
        let checksum = Self::envelope(key, log).seal(&mut frame);
        (frame, checksum)
    }

    /// Reads the one at a place in the log. With it comes its checksum.
    pub fn decode(key: VolumeKey, log: u64, frame: &Frame) -> Result<(Self, u64), DecodeError> {
        let mut entries = Vec::new();
        let (generation, index, checksum) =
            Self::visit(key, log, frame, |entry| entries.push(entry))?;
        let directory = Self {
            generation,
            index,
            entries,
        };
        Ok((directory, checksum))
    }

    /// Reads the one at a place in the log without keeping it: every entry is given to `visitor`. The answer is generation,
    /// index and checksum. Entries may have been given out when an error is found in a later one.
    pub fn visit(
        key: VolumeKey,
        log: u64,
        frame: &Frame,
        mut visitor: impl FnMut(DirectoryEntry),
    ) -> Result<(u64, u64, u64), DecodeError> {
        let envelope = Self::envelope(key, log);
        let checksum = envelope.open(frame)?;
        let count = get_u64(frame, 32);
        if count == 0 || count > DIRECTORY_ENTRIES as u64 {
            return Err(envelope.value(32, "entries", count, "1 to 126"));
        }
        let end = ENTRIES_AT + count as usize * ENTRY_BYTES;
        for (index, bytes) in frame[ENTRIES_AT..end].chunks_exact(ENTRY_BYTES).enumerate() {
            let at = ENTRIES_AT + index * ENTRY_BYTES;
            let place = get_u64(bytes, 8);
            let tag = Tag::from_words(
                envelope.record,
                at + 16,
                get_u64(bytes, 16),
                get_u64(bytes, 24),
            )?;
            if tag.null != (place == 0) {
                let allowed = "0 exactly when there are no contents";
                return Err(envelope.value(at + 8, "log number", place, allowed));
            }
            visitor(DirectoryEntry {
                frame: ObjectFrame(get_u64(bytes, 0)),
                log: place,
                tag,
            });
        }
        Ok((get_u64(frame, 16), get_u64(frame, 24), checksum))
    }
}

/// Folds the checksum of the next frame of a directory into that of the ones before it; the first is folded into 0.
pub fn fold_directory(before: u64, frame: u64) -> u64 {
    checksum::of_bytes(before, &frame.to_le_bytes())
}
