//! The single-level store: what programs have in memory is what is on disk, a moment ago.
//!
//! After EROS (section 3.5): objects are cached, changed in memory, and every few minutes, or when the log is filling, the
//! state of the whole machine is frozen and saved as one. After a crash the machine goes on from the last state that was
//! saved completely. Nothing waits here, nothing recurses, and no size is part of what is on disk.
//!
//! [`Store`] is all of it for whoever runs one; [`Formatter`] makes an empty volume. `docs/reference/store-protocol.md`
//! says why a crash at any moment does no harm.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod cache;
mod check;
mod checkpoint;
mod counters;
mod error;
mod fetch;
mod formatter;
mod index;
mod journal;
mod log;
mod migration;
mod mutant;
mod objects;
mod parameters;
mod recovery;
mod store;
mod verify;
mod volume;

pub use check::Finding;
pub use counters::Counters;
pub use error::{Error, Stop, Wait};
pub use formatter::{DiskPlan, Formatter};
#[cfg(feature = "mutants")]
pub use mutant::{Corruption, Mutant};
pub use parameters::Parameters;
pub use store::{Due, Recovered, Status, Store};
pub use verify::{Verified, Verify, NAMED_LIMIT};
