//! The ranges of a volume, whatever disk they are on.

use alloc::vec::Vec;

use pebble_store_device::BlockDevice;
use pebble_store_format::{
    ClusterPlace, JournalLayout, LogLayout, ObjectFrame, Range, RangeKind, Superblock,
};

use super::{Disk, Volume};
use crate::Error;

/// A frame of a range: the range's place in the geometry, and the frame's number in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RangePlace {
    pub range: usize,
    pub frame: u64,
}

/// Where an object is at home.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Home {
    pub range: usize,
    pub place: ClusterPlace,
}

#[derive(Clone, Default)]
pub(crate) struct Geometry {
    pub ranges: Vec<Range>,
    log_range: usize,
    pub log: Option<LogLayout>,
    journal_range: usize,
    pub journal: Option<JournalLayout>,
}

impl Geometry {
    pub fn log_place(&self, number: u64) -> RangePlace {
        RangePlace {
            range: self.log_range,
            frame: self.log.map_or(0, |log| log.frame(number)),
        }
    }

    /// One of the frames in front of the log: headers and boot records.
    pub fn slot(&self, frame: u64) -> RangePlace {
        RangePlace {
            range: self.log_range,
            frame,
        }
    }

    pub fn journal_place(&self, frame: u64) -> RangePlace {
        RangePlace {
            range: self.journal_range,
            frame,
        }
    }

    /// Where an object frame is at home, if any range has it.
    pub fn home(&self, frame: ObjectFrame) -> Option<Home> {
        self.ranges.iter().enumerate().find_map(|(index, range)| {
            if range.kind != RangeKind::Object {
                return None;
            }
            let number = frame.0.checked_sub(range.object_base)?;
            (number < ClusterPlace::capacity(range.frames)).then(|| Home {
                range: index,
                place: ClusterPlace::of(number),
            })
        })
    }

    /// The spans of object frames: first and end of each.
    pub fn spans(&self) -> Vec<(u64, u64)> {
        let objects = self
            .ranges
            .iter()
            .filter(|range| range.kind == RangeKind::Object);
        let span = |range: &Range| {
            let base = range.object_base;
            (base, base + ClusterPlace::capacity(range.frames))
        };
        objects.map(span).collect()
    }

    /// The frame of a range with the contents of an object, and with a copy of its tag pot.
    pub fn contents(&self, home: Home) -> RangePlace {
        RangePlace {
            range: home.range,
            frame: home.place.frame(),
        }
    }

    fn add(&mut self, range: &Range, disk: usize) -> Result<(), Error> {
        let known = self
            .ranges
            .iter()
            .find(|known| known.number == range.number);
        let error = |problem| Error::Ranges { disk, problem };
        if let Some(known) = known {
            let same = known.kind == range.kind
                && known.frames == range.frames
                && known.object_base == range.object_base;
            return if same {
                Ok(())
            } else {
                Err(error(
                    "a range differs from that of the same number on another disk",
                ))
            };
        }
        match range.kind {
            RangeKind::Log if self.log.is_some() => return Err(error("a second log")),
            RangeKind::Log => {
                self.log_range = self.ranges.len();
                self.log = LogLayout::of(range.frames);
            }
            RangeKind::Journal if self.journal.is_some() => return Err(error("a second journal")),
            RangeKind::Journal => {
                self.journal_range = self.ranges.len();
                self.journal = JournalLayout::of(range.frames);
            }
            RangeKind::Object => {
                let end = range.object_base + range.frames;
                let clash = self.ranges.iter().any(|other| {
                    other.kind == RangeKind::Object
                        && other.object_base < end
                        && range.object_base < other.object_base + other.frames
                });
                if clash {
                    return Err(error("two object ranges with the same objects"));
                }
            }
            RangeKind::BootA | RangeKind::BootB => {}
        }
        self.ranges.push(*range);
        Ok(())
    }
}

impl<D: BlockDevice> Volume<D> {
    /// Enters a disk's ranges into the geometry.
    pub fn enter(&mut self, disk: usize, superblock: &Superblock) -> Result<(), Error> {
        let frames = self.disks[disk].device.frames();
        if superblock.ranges.iter().any(|range| range.end() > frames) {
            let problem = "a range ends behind the disk's end; the disk was cut short";
            return Err(Error::Ranges { disk, problem });
        }
        for range in &superblock.ranges {
            self.geometry.add(range, disk)?;
        }
        self.disks[disk].number = superblock.disk;
        Ok(())
    }

    /// Once every disk is entered: where each has which range.
    pub fn place_ranges(&mut self, disk: usize, superblock: &Superblock) {
        let first = self.geometry.ranges.iter().map(|range| {
            let same = superblock
                .ranges
                .iter()
                .find(|own| own.number == range.number);
            same.map(|own| own.first)
        });
        self.disks[disk].first = first.collect();
    }
}

impl<D> Disk<D> {
    /// The frame of the disk that a frame of a range lies in.
    pub fn at(&self, place: RangePlace) -> Option<u64> {
        let first = self.first.get(place.range).copied().flatten()?;
        Some(first + place.frame)
    }
}
