//! Sizes and choices. None of them is part of what is on disk: a volume opens under any.

/// How a store is run.
#[derive(Clone, Debug)]
pub struct Parameters {
    /// Object frames held in memory.
    pub cache_frames: usize,
    /// Frames for copies of objects that change while they are being saved.
    pub copy_frames: usize,
    /// Tag pots held in memory, 6 KiB each.
    pub pot_slots: usize,
    /// Requests that may be under way on one disk.
    pub in_flight: usize,
    /// How much of the log that the current generation may have it takes before a checkpoint is due, in percent (EROS,
    /// section 3.5.2: 65).
    pub forced_percent: u64,
    /// Generations that are kept unmigrated when the log has room: 1 to 19. Each can be started from.
    pub keep_generations: usize,
    /// The longest restart list that a snapshot may come with. Log space for it is held back.
    pub restart_limit: usize,
    /// Objects that one poll looks at, for work that has no natural end.
    pub step: usize,
    /// Whether starts are counted on disk, and an older generation is started after three failures.
    pub count_boots: bool,
    /// Whether a header slot that cannot be read is taken for an old one. Without this, opening fails: the unreadable slot may
    /// hold the newest checkpoint.
    pub accept_older: bool,
    /// The generation to start, if not the newest.
    pub generation: Option<u64>,
    /// When replicas contradict each other, because each ran without the other: the disk to believe.
    pub follow: Option<u8>,
    /// When the objects of the generation that is started are looked at.
    pub verify: crate::Verify,
    /// Whether a disk of the volume that is out of date is brought up to date by itself.
    pub rejoin: bool,
    /// The mistake to make.
    #[cfg(feature = "mutants")]
    pub mutant: Option<crate::Mutant>,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            cache_frames: 1024,
            copy_frames: 256,
            pot_slots: 16,
            in_flight: 32,
            forced_percent: 65,
            keep_generations: 8,
            restart_limit: 1024,
            step: 64,
            count_boots: true,
            accept_older: false,
            generation: None,
            follow: None,
            verify: crate::Verify::First,
            rejoin: true,
            #[cfg(feature = "mutants")]
            mutant: None,
        }
    }
}
