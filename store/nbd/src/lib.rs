//! A disk for QEMU whose power can be cut: an NBD server with the volatile cache that a real disk has.
//!
//! `store/simulation` shows that the store survives every crash on disks that exist in memory. This server brings the
//! same semantics into a whole machine: QEMU's virtio-blk device stands on it (`-drive file=nbd+unix:///?socket=...`), so
//! driver, device and block layer are the real ones, and only the disk lies.
//!
//! - The image file holds what is stable, at every moment. A write goes to a cache; reads see it.
//! - A flush moves into the file what had been answered before the flush was received. Nothing else does.
//! - At the event that a [`Plan`] names, the power goes: of the sectors in the cache a seeded choice gets into the file,
//!   whole, torn, or not at all, and the connection ends without an answer.
//! - A flush that the plan lets fail is answered with an error, and what it would have made stable never will be by a
//!   later one: it is in the cache until the power goes, and then left to the seed.
//!
//! Events are counted from 1: a write received, a flush received, a flush done. With a client that waits for each answer a
//! seed and an event give the same image every time.
#![forbid(unsafe_code)]

mod cache;
mod handshake;
mod plan;
mod random;
mod server;
mod wire;

pub use cache::{Cache, Survivors};
pub use plan::Plan;
pub use server::{Ending, Error, Place, Server, Summary};

/// Bytes that are written whole or not, but for one torn sector; the unit of requests.
pub const SECTOR_SIZE: usize = 512;
