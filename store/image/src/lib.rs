//! Images of the store, read and written while no system runs on them.
//!
//! [`Volume::open`] finds out what a set of disks is and which generation counts; [`Snapshot`] is one generation, with
//! every object that it has; [`check`] reads everything and says what is wrong, and which of it can be mended without any
//! doubt; [`Builder`] makes a new image, which is a checkpoint as the running system writes them; [`send`] and [`Receiver`]
//! carry a generation from one volume to another.
//!
//! This is a second reader of the format beside the store's own recovery. It shares the records with it
//! (`pebble-store-format`) and nothing else, so that the two can be compared. Nothing here trusts an image: a size that is
//! read is checked before it is used, every loop is bounded by the size of the disks.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod build;
mod check;
mod error;
mod generation;
mod graph;
mod journal;
mod media;
mod snapshot;
mod stream;
mod volume;

pub use build::{Builder, Layout};
pub use check::{check, Finding, Mending, Report, Severity, FINDINGS_LIMIT};
pub use error::Error;
pub use generation::Generation;
pub use graph::{Bank, Edge, Graph, Vertex, VertexKind};
pub use media::{Fault, Media, Memory};
pub use snapshot::{Object, Place, Snapshot};
pub use stream::{send, Received, Receiver, SendError, StreamError, StreamProblem};
pub use volume::{DiskFacts, Slot, Volume, VolumeRange};

/// How far a long work is: called with the part that is done and the whole, in frames.
pub type Progress<'a> = &'a mut dyn FnMut(u64, u64);
