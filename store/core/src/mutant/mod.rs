//! Deliberate mistakes, for tests that must notice each of them. Without the feature `mutants` nothing of this is compiled.

/// Whether the store of this volume or part makes the mistake of this name. Without the feature nobody does.
#[cfg(feature = "mutants")]
macro_rules! mutated {
    ($owner:expr, $mutant:ident) => {
        $owner.mutant == Some($crate::Mutant::$mutant)
    };
}

#[cfg(not(feature = "mutants"))]
macro_rules! mutated {
    ($owner:expr, $mutant:ident) => {
        $crate::mutant::never()
    };
}

/// What every question for a mistake is without the feature: no, when it is compiled. A function, so that the conditions
/// that it is part of read the same in both builds.
#[cfg(not(feature = "mutants"))]
#[inline(always)]
pub(crate) const fn never() -> bool {
    false
}

pub(crate) use mutated;

#[cfg(feature = "mutants")]
pub use list::Mutant;

#[cfg(feature = "mutants")]
pub use corruption::Corruption;

#[cfg(feature = "mutants")]
mod corruption;

#[cfg(feature = "mutants")]
mod list {
    macro_rules! mutants {
        ($($(#[$about:meta])* $name:ident,)*) => {
            /// A mistake in the protocol.
            #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
            pub enum Mutant {
                $($(#[$about])* $name,)*
            }

            impl Mutant {
                /// All of them.
                pub const ALL: &'static [Mutant] = &[$(Mutant::$name,)*];
            }
        };
    }

    mutants! {
        /// The flush between objects and checkpoint header is left out.
        FirstFlushDropped,
        /// The flush behind the checkpoint header is left out: a checkpoint is reported that may be lost.
        SecondFlushDropped,
        /// The first flush is sent while writes are under way.
        FlushBeforeCompletion,
        /// The checkpoint header is written together with the objects, before the first flush.
        HeaderBeforeObjects,
        /// Every checkpoint header goes into slot 0.
        SingleHeaderSlot,
        /// A checkpoint header's checksum is not looked at.
        HeaderUnchecked,
        /// Log space is free as soon as its objects are home, before a header says so.
        LogReusedEarly,
        /// What is brought home is the object in memory, not the one in the log.
        MigrationFromMemory,
        /// What is brought home gets no new tag.
        MigrationWithoutTags,
        /// The tag pot is written over the copy that counts: always the first one.
        PotInPlace,
        /// An object is left where it is at home if the checkpoint under way has newer contents.
        SupersededByUncommitted,
        /// Generations are brought home that the header offers for starting.
        MigrationBeyondBootable,
        /// Generations are dropped from the header before they are home.
        DroppedBeforeHome,
        /// The object directory lacks its last entry.
        DirectoryOmitsObject,
        /// Objects without contents are not entered into the directory.
        NullNotRecorded,
        /// Objects go to the log with version 0.
        VersionNotSaved,
        /// Nodes go to the log with call count 0.
        CallCountNotSaved,
        /// The restart list is that of the checkpoint before.
        RestartListStale,
        /// Recovery reads the newest generation only.
        OlderGenerationsForgotten,
        /// Recovery goes on writing at the oldest log number in use.
        CursorAtOldest,
        /// The number of the next generation is that of the newest one, after a start.
        GenerationNumberReused,
        /// After a fall-back, the generations given up stay listed.
        GivenUpStayListed,
        /// Starts are not counted.
        BootNotCounted,
        /// Objects may be changed without log space for them.
        NoReserve,
        /// An object being saved is changed without a copy.
        CopySkipped,
        /// A snapshot does not begin a new epoch: later changes go into it.
        EpochNotAdvanced,
        /// The checksum of what was read is not looked at.
        ReadUnchecked,
        /// Objects count as verified without being looked at.
        VerifiedUnseen,
        /// The objects of a snapshot are not looked at before they are saved.
        CheckSkipped,
        /// What goes to the disk is not compared with what was checked.
        HandOverUnchecked,
        /// A journal record is reported without a flush.
        JournalWithoutFlush,
        /// Journal records are applied newest first, so that the oldest wins.
        JournalBackwards,
        /// Journal records are applied that are older than the generation.
        JournalAcrossGenerations,
        /// A journal record is believed whose pages are not all there.
        JournalPagesUnchecked,
        /// Journal space is free at the snapshot, before the checkpoint is committed.
        JournalReusedEarly,
        /// Pages from the journal are not part of the first checkpoint after a start.
        JournalForgotten,
        /// The journal takes what is no data page.
        JournalTakesAll,
        /// A header does not say that a disk has dropped out.
        LossNotRecorded,
        /// Recovery believes every disk.
        StaleReplicaBelieved,
        /// Recovery takes the header of the first disk, not the newest.
        FirstHeaderBelieved,
        /// Only the first disk is written.
        WriteOneReplica,
        /// A joining disk keeps the headers that it had.
        OldHeadersLeft,
        /// A resync leaves out frames.
        ResyncSkipsFrames,
        /// A resync does not wait for writes under way.
        ResyncOvertakes,
        /// A disk is believed before everything is copied to it.
        JoinedEarly,
        /// A flush that failed is taken for a good one.
        FlushErrorIgnored,
        /// A write that failed is taken for a good one.
        WriteErrorIgnored,
        /// A failed flush is sent again, and believed.
        FlushRetried,
    }
}
