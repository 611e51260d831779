//! What the tests share: random systems, the emulator, and the portals that every table has.
#![allow(dead_code)]

pub mod arena;
pub mod comparison;
pub mod emulator;
mod harness;
pub mod kinds;
pub mod mutants;
pub mod portals;
pub mod random;
pub mod scenario;
