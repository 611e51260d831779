//! A million crash states: every campaign, with what each must have covered. `./pebble test --long` makes it a hundred million.
//!
//! Each test takes one core; together they are balanced for two.

use pebble_store_crash::campaign::{campaign, must_hold, states};
use pebble_store_crash::plans;
use pebble_store_crash::real::Real;
use pebble_store_crash::tally::Tally;

/// What a run has covered is no accident of a few seeds: each of these more than 1,000 times.
fn covered(counts: &[(&str, u64)]) {
    for (what, count) in counts {
        assert!(*count >= 1000, "only {count} {what}: the run proves little");
    }
}

#[test]
fn one_disk() {
    let mut tally = must_hold::<Real>(&plans::single(), 0, states(250_000));
    tally += must_hold::<Real>(&plans::lagging(), 0, states(150_000));
    tally += must_hold::<Real>(&plans::journal(), 0, states(100_000));
    covered(&[
        ("log wraps", tally.coverage.wraps),
        ("forced checkpoints", tally.coverage.forced),
        ("migrations", tally.coverage.migrations),
        ("journal replays", tally.coverage.replays),
        ("states after a cut after a cut", tally.chained),
        ("states of cuts during recovery", tally.during_recovery),
        ("objects verified", tally.coverage.verified),
    ]);
}

#[test]
fn two_disks() {
    let mut tally = must_hold::<Real>(&plans::pair(), 0, states(200_000));
    tally += must_hold::<Real>(&plans::broken_pair(), 0, states(50_000));
    covered(&[
        ("resyncs", tally.coverage.resyncs),
        ("states with one disk", tally.one_disk),
        ("migrations", tally.coverage.migrations),
    ]);
}

#[test]
fn broken_disk() {
    must_hold::<Real>(&plans::broken(), 0, states(100_000));
}

#[test]
fn starts_in_vain_and_stray_stores() {
    let tally = must_hold::<Real>(&plans::boots(), 0, states(50_000));
    covered(&[("fall-backs", tally.coverage.fallbacks)]);
    must_hold::<Real>(&plans::memory(), 0, states(25_000));
    must_hold::<Real>(&plans::narrow(), 0, states(25_000));
}

#[test]
fn objects_of_the_model_hold_together() {
    let tally = must_hold::<Real>(&plans::model(), 0, states(50_000));
    covered(&[("states after a cut after a cut", tally.chained)]);
}

/// Every subset of the writes that are not stable, at every moment of every workload of up to three operations.
#[test]
fn every_short_workload() {
    let mut tally = Tally::default();
    for plan in plans::scripts(1, 3) {
        tally += every(&plan);
    }
    for plan in plans::scripts(2, 1) {
        tally += every(&plan);
    }
    println!("short workloads: {tally}");
    assert!(tally.states > 100_000, "{tally}");
}

fn every(plan: &pebble_store_crash::run::Plan<pebble_store_crash::real::Shape>) -> Tally {
    // Each seed is one order of completions.
    let mut tally = Tally::default();
    for seed in 0..3 {
        let done = campaign::<Real>(plan, seed, 1);
        tally += done.unwrap_or_else(|violation| panic!("{violation}"));
    }
    tally
}
