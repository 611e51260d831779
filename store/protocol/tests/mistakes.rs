//! Every deliberate mistake is found, within bounds that the right protocol passes.

use pebble_store_protocol::{Bounds, Mistake, Protocol};
use stateright::{Checker, Expectation, HasDiscoveries, Model};

/// Small searches first, by [changes, log, headers, crashes, losses].
const SEARCHES: [[u8; 5]; 5] = [
    [2, 4, 2, 1, 0],
    [2, 4, 2, 1, 1],
    [3, 4, 4, 1, 0],
    [1, 4, 2, 2, 1],
    [1, 4, 2, 2, 2],
];

/// The property that a search with the mistake finds broken.
fn found(mistake: Mistake) -> Option<&'static str> {
    SEARCHES.into_iter().find_map(|bounds| {
        let model = Protocol::new(Bounds::from(bounds), Some(mistake));
        let search = model.clone().checker().threads(1);
        let search = search.finish_when(HasDiscoveries::AnyFailures);
        let checker = search.spawn_bfs().join();
        let mut broken = model.properties().into_iter().filter(|property| {
            property.expectation == Expectation::Always
                && checker.discovery(property.name).is_some()
        });
        let name = broken.next()?.name;
        let steps = checker.discovery(name)?.into_actions().len();
        println!("{mistake:?}: not \"{name}\", {steps} steps, within {bounds:?}");
        Some(name)
    })
}

#[test]
fn every_mistake_is_found() {
    let mut missed = Mistake::ALL.to_vec();
    missed.retain(|mistake| found(*mistake).is_none());
    assert!(missed.is_empty(), "not found: {missed:?}");
}
