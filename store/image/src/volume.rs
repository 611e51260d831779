//! What a set of disks is: one volume's, divided into ranges, with a checkpoint header that counts.

use alloc::boxed::Box;
use alloc::vec::Vec;

use pebble_store_device::{Frame, FRAME_SIZE};
use pebble_store_format::{
    BootRecord, CheckpointHeader, ClusterPlace, DecodeError, JournalLayout, LogLayout, ObjectFrame,
    Range, RangeKind, Superblock, VolumeKey, BOOT_SLOTS, HEADER_SLOTS, SUPERBLOCK_FRAMES,
};

use crate::{Error, Media};

/// What one of a few fixed frames holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Slot<T> {
    /// Zeros: never written.
    Blank,
    /// The record.
    Good(T),
    /// Something that is no such record.
    Bad(DecodeError),
    /// It cannot be read.
    Unreadable,
}

impl<T> Slot<T> {
    /// The record, if it is one.
    pub fn good(&self) -> Option<&T> {
        match self {
            Self::Good(record) => Some(record),
            _ => None,
        }
    }

    pub(crate) fn problem(&self) -> Option<DecodeError> {
        match self {
            Self::Bad(error) => Some(*error),
            _ => None,
        }
    }
}

/// What a disk says about itself.
#[derive(Clone, Debug)]
pub struct DiskFacts {
    /// Its number in the volume, 0 to 7.
    pub number: u8,
    /// The superblock that counts.
    pub superblock: Superblock,
    /// Both copies.
    pub superblocks: [Slot<Superblock>; SUPERBLOCK_FRAMES as usize],
    /// The header slots.
    pub headers: [Slot<CheckpointHeader>; HEADER_SLOTS as usize],
    /// The boot records.
    pub boots: [Slot<BootRecord>; BOOT_SLOTS as usize],
    /// The volume's newest header names it, and it has that header or the one before: what is on it counts.
    pub believed: bool,
}

impl DiskFacts {
    /// Its newest header.
    pub fn newest(&self) -> Option<&CheckpointHeader> {
        let headers = self.headers.iter().filter_map(Slot::good);
        headers.max_by_key(|header| order(header))
    }
}

/// A range and where it is.
#[derive(Clone, Debug)]
pub struct VolumeRange {
    /// As on the first disk that has it.
    pub range: Range,
    /// Its first frame on each disk of the list.
    pub first: Vec<Option<u64>>,
}

/// A volume on one disk or several.
pub struct Volume<M> {
    pub(crate) media: Vec<M>,
    /// What the disks say.
    pub disks: Vec<DiskFacts>,
    /// The ranges.
    pub ranges: Vec<VolumeRange>,
    /// What the volume's checksums begin with.
    pub key: VolumeKey,
    /// The header that counts.
    pub header: CheckpointHeader,
    pub(crate) log: (usize, LogLayout),
    pub(crate) journal: Option<(usize, JournalLayout)>,
}

/// Headers are ordered by the set of trusted disks first: a disk that was left behind has the lower one.
fn order(header: &CheckpointHeader) -> (u64, u64) {
    (header.replica_sequence, header.sequence)
}

fn slot<M: Media, T>(
    media: &mut M,
    at: u64,
    decode: impl FnOnce(&Frame) -> Result<T, DecodeError>,
) -> Slot<T> {
    let mut frame = Box::new([0; FRAME_SIZE]);
    match media.read(at, &mut frame) {
        Err(_) => Slot::Unreadable,
        Ok(()) if frame.iter().all(|byte| *byte == 0) => Slot::Blank,
        Ok(()) => decode(&frame).map_or_else(Slot::Bad, Slot::Good),
    }
}

impl<M: Media> Volume<M> {
    /// Looks at the disks: all of one volume, in any order. Reads superblocks, headers and boot records.
    pub fn open(mut media: Vec<M>) -> Result<Self, Error> {
        let mut disks: Vec<DiskFacts> = Vec::new();
        for (disk, media) in media.iter_mut().enumerate() {
            let facts = facts(disk, media)?;
            if let Some(first) = disks.first() {
                let twice = disks.iter().any(|other| other.number == facts.number);
                if first.superblock.volume != facts.superblock.volume || twice {
                    return Err(Error::ForeignDisk {
                        disk,
                        volume: facts.superblock.volume,
                        expected: first.superblock.volume,
                    });
                }
            }
            disks.push(facts);
        }
        let key = disks.first().ok_or(Error::NoDisk)?.superblock.key();
        let ranges = ranges(&disks)?;
        let only = |kind| {
            let mut of_kind = (0..ranges.len()).filter(|index| ranges[*index].range.kind == kind);
            (of_kind.next(), of_kind.next().is_some())
        };
        let problem = |problem| Error::Ranges { disk: 0, problem };
        let (Some(log), false) = only(RangeKind::Log) else {
            return Err(problem("there is not exactly one log range"));
        };
        let layout = LogLayout::of(ranges[log].range.frames);
        let layout = layout.ok_or(problem("the log range is too small"))?;
        let (journal, second) = only(RangeKind::Journal);
        if second {
            return Err(problem("there is more than one journal range"));
        }
        let journal = journal.and_then(|index| {
            let layout = JournalLayout::of(ranges[index].range.frames)?;
            Some((index, layout))
        });
        for (disk, media) in media.iter_mut().enumerate() {
            let Some(first) = ranges[log].first[disk] else {
                continue;
            };
            let facts = &mut disks[disk];
            for place in 0..HEADER_SLOTS {
                facts.headers[place as usize] = slot(media, first + place, |frame| {
                    CheckpointHeader::decode(key, place, frame)
                });
            }
            for place in 0..BOOT_SLOTS {
                let at = HEADER_SLOTS + place;
                facts.boots[place as usize] = slot(media, first + at, |frame| {
                    BootRecord::decode(key, at, frame)
                });
            }
        }
        let header = choose(&mut disks, &ranges[log])?;
        Ok(Self {
            media,
            disks,
            ranges,
            key,
            header,
            log: (log, layout),
            journal,
        })
    }

    /// The disks, as they were given.
    pub fn into_media(self) -> Vec<M> {
        self.media
    }

    /// The frame of a disk that a frame of a range lies in.
    pub(crate) fn at(&self, disk: usize, range: usize, frame: u64) -> Option<u64> {
        Some(self.ranges[range].first[disk]? + frame)
    }

    /// The same on the first disk that has it: for messages.
    pub(crate) fn first_at(&self, range: usize, frame: u64) -> u64 {
        let first = self.ranges[range].first.iter().flatten().next();
        first.copied().unwrap_or(0) + frame
    }

    /// The believed disks with a range.
    pub(crate) fn holders(&self, range: usize) -> Vec<usize> {
        let held =
            |disk: &usize| self.disks[*disk].believed && self.ranges[range].first[*disk].is_some();
        (0..self.disks.len()).filter(held).collect()
    }

    /// Where an object frame is at home: the range, and the place in it.
    pub(crate) fn home(&self, frame: ObjectFrame) -> Option<(usize, ClusterPlace)> {
        self.ranges.iter().enumerate().find_map(|(index, range)| {
            if range.range.kind != RangeKind::Object {
                return None;
            }
            let number = frame.0.checked_sub(range.range.object_base)?;
            let inside = number < ClusterPlace::capacity(range.range.frames);
            inside.then(|| (index, ClusterPlace::of(number)))
        })
    }

    /// Reads a frame of a range from a disk.
    pub(crate) fn read(&mut self, disk: usize, range: usize, frame: u64) -> Option<Box<Frame>> {
        let at = self.at(disk, range, frame)?;
        let mut buffer = Box::new([0; FRAME_SIZE]);
        self.media[disk].read(at, &mut buffer).ok()?;
        Some(buffer)
    }

    /// Reads a record of a range from the first believed disk that has it right. `Err` is what was wrong on the last one,
    /// if it could be read.
    pub(crate) fn record<T>(
        &mut self,
        range: usize,
        frame: u64,
        decode: impl Fn(&Frame) -> Result<T, DecodeError>,
    ) -> Result<T, Option<DecodeError>> {
        let mut problem = None;
        for disk in self.holders(range) {
            if let Some(buffer) = self.read(disk, range, frame) {
                match decode(&buffer) {
                    Ok(record) => return Ok(record),
                    Err(error) => problem = Some(error),
                }
            }
        }
        Err(problem)
    }
}

fn facts<M: Media>(disk: usize, media: &mut M) -> Result<DiskFacts, Error> {
    let superblocks = [0, 1].map(|at| slot(media, at, Superblock::decode));
    let Some(superblock) = superblocks.iter().find_map(Slot::good).cloned() else {
        return Err(Error::NotAVolume {
            disk,
            frames: media.frames(),
            first: superblocks[0].problem(),
        });
    };
    let frames = media.frames();
    if superblock.ranges.iter().any(|range| range.end() > frames) {
        let problem = "a range ends behind the end of the image, which was cut short";
        return Err(Error::Ranges { disk, problem });
    }
    Ok(DiskFacts {
        number: superblock.disk,
        superblock,
        superblocks,
        headers: [Slot::Blank, Slot::Blank],
        boots: [Slot::Blank, Slot::Blank],
        believed: false,
    })
}

fn ranges(disks: &[DiskFacts]) -> Result<Vec<VolumeRange>, Error> {
    let mut ranges: Vec<VolumeRange> = Vec::new();
    for (disk, facts) in disks.iter().enumerate() {
        for range in &facts.superblock.ranges {
            let known = ranges
                .iter_mut()
                .find(|known| known.range.number == range.number);
            if let Some(known) = known {
                let of = |range: &Range| (range.kind as u8, range.frames, range.object_base);
                if of(&known.range) != of(range) {
                    let problem = "a range differs from that of the same number on another disk";
                    return Err(Error::Ranges { disk, problem });
                }
                known.first[disk] = Some(range.first);
                continue;
            }
            let both_objects = |other: &&VolumeRange| {
                range.kind == RangeKind::Object && other.range.kind == RangeKind::Object
            };
            let clash = ranges.iter().filter(both_objects).any(|other| {
                range.object_base < other.range.object_base + other.range.frames
                    && other.range.object_base < range.object_base + range.frames
            });
            if clash {
                let problem = "two object ranges hold the same objects";
                return Err(Error::Ranges { disk, problem });
            }
            let mut first = alloc::vec![None; disks.len()];
            first[disk] = Some(range.first);
            ranges.push(VolumeRange {
                range: *range,
                first,
            });
        }
    }
    Ok(ranges)
}

/// The newest header; marks the disks that have it and are named by it.
fn choose(disks: &mut [DiskFacts], log: &VolumeRange) -> Result<CheckpointHeader, Error> {
    for one in 0..disks.len() {
        for other in 0..one {
            if let (Some(a), Some(b)) = (disks[one].newest(), disks[other].newest()) {
                if a.in_sync & b.in_sync == 0 {
                    return Err(Error::Split {
                        one: other,
                        other: one,
                    });
                }
            }
        }
    }
    let newest = disks.iter().filter_map(DiskFacts::newest);
    let Some(header) = newest.max_by_key(|header| order(header)).cloned() else {
        return Err(Error::NoCheckpoint {
            at: log.first.iter().flatten().next().copied().unwrap_or(0),
            first: disks.first().and_then(|disk| disk.headers[0].problem()),
        });
    };
    for disk in disks {
        // One header back will do: every trusted disk has everything else, flushed, before a header is written.
        let newest = disk
            .newest()
            .map(|newest| newest.sequence.saturating_add(1));
        let recent = newest >= Some(header.sequence);
        disk.believed = recent && header.in_sync & 1 << disk.number != 0;
    }
    Ok(header)
}
