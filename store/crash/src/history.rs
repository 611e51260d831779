//! What the store may come back with: the oracle.
//!
//! A cut may leave the last generation that the store has reported as committed, or a later one whose snapshot has been
//! taken; of the pages journaled since that snapshot, the last content whose journaling was reported as done, or a later
//! one. Nothing else, to the bit.

use std::collections::BTreeMap;
use std::rc::Rc;

use pebble_store_object::ObjectId;

use crate::object::{Contents, Object, World};

/// The world as it was when a generation's snapshot was taken.
#[derive(Debug)]
pub struct Snapshot {
    /// The generation.
    pub generation: u64,
    /// The world.
    pub world: World,
    /// Journal requests that had been made before.
    journaled: usize,
}

/// Pages that were handed to the journal together.
#[derive(Clone, Debug)]
struct Journaled {
    pages: Vec<(ObjectId, Object)>,
    done: bool,
}

/// All that may be found after a cut at some moment. Shared by the cuts between which nothing has changed.
#[derive(Debug)]
pub struct Expectation {
    /// Generations that may be found, oldest first, at least one.
    pub snapshots: Vec<Rc<Expected>>,
    /// Committed generations before these: found only if a disk has lost something without a word.
    pub older: Vec<Expected>,
}

/// What belongs to a generation.
#[derive(Debug)]
pub struct Expected {
    /// What was saved.
    pub snapshot: Rc<Snapshot>,
    /// What the pages that were journaled since may hold, all of them together: one choice for each request that may have
    /// been the last to reach the disk, latest first.
    pub journaled: Vec<BTreeMap<ObjectId, Object>>,
}

impl Expected {
    /// This, and perhaps some of the requests that were made since on the other disk.
    fn followed_by(&self, requests: &[Journaled]) -> Self {
        let mut journaled: Vec<BTreeMap<ObjectId, Object>> = Vec::new();
        for before in self.journaled.iter().rev() {
            let mut world = self.snapshot.world.clone();
            world.objects.extend(before.clone());
            let open = requests.iter().map(|request| Journaled {
                pages: request.pages.clone(),
                done: false,
            });
            let open: Vec<_> = open.collect();
            for mut choice in self::journaled(&world, &open) {
                for (id, object) in before {
                    choice.entry(*id).or_insert_with(|| object.clone());
                }
                journaled.insert(0, choice);
            }
        }
        Self {
            snapshot: self.snapshot.clone(),
            journaled,
        }
    }
}

/// Generations that are remembered although newer ones are committed.
const OLDER: usize = 4;

/// What has happened to the store so far.
#[derive(Debug)]
pub struct History {
    /// The world as programs see it now.
    pub world: World,
    /// The last committed generation, and those after it.
    snapshots: Vec<Rc<Snapshot>>,
    /// What a disk that is missing may bring back, as long as nothing new is committed: a generation that was being
    /// committed when the power was cut.
    strays: Vec<Rc<Expected>>,
    /// Generations before, at most [`OLDER`].
    older: Vec<Rc<Snapshot>>,
    journal: Vec<Journaled>,
    expectation: Option<Rc<Expectation>>,
}

impl History {
    /// The history of a store that has come up with this generation and world.
    pub fn new(generation: u64, world: World) -> Self {
        let snapshot = Snapshot {
            generation,
            world: world.clone(),
            journaled: 0,
        };
        Self {
            world,
            snapshots: vec![Rc::new(snapshot)],
            strays: Vec::new(),
            older: Vec::new(),
            journal: Vec::new(),
            expectation: None,
        }
    }

    /// The history of a store that has come back with what was expected; `pages` is what journaled pages hold.
    pub fn recovered(expected: &Expected, pages: &BTreeMap<ObjectId, Object>) -> Self {
        let pages = pages.iter().map(|(id, object)| (*id, object.clone()));
        let pages: Vec<_> = pages.collect();
        let mut world = expected.snapshot.world.clone();
        world.objects.extend(pages.iter().cloned());
        Self {
            world,
            snapshots: vec![Rc::new(Snapshot {
                generation: expected.snapshot.generation,
                world: expected.snapshot.world.clone(),
                journaled: 0,
            })],
            strays: Vec::new(),
            older: Vec::new(),
            // What was rolled forward is on the disk, and is there after the next cut too.
            journal: vec![Journaled { pages, done: true }],
            expectation: None,
        }
    }

    /// The history of a store that has come back with an older generation, as newer ones were started in vain too often.
    pub fn fallen_back(expectation: &Expectation, generation: u64) -> Self {
        let older = expectation.older.iter().map(|e| e.snapshot.clone());
        let older: Vec<_> = older.filter(|s| s.generation <= generation).collect();
        let (world, last) = match older.last() {
            Some(last) => (last.world.clone(), vec![last.clone()]),
            None => (World::default(), Vec::new()),
        };
        Self {
            world,
            snapshots: last,
            strays: Vec::new(),
            older: older[..older.len().saturating_sub(1)].to_vec(),
            journal: Vec::new(),
            expectation: None,
        }
    }

    /// What was committed before is not forgotten with a start.
    pub fn keep_older(&mut self, expectation: &Expectation) {
        let committed = self.committed();
        let known = expectation.snapshots.iter().map(|e| &**e);
        let before = expectation.older.iter().chain(known);
        let before = before
            .map(|e| &e.snapshot)
            .filter(|s| s.generation < committed);
        // What was journaled is told by the requests of the last life, and is none of an older generation's business.
        let before = before.map(|s| {
            Rc::new(Snapshot {
                generation: s.generation,
                world: s.world.clone(),
                journaled: 0,
            })
        });
        self.older = before.collect();
        self.expectation = None;
    }

    /// A disk is missing that may have another of the generations that could be found.
    pub fn keep_strays(&mut self, expectation: &Expectation) {
        let others = expectation.snapshots.iter();
        let others = others.filter(|other| other.snapshot.generation > self.committed());
        self.strays = others.cloned().collect();
        self.expectation = None;
    }

    /// The newest generation whose snapshot was taken.
    pub fn newest(&self) -> u64 {
        self.snapshots.last().map_or(0, |s| s.generation)
    }

    /// The newest generation that was reported as committed.
    pub fn committed(&self) -> u64 {
        self.snapshots.first().map_or(0, |s| s.generation)
    }

    /// The store has taken the snapshot of a generation.
    pub fn demarcate(&mut self, generation: u64) {
        self.expectation = None;
        self.snapshots.push(Rc::new(Snapshot {
            generation,
            world: self.world.clone(),
            journaled: self.journal.len(),
        }));
    }

    /// The store has reported a generation as committed: nothing older may come back.
    pub fn commit(&mut self, generation: u64) {
        if generation > self.committed() {
            self.expectation = None;
            self.strays.clear();
            let before = self.snapshots.iter().filter(|s| s.generation < generation);
            self.older.extend(before.cloned());
            let many = self.older.len().saturating_sub(OLDER);
            self.older.drain(..many);
            self.snapshots.retain(|s| s.generation >= generation);
        }
    }

    /// Pages as they are now have been handed to the journal, to be made stable together.
    pub fn journal(&mut self, ids: &[ObjectId]) {
        let pages = ids.iter().filter_map(|id| {
            let object = self.world.objects.get(id)?;
            Some((*id, object.clone()))
        });
        let pages = pages.collect();
        self.expectation = None;
        self.journal.push(Journaled { pages, done: false });
    }

    /// The store has reported every journal request so far as done.
    pub fn journaled(&mut self) {
        if self.journal.iter().any(|entry| !entry.done) {
            self.expectation = None;
            self.journal.iter_mut().for_each(|entry| entry.done = true);
        }
    }

    /// What may be found after a cut now.
    pub fn expectation(&mut self) -> Rc<Expectation> {
        let (snapshots, older, journal) = (&self.snapshots, &self.older, &self.journal);
        let strays = &self.strays;
        let made = self.expectation.get_or_insert_with(|| {
            let expected = |snapshot: &Rc<Snapshot>| Expected {
                snapshot: snapshot.clone(),
                journaled: journaled(&snapshot.world, &journal[snapshot.journaled..]),
            };
            let strays = strays
                .iter()
                .map(|stray| Rc::new(stray.followed_by(journal)));
            let known = snapshots.iter().map(|snapshot| Rc::new(expected(snapshot)));
            Rc::new(Expectation {
                snapshots: known.chain(strays).collect(),
                older: older.iter().map(expected).collect(),
            })
        });
        made.clone()
    }
}

/// What the pages in these requests may hold together, latest first.
fn journaled(world: &World, requests: &[Journaled]) -> Vec<BTreeMap<ObjectId, Object>> {
    // A page is rolled forward only where the snapshot has the same page: the journal changes contents, never what exists.
    let saved = |id: &ObjectId, journaled: &Object| {
        let saved = world.objects.get(id)?;
        let same = (saved.kind, saved.version) == (journaled.kind, journaled.version)
            && saved.contents != Contents::Nothing;
        same.then_some(saved)
    };
    let mut now: BTreeMap<ObjectId, Object> = BTreeMap::new();
    for (id, object) in requests.iter().flat_map(|request| &request.pages) {
        if let Some(saved) = saved(id, object) {
            now.insert(*id, saved.clone());
        }
    }
    let mut choices = vec![now.clone()];
    for request in requests {
        let pages = request.pages.iter();
        let fitting = pages.filter(|(id, object)| saved(id, object).is_some());
        now.extend(fitting.cloned());
        // Requests reach the disk in order: what one that is done has replaced is not found again.
        if request.done {
            choices.clear();
        }
        choices.push(now.clone());
    }
    choices.reverse();
    choices
}
