//! Campaigns: runs of one plan after another until enough states were looked at.

use std::time::Instant;

use crate::run::{run, Plan};
use crate::subject::Subject;
use crate::tally::Tally;
use crate::violation::Violation;

/// What `./pebble test` tries over all campaigns.
pub const USUAL_STATES: u64 = 1_000_000;

/// What `./pebble test --long` tries over all campaigns.
pub const LONG_STATES: u64 = 100_000_000;

/// How many states a campaign is to try that has this share of [`USUAL_STATES`]. With `PEBBLE_LONG` set, as
/// `./pebble test --long` does, it is the share of [`LONG_STATES`]; `STORE_CRASH_STATES` can name any other number.
pub fn states(share: u64) -> u64 {
    let named = std::env::var("STORE_CRASH_STATES").ok();
    let long = std::env::var_os("PEBBLE_LONG").is_some();
    share_of(share, named.as_deref(), long)
}

fn share_of(share: u64, named: Option<&str>, long: bool) -> u64 {
    let wanted = named.and_then(|text| text.replace('_', "").parse::<u64>().ok());
    let wanted = wanted.unwrap_or(if long { LONG_STATES } else { USUAL_STATES });
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_run_tries_a_hundred_times_as_much() {
        assert_eq!(share_of(250_000, None, false), 250_000);
        assert_eq!(share_of(250_000, None, true), 25_000_000);
        assert_eq!(share_of(250_000, Some("2_000_000"), true), 500_000);
        assert_eq!(share_of(USUAL_STATES, None, true), LONG_STATES);
    }
}
