//! Generates the privileged code of portals (USENIX paper, "The Portal Manager"; embedded paper, 4.5).
//!
//! A portal is a [`Block`]: a pool of 64-bit literals, then straight-line code that is entered with its
//! own address in a register, so that a literal is one load away. The code contains forward branches only,
//! never blocks, and changes nothing until all that can fail has been checked (design invariant I1).
//! Boot code makes the first blocks with this crate, the portal manager all later ones; the verifier
//! (`portal/verify`) decides independently whether a block may run.
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

pub mod riscv64;

pub use riscv64::{generate, Block};

pub use pebble_portal_spec::portal::{Kind, Name, SchedulerEntries, System, Target};

/// Why nothing was generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The block does not fit the space that was given.
    Space,
    /// The letter needs something that this callee does not have (named for the message).
    Unsupported(&'static str),
}
