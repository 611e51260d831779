//! What can go wrong, and what a caller has to wait for.

use core::fmt;

use pebble_store_device as device;
use pebble_store_format::{DecodeError, FrameKind, ObjectFrame};

use crate::check::Finding;

/// Why an operation was not done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stop {
    /// Not now. Nothing has changed; try again after a poll.
    Wait(Wait),
    /// Not at all.
    Error(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

/// What an operation waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wait {
    /// The store is not open yet.
    Recovery,
    /// The object is being read.
    Object,
    /// Every frame of the cache is changed or pinned; a checkpoint is due.
    CacheSpace,
    /// Every copy frame is taken; saving some object frees one.
    CopySpace,
    /// The log has no room for one more changed object; a checkpoint is due.
    LogSpace,
    /// The journal has no room; a checkpoint is due.
    JournalSpace,
    /// The checkpoint before this one is not committed yet.
    Checkpoint,
    /// The journal record before this one is not stable yet.
    Journal,
}

/// What went wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Error {
    /// No disk was given.
    NoDisk,
    /// A disk did not do what it was asked.
    Disk {
        /// Its place in the list that the store was opened with.
        disk: usize,
        /// What was asked: "flush", "read" or "write".
        request: &'static str,
        /// What it answered.
        error: device::Error,
    },
    /// A record could not be believed on any disk that has it.
    Record {
        /// The disk that was asked last.
        disk: usize,
        /// The frame of that disk.
        at: u64,
        /// What was found there.
        error: DecodeError,
    },
    /// A disk of another volume, or two disks that claim to be the same one.
    ForeignDisk {
        /// Its place in the list.
        disk: usize,
    },
    /// The disk's ranges are not those of the volume's other disks, or lie behind its end.
    Ranges {
        /// Its place in the list.
        disk: usize,
        /// What is wrong.
        problem: &'static str,
    },
    /// No checkpoint header can be read: not formatted completely, or damaged.
    NoCheckpoint,
    /// The volume's own records say that this disk is not to be believed without another one.
    OutOfDate {
        /// Its place in the list.
        disk: usize,
    },
    /// A header slot could not be read, and may hold the newest checkpoint. `Parameters::accept_older` opens all the same.
    HeaderUnreadable {
        /// The disk.
        disk: usize,
        /// The slot, 0 or 1.
        slot: u64,
    },
    /// A record frame of the journal cannot be read, and may hold the newest record. `Parameters::accept_older` opens all the
    /// same.
    JournalUnreadable {
        /// The record frame.
        slot: u64,
    },
    /// Each of two disks was used without the other. `Parameters::follow` says which one to believe.
    SplitReplicas {
        /// A disk that says the other is out of date.
        one: usize,
        /// The other, which says the same.
        other: usize,
    },
    /// The generation asked for is not listed, or already under migration.
    NoSuchGeneration {
        /// Which.
        generation: u64,
        /// The oldest that could be started.
        oldest: u64,
        /// The newest.
        newest: u64,
    },
    /// A generation's parts contradict each other.
    Generation {
        /// Which.
        generation: u64,
        /// What is wrong.
        problem: &'static str,
    },
    /// The contents of an object are lost: every place that should hold them holds something else.
    Damaged {
        /// Which.
        frame: ObjectFrame,
    },
    /// The contents of an object were found lost for good, and its tag says so. [`crate::Store::overwrite`] or
    /// [`crate::Store::deallocate`] end that.
    Lost {
        /// Which.
        frame: ObjectFrame,
    },
    /// Objects of the generation to start are lost: opening it would start a state that never was.
    Untrusted {
        /// Which generation.
        generation: u64,
        /// How many of its objects are lost.
        objects: u64,
        /// The first of them.
        first: ObjectFrame,
        /// The next older generation that could be started.
        older: Option<u64>,
    },
    /// No object range has this frame.
    NoSuchFrame {
        /// Which.
        frame: ObjectFrame,
    },
    /// The frame holds another kind of object than the operation is for.
    WrongKind {
        /// Which.
        frame: ObjectFrame,
        /// What it holds.
        found: FrameKind,
    },
    /// The version of the frame has reached its limit: it is never used again.
    Retired {
        /// Which.
        frame: ObjectFrame,
    },
    /// A node that does not decode.
    Node {
        /// The frame that it is in.
        frame: ObjectFrame,
        /// What was found.
        error: DecodeError,
    },
    /// More processes than `Parameters::restart_limit`.
    RestartList {
        /// Processes given.
        given: usize,
        /// The limit.
        limit: usize,
    },
    /// No page, more than [`pebble_store_format::JOURNAL_PAGES`] of them, or more than the journal has frames for.
    JournalRecord {
        /// Pages given.
        given: usize,
        /// The limit.
        limit: usize,
    },
    /// The volume has no journal.
    NoJournal,
    /// The log cannot hold even a small checkpoint.
    LogTooSmall {
        /// Its frames.
        frames: u64,
        /// Frames needed.
        needed: u64,
    },
    /// The consistency check found something; nothing of this run since the last checkpoint will be committed.
    Inconsistent(Finding),
    /// The store has stopped: read-only until it is opened again. The reason was reported before.
    Stopped,
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoDisk => write!(out, "no disk was given"),
            Self::Disk {
                disk,
                request,
                error,
            } => write!(out, "disk {disk}: a {request} failed: {error:?}"),
            Self::Record { disk, at, error } => write!(out, "disk {disk}, frame {at}: {error}"),
            Self::ForeignDisk { disk } => write!(
                out,
                "disk {disk} is of another volume, or given twice; open it by itself"
            ),
            Self::Ranges { disk, problem } => write!(out, "disk {disk}: {problem}"),
            Self::NoCheckpoint => write!(
                out,
                "no checkpoint header is valid: the volume was not formatted completely, or both slots are damaged"
            ),
            Self::OutOfDate { disk } => write!(
                out,
                "disk {disk} is out of date or was never completed; open it together with an up-to-date one"
            ),
            Self::HeaderUnreadable { disk, slot } => write!(
                out,
                "disk {disk}: header slot {slot} cannot be read and may hold the newest checkpoint; \
                 accept the older one, or try the disk again"
            ),
            Self::JournalUnreadable { slot } => write!(
                out,
                "journal record frame {slot} cannot be read and may hold the newest record; \
                 go on without it, or try the disk again"
            ),
            Self::SplitReplicas { one, other } => write!(
                out,
                "disks {one} and {other} were each used without the other; say which one to follow"
            ),
            Self::NoSuchGeneration {
                generation,
                oldest,
                newest,
            } => write!(
                out,
                "generation {generation} cannot be started; {oldest} to {newest} may"
            ),
            Self::Generation {
                generation,
                problem,
            } => write!(out, "generation {generation}: {problem}"),
            Self::Damaged { frame } => write!(
                out,
                "object frame {}: no place holds contents with the right checksum",
                frame.0
            ),
            Self::Lost { frame } => write!(
                out,
                "object frame {}: its contents were lost on every disk; write it as a whole, or give it back",
                frame.0
            ),
            Self::Untrusted {
                generation,
                objects,
                first,
                older,
            } => {
                write!(
                    out,
                    "generation {generation}: {objects} of its objects are lost, the first is object frame {}; ",
                    first.0
                )?;
                match older {
                    Some(older) => write!(out, "start generation {older}, or open it as it is"),
                    None => write!(out, "there is no older one to start; open it as it is"),
                }
            }
            Self::NoSuchFrame { frame } => {
                write!(out, "object frame {}: no range has it", frame.0)
            }
            Self::WrongKind { frame, found } => {
                write!(out, "object frame {} holds {found:?}", frame.0)
            }
            Self::Retired { frame } => write!(
                out,
                "object frame {}: its version is at the limit; use another frame",
                frame.0
            ),
            Self::Node { frame, error } => write!(out, "object frame {}: {error}", frame.0),
            Self::RestartList { given, limit } => {
                write!(out, "{given} processes to restart; the limit is {limit}")
            }
            Self::JournalRecord { given, limit } => {
                write!(out, "a journal record of {given} pages; allowed are 1 to {limit}")
            }
            Self::NoJournal => write!(out, "the volume was formatted without a journal"),
            Self::LogTooSmall { frames, needed } => {
                write!(out, "the log has {frames} frames and needs {needed}")
            }
            Self::Inconsistent(finding) => write!(out, "not committed: {finding}"),
            Self::Stopped => write!(out, "the store has stopped; open it again"),
        }
    }
}

impl core::error::Error for Error {}
