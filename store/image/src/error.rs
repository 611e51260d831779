//! Why an image cannot be read, built or copied.

use core::fmt;

use pebble_store_format::{DecodeError, ObjectFrame};

/// What was found where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Error {
    /// No disk was given.
    NoDisk,
    /// Neither copy of the superblock is one.
    NotAVolume {
        /// The disk, by its place in the list.
        disk: usize,
        /// Frames that it has.
        frames: u64,
        /// What is wrong with the first copy; none: it cannot be read.
        first: Option<DecodeError>,
    },
    /// A disk of another volume, or the same disk twice.
    ForeignDisk {
        /// The disk.
        disk: usize,
        /// Its volume.
        volume: u128,
        /// The first disk's volume.
        expected: u128,
    },
    /// The superblock's ranges cannot be those of this disk.
    Ranges {
        /// The disk.
        disk: usize,
        /// What is wrong.
        problem: &'static str,
    },
    /// No header slot of any disk holds a checkpoint header.
    NoCheckpoint {
        /// The first disk's frame with slot 0.
        at: u64,
        /// What is wrong with it; none: zeros, or unreadable.
        first: Option<DecodeError>,
    },
    /// Each of two disks was used without the other.
    Split {
        /// One of them.
        one: usize,
        /// The other.
        other: usize,
    },
    /// A record of the log cannot be believed on any disk.
    Record {
        /// The frame of the first disk that has it.
        at: u64,
        /// What it should be.
        record: &'static str,
        /// What is wrong; none: it cannot be read.
        error: Option<DecodeError>,
    },
    /// A generation's parts contradict each other, or the header.
    Generation {
        /// Which.
        generation: u64,
        /// What is wrong.
        problem: &'static str,
    },
    /// A generation that the header does not list, or that can no longer be started from.
    NoSuchGeneration {
        /// Which.
        generation: u64,
        /// The oldest that can be had.
        oldest: u64,
        /// The newest.
        newest: u64,
    },
    /// Neither copy of a cluster's tag pot can be believed.
    Pot {
        /// The frame of the first disk that has it.
        at: u64,
        /// What is wrong; none: it cannot be read.
        error: Option<DecodeError>,
    },
    /// No disk has an object's contents with the right checksum.
    Damaged {
        /// Which.
        frame: ObjectFrame,
    },
    /// The store has found an object's contents lost for good, and marked its tag.
    Lost {
        /// Which.
        frame: ObjectFrame,
    },
    /// The frame cannot be part of the image.
    NoSuchFrame {
        /// Which.
        frame: ObjectFrame,
    },
    /// An object was given twice.
    Twice {
        /// Which.
        frame: ObjectFrame,
    },
    /// The sizes of a new image do not go together.
    Layout(&'static str),
    /// The image could not be written.
    Write {
        /// The disk.
        disk: usize,
        /// The frame.
        at: u64,
    },
}

struct Reason<'a>(&'a Option<DecodeError>);

impl fmt::Display for Reason<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(error) => write!(out, "{error}"),
            None => write!(out, "it cannot be read"),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoDisk => write!(out, "no disk was given"),
            Self::NotAVolume {
                disk,
                frames,
                first,
            } => write!(
                out,
                "disk {disk}: not an image of a store: no superblock in frames 0 and 1 of {frames} ({})",
                Reason(first)
            ),
            Self::ForeignDisk {
                disk,
                volume,
                expected,
            } if volume == expected => write!(out, "disk {disk} is given twice"),
            Self::ForeignDisk {
                disk,
                volume,
                expected,
            } => write!(
                out,
                "disk {disk} belongs to volume {volume:032x}, the first one to {expected:032x}; look at it by itself"
            ),
            Self::Ranges { disk, problem } => write!(out, "disk {disk}: superblock: {problem}"),
            Self::NoCheckpoint { at, first } => write!(
                out,
                "no checkpoint header in either slot (frames {at} and {}): formatted only in part, or damaged ({})",
                at + 1,
                Reason(first)
            ),
            Self::Split { one, other } => write!(
                out,
                "disks {one} and {other} were each used without the other; look at one at a time and decide which to keep"
            ),
            Self::Record { at, record, error } => {
                write!(out, "frame {at}: no {record}: {}", Reason(error))
            }
            Self::Generation {
                generation,
                problem,
            } => write!(out, "generation {generation}: {problem}"),
            Self::NoSuchGeneration {
                generation,
                oldest,
                newest,
            } => write!(
                out,
                "there is no generation {generation} to be had; {oldest} to {newest} are there"
            ),
            Self::Pot { at, error } => write!(
                out,
                "frames {at} and {}: no copy of the tag pot can be believed: {}",
                at + 1,
                Reason(error)
            ),
            Self::Damaged { frame } => write!(
                out,
                "object frame {}: no place holds contents with the right checksum",
                frame.0
            ),
            Self::Lost { frame } => write!(
                out,
                "object frame {}: its tag says that its contents were lost on every disk; \
                 it can be written as a whole, or given back",
                frame.0
            ),
            Self::NoSuchFrame { frame } => {
                write!(out, "object frame {}: no range has it", frame.0)
            }
            Self::Twice { frame } => write!(out, "object frame {} is given twice", frame.0),
            Self::Layout(problem) => write!(out, "the sizes do not go together: {problem}"),
            Self::Write { disk, at } => write!(out, "disk {disk}, frame {at}: cannot be written"),
        }
    }
}

impl core::error::Error for Error {}
