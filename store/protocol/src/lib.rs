//! The store's commit and migration protocol with two disks, as a model that a checker runs through exhaustively.
//!
//! What is modelled: memory that programs change, a circular log, two header slots, home frames, and on each of two
//! disks which of its writes are stable and which may still be lost or torn; checkpoints with two flushes, migration,
//! crashes at every point, recovery, the loss and the return of a disk, mirror recovery. The rules are those that
//! EROS gives in sections 3.5.1 and 3.5.3, and for what the paper only planned, those that this model proves enough:
//!
//! 1. A checkpoint writes objects and its record to the log of every member disk; **flush 1**; its header to the slot
//!    that does not hold the newest header; **flush 2**; only then is it committed, and only then are the log frames
//!    free that no header needs any more.
//! 2. Migration copies from the log to the homes. A generation is retired by the first header whose flush 1 began
//!    after its home writes were complete: no flush of its own.
//! 3. One log frame is kept for the checkpoint that publishes a retirement.
//! 4. A header says which disks are members, under an epoch. Headers are ordered by epoch, then by sequence; a
//!    checkpoint that leaves out a disk which was a member before grows the epoch. A system that starts without all
//!    its disks makes a header with a new epoch and the disks it has stable before it runs, even if the old header
//!    names no more: otherwise an absent disk could come back with a header that nobody saw when the system started.
//! 5. A disk is believed only if its newest header is the newest of all disks. If the newest headers of two disks
//!    name no common member, each was started without the other, and only a person can say which one counts.
//! 6. Any other disk is stale. Its older header is erased, flushed, then its newest, flushed (the other way round, the
//!    older could outlive it, and lists less than has been migrated since); then everything is copied, and the next
//!    checkpoint goes to it too and its header makes it a member. No flush of its own for the copy.
//!
//! [`Mistake`] breaks these rules one at a time; the tests show that the checker finds each.
#![forbid(unsafe_code)]

mod boot;
mod checkpoint;
mod content;
mod disk;
mod log;
mod mistake;
mod model;
mod properties;
mod state;

pub use mistake::Mistake;
pub use model::{Action, Bounds, Event, Protocol};
pub use state::State;

/// Objects of the modelled store.
pub const OBJECTS: usize = 2;
/// Disks.
pub const DISKS: usize = 2;
/// Most generations that a header lists.
pub const LISTED: usize = 3;
