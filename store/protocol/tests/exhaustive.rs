//! The whole state space within stated bounds: nothing goes wrong, and everything that matters happens.

use pebble_store_protocol::{Bounds, Event, Protocol};
use stateright::{Checker, Expectation, Model};

/// Searches within [changes, log, headers, crashes, losses]; gives the events that happened. `reached` are the
/// properties of single states that these bounds must reach.
fn search(bounds: [u8; 5], reached: &[&str]) -> Vec<Event> {
    let model = Protocol::new(Bounds::from(bounds), None);
    let checker = model.clone().checker().threads(1).spawn_bfs().join();
    assert!(checker.is_done());
    println!("{bounds:?}: {} states", checker.unique_state_count());
    for property in model.properties() {
        let found = checker.discovery(property.name);
        match property.expectation {
            Expectation::Always => assert!(
                found.is_none(),
                "not \"{}\" after {:#?}",
                property.name,
                found.map(|path| path.into_actions())
            ),
            _ if reached.contains(&property.name) => {
                assert!(found.is_some(), "never \"{}\"", property.name);
            }
            _ => {}
        }
    }
    let happened = |event: &Event| model.count_of(*event) > 0;
    Event::ALL.into_iter().filter(happened).collect()
}

const SETTLED: &str = "every change is committed, migrated and retired";
const WHOLE_AGAIN: &str = "both disks are members again after a loss";
const CRASH_AT_START: &str = "the last crash happens while a system starts with fewer disks";

#[test]
fn nothing_goes_wrong_and_everything_happens() {
    // Long histories in a tight log; a loss among two crashes; two losses. No one of them alone reaches everything.
    let mut happened = search([3, 4, 4, 2, 0], &[SETTLED, CRASH_AT_START]);
    happened.extend(search(
        [2, 4, 3, 2, 1],
        &[SETTLED, WHOLE_AGAIN, CRASH_AT_START],
    ));
    happened.extend(search(
        [1, 4, 3, 2, 2],
        &[SETTLED, WHOLE_AGAIN, CRASH_AT_START],
    ));
    for event in Event::ALL {
        assert!(happened.contains(&event), "{event:?} never happened");
    }
}

#[test]
#[ignore = "minutes; run with `--ignored` after a change of the protocol"]
fn nor_within_wider_bounds() {
    for bounds in [
        [3, 4, 4, 1, 1],
        [1, 4, 3, 3, 3],
        [2, 4, 2, 2, 2],
        [2, 4, 3, 1, 2],
        [4, 5, 5, 1, 0],
    ] {
        search(bounds, &[SETTLED]);
    }
}
