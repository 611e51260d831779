//! One crash state: recover from it, and compare what is found with what may be found.

use std::collections::BTreeMap;

use pebble_store_object::ObjectId;
use pebble_store_simulation::{Image, Machine, Order};

use crate::history::{Expectation, Expected, History};
use crate::object::Object;
use crate::subject::Subject;

/// Requests that a disk has in flight while a state is looked at.
const QUEUE: usize = 64;

/// Recovers from images, of which one may be lost, and compares everything. The error says what is wrong.
pub fn state<S: Subject>(
    shape: &S::Shape,
    images: &[Image],
    lost: Option<usize>,
    expectation: &Expectation,
) -> Result<S, String> {
    let machine = Machine::new(images, 0, Order::Submission, QUEUE);
    if let Some(disk) = lost {
        machine.lose(disk);
    }
    let mut store = S::recover(shape, &machine).map_err(|why| format!("no recovery: {why}"))?;
    recovered(&mut store, expectation)?;
    if machine.hazards() > 0 {
        return Err("recovery has two requests for one frame in flight".into());
    }
    Ok(store)
}

/// Compares a store that has just come up with what may be found; returns how it goes on from there.
pub fn recovered<S: Subject>(store: &mut S, expectation: &Expectation) -> Result<History, String> {
    let generation = store.progress().committed;
    let mut complaint = None;
    // A generation that was given up and taken again may be found as it was either time.
    let fitting = expectation.snapshots.iter();
    for expected in fitting.filter(|e| e.snapshot.generation == generation) {
        match compare(store, expected) {
            Ok(pages) => return Ok(History::recovered(expected, pages)),
            Err(why) => complaint = Some(why),
        }
    }
    Err(complaint.unwrap_or_else(|| {
        let known = expectation.snapshots.iter();
        let known: Vec<_> = known.map(|e| e.snapshot.generation).collect();
        format!("generation {generation} came back; only {known:?} may")
    }))
}

/// Compares every object and the restart list; returns what the journaled pages hold.
fn compare<'a, S: Subject>(
    store: &mut S,
    expected: &'a Expected,
) -> Result<&'a BTreeMap<ObjectId, Object>, String> {
    let snapshot = &expected.snapshot;
    let generation = snapshot.generation;
    let journaled = |id: &ObjectId| {
        expected
            .journaled
            .iter()
            .any(|pages| pages.contains_key(id))
    };
    for (id, object) in &snapshot.world.objects {
        if !journaled(id) {
            let found = store.compare(*id, object);
            found.map_err(|why| format!("generation {generation}: object {:#x} {why}", id.0))?;
        }
    }
    let found = store.restart_list()?;
    if found != snapshot.world.restart {
        let wanted = &snapshot.world.restart;
        return Err(format!(
            "generation {generation}: restart list is {found:?}, not {wanted:?}"
        ));
    }
    let mut complaints = Vec::new();
    for pages in &expected.journaled {
        let mut all = pages.iter();
        let wrong =
            all.find_map(|(id, object)| store.compare(*id, object).err().map(|why| (id, why)));
        match wrong {
            None => return Ok(pages),
            Some((id, why)) => complaints.push(format!("{:#x} {why}", id.0)),
        }
    }
    Err(format!(
        "generation {generation}: journaled page {}",
        complaints.join("; or ")
    ))
}
