//! Campaigns: runs of one plan after another until enough states were looked at.

use std::time::Instant;

use crate::run::{run, Plan};
use crate::subject::Subject;
use crate::tally::Tally;
use crate::violation::Violation;

/// What `./pebble test` tries over all campaigns.
pub const USUAL_STATES: u64 = 1_000_000;

/// How many states a campaign is to try that has this share of the usual number: `STORE_CRASH_STATES` is that number if it
/// is set, as for a long run of 100,000,000.
pub fn states(share: u64) -> u64 {
    let wanted = std::env::var("STORE_CRASH_STATES").ok();
    let wanted = wanted.and_then(|text| text.replace('_', "").parse::<u64>().ok());
    let wanted = wanted.unwrap_or(USUAL_STATES);
    (u128::from(share) * u128::from(wanted) / u128::from(USUAL_STATES)) as u64
}

/// Runs seeds from `first` on until `states` were looked at, or one was not as it must be.
pub fn campaign<S: Subject>(
    plan: &Plan<S::Shape>,
    first: u64,
    states: u64,
) -> Result<Tally, Box<Violation>> {
    let mut tally = Tally::default();
    for seed in first.. {
        if tally.states >= states {
            break;
        }
        tally += run::<S>(plan, seed, None)?;
    }
    Ok(tally)
}

/// As [`campaign`]; tells what was done and how fast, and panics with the way to have a violation again.
pub fn must_hold<S: Subject>(plan: &Plan<S::Shape>, first: u64, states: u64) -> Tally {
    let start = Instant::now();
    match campaign::<S>(plan, first, states) {
        Ok(tally) => {
            let rate = tally.states as f64 / start.elapsed().as_secs_f64();
            println!("{}: {tally}; {rate:.0} states a second", plan.name);
            tally
        }
        Err(violation) => panic!("{violation}"),
    }
}
