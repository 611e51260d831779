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

/// Flags of a tag.
const NULL: u8 = 1;
const LOST: u8 = 2;

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
    #[inline]
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
    /// The contents were found wrong on every disk when they were to be brought home. Only the tag of an object at home says
    /// so; `checksum` is that of what was lost. What is `null` is never lost.
    pub lost: bool,
    /// The checksum of the contents ([`crate::checksum::of_object`]).
    pub checksum: u64,
}

impl Tag {
    /// The tag of a frame that was never used.
    pub const UNUSED: Tag = Tag {
        version: Version(0),
        kind: FrameKind::Unused,
        null: true,
        lost: false,
        checksum: 0,
    };

    /// The tag in two words, as it is on disk.
    #[inline]
    pub fn pack(&self) -> PackedTag {
        PackedTag {
            word: pack(
                self.version.0,
                self.kind as u8,
                (u8::from(self.null) * NULL) | (u8::from(self.lost) * LOST),
            ),
            checksum: self.checksum,
        }
    }
}

/// A tag as it is on disk: version 6 bytes, kind 1, flags 1 (bit 0: null, bit 1: lost), checksum 8.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PackedTag {
    word: u64,
    checksum: u64,
}

impl PackedTag {
    /// Version, kind and null flag in one word; the checksum in another. They need not have a meaning.
    #[inline]
    pub(crate) fn new(word: u64, checksum: u64) -> Self {
        Self { word, checksum }
    }

    /// The two words.
    #[inline]
    pub(crate) fn words(self) -> (u64, u64) {
        (self.word, self.checksum)
    }

    /// Whether there are no contents.
    #[inline]
    pub fn is_null(self) -> bool {
        self.word >> 56 & u64::from(NULL) != 0
    }

    /// Whether the words have a meaning: kind and flags exist, what is null has no checksum, what has contents has a kind.
    #[inline]
    pub fn is_sound(self) -> bool {
        let high = self.word >> 48;
        // Two bits of flags, of which one may be set, over two bits of kind, and nothing else; then what null and the
        // checksum say of each other.
        let known = high & !0x303 == 0 && high & 0x300 != 0x300;
        let null = self.is_null();
        known & (!null | (self.checksum == 0)) & (null | (high & 3 != 0))
    }

    /// The tag, if the words have a meaning; nothing that was never used otherwise.
    pub fn unpack(self) -> Tag {
        self.decode("tag", 0).unwrap_or(Tag::UNUSED)
    }

    pub(crate) fn decode(self, record: &'static str, at: usize) -> Result<Tag, DecodeError> {
        let (version, number, flags) = unpack(self.word);
        let Some(kind) = FrameKind::from_number(number) else {
            return Err(DecodeError::value(
                record,
                at + 6,
                "kind",
                number.into(),
                "0 to 3",
            ));
        };
        if flags > LOST {
            return Err(DecodeError::value(
                record,
                at + 7,
                "flags",
                flags.into(),
                "0, 1 or 2",
            ));
        }
        if !self.is_sound() {
            let allowed = "0 without contents, and contents only of a kind";
            return Err(DecodeError::value(
                record,
                at,
                "checksum",
                self.checksum,
                allowed,
            ));
        }
        Ok(Tag {
            version: Version(version),
            kind,
            null: flags == NULL,
            lost: flags == LOST,
            checksum: self.checksum,
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
            let (word, checksum) = tag.pack().words();
            put_u64(&mut frame[..], at, word);
            put_u64(&mut frame[..], at + 8, checksum);
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
            let packed = PackedTag::new(get_u64(frame, at), get_u64(frame, at + 8));
            *tag = packed.decode(envelope.record, at)?;
        }
        Ok(pot)
    }
}
