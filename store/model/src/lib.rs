//! What capabilities mean: an executable model, plain and slow, that the real servers are compared with.
//!
//! After EROS (sections 2, 3 and 5). A [`World`] is all objects; nothing else has state. The services that EROS
//! builds above them, space banks first, are here as the rules that they keep, without the processes they run in.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod bank;
pub mod constructor;
pub mod copy;
mod error;
pub mod invoke;
pub mod monitor;
mod object;
pub mod oracle;
pub mod process;
pub mod random;
mod range;
mod rights;
pub mod space;
mod world;

pub use error::Error;
pub use object::{memory_kind, named_by, Contents, Node, Object, CAPABILITY_PAGE_SLOTS};
pub use rights::{diminish, restrict, DIMINISHED};
pub use world::World;

/// The most forwarders that an invocation passes in a row.
pub const INDIRECTOR_LIMIT: usize = 32;
