//! Power cuts at every moment of the store's life, and what must be left after each.
//!
//! A [`run`] is a chain of lives from one seed: the store comes up, does a workload's steps on simulated disks, and at each
//! event the power may be cut. For each such moment the disks' possible contents are made ([`pebble_store_simulation`]),
//! the real recovery runs on them, and everything that comes back is compared, to the bit, with what the [`history`] says
//! may come back. A life ends with such a cut, and the next begins from what it left.
//!
//! The store is reached through [`Subject`], so that the method itself can be tried on a store of a page's length with
//! known mistakes (`tests/method.rs`). `docs/soundness/store-crashes.md` says what is enumerated and what is not.
#![forbid(unsafe_code)]

pub mod campaign;
pub mod corruption;
pub mod examine;
pub mod graph;
pub mod history;
pub mod life;
pub mod object;
pub mod plans;
pub mod real;
pub mod run;
pub mod scripts;
pub mod subject;
pub mod tally;
pub mod violation;
pub mod volume;
pub mod workload;

pub use subject::Subject;
