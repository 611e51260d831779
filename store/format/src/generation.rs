//! The generation header: what one checkpoint consists of. A frame of the log.

use alloc::boxed::Box;

use pebble_store_device::{Frame, SECTOR_SIZE};

use crate::bytes::{get_u64, put_u64, zero_frame, Envelope};
use crate::{DecodeError, VolumeKey, DIRECTORY_ENTRIES, RESTART_ENTRIES};

/// Consecutive log frames with the entries of a directory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DirectoryExtent {
    /// The log number of the first frame.
    pub first: u64,
    /// Frames.
    pub frames: u64,
    /// Entries in them. Every frame but the last is full.
    pub entries: u64,
    /// The checksums of the frames, folded in order ([`crate::fold_directory`]).
    pub checksum: u64,
}

/// What one checkpoint consists of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct GenerationHeader {
    /// Its number: 1 or more, never used twice on a volume.
    pub generation: u64,
    /// The generation that the system ran on when this one was taken: 0 for the first. Not always the number before: after a
    /// fall-back the generations between were given up.
    pub parent: u64,
    /// The first log number of the generation's frames.
    pub first_log: u64,
    /// The log number behind the last of them.
    pub end_log: u64,
    /// The objects that changed since the parent.
    pub objects: DirectoryExtent,
    /// The processes to start.
    pub restart: DirectoryExtent,
    /// The number of the first journal record that is newer than this generation.
    pub journal_sequence: u64,
    /// The position of the first journal page that is newer.
    pub journal_position: u64,
    /// When the snapshot was taken: nanoseconds since 1970.
    pub time: u64,
    /// Which code generator the system had. For information.
    pub generator: u64,
}

impl GenerationHeader {
    fn envelope(key: VolumeKey, log: u64) -> Envelope {
        Envelope {
            record: "generation header",
            mark: *b"PebGener",
            extent: SECTOR_SIZE,
            seed: key.seed(log),
        }
    }

    /// Writes it for its place in the log. With it comes the checksum that the checkpoint header wants.
    pub fn encode(&self, key: VolumeKey, log: u64) -> (Box<Frame>, u64) {
        let mut frame = zero_frame();
        let fields = [
            self.generation,
            self.parent,
            self.first_log,
            self.end_log,
            self.objects.first,
            self.objects.frames,
            self.objects.entries,
            self.objects.checksum,
            self.restart.first,
            self.restart.frames,
            self.restart.entries,
            self.restart.checksum,
            self.journal_sequence,
            self.journal_position,
            self.time,
            self.generator,
        ];
        for (index, field) in fields.into_iter().enumerate() {
            put_u64(&mut frame[..], 16 + 8 * index, field);
        }
        let checksum = Self::envelope(key, log).seal(&mut frame);
        (frame, checksum)
    }

    /// Reads the one at a place in the log. With it comes its checksum.
    pub fn decode(key: VolumeKey, log: u64, frame: &Frame) -> Result<(Self, u64), DecodeError> {
        let envelope = Self::envelope(key, log);
        let checksum = envelope.open(frame)?;
        let field = |index: usize| get_u64(frame, 16 + 8 * index);
        for index in [0, 2, 3, 4, 5, 6, 8, 9, 10, 12, 13] {
            envelope.counter(frame, 16 + 8 * index)?;
        }
        let extent = |index: usize, per_frame: usize| {
            let extent = DirectoryExtent {
                first: field(index),
                frames: field(index + 1),
                entries: field(index + 2),
                checksum: field(index + 3),
            };
            let needed = extent.entries.div_ceil(per_frame as u64);
            let inside = extent.frames == 0
                || extent.first >= field(2)
                    && extent
                        .first
                        .checked_add(extent.frames)
                        .is_some_and(|end| end <= field(3));
            if extent.frames != needed || !inside {
                let at = 16 + 8 * index;
                let allowed = "what the entries need, inside the generation";
                return Err(envelope.value(at + 8, "directory frames", extent.frames, allowed));
            }
            Ok(extent)
        };
        let header = Self {
            generation: field(0),
            parent: field(1),
            first_log: field(2),
            end_log: field(3),
            objects: extent(4, DIRECTORY_ENTRIES)?,
            restart: extent(8, RESTART_ENTRIES)?,
            journal_sequence: field(12),
            journal_position: field(13),
            time: field(14),
            generator: field(15),
        };
        if header.parent >= header.generation {
            return Err(envelope.value(24, "parent", header.parent, "below the generation"));
        }
        if header.first_log == 0 || header.first_log > log || header.end_log <= log {
            let allowed = "a span with this frame in it";
            return Err(envelope.value(32, "first log number", header.first_log, allowed));
        }
        Ok((header, checksum))
    }
}
