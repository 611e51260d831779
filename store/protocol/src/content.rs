//! What a frame can hold.

use crate::{DISKS, LISTED, OBJECTS};

/// An object's value: the number of the change that made it; 0 is the value in the initial image.
pub type Value = u8;

/// The values of all objects.
pub type Snapshot = [Value; OBJECTS];

/// A set of disks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Members(u8);

impl Members {
    /// Every disk.
    pub const ALL: Members = Members((1 << DISKS) - 1);
    /// No disk.
    pub const NONE: Members = Members(0);

    pub fn has(self, disk: usize) -> bool {
        self.0 & 1 << disk != 0
    }

    pub fn with(self, disk: usize) -> Self {
        Self(self.0 | 1 << disk)
    }

    pub fn without(self, disk: usize) -> Self {
        Self(self.0 & !(1 << disk))
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// No disk is in both.
    pub fn is_disjoint(self, other: Self) -> bool {
        self.0 & other.0 == 0
    }

    pub fn disks(self) -> impl Iterator<Item = usize> {
        (0..DISKS).filter(move |disk| self.has(*disk))
    }
}

/// What a generation put into the log: its objects in order from frame `first`, then this record. The values stand
/// for the objects' checksums.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Record {
    pub first: u8,
    pub objects: [Option<Value>; OBJECTS],
}

impl Record {
    /// Frames of the log that it takes, with its own.
    pub fn frames(&self) -> u8 {
        self.objects.iter().flatten().count() as u8 + 1
    }

    /// The number in the log of the record's own frame.
    pub fn place(&self) -> u8 {
        self.first + self.frames() - 1
    }

    /// The objects with their numbers in the log and their values.
    pub fn entries(&self) -> impl Iterator<Item = (usize, u8, Value)> + '_ {
        let present = (0..OBJECTS).filter_map(|object| Some((object, self.objects[object]?)));
        present
            .zip(self.first..)
            .map(|((object, value), place)| (object, place, value))
    }
}

/// A checkpoint header. The records in it stand for their checksums.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Header {
    /// Grows with every change of the members but a return.
    pub epoch: u8,
    /// Grows with every header.
    pub sequence: u8,
    /// The disks that everything was written to.
    pub members: Members,
    /// The next frame of the log, counted without wrapping.
    pub cursor: u8,
    /// The generations that are not migrated, oldest first.
    pub listed: [Option<Record>; LISTED],
}

impl Header {
    /// Both disks were started without the other: only a person knows which one counts.
    pub fn is_split_from(&self, other: &Self) -> bool {
        self.members.is_disjoint(other.members)
    }

    pub fn records(&self) -> impl DoubleEndedIterator<Item = &Record> {
        self.listed.iter().flatten()
    }

    /// The first frame of the log, counted without wrapping, that this header needs.
    pub fn tail(&self) -> u8 {
        self.records()
            .next()
            .map_or(self.cursor, |record| record.first)
    }
}

/// What a frame holds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Content {
    /// Zeros.
    Blank,
    /// A write of which only a part got there.
    Torn,
    /// An object's value, in its home or in the log.
    Object(u8, Value),
    Record(Record),
    Header(Header),
    /// After a crash: whichever of the possible contents.
    Unknown,
}
