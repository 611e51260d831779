//! A new image: everything at home, and one generation that says which processes to start.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use pebble_store_device::{Frame, FRAME_SIZE};
use pebble_store_format::{
    checksum, fold_directory, CheckpointHeader, ClusterPlace, DirectoryExtent, FrameKind,
    GenerationHeader, GenerationReference, JournalLayout, LogLayout, NodePot, ObjectFrame, Range,
    RangeKind, RestartEntry, RestartFrame, Superblock, Tag, TagPot, VolumeKey, BOOT_SLOTS,
    CLUSTER_DATA, HEADER_SLOTS, RESTART_ENTRIES, SUPERBLOCK_FRAMES,
};
use pebble_store_object::Version;

use crate::snapshot::ZEROS;
use crate::{Error, Media, Progress};

/// The number of the range with the log; boot images have those before it, the journal and objects those behind.
const LOG_NUMBER: u16 = 3;
const JOURNAL_NUMBER: u16 = 4;
const OBJECT_NUMBER: u16 = 5;
/// The first log number.
const FIRST_LOG: u64 = 1;
/// Object ranges that a superblock has room for beside the others.
const OBJECT_RANGES: usize = 28;

/// How a new volume is divided, and what its one generation is called.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layout {
    /// The volume's identity: drawn at random, so that no two are taken for one.
    pub volume: u128,
    /// Frames of each of the two boot images; 0 for none.
    pub boot: u64,
    /// Frames of the log range, with the four in front of the log.
    pub log: u64,
    /// Frames of the journal range; 0 for none.
    pub journal: u64,
    /// The object ranges: number of the first object frame, and frames that the range takes, with tag pots.
    pub objects: Vec<(u64, u64)>,
    /// The generation's number, 1 or more.
    pub generation: u64,
    /// When its snapshot was taken: nanoseconds since 1970.
    pub time: u64,
}

impl Layout {
    /// The ranges, one behind the other.
    fn ranges(&self) -> Vec<Range> {
        let mut list = alloc::vec![
            (RangeKind::BootA, 1, self.boot, 0),
            (RangeKind::BootB, 2, self.boot, 0),
            (RangeKind::Log, LOG_NUMBER, self.log, 0),
            (RangeKind::Journal, JOURNAL_NUMBER, self.journal, 0),
        ];
        let numbers = OBJECT_NUMBER..;
        let objects = self.objects.iter().zip(numbers);
        list.extend(
            objects.map(|((base, frames), number)| (RangeKind::Object, number, *frames, *base)),
        );
        let mut first = SUPERBLOCK_FRAMES;
        let mut ranges = Vec::new();
        for (kind, number, frames, object_base) in list {
            if frames == 0 {
                continue;
            }
            ranges.push(Range {
                kind,
                number,
                first,
                frames,
                object_base,
                replica_sequence: 0,
            });
            first = first.saturating_add(frames);
        }
        ranges
    }

    /// Frames of a disk.
    pub fn frames(&self) -> u64 {
        self.ranges().last().map_or(SUPERBLOCK_FRAMES, |range| {
            range.first.saturating_add(range.frames)
        })
    }

    fn check(&self, disks: usize) -> Result<(), Error> {
        let problem = |problem| Err(Error::Layout(problem));
        if disks == 0 || disks > 8 {
            return problem("a volume has 1 to 8 disks");
        }
        if self.generation == 0 || self.generation >> 60 != 0 {
            return problem("generations count from 1, and stay below 2^60");
        }
        if LogLayout::of(self.log).is_none_or(|log| log.frames < 2) {
            return problem("the log needs 6 frames at least");
        }
        if self.journal > 0 && JournalLayout::of(self.journal).is_none() {
            return problem("a journal needs 2 frames at least");
        }
        if self.objects.is_empty() || self.objects.len() > OBJECT_RANGES {
            return problem("a volume has 1 to 28 object ranges");
        }
        let mut spans = self.objects.clone();
        spans.sort_unstable();
        for (index, (base, frames)) in spans.iter().enumerate() {
            let end = base.checked_add(*frames);
            let Some(end) = end.filter(|end| end >> 60 == 0 && ClusterPlace::capacity(*frames) > 0)
            else {
                return problem("an object range needs 3 frames at least, and numbers below 2^60");
            };
            if spans.get(index + 1).is_some_and(|next| next.0 < end) {
                return problem("two object ranges overlap");
            }
        }
        if self.frames() == u64::MAX {
            return problem("the image would be too large");
        }
        Ok(())
    }
}

/// A new image that is being made. Until [`Builder::finish`] it has no superblock: a half-made image is not an image.
pub struct Builder<M> {
    media: Vec<M>,
    layout: Layout,
    ranges: Vec<Range>,
    key: VolumeKey,
    pots: BTreeMap<(usize, u64), Box<TagPot>>,
    used: BTreeSet<ObjectFrame>,
    restart: Vec<RestartEntry>,
}

impl<M: Media> Builder<M> {
    /// Begins: on each disk what could be taken for a volume is overwritten.
    pub fn new(media: Vec<M>, layout: Layout) -> Result<Self, Error> {
        layout.check(media.len())?;
        let ranges = layout.ranges();
        let mut builder = Self {
            key: VolumeKey::of(layout.volume),
            media,
            layout,
            ranges,
            pots: BTreeMap::new(),
            used: BTreeSet::new(),
            restart: Vec::new(),
        };
        let mut blank: Vec<u64> = (0..SUPERBLOCK_FRAMES).collect();
        for range in &builder.ranges {
            let frames = match range.kind {
                RangeKind::Log => HEADER_SLOTS + BOOT_SLOTS,
                RangeKind::Journal => {
                    JournalLayout::of(range.frames).map_or(0, |layout| layout.records)
                }
                _ => 0,
            };
            blank.extend(range.first..range.first + frames);
        }
        for at in blank {
            builder.write(at, &ZEROS)?;
        }
        Ok(builder)
    }

    fn write(&mut self, at: u64, frame: &Frame) -> Result<(), Error> {
        for (disk, media) in self.media.iter_mut().enumerate() {
            media
                .write(at, frame)
                .map_err(|_| Error::Write { disk, at })?;
        }
        Ok(())
    }

    /// The object frames that there is room for: first and number, for each range.
    pub fn room(&self) -> Vec<(u64, u64)> {
        let objects = self
            .ranges
            .iter()
            .filter(|range| range.kind == RangeKind::Object);
        let room = |range: &Range| (range.object_base, ClusterPlace::capacity(range.frames));
        objects.map(room).collect()
    }

    /// Adds a page.
    pub fn page(
        &mut self,
        frame: ObjectFrame,
        kind: FrameKind,
        version: Version,
        contents: &Frame,
    ) -> Result<(), Error> {
        let null = *contents == ZEROS;
        self.put(frame, kind, version, (!null).then_some(contents))
    }

    /// Adds a pot of nodes.
    pub fn nodes(&mut self, frame: ObjectFrame, pot: &NodePot) -> Result<(), Error> {
        let version = pot.version();
        let null = *pot == NodePot::empty(version);
        let contents = pot.encode(frame);
        self.put(
            frame,
            FrameKind::Nodes,
            version,
            (!null).then_some(&contents),
        )
    }

    /// Adds an object frame of any kind; none: its contents are null.
    pub fn put(
        &mut self,
        frame: ObjectFrame,
        kind: FrameKind,
        version: Version,
        contents: Option<&Frame>,
    ) -> Result<(), Error> {
        let (range, place) = self.home(frame).ok_or(Error::NoSuchFrame { frame })?;
        if !self.used.insert(frame) {
            return Err(Error::Twice { frame });
        }
        if let Some(contents) = contents {
            self.write(self.ranges[range].first + place.frame(), contents)?;
        }
        let pot = self
            .pots
            .entry((range, place.cluster))
            .or_insert_with(|| Box::new(TagPot::unused()));
        pot.tags[place.index] = Tag {
            version,
            kind,
            null: contents.is_none(),
            lost: false,
            checksum: contents.map_or(0, |contents| checksum::of_object(frame, contents)),
        };
        Ok(())
    }

    fn home(&self, frame: ObjectFrame) -> Option<(usize, ClusterPlace)> {
        self.ranges.iter().enumerate().find_map(|(index, range)| {
            let number = frame.0.checked_sub(range.object_base)?;
            let inside = number < ClusterPlace::capacity(range.frames);
            (range.kind == RangeKind::Object && inside).then(|| (index, ClusterPlace::of(number)))
        })
    }

    /// Adds a process to start.
    pub fn start(&mut self, process: RestartEntry) {
        self.restart.push(process);
    }

    /// Writes what is missing, the superblocks last. The image is complete then.
    pub fn finish(mut self, progress: Progress<'_>) -> Result<Vec<M>, Error> {
        self.write_pots(progress)?;
        let (reference, next_log) = self.write_generation()?;
        let log = self.log_first();
        let header = CheckpointHeader {
            sequence: 1,
            generation: self.layout.generation,
            next_log,
            oldest_log: FIRST_LOG,
            restart: 0,
            time: self.layout.time,
            replica_sequence: 0,
            in_sync: ((1_u16 << self.media.len()) - 1) as u8,
            bootable_from: self.layout.generation,
            generations: alloc::vec![reference],
        };
        let slot = LogLayout::header_slot(header.sequence);
        let frame = header.encode(self.key);
        self.write(log + slot, &frame)?;
        for (disk, media) in self.media.iter_mut().enumerate() {
            let superblock = Superblock {
                volume: self.layout.volume,
                disk: disk as u8,
                ranges: self.ranges.clone(),
            };
            let frame = superblock.encode();
            for at in 0..SUPERBLOCK_FRAMES {
                media
                    .write(at, &frame)
                    .map_err(|_| Error::Write { disk, at })?;
            }
        }
        Ok(self.media)
    }

    fn log_first(&self) -> u64 {
        let log = self
            .ranges
            .iter()
            .find(|range| range.kind == RangeKind::Log);
        log.map_or(SUPERBLOCK_FRAMES, |range| range.first)
    }

    fn write_pots(&mut self, progress: Progress<'_>) -> Result<(), Error> {
        for index in 0..self.ranges.len() {
            let range = self.ranges[index];
            if range.kind != RangeKind::Object {
                continue;
            }
            let capacity = ClusterPlace::capacity(range.frames);
            for cluster in 0..capacity.div_ceil(CLUSTER_DATA) {
                progress(cluster * CLUSTER_DATA, capacity);
                let mut pot = self.pots.remove(&(index, cluster));
                let pot = pot.get_or_insert_with(|| Box::new(TagPot::unused()));
                // Both copies, so that there is one to fall back to from the first change on.
                for copy in 0..2 {
                    pot.sequence = copy;
                    let frame = pot.encode(self.key, range.number, cluster);
                    let place = ClusterPlace { cluster, index: 0 }.pot(copy);
                    self.write(range.first + place, &frame)?;
                }
            }
        }
        Ok(())
    }

    /// The generation's frames in the log, and the log number behind them.
    fn write_generation(&mut self) -> Result<(GenerationReference, u64), Error> {
        let layout = LogLayout::of(self.layout.log).ok_or(Error::Layout("the log is too small"))?;
        let first = self.log_first();
        let frames = self.restart.len().div_ceil(RESTART_ENTRIES) as u64;
        let header_log = FIRST_LOG + frames;
        if header_log >= layout.frames {
            return Err(Error::Layout(
                "the log has no room for so many processes to start",
            ));
        }
        let mut restart = DirectoryExtent {
            first: if frames == 0 { 0 } else { FIRST_LOG },
            frames,
            entries: self.restart.len() as u64,
            checksum: 0,
        };
        let entries = core::mem::take(&mut self.restart);
        for (index, entries) in entries.chunks(RESTART_ENTRIES).enumerate() {
            let log = FIRST_LOG + index as u64;
            let directory = RestartFrame {
                generation: self.layout.generation,
                index: index as u64,
                entries: entries.to_vec(),
            };
            let (frame, sum) = directory.encode(self.key, log);
            restart.checksum = fold_directory(restart.checksum, sum);
            self.write(first + layout.frame(log), &frame)?;
        }
        let header = GenerationHeader {
            generation: self.layout.generation,
            first_log: FIRST_LOG,
            end_log: header_log + 1,
            restart,
            time: self.layout.time,
            ..GenerationHeader::default()
        };
        let (frame, checksum) = header.encode(self.key, header_log);
        self.write(first + layout.frame(header_log), &frame)?;
        let reference = GenerationReference {
            log: header_log,
            checksum,
        };
        Ok((reference, header_log + 1))
    }
}

/// A frame of zeros on the heap.
pub(crate) fn zero_frame() -> Box<Frame> {
    Box::new([0; FRAME_SIZE])
}
