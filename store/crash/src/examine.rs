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
    /// It says now this, now that: no fault of a disk explains it.
    Contradiction(String),
}

impl Wrong {
    /// What is wrong, in words.
    pub fn text(&self) -> &str {
        match self {
            Self::Lost(text)
            | Self::Older(text)
            | Self::False(text)
            | Self::Contradiction(text) => text,
        }
    }
}

/// Recovers from images, of which one may be missing, and compares everything.
pub fn state<S: Subject>(
    shape: &S::Shape,
    images: &[Image],
    missing: Option<usize>,
    expectation: &Expectation,
    starts: Option<Starts>,
) -> Result<S, Wrong> {
    let machine = Machine::new(images, 0, Order::Submission, QUEUE);
    if let Some(disk) = missing {
        machine.lose(disk);
    }
    let mut store = S::recover(shape, &machine, missing)
        .map_err(|why| Wrong::Lost(format!("no recovery: {why}")))?;
    recovered(&mut store, expectation, starts)?;
    if machine.hazards() > 0 {
        let what = "recovery has two writes of one frame in flight";
        return Err(Wrong::False(what.into()));
    }
    Ok(store)
}

/// How often a generation was started without a checkpoint after it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Starts {
    /// The generation.
    pub generation: u64,
    /// Starts that are recorded for good.
    pub least: u64,
    /// Starts that may be recorded.
    pub most: u64,
    /// What is started instead after [`IN_VAIN`] of them.
    pub fallback: Option<u64>,
}

/// Starts in vain after which an older generation is started.
const IN_VAIN: u64 = 3;

/// Compares a store that has just come up with what may be found; returns how it goes on from there.
pub fn recovered<S: Subject>(
    store: &mut S,
    expectation: &Expectation,
    starts: Option<Starts>,
) -> Result<History, Wrong> {
    let generation = store.progress().committed;
    if let Some(starts) = starts {
        let due = starts.fallback.filter(|_| starts.most >= IN_VAIN);
        if due == Some(generation) {
            let mut older = expectation.older.iter();
            let expected = older.find(|e| e.snapshot.generation == generation);
            let unknown = || Wrong::Older(format!("generation {generation} came back"));
            let expected = expected.ok_or_else(unknown)?;
            compare(store, expected)?;
            return Ok(History::fallen_back(expectation, generation));
        }
        if due.is_some() && starts.least >= IN_VAIN && generation == starts.generation {
            let starts = starts.least;
            return Err(Wrong::False(format!(
                "generation {generation} was started {starts} times in vain, and once more"
            )));
        }
    }
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
        Complaint::Contradiction(why) => Wrong::Contradiction(format!(
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
