//! Why bytes are not the record that they were taken for.

use core::fmt;

/// A record that does not decode. Where on which disk it was read is added by who read it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DecodeError {
    /// The record that was expected.
    pub record: &'static str,
    /// The byte within the frame at which the trouble is.
    pub offset: usize,
    /// What is wrong there.
    pub problem: Problem,
}

/// What is wrong with a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Problem {
    /// It does not begin as this record does: another record, or none.
    Magic {
        /// The first eight bytes, as an integer.
        found: u64,
    },
    /// The checksum is not that of the contents: torn, damaged, or read from another place or volume.
    Checksum {
        /// The checksum in the record.
        found: u64,
        /// The checksum of the contents.
        computed: u64,
    },
    /// It was written by a format that this code does not know.
    FormatVersion {
        /// The version in the record.
        found: u32,
        /// The version that this code reads.
        known: u32,
    },
    /// A field has a value without a meaning.
    Value {
        /// The field.
        field: &'static str,
        /// What it holds.
        found: u64,
        /// What it may hold.
        allowed: &'static str,
    },
}

impl DecodeError {
    pub(crate) fn value(
        record: &'static str,
        offset: usize,
        field: &'static str,
        found: u64,
        allowed: &'static str,
    ) -> Self {
        Self {
            record,
            offset,
            problem: Problem::Value {
                field,
                found,
                allowed,
            },
        }
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: at byte {}, ", self.record, self.offset)?;
        match self.problem {
            Problem::Magic { found } => {
                write!(out, "the record's mark is missing (found {found:#018x})")
            }
            Problem::Checksum { found, computed } => write!(
                out,
                "the checksum is {found:#018x}, but the contents give {computed:#018x}: \
                 torn, damaged, or from another place"
            ),
            Problem::FormatVersion { found, known } => write!(
                out,
                "format version {found}; this program reads version {known}"
            ),
            Problem::Value {
                field,
                found,
                allowed,
            } => write!(out, "{field} is {found}; allowed is {allowed}"),
        }
    }
}

impl core::error::Error for DecodeError {}
