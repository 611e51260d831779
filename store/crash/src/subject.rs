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
    /// Take the snapshot of a new generation with these threads to restart, and make it stable in the background.
    Checkpoint(Vec<Restart>),
    /// Make data pages stable together as they are now, whatever becomes of everything else.
    Journal(Vec<ObjectId>),
    /// Use an object, so that it is fetched, and another one perhaps given up.
    Touch(ObjectId),
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
    /// The generation that a start would take if the one that runs were started in vain too often.
    pub fallback: Option<u64>,
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
    /// Objects that were found good, or lost, when the started generation was looked at.
    pub verified: u64,
}

/// Why an object is not as expected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Complaint {
    /// The store says that it cannot be had. Legal only where the medium has lost it.
    Unreadable(String),
    /// It is something else. Never legal.
    Wrong(String),
    /// The store says that it cannot be had, and has said that it can. Never legal, whatever the medium has done.
    Contradiction(String),
}

/// A store under test. Every method returns without waiting for the disk, except where it says so.
pub trait Subject: Sized {
    /// What a campaign may choose about a store: sizes, disks, deliberate mistakes.
    type Shape: Clone + Debug;

    /// The objects that there are on freshly formatted disks.
    fn world(shape: &Self::Shape) -> World;

    /// Freshly formatted disks with these objects, all of them free, and the generation on them.
    fn format(shape: &Self::Shape, world: &World) -> (Vec<Image>, u64);

    /// Comes up from what is on the disks, waiting for them; one of them may be `missing`. An error says why nothing could
    /// be recovered.
    fn recover(
        shape: &Self::Shape,
        machine: &Machine,
        missing: Option<usize>,
    ) -> Result<Self, String>;

    /// Does as asked, or not yet. After an error nothing more is asked of it.
    fn perform(&mut self, action: &Action) -> Result<Outcome, String>;

    /// Goes on with what is under way.
    fn poll(&mut self) -> Result<(), String>;

    /// Whether it asks for a checkpoint.
    fn due(&self) -> bool;

    /// Whether nothing is under way that the store will go on with by itself.
    fn idle(&self) -> bool;

    /// How far it is.
    fn progress(&self) -> Progress;

    /// Whether an object is as expected, waiting for the disk.
    fn compare(&mut self, id: ObjectId, expected: &Object) -> Result<(), Complaint>;

    /// The threads to restart, as recovered, in the order of their objects.
    fn restart_list(&self) -> Vec<Restart>;

    /// Changes a byte of an object in memory, as a stray store would, if the store must notice: `saved` says that nobody has
    /// changed the object since the last snapshot, so that it is as it was looked at, or saved. Whether it was done.
    fn damage(&mut self, id: ObjectId, byte: usize, saved: bool) -> bool;

    /// What has happened in this life.
    fn coverage(&self) -> Coverage;
}
