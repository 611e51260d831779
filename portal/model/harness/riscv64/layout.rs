//! Where things are in the emulator's memory; shared by the harness and the tests that fill and read it.
#![allow(dead_code)] // each user needs its part

/// Start of RAM.
pub const RAM: u64 = 0x8000_0000;
/// Count of cases, and the harness's own words.
pub const CONTROL: u64 = 0x8001_0000;
/// Where each case runs.
pub const ARENA: u64 = 0x8010_0000;
/// Bytes of the arena.
pub const ARENA_BYTES: u64 = 15 * 4096;
/// Code that all cases share, loaded once.
pub const SHARED: u64 = 0x8020_0000;
/// First case.
pub const CASES: u64 = 0x8100_0000;
/// Bytes of a case before its copy of the arena: the state before and after.
pub const HEADER: u64 = 4096;
/// Bytes of a case.
pub const STRIDE: u64 = HEADER + ARENA_BYTES;
