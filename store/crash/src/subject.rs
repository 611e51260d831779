//! What is tried: a store, through the few words that the tests need of one.

use std::fmt::Debug;

use pebble_store_object::ObjectId;
use pebble_store_simulation::{Image, Machine};

use crate::object::{Object, Restart, World};

/// Something that a program or the system asks of the store.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// These objects become this, all of them before or after a snapshot.
    Put(Vec<(ObjectId, Object)>),
    /// From now on these threads are to be restarted.
    Restart(Vec<Restart>),
    /// Take the snapshot of a new generation, and make it stable in the background.
    Checkpoint,
    /// Make data pages stable together as they are now, whatever becomes of everything else.
    Journal(Vec<ObjectId>),
    /// Use an object, so that it is fetched, and another one perhaps given up.
    Touch(ObjectId),
    /// A disk of a pair is lost while the machine runs.
    LoseDisk(usize),
    /// An empty or stale disk takes a lost one's place.
    AttachDisk(usize),
}

/// What became of an action.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It was done, or will be in the background.
    Done,
    /// Not now; nothing has changed. Poll and try again.
    Later,
    /// Never in this state, by the store's own rules; nothing has changed.
    Refused,
}

/// How far the store is. Never goes back.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Progress {
    /// Snapshots taken in this life.
    pub snapshots: u64,
    /// The generation of the newest snapshot.
    pub newest: u64,
    /// The generation that the store promises to come back with at least.
    pub committed: u64,
    /// Whether every page handed to the journal is reported stable.
    pub journaled: bool,
    /// Whether the store could come up from either disk of a pair, with all that it promises.
    pub redundant: bool,
}

/// Things that must happen often in a campaign, or it has proven little. Each counts over one life.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Coverage {
    /// Times that the log went on at its beginning.
    pub wraps: u64,
    /// Checkpoints that a full log forced.
    pub forced: u64,
    /// Objects copied home.
    pub migrations: u64,
    /// Journal records that recovery rolled forward.
    pub replays: u64,
    /// Frames that were copied to a stale disk.
    pub resyncs: u64,
    /// Recoveries that took an older generation or place because the newest was not good.
    pub fallbacks: u64,
}

/// A store under test. Every method returns without waiting for the disk, except where it says so.
pub trait Subject: Sized {
    /// What a campaign may choose about a store: sizes, disks, deliberate mistakes.
    type Shape: Clone + Debug;

    /// Freshly formatted disks, and what is on them: every object of the store. The generation on them is the first.
    fn format(shape: &Self::Shape) -> (Vec<Image>, u64, World);

    /// Comes up from what is on the disks, waiting for them. An error says why nothing could be recovered.
    fn recover(shape: &Self::Shape, machine: &Machine) -> Result<Self, String>;

    /// Does as asked, or not yet.
    fn perform(&mut self, machine: &Machine, action: &Action) -> Result<Outcome, String>;

    /// Goes on with what is under way.
    fn poll(&mut self) -> Result<(), String>;

    /// Whether nothing is under way that the store will go on with by itself.
    fn idle(&self) -> bool;

    /// How far it is.
    fn progress(&self) -> Progress;

    /// Whether an object is as expected, waiting for the disk; an error says how it differs.
    fn compare(&mut self, id: ObjectId, expected: &Object) -> Result<(), String>;

    /// The threads to restart, as recovered, in the order of their objects.
    fn restart_list(&mut self) -> Result<Vec<Restart>, String>;

    /// What has happened in this life.
    fn coverage(&self) -> Coverage;
}
