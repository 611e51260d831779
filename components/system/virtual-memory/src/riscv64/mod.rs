//! What differs per processor: the format of page tables.

pub mod entry;
