//! Objects and capabilities: the words that model, store and on-disk format share.
//!
//! After EROS (section 3): an object is a node or a page; a capability is a pair of an object's identity and the
//! operations that its holder may use. The version in a capability must equal the object's, or it conveys nothing.
#![no_std]
#![forbid(unsafe_code)]

mod capability;
mod identity;

pub use capability::{Capability, Kind, Rights};
pub use identity::{CallCount, ObjectId, ObjectKind, Version, COUNTER_LIMIT};

/// Bytes of a page, of a frame on disk and of the processor's smallest mapping.
pub const PAGE_SIZE: usize = 4096;

/// Capabilities in a node.
pub const NODE_SLOTS: usize = 32;
