//! What a campaign has done, counted.

use std::fmt;
use std::ops::AddAssign;

use crate::subject::Coverage;

/// Counts of runs; they add up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Seeds that were run.
    pub runs: u64,
    /// Lives: recoveries after which the machine went on.
    pub lives: u64,
    /// Moments at which the power was cut.
    pub moments: u64,
    /// States that were recovered from and compared.
    pub states: u64,
    /// Of these, after cuts of a machine that had itself come up after a cut.
    pub chained: u64,
    /// Of these, after cuts before the store was up.
    pub during_recovery: u64,
    /// Of these, with one disk of a pair missing.
    pub one_disk: u64,
    /// Of these, in which the store said that a disk had lost something without a word.
    pub refused: u64,
    /// What the stores counted.
    pub coverage: Coverage,
}

impl AddAssign<Coverage> for Tally {
    fn add_assign(&mut self, other: Coverage) {
        let sum = &mut self.coverage;
        sum.wraps += other.wraps;
        sum.forced += other.forced;
        sum.migrations += other.migrations;
        sum.replays += other.replays;
        sum.resyncs += other.resyncs;
        sum.fallbacks += other.fallbacks;
        sum.verified += other.verified;
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.runs += other.runs;
        self.lives += other.lives;
        self.moments += other.moments;
        self.states += other.states;
        self.chained += other.chained;
        self.during_recovery += other.during_recovery;
        self.one_disk += other.one_disk;
        self.refused += other.refused;
        *self += other.coverage;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = self.coverage;
        write!(
            out,
            "{} states of {} moments in {} lives of {} runs ({} chained, {} during recovery, {} with one disk, {} refused); \
             {} wraps, {} forced checkpoints, {} migrations, {} journal replays, {} resyncs, {} fall-backs, {} objects verified",
            self.states,
            self.moments,
            self.lives,
            self.runs,
            self.chained,
            self.during_recovery,
            self.one_disk,
            self.refused,
            of.wraps,
            of.forced,
            of.migrations,
            of.replays,
            of.resyncs,
            of.fallbacks,
            of.verified
        )
    }
}
