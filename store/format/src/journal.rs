//! Journal records: data pages that were committed by themselves, between checkpoints (EROS, footnote 4).
//!
//! Record n lies in record frame n mod (record frames) of the journal, its pages in the page frames that it names. Pages
//! and records never share a frame, so that no page can pass for a record.

use alloc::boxed::Box;
use alloc::vec::Vec;

use pebble_store_device::{Frame, FRAME_SIZE};
use pebble_store_object::{Version, COUNTER_LIMIT};

use crate::bytes::{get_u64, put_u64, zero_frame, Envelope};
use crate::{DecodeError, ObjectFrame, VolumeKey};

/// Pages of a record.
pub const JOURNAL_PAGES: usize = 128;

const PAGES_AT: usize = 64;
const PAGE_BYTES: usize = 24;

/// A page of a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct JournalPage {
    /// Which page.
    pub frame: ObjectFrame,
    /// Its version when it was journaled: the page that has another one by then is left alone.
    pub version: Version,
    /// The checksum of its contents.
    pub checksum: u64,
}

/// Pages that were committed together.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct JournalRecord {
    /// Its number: records are applied in this order.
    pub sequence: u64,
    /// The newest committed generation when it was written.
    pub generation: u64,
    /// How often the system had been started.
    pub restart: u64,
    /// The position of its first page in the journal; the others follow it.
    pub position: u64,
    /// 1 to 128 pages, all of them data pages.
    pub pages: Vec<JournalPage>,
}

impl JournalRecord {
    fn envelope(key: VolumeKey, slot: u64) -> Envelope {
        Envelope {
            record: "journal record",
            mark: *b"PebJourn",
            extent: FRAME_SIZE,
            seed: key.seed(slot),
        }
    }

    /// Writes it for its record frame. Pages behind the 128th are left out.
    pub fn encode(&self, key: VolumeKey, slot: u64) -> Box<Frame> {
        let mut frame = zero_frame();
        let count = self.pages.len().min(JOURNAL_PAGES);
        let fields = [
            self.sequence,
            self.generation,
            self.restart,
            self.position,
            count as u64,
        ];
        for (index, field) in fields.into_iter().enumerate() {
            put_u64(&mut frame[..], 16 + 8 * index, field);
        }
        for (index, page) in self.pages.iter().take(count).enumerate() {
            let at = PAGES_AT + index * PAGE_BYTES;
            put_u64(&mut frame[..], at, page.frame.0);
            put_u64(&mut frame[..], at + 8, page.version.0);
            put_u64(&mut frame[..], at + 16, page.checksum);
        }
        Self::envelope(key, slot).seal(&mut frame);
        frame
    }

    /// Reads the one in a record frame.
    pub fn decode(key: VolumeKey, slot: u64, frame: &Frame) -> Result<Self, DecodeError> {
        let envelope = Self::envelope(key, slot);
        envelope.open(frame)?;
        for at in [16, 24, 32, 40] {
            envelope.counter(frame, at)?;
        }
        let count = get_u64(frame, 48);
        if count == 0 || count > JOURNAL_PAGES as u64 {
            return Err(envelope.value(48, "pages", count, "1 to 128"));
        }
        let position = get_u64(frame, 40);
        let mut pages = Vec::with_capacity(count as usize);
        for index in 0..count as usize {
            let at = PAGES_AT + index * PAGE_BYTES;
            let version = get_u64(frame, at + 8);
            if version > COUNTER_LIMIT {
                return Err(envelope.value(at + 8, "version", version, "below 2^48"));
            }
            pages.push(JournalPage {
                frame: ObjectFrame(get_u64(frame, at)),
                version: Version(version),
                checksum: get_u64(frame, at + 16),
            });
        }
        Ok(Self {
            sequence: get_u64(frame, 16),
            generation: get_u64(frame, 24),
            restart: get_u64(frame, 32),
            position,
            pages,
        })
    }
}
