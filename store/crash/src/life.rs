//! One life of a machine: from recovery to the cut that ends it, and every moment between.

use std::rc::Rc;

use pebble_store_simulation::{Cut, Image, Machine, Order, Random};

use crate::examine;
use crate::history::{Expectation, History};
use crate::subject::{Action, Coverage, Outcome, Progress, Subject};

/// Polls after which a store that does not get further is stuck. A store needs a few for each frame it writes.
const PATIENCE: u32 = 100_000;

/// A moment of a life at which the power could be cut, with what may be found then.
#[derive(Clone, Debug)]
pub struct Moment {
    /// What is on the disks.
    pub cut: Cut,
    /// What may come back.
    pub expectation: Rc<Expectation>,
    /// Whether either disk of a pair is enough.
    pub redundant: bool,
}

/// A machine with a store that is up.
#[derive(Debug)]
pub struct Life<S: Subject> {
    machine: Machine,
    store: S,
    history: History,
    seen: Progress,
    moments: Vec<Moment>,
}

impl<S: Subject> Life<S> {
    /// Starts a machine on these images. `queue` is how many requests a disk takes at once.
    pub fn begin(
        shape: &S::Shape,
        images: &[Image],
        expectation: &Rc<Expectation>,
        random: &mut Random,
        queue: usize,
    ) -> Result<Self, String> {
        let machine = Machine::new(images, random.word(), Order::Random, queue);
        machine.record();
        let mut store = S::recover(shape, &machine).map_err(|why| format!("no recovery: {why}"))?;
        let history = examine::recovered(&mut store, expectation)?;
        let mut life = Self {
            seen: store.progress(),
            machine,
            store,
            history,
            moments: Vec::new(),
        };
        // While it was coming up, what could be found was what could be found before.
        life.take(expectation.clone(), false);
        let up = life.now();
        life.moments.push(up);
        Ok(life)
    }

    /// The store.
    pub fn store(&mut self) -> &mut S {
        &mut self.store
    }

    /// The disks.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// What has happened, and the world as it is now.
    pub fn history(&mut self) -> &mut History {
        &mut self.history
    }

    /// Snapshots that the store has taken in this life.
    pub fn snapshots(&self) -> u64 {
        self.seen.snapshots
    }

    /// What the store counted.
    pub fn coverage(&self) -> Coverage {
        self.store.coverage()
    }

    /// The moments since the last call.
    pub fn moments(&mut self) -> Vec<Moment> {
        std::mem::take(&mut self.moments)
    }

    /// This moment.
    pub fn now(&mut self) -> Moment {
        Moment {
            cut: self.machine.cut(),
            expectation: self.history.expectation(),
            redundant: self.seen.redundant,
        }
    }

    /// Has an action done, polling until the store takes it. Whether it did.
    pub fn perform(&mut self, action: &Action) -> Result<bool, String> {
        for _ in 0..PATIENCE {
            let outcome = self.store.perform(&self.machine, action)?;
            match outcome {
                Outcome::Done => {
                    self.done(action);
                    return Ok(true);
                }
                Outcome::Refused => {
                    self.observe();
                    return Ok(false);
                }
                Outcome::Later => {
                    self.observe();
                    self.poll()?;
                }
            }
        }
        Err(format!("stuck: {action:?} is put off for ever"))
    }

    /// One step of what is under way.
    pub fn poll(&mut self) -> Result<(), String> {
        self.store.poll()?;
        self.observe();
        Ok(())
    }

    /// Goes on until nothing is under way.
    pub fn settle(&mut self) -> Result<(), String> {
        for _ in 0..PATIENCE {
            if self.store.idle() && !self.machine.busy() {
                return Ok(());
            }
            self.poll()?;
        }
        Err("stuck: the store never becomes idle".into())
    }

    /// What the world is after an action, and what was seen while it was done.
    fn done(&mut self, action: &Action) {
        if let Action::Journal(pages) = action {
            // What was written meanwhile may already be found.
            self.history.journal(pages);
            self.seen.journaled = false;
        }
        // The store takes a snapshot before it lets a change in, never after.
        self.observe();
        match action {
            Action::Put(objects) => self.history.world.objects.extend(objects.iter().cloned()),
            Action::Restart(list) => self.history.world.restart = list.clone(),
            _ => {}
        }
    }

    /// Takes down what the store did in its last step.
    fn observe(&mut self) {
        let now = self.store.progress();
        let before = self.seen;
        self.seen = now;
        let mut expectation = self.history.expectation();
        if now.snapshots > before.snapshots {
            self.history.demarcate(now.newest);
            expectation = self.history.expectation();
        }
        // In the middle of the step the promise was not yet made.
        self.take(expectation, before.redundant && now.redundant);
        let promised = now.committed > before.committed || now.journaled && !before.journaled;
        if promised {
            self.history.commit(now.committed);
            if now.journaled {
                self.history.journaled();
            }
            let moment = self.now();
            self.moments.push(moment);
        }
    }

    fn take(&mut self, expectation: Rc<Expectation>, redundant: bool) {
        let cuts = self.machine.cuts().into_iter();
        self.moments.extend(cuts.map(|cut| Moment {
            cut,
            expectation: expectation.clone(),
            redundant,
        }));
    }
}
