//! Deliberate mistakes: each breaks one rule of the protocol.

/// A rule left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mistake {
    /// The header is written without waiting for flush 1.
    DropFirstFlush,
    /// The checkpoint counts as committed without flush 2.
    DropSecondFlush,
    /// The record is still being written when flush 1 is sent, which therefore does not cover it.
    FlushBeforeCompletion,
    /// A checkpoint may overwrite the log frames that only its own, not yet committed header gives up.
    ReuseEarly,
    /// Log frames of a migrated generation are free at once, without waiting for a header that says so.
    MigrateWithoutHeader,
    /// What a header retires is decided when it is written, not when its flush 1 was sent.
    RetireAfterFirstFlush,
    /// Migration copies from memory instead of the log.
    MigrateFromMemory,
    /// Every header goes to the same slot.
    OneHeaderSlot,
    /// Torn headers are taken for good ones.
    NoHeaderChecksum,
    /// The record leaves out a changed object.
    RecordOmitsObject,
    /// Recovery uses only the newest generation of the header's list.
    ForgetUnmigrated,
    /// Recovery sets the log's cursor to where the newest generation begins.
    CursorBehind,
    /// No log frame is kept for the checkpoint that publishes a retirement.
    NoReserve,
    /// A disk whose flush failed stays a member.
    IgnoreFlushError,
    /// Recovery reads from any disk with a good header, however old.
    StaleReplicaBelieved,
    /// Headers are ordered by their sequence alone.
    NoEpoch,
    /// A system that starts with fewer disks runs before its new epoch is stable.
    EpochLater,
    /// Disks that were each started without the other are not noticed.
    SplitIgnored,
    /// A system that starts with just the disks that its header names keeps the epoch.
    EpochOnlyOnChange,
    /// Mirror recovery leaves the stale disk's headers while it overwrites the rest.
    CopyUnderOldHeaders,
    /// The stale disk's headers are erased together, so that the older may outlive the newer.
    EraseHeadersTogether,
    /// The erasure of the stale disk's headers is not flushed before the copy begins.
    CopyBeforeEraseStable,
    /// A disk in mirror recovery counts as a member once copied, without a flush.
    MemberBeforeFlush,
}

impl Mistake {
    /// Every mistake.
    pub const ALL: [Mistake; 23] = [
        Mistake::DropFirstFlush,
        Mistake::DropSecondFlush,
        Mistake::FlushBeforeCompletion,
        Mistake::ReuseEarly,
        Mistake::MigrateWithoutHeader,
        Mistake::RetireAfterFirstFlush,
        Mistake::MigrateFromMemory,
        Mistake::OneHeaderSlot,
        Mistake::NoHeaderChecksum,
        Mistake::RecordOmitsObject,
        Mistake::ForgetUnmigrated,
        Mistake::CursorBehind,
        Mistake::NoReserve,
        Mistake::IgnoreFlushError,
        Mistake::StaleReplicaBelieved,
        Mistake::NoEpoch,
        Mistake::EpochLater,
        Mistake::SplitIgnored,
        Mistake::EpochOnlyOnChange,
        Mistake::CopyUnderOldHeaders,
        Mistake::EraseHeadersTogether,
        Mistake::CopyBeforeEraseStable,
        Mistake::MemberBeforeFlush,
    ];
}
