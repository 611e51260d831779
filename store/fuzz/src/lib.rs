//! Arbitrary images and streams for whoever reads them.
//!
//! A fuzzer that changes bytes of an image dies at the first checksum. So an input is a list of changes to a good image,
//! after which the records that were changed get the right checksums again if the input says so; the rest is as a broken or
//! hostile disk would be. Every target must end: within a number of steps and of bytes that its input does not choose, and
//! without a panic. `libfuzzer/` runs the targets guided by coverage, `tests/replay.rs` in every test run.
#![forbid(unsafe_code)]

mod base;
pub mod corpus;
mod decode;
mod disk;
mod edit;
mod recovery;
mod seal;
mod transfer;

pub use decode::decode;
pub use edit::{arbitrary, Random};
pub use recovery::{fsck, recovery};
pub use transfer::receive;

/// A target: does something with any bytes, and panics if that goes wrong.
pub type Target = fn(&[u8]);

/// The targets, by the names of their corpora.
pub const TARGETS: [(&str, Target); 4] = [
    ("recovery", recovery),
    ("fsck", fsck),
    ("receive", receive),
    ("decode", decode),
];
