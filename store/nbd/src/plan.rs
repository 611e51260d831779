//! What goes wrong, and when.

use std::time::Duration;

/// What a served disk does beyond serving.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The event after which the power goes, from 1; none: never.
    pub cut_after: Option<u64>,
    /// What the choices at the cut, and the order of answers, come from.
    pub seed: u64,
    /// Flushes that fail, counted from 1.
    pub failing_flushes: Vec<u64>,
    /// Most requests that are held back so that they can be answered in another order; 1: none.
    pub held_back: usize,
    /// The client that leaves by the rules finds its unflushed writes lost or not as at a power cut, instead of kept.
    pub cut_at_end: bool,
    /// How long the disk is served at most.
    pub limit: Duration,
}

impl Default for Plan {
    /// A disk that serves for a minute and keeps everything.
    fn default() -> Self {
        Self {
            cut_after: None,
            seed: 0,
            failing_flushes: Vec::new(),
            held_back: 1,
            cut_at_end: false,
            limit: Duration::from_secs(60),
        }
    }
}
