//! Everything that a step may change: disks, the running system, and what the properties remember.

use crate::content::{Header, Members, Snapshot, Value};
use crate::disk::Disk;
use crate::{DISKS, OBJECTS};

/// A state of the model.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct State {
    pub(crate) disks: [Disk; DISKS],
    /// Disks that answer.
    pub(crate) present: Members,
    pub(crate) phase: Phase,
    pub(crate) truth: Truth,
    pub(crate) budget: Budget,
}

/// What the machine is doing.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Phase {
    /// No power, or not started yet.
    Down,
    /// Recovered with fewer disks than the header says; the new epoch's header is written, and not yet stable.
    Starting(System),
    Running(System),
    /// The disks disagree in a way that only a person can decide.
    Refused,
}

/// What a running system knows; a crash takes it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct System {
    /// What programs see.
    pub memory: Snapshot,
    /// The values in the newest checkpoint that was begun.
    pub saved: Snapshot,
    /// The newest committed header.
    pub header: Header,
    /// The disks that everything is written to.
    pub members: Members,
    /// The next log frame, counted without wrapping.
    pub cursor: u8,
    /// How many of the header's generations, from the oldest, have complete home writes.
    pub migrated: u8,
    pub checkpoint: Option<Checkpoint>,
    pub joining: Option<(usize, Joining)>,
}

/// A checkpoint that is not committed yet.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Checkpoint {
    /// Members and epoch are settled when it is written.
    pub header: Header,
    /// Disks that it goes to.
    pub targets: Members,
    /// Targets whose current flush has completed.
    pub flushed: Members,
    pub stage: Stage,
    /// Generations that it retires.
    pub retired: u8,
    /// Flushes so far, for each disk.
    pub flushes: [u8; DISKS],
}

/// How far a checkpoint is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Stage {
    /// The log frames are written: flush 1.
    Log,
    /// The header is written: flush 2.
    Header,
}

/// How far the mirror recovery of a stale disk is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Joining {
    /// Its older header is overwritten.
    ErasingOld,
    /// Its newest header is overwritten too.
    ErasingNew,
    /// It has no header for certain.
    Erased,
    /// Everything is copied, and every write goes to it too. The next checkpoint makes it a member.
    Copied,
}

/// What the properties are told, and the protocol never looks at.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Truth {
    /// What the last commit, or the last start, settled.
    pub committed: Snapshot,
    /// What the checkpoint under way would settle.
    pub in_flight: Option<Snapshot>,
    /// Disks that hold what is settled.
    pub current: Members,
    /// Every state that was ever settled or in flight, in order.
    pub history: Vec<Snapshot>,
    /// What went wrong.
    pub violation: Option<&'static str>,
}

impl Truth {
    pub fn remember(&mut self, snapshot: Snapshot) {
        if let Err(at) = self.history.binary_search(&snapshot) {
            self.history.insert(at, snapshot);
        }
    }
}

/// What may still happen; the bounds of the search.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Budget {
    pub next_value: Value,
    pub crashes: u8,
    pub losses: u8,
}

impl System {
    /// Where writes go: the members, and a disk that has been copied to.
    pub fn written(&self) -> Members {
        match self.joining {
            Some((disk, Joining::Copied)) => self.members.with(disk),
            _ => self.members,
        }
    }

    /// Objects that changed since the newest checkpoint was begun.
    pub fn dirty(&self) -> impl Iterator<Item = usize> + '_ {
        (0..OBJECTS).filter(|object| self.memory[*object] != self.saved[*object])
    }
}
