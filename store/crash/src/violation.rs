//! A state that should not have been, and how to have it again.

use std::fmt;

/// Where in a campaign something was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// The run's seed.
    pub seed: u64,
    /// The life of the run, from 0.
    pub life: u64,
    /// The state of the run, from 0; `None` while the machine was running.
    pub state: Option<u64>,
}

/// A promise of the store that was not kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// The campaign.
    pub campaign: String,
    /// Where.
    pub place: Place,
    /// The event after which the power was cut, and what became of the writes.
    pub cut: String,
    /// What was found instead of what.
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Place { seed, life, state } = self.place;
        writeln!(out, "{}: {}", self.campaign, self.what)?;
        writeln!(out, "  seed {seed}, life {life}, {}", self.cut)?;
        let state = state.map_or(String::new(), |state| format!(":{state}"));
        write!(
            out,
            "  again: STORE_CRASH={}:{seed}{state} cargo test -p pebble-store-crash --test again -- --nocapture",
            self.campaign
        )
    }
}
