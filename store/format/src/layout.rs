//! Where things are: object numbers, clusters, the circular log, the journal.

use pebble_store_object::ObjectId;

/// Frames at the start of the log range that hold checkpoint headers.
pub const HEADER_SLOTS: u64 = 2;
/// Frames behind them that hold boot records.
pub const BOOT_SLOTS: u64 = 2;
/// Frames of a cluster of an object range.
pub const CLUSTER_FRAMES: u64 = 256;
/// Copies of its tag pot at the start of each cluster.
pub const CLUSTER_POTS: u64 = 2;
/// Frames with objects behind them.
pub const CLUSTER_DATA: u64 = CLUSTER_FRAMES - CLUSTER_POTS;

/// The number of a frame in the space of objects: what the store reads, writes, checks and migrates as one. It holds a
/// page, or a pot of nodes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct ObjectFrame(pub u64);

/// Bits of an object's number that say which object of its frame it is.
const INDEX_BITS: u32 = 3;

/// The frame that holds an object.
pub fn object_frame(id: ObjectId) -> ObjectFrame {
    ObjectFrame(id.0 >> INDEX_BITS)
}

/// Which object of its frame it is: 0 for a page, 0 to 4 for a node. 5 to 7 name no object.
pub fn index_of(id: ObjectId) -> usize {
    (id.0 & ((1 << INDEX_BITS) - 1)) as usize
}

/// The number of the page in a frame.
pub fn page_id(frame: ObjectFrame) -> ObjectId {
    ObjectId(frame.0 << INDEX_BITS)
}

/// The number of a node in a frame. Indices from 8 on name no object, and are cut off.
pub fn node_id(frame: ObjectFrame, index: usize) -> ObjectId {
    ObjectId(frame.0 << INDEX_BITS | (index as u64 & ((1 << INDEX_BITS) - 1)))
}

/// Where in an object range a frame is at home.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClusterPlace {
    /// The cluster's number in its range.
    pub cluster: u64,
    /// Which of the cluster's objects, 0 to [`CLUSTER_DATA`] - 1; also the number of its tag.
    pub index: usize,
}

impl ClusterPlace {
    /// The place of the `number`th object frame of a range.
    pub fn of(number: u64) -> Self {
        Self {
            cluster: number / CLUSTER_DATA,
            index: (number % CLUSTER_DATA) as usize,
        }
    }

    /// The frame of the range with the contents.
    pub fn frame(self) -> u64 {
        self.cluster * CLUSTER_FRAMES + CLUSTER_POTS + self.index as u64
    }

    /// The frame of the range with one of the copies of the tag pot, 0 or 1.
    pub fn pot(self, copy: u64) -> u64 {
        self.cluster * CLUSTER_FRAMES + copy
    }

    /// How many object frames a range of so many frames holds. A last cluster may be cut short.
    pub fn capacity(frames: u64) -> u64 {
        let whole = frames / CLUSTER_FRAMES * CLUSTER_DATA;
        whole + (frames % CLUSTER_FRAMES).saturating_sub(CLUSTER_POTS)
    }
}

/// The circular log. Log numbers count from 1 for ever; number 0 names nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LogLayout {
    /// Frames that go round.
    pub frames: u64,
}

impl LogLayout {
    /// The log of a range with so many frames, if there is any room in it.
    pub fn of(range_frames: u64) -> Option<Self> {
        let frames = range_frames.checked_sub(HEADER_SLOTS + BOOT_SLOTS)?;
        (frames > 0).then_some(Self { frames })
    }

    /// The frame of the range that a log number lies in.
    pub fn frame(self, number: u64) -> u64 {
        HEADER_SLOTS + BOOT_SLOTS + number % self.frames
    }

    /// The frame of the range for the header with this sequence number.
    pub fn header_slot(sequence: u64) -> u64 {
        sequence % HEADER_SLOTS
    }

    /// The frame of the range for the boot record with this sequence number.
    pub fn boot_slot(sequence: u64) -> u64 {
        HEADER_SLOTS + sequence % BOOT_SLOTS
    }
}

/// The journal: frames for records, then frames for pages; both go round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct JournalLayout {
    /// Frames for records: a fourth of the range, at least one.
    pub records: u64,
    /// Frames for pages: the rest.
    pub pages: u64,
}

impl JournalLayout {
    /// The journal of a range with so many frames, if there is room for a record with a page.
    pub fn of(range_frames: u64) -> Option<Self> {
        let records = (range_frames / 4).max(1);
        let pages = range_frames.checked_sub(records)?;
        (pages > 0).then_some(Self { records, pages })
    }

    /// The frame of the range for the record with this sequence number.
    pub fn record(self, sequence: u64) -> u64 {
        sequence % self.records
    }

    /// The frame of the range for the page with this position; positions count for ever, as log numbers do.
    pub fn page(self, position: u64) -> u64 {
        self.records + position % self.pages
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_object_frame_of_a_range_has_a_frame_of_its_own() {
        for frames in [0, 1, 2, 3, 255, 256, 257, 258, 259, 600] {
            let capacity = ClusterPlace::capacity(frames);
            let mut last = None;
            for number in 0..capacity {
                let place = ClusterPlace::of(number);
                assert!(place.frame() < frames && Some(place.frame()) > last);
                assert_ne!(place.frame(), place.pot(0));
                assert_ne!(place.frame(), place.pot(1));
                last = Some(place.frame());
            }
            // One more would not fit.
            assert!(ClusterPlace::of(capacity).frame() >= frames);
        }
    }

    #[test]
    fn log_and_journal_stay_in_their_ranges() {
        assert_eq!(LogLayout::of(4), None);
        let log = LogLayout::of(7).unwrap();
        for number in 1..20 {
            assert!((4..7).contains(&log.frame(number)));
        }
        assert_eq!(JournalLayout::of(1), None);
        let journal = JournalLayout::of(9).unwrap();
        for number in 0..20 {
            assert!(journal.record(number) < journal.records);
            assert!((journal.records..9).contains(&journal.page(number)));
        }
    }

    #[test]
    fn numbers_split_into_frame_and_index() {
        let frame = ObjectFrame(77);
        assert_eq!(object_frame(node_id(frame, 4)), frame);
        assert_eq!(index_of(node_id(frame, 4)), 4);
        assert_eq!(index_of(page_id(frame)), 0);
    }
}
