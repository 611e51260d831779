//! What the store keeps on disk, record by record.
//!
//! Every record encodes into a frame and decodes from one. A decoder trusts nothing: it refuses what is malformed with a
//! [`DecodeError`] that says which record, at which byte, what was found and what would have been right. All integers are
//! little-endian. Every record that describes others carries a 64-bit checksum ([`checksum`]) that depends on the volume
//! and on the place where the record belongs, so that a record read from the wrong place is not believed.
//!
//! The unit of everything is the frame of 4 KiB: a page, or a pot of [`NODES_PER_POT`] nodes. Nothing here depends on the
//! size of a cache or of a table in memory. `docs/reference/store-format.md` tells the same without Rust.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod boot;
mod bytes;
mod capability;
pub mod checksum;
mod directory;
mod error;
mod generation;
mod header;
mod journal;
mod layout;
mod node;
mod range;
mod restart;
mod superblock;
mod tag;
#[cfg(test)]
mod tests;

pub use boot::{BootRecord, BOOT_ATTEMPTS_LIMIT};
pub use capability::{
    decode_capability, decode_capability_page, encode_capability, encode_capability_page,
    CapabilityPage, CAPABILITY_BYTES, PAGE_CAPABILITIES,
};
pub use checksum::VolumeKey;
pub use directory::{
    fold_directory, DirectoryEntry, DirectoryFrame, DirectoryReader, PackedEntry, DIRECTORY_ENTRIES,
};
pub use error::{DecodeError, Problem};
pub use generation::{DirectoryExtent, GenerationHeader};
pub use header::{CheckpointHeader, GenerationReference, LISTED_GENERATIONS};
pub use journal::{JournalPage, JournalRecord, JOURNAL_PAGES};
pub use layout::{
    index_of, node_id, object_frame, page_id, ClusterPlace, JournalLayout, LogLayout, ObjectFrame,
    BOOT_SLOTS, CLUSTER_DATA, CLUSTER_FRAMES, CLUSTER_POTS, HEADER_SLOTS,
};
pub use node::{Node, NodePot, NODES_PER_POT, NODE_BYTES};
pub use range::{Range, RangeKind};
pub use restart::{RestartEntry, RestartFrame, RESTART_ENTRIES};
pub use superblock::{Superblock, FORMAT_VERSION, RANGES_LIMIT, SUPERBLOCK_FRAMES};
pub use tag::{FrameKind, PackedTag, Tag, TagPot, TAGS_PER_POT};
