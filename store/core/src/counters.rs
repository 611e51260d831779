//! What has happened: for tests that must know what they covered, and for figures.

/// Counts since the store was opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Checkpoints committed.
    pub checkpoints: u64,
    /// Of those, taken because the store asked for them.
    pub forced_checkpoints: u64,
    /// Flushes for checkpoints.
    pub checkpoint_flushes: u64,
    /// Times that the log went round.
    pub log_wraps: u64,
    /// Object frames written to the log.
    pub log_objects: u64,
    /// Directory and generation header frames written to the log, and checkpoint headers.
    pub log_records: u64,
    /// Generations whose objects were all brought home.
    pub migrations: u64,
    /// Object frames written home.
    pub home_objects: u64,
    /// Tag pots written.
    pub pots: u64,
    /// Objects not brought home, because the next generation has newer contents.
    pub superseded: u64,
    /// Copies made because an object changed while it was being saved.
    pub copies: u64,
    /// Objects read.
    pub fetches: u64,
    /// Reads whose answer was wrong or an error, and that another place answered.
    pub repaired_reads: u64,
    /// Objects that were lost in the log on every disk, and whose tags now say so.
    pub lost_objects: u64,
    /// Objects of the started generation that were found good when it was verified.
    pub verified_objects: u64,
    /// Objects of it that were found lost then.
    pub verified_bad: u64,
    /// Journal records made stable.
    pub journal_records: u64,
    /// Journal records applied when the store was opened.
    pub journal_replays: u64,
    /// Disks brought up to date.
    pub resyncs: u64,
    /// Frames copied for that.
    pub resync_frames: u64,
    /// Disks given up because a request failed.
    pub lost_disks: u64,
    /// 1 if an older generation was started because newer ones had failed too often.
    pub fall_backs: u64,
    /// 1 if the store was opened with a migration unfinished or a checkpoint not committed since: recovery after recovery.
    pub chained_recoveries: u64,
    /// Directory entries read when the store was opened.
    pub recovered_entries: u64,
}
