//! One crash state: recover from it, and compare what is found with what may be found.

use std::collections::BTreeMap;

use pebble_store_object::ObjectId;
use pebble_store_simulation::{Image, Machine, Order};

use crate::history::{Expectation, Expected, History};
use crate::object::Object;
use crate::subject::{Complaint, Subject};

/// Requests that a disk has in flight while a state is looked at.
const QUEUE: usize = 64;

/// What is wrong with a state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Wrong {
    /// The store says that something cannot be had.
    Lost(String),
    /// It gives a generation that was, but is not the last.
    Older(String),
    /// It gives something that may not be.
    False(String),
}

impl Wrong {
    /// What is wrong, in words.
    pub fn text(&self) -> &str {
        match self {
            Self::Lost(text) | Self::Older(text) | Self::False(text) => text,
        }
    }
}

/// Recovers from images, of which one may be missing, and compares everything.
pub fn state<S: Subject>(
    shape: &S::Shape,
    images: &[Image],
    missing: Option<usize>,
    expectation: &Expectation,
) -> Result<S, Wrong> {
    let machine = Machine::new(images, 0, Order::Submission, QUEUE);
    if let Some(disk) = missing {
        machine.lose(disk);
    }
    let mut store = S::recover(shape, &machine, missing)
        .map_err(|why| Wrong::Lost(format!("no recovery: {why}")))?;
    recovered(&mut store, expectation)?;
    if machine.hazards() > 0 {
        let what = "recovery has two writes of one frame in flight";
        return Err(Wrong::False(what.into()));
    }
    Ok(store)
}

/// Compares a store that has just come up with what may be found; returns how it goes on from there.
pub fn recovered<S: Subject>(store: &mut S, expectation: &Expectation) -> Result<History, Wrong> {
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
    let known = expectation.snapshots.iter();
    let known: Vec<_> = known.map(|e| e.snapshot.generation).collect();
    let text = format!("generation {generation} came back; only {known:?} may");
    let mut older = expectation.older.iter();
    if older.any(|e| e.snapshot.generation == generation && compare(store, e).is_ok()) {
        return Err(Wrong::Older(text));
    }
    Err(complaint.unwrap_or(Wrong::False(text)))
}

/// Compares every object and the restart list; returns what the journaled pages hold.
fn compare<'a, S: Subject>(
    store: &mut S,
    expected: &'a Expected,
) -> Result<&'a BTreeMap<ObjectId, Object>, Wrong> {
    let snapshot = &expected.snapshot;
    let generation = snapshot.generation;
    let told = |id: &ObjectId, complaint| match complaint {
        Complaint::Unreadable(why) => Wrong::Lost(format!(
            "generation {generation}: object {:#x}: {why}",
            id.0
        )),
        Complaint::Wrong(why) => {
            Wrong::False(format!("generation {generation}: object {:#x} {why}", id.0))
        }
    };
    // Each choice has the same pages.
    let journaled = expected.journaled.first();
    for (id, object) in &snapshot.world.objects {
        if journaled.is_none_or(|pages| !pages.contains_key(id)) {
            store.compare(*id, object).map_err(|why| told(id, why))?;
        }
    }
    let found = store.restart_list();
    if found != snapshot.world.restart {
        let wanted = &snapshot.world.restart;
        return Err(Wrong::False(format!(
            "generation {generation}: restart list is {found:?}, not {wanted:?}"
        )));
    }
    let mut complaint = None;
    for pages in &expected.journaled {
        let mut all = pages.iter();
        let wrong = all.find_map(|(id, object)| Some((id, store.compare(*id, object).err()?)));
        match wrong {
            None => return Ok(pages),
            Some((id, why)) => complaint = complaint.or(Some(told(id, why))),
        }
    }
    Err(complaint.unwrap_or(Wrong::False("nothing is expected".into())))
}
