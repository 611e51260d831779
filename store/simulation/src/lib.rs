//! Simulated disks with virtio-blk's volatile cache, for tests that cut the power everywhere.
//!
//! A [`Machine`] has one or two disks. What is written is in flight, then completed, and stable only after a flush that
//! was submitted after the completion; completions come in a random order that the seed alone decides. Everything that
//! changes what a power cut could leave behind is an *event*; after each one the machine can take down a [`Cut`], from
//! which the disks' possible contents after a cut at that moment are made: each write that was not stable lost, kept, or
//! torn. Contents are shared between images (copy-on-write), so that a state costs what was changed in it.
//!
//! Media faults (reads and writes that fail, land elsewhere, or answer with what was there before) are injected by
//! [`Faults`]. Of two writes of one frame in flight at once nobody knows what is left: the machine counts them as
//! [`Machine::hazards`], and a store must have none. A read that meets a write sees any mixture of their sectors.
#![forbid(unsafe_code)]

mod cut;
mod disk;
mod fates;
mod fault;
mod image;
mod machine;
mod random;
mod state;

pub use cut::Cut;
pub use disk::Disk;
pub use fates::{Fate, Fates, Sectors};
pub use fault::{Fault, Faults};
pub use image::Image;
pub use machine::{Machine, Order};
pub use random::Random;
