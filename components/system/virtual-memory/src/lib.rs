//! The VM server's logic: physical frames, page tables, regions, faults.
//!
//! Everything here works on a [`memory::Memory`], so that host tests run it on a vector of pages; the
//! component itself (`main.rs`) adds the window on real memory, the lock and the portal entries.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

mod address_space;
mod clear;
mod copy;
mod family;
mod fault;
mod fill;
pub mod frames;
mod gift;
mod heap;
mod load;
mod map;
pub mod memory;
mod pager;
pub mod region;
mod regions;
mod riscv64;
mod server;
mod space;
mod stack;
mod supply;
mod tables;
mod windows;

pub use fault::{Fault, Outcome, Question};
pub use load::Segment;
pub use pager::Name;
pub use pebble_abi as abi;
pub use riscv64::entry::Entry;
pub use server::Server;
pub use supply::Supply;
