//! Tags: what the frames of a cluster hold.

use alloc::boxed::Box;

use pebble_store_device::{Frame, FRAME_SIZE};
use pebble_store_object::Version;

use crate::bytes::{get_u64, pack, put_u64, unpack, zero_frame, Envelope};
use crate::{DecodeError, VolumeKey};

/// Tags of a pot: one for each frame of the cluster.
pub const TAGS_PER_POT: usize = 254;

const TAGS_AT: usize = 32;
const TAG_BYTES: usize = 16;

/// What an object frame holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum FrameKind {
    /// Nothing yet: it was never allocated.
    #[default]
    Unused = 0,
    /// A page of bytes.
    DataPage = 1,
    /// A page of capabilities.
    CapabilityPage = 2,
    /// A pot of nodes.
    Nodes = 3,
}

impl FrameKind {
    /// The kind with this number, if there is one.
    pub fn from_number(number: u8) -> Option<Self> {
        match number {
            0 => Some(Self::Unused),
            1 => Some(Self::DataPage),
            2 => Some(Self::CapabilityPage),
            3 => Some(Self::Nodes),
            _ => None,
        }
    }
}

/// What the store knows of an object frame without reading it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tag {
    /// The page's version; for nodes the greatest of theirs.
    pub version: Version,
    /// What the frame holds.
    pub kind: FrameKind,
    /// The contents are all zero (for nodes: empty nodes of `version`) and are nowhere on disk; `checksum` is 0.
    pub null: bool,
    /// The checksum of the contents ([`crate::checksum::of_object`]).
    pub checksum: u64,
}

impl Tag {
    /// The tag of a frame that was never used.
    pub const UNUSED: Tag = Tag {
        version: Version(0),
        kind: FrameKind::Unused,
        null: true,
        checksum: 0,
    };

    /// Version, kind and the null flag in one word, as tags and directory entries hold them.
    pub(crate) fn word(&self) -> u64 {
        pack(self.version.0, self.kind as u8, u8::from(self.null))
    }

    /// Reads that word and the checksum that belongs to it.
    pub(crate) fn from_words(
        record: &'static str,
        at: usize,
        word: u64,
        checksum: u64,
    ) -> Result<Self, DecodeError> {
        let (version, kind, flags) = unpack(word);
        let Some(kind) = FrameKind::from_number(kind) else {
            return Err(DecodeError::value(
                record,
                at + 6,
                "kind",
                kind.into(),
                "0 to 3",
            ));
        };
        if flags > 1 {
            return Err(DecodeError::value(
                record,
                at + 7,
                "flags",
                flags.into(),
                "0 or 1",
            ));
        }
        let null = flags == 1;
        if null && checksum != 0 || kind == FrameKind::Unused && !null {
            let allowed = "0 without contents, and contents only of a kind";
            return Err(DecodeError::value(
                record, at, "checksum", checksum, allowed,
            ));
        }
        Ok(Self {
            version: Version(version),
            kind,
            null,
            checksum,
        })
    }
}

/// The tags of a cluster. There are two copies on disk; the valid one with the greater sequence number counts. Only the
/// other one is ever written, so that a torn write loses nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TagPot {
    /// How often the pot was written.
    pub sequence: u64,
    /// One tag for each frame.
    pub tags: [Tag; TAGS_PER_POT],
}

impl TagPot {
    fn envelope(key: VolumeKey, range: u16, cluster: u64) -> Envelope {
        Envelope {
            record: "tag pot",
            mark: *b"PebTags\0",
            extent: FRAME_SIZE,
            seed: key.seed(cluster | u64::from(range) << 48),
        }
    }

    /// A pot of frames that were never used.
    pub fn unused() -> Self {
        Self {
            sequence: 0,
            tags: [Tag::UNUSED; TAGS_PER_POT],
        }
    }

    /// Writes the pot of a cluster of a range.
    pub fn encode(&self, key: VolumeKey, range: u16, cluster: u64) -> Box<Frame> {
        let mut frame = zero_frame();
        put_u64(&mut frame[..], 16, self.sequence);
        put_u64(&mut frame[..], 24, cluster);
        for (index, tag) in self.tags.iter().enumerate() {
            let at = TAGS_AT + index * TAG_BYTES;
            put_u64(&mut frame[..], at, tag.word());
            put_u64(&mut frame[..], at + 8, tag.checksum);
        }
        Self::envelope(key, range, cluster).seal(&mut frame);
        frame
    }

    /// Reads one copy of the pot of a cluster of a range.
    pub fn decode(
        key: VolumeKey,
        range: u16,
        cluster: u64,
        frame: &Frame,
    ) -> Result<Self, DecodeError> {
        let envelope = Self::envelope(key, range, cluster);
        envelope.open(frame)?;
        envelope.counter(frame, 16)?;
        let found = get_u64(frame, 24);
        if found != cluster {
            return Err(envelope.value(24, "cluster", found, "the one of its place"));
        }
        let mut pot = Self::unused();
        pot.sequence = get_u64(frame, 16);
        for (index, tag) in pot.tags.iter_mut().enumerate() {
            let at = TAGS_AT + index * TAG_BYTES;
            *tag = Tag::from_words(
                envelope.record,
                at,
                get_u64(frame, at),
                get_u64(frame, at + 8),
            )?;
        }
        Ok(pot)
    }
}
