//! The object directory: where the objects of a generation are in the log.

use alloc::boxed::Box;
use alloc::vec::Vec;

use pebble_store_device::{Frame, FRAME_SIZE};

use crate::bytes::{get_u64, put_u64, zero_frame, Envelope};
use crate::{checksum, DecodeError, ObjectFrame, PackedTag, Tag, VolumeKey};

/// Entries of a frame.
pub const DIRECTORY_ENTRIES: usize = 126;

const RECORD: &str = "object directory";
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
            record: RECORD,
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
            let (word, checksum) = entry.tag.pack().words();
            put_u64(&mut frame[..], at + 16, word);
            put_u64(&mut frame[..], at + 24, checksum);
        }
        let checksum = Self::envelope(key, log).seal(&mut frame);
        (frame, checksum)
    }

    /// Reads the one at a place in the log. With it comes its checksum.
    pub fn decode(key: VolumeKey, log: u64, frame: &Frame) -> Result<(Self, u64), DecodeError> {
        let reader = DirectoryReader::open(key, log, frame)?;
        let (generation, index, checksum) = (reader.generation, reader.index, reader.checksum);
        let entries = reader
            .entries()
            .enumerate()
            .map(|(index, entry)| entry.unpack(index));
        let entries = entries.collect::<Result<Vec<DirectoryEntry>, DecodeError>>()?;
        let directory = Self {
            generation,
            index,
            entries,
        };
        Ok((directory, checksum))
    }
}

/// An entry as it is on disk: four words, found sound, and taken apart only when somebody wants to know.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PackedEntry {
    /// Which object frame.
    pub frame: ObjectFrame,
    /// Where its contents are; 0 when it is null.
    pub log: u64,
    /// Version, kind and checksum.
    pub tag: PackedTag,
}

/// A frame of the directory that is read entry by entry: recovery's way.
pub struct DirectoryReader<'frame> {
    /// The generation that it belongs to.
    pub generation: u64,
    /// Which frame of the directory, from 0.
    pub index: u64,
    /// Its checksum, for [`fold_directory`].
    pub checksum: u64,
    entries: &'frame [[u8; ENTRY_BYTES]],
}

impl<'frame> DirectoryReader<'frame> {
    /// Checks mark, place and checksum of a frame.
    pub fn open(key: VolumeKey, log: u64, frame: &'frame Frame) -> Result<Self, DecodeError> {
        let envelope = DirectoryFrame::envelope(key, log);
        let checksum = envelope.open(frame)?;
        let count = get_u64(frame, 32);
        if count == 0 || count > DIRECTORY_ENTRIES as u64 {
            return Err(envelope.value(32, "entries", count, "1 to 126"));
        }
        let end = ENTRIES_AT + count as usize * ENTRY_BYTES;
        let (entries, _) = frame[ENTRIES_AT..end].as_chunks();
        Ok(Self {
            generation: get_u64(frame, 16),
            index: get_u64(frame, 24),
            checksum,
            entries,
        })
    }

    /// The entries, as they are: those that are not [sound](PackedEntry::is_sound) included.
    #[inline]
    pub fn entries(&self) -> impl ExactSizeIterator<Item = PackedEntry> + 'frame {
        self.entries.iter().map(|bytes| PackedEntry {
            frame: ObjectFrame(get_u64(bytes, 0)),
            log: get_u64(bytes, 8),
            tag: PackedTag::new(get_u64(bytes, 16), get_u64(bytes, 24)),
        })
    }
}

impl PackedEntry {
    /// Whether the entry has a meaning: [`PackedEntry::unpack`] would succeed.
    pub fn is_sound(&self) -> bool {
        self.flaws() == 0 && (self.tag.is_null() || self.log != 0)
    }

    /// Whether the entry has no contents, if it has no [flaws](PackedEntry::flaws): then null is the only flag there can be.
    #[inline]
    pub fn is_null(&self) -> bool {
        self.tag.words().0 >> 56 != 0
    }

    /// Bits for what is wrong with the entry by itself: 0 when nothing is, but for contents whose log number is 0. Bits, so
    /// that those of many entries can be gathered without a branch.
    #[inline]
    pub fn flaws(&self) -> u64 {
        let (word, checksum) = self.tag.words();
        let high = word >> 48;
        // One bit of flags over two bits of kind, and nothing else. No contents: no checksum and no place either. Contents:
        // a kind, so that not everything is 0.
        let null = word >> 56;
        let nowhere = (self.log | checksum) & 0_u64.wrapping_sub(null);
        (high & !0x103) | nowhere | (high.wrapping_sub(1) >> 63)
    }

    /// The entry, if it is sound. `index` is its place in its frame, for the error.
    pub fn unpack(&self, index: usize) -> Result<DirectoryEntry, DecodeError> {
        let at = ENTRIES_AT + index * ENTRY_BYTES;
        let tag = self.tag.decode(RECORD, at + 16)?;
        if tag.lost {
            // What a generation has was whole when it was committed.
            let allowed = "0 or 1 in a directory";
            return Err(DecodeError::value(RECORD, at + 23, "flags", 2, allowed));
        }
        if tag.null != (self.log == 0) {
            let allowed = "0 exactly when there are no contents";
            return Err(DecodeError::value(
                RECORD,
                at + 8,
                "log number",
                self.log,
                allowed,
            ));
        }
        Ok(DirectoryEntry {
            frame: self.frame,
            log: self.log,
            tag,
        })
    }
}

/// Folds the checksum of the next frame of a directory into that of the ones before it; the first is folded into 0.
pub fn fold_directory(before: u64, frame: u64) -> u64 {
    checksum::of_bytes(before, &frame.to_le_bytes())
}
