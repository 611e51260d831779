//! Every number that two sides of a Pebble boundary share, stated once.
//!
//! Rust code uses these constants directly; [`header`] renders the same constants as the C header
//! `sdk/c/include/pebble/abi.h` and as the tables of `docs/reference/abi.md`. A test fails when either
//! file differs from what is generated, so neither can drift.
//!
//! The crate holds no code that runs in the system: numbers, layouts, and names.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

pub mod bundle;
pub mod entry;
pub mod errno;
pub mod frame;
pub mod header;
pub mod layout;
pub mod loader;
pub mod log;
pub mod object;
pub mod page_table;
pub mod semaphore;
pub mod slot;
pub mod thread_state;
pub mod wiring;
