//! The method itself: a small store that does it right passes, and each way of doing it wrong is found.

mod toy;

use pebble_store_crash::campaign::campaign;
use pebble_store_crash::run::{run, Choice, Plan, Source};
use pebble_store_crash::workload::Weights;
use toy::{Mistake, Toy};

fn plan(mistake: Mistake) -> Plan<Mistake> {
    Plan {
        name: "toy".into(),
        shape: mistake,
        lives: 3,
        steps: 12,
        source: Source::Random(Weights::ORDINARY),
        choice: Choice::Every(8),
    }
}

#[test]
fn a_store_that_does_it_right_passes() {
    let tally = campaign::<Toy>(&plan(Mistake::None), 0, 20_000);
    let tally = tally.unwrap_or_else(|violation| panic!("{violation}"));
    assert!(tally.states >= 20_000 && tally.chained > 1000, "{tally}");
}

#[test]
fn each_mistake_is_found_and_can_be_had_again() {
    for mistake in [
        Mistake::NoFirstFlush,
        Mistake::NoSecondFlush,
        Mistake::OneHeader,
        Mistake::NoChecksum,
        Mistake::ForgetsAPage,
        Mistake::ForgetsRestartList,
        Mistake::Stuck,
    ] {
        let plan = plan(mistake);
        let Err(found) = campaign::<Toy>(&plan, 0, 20_000) else {
            panic!("{mistake:?} was not found");
        };
        let again = run::<Toy>(&plan, found.place.seed, found.place.state);
        assert_eq!(again.err(), Some(found), "{mistake:?}");
    }
}
