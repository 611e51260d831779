//! One life of a machine: from recovery to the cut that ends it, and every moment between.

use std::collections::BTreeSet;
use std::rc::Rc;

use pebble_store_format::{object_frame, ObjectFrame};
use pebble_store_simulation::{Cut, Faults, Image, Machine, Order, Random};

use crate::examine::{self, Starts};
use crate::history::{Expectation, History};
use crate::subject::{Action, Coverage, Outcome, Progress, Subject};
use crate::workload::Step;

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
    /// How often what runs was started, if that counts.
    pub starts: Option<Starts>,
}

/// How a life began.
#[derive(Clone, Debug)]
pub struct Beginning {
    /// What is on the disks.
    pub images: Vec<Image>,
    /// The disk that is not there.
    pub missing: Option<usize>,
    /// What may come back.
    pub expectation: Rc<Expectation>,
    /// How often it was started before, if that counts.
    pub starts: Option<Starts>,
}

/// A machine with a store that is up.
#[derive(Debug)]
pub struct Life<S: Subject> {
    machine: Machine,
    store: S,
    history: History,
    seen: Progress,
    moments: Vec<Moment>,
    /// How often the generation that runs was started, this time included.
    starts: Starts,
    /// Objects that were changed since the last snapshot.
    changed: BTreeSet<ObjectFrame>,
    /// A disk was lost in this life.
    alone: bool,
    /// Checkpoints are taken only when the store does not go on without.
    lazy: bool,
}

impl<S: Subject> Life<S> {
    /// Starts a machine.
    pub fn begin(
        shape: &S::Shape,
        beginning: &Beginning,
        random: &mut Random,
    ) -> Result<Self, String> {
        let queue = random.pick(&[2, 4, 16, 64]);
        let machine = Machine::new(&beginning.images, random.word(), Order::Random, queue);
        if let Some(disk) = beginning.missing {
            machine.lose(disk);
        }
        machine.record();
        let mut store = S::recover(shape, &machine, beginning.missing)
            .map_err(|why| format!("no recovery: {why}"))?;
        let before = beginning.starts;
        let mut history = examine::recovered(&mut store, &beginning.expectation, before)
            .map_err(|wrong| wrong.text().to_string())?;
        let fallback = store.progress().fallback;
        if fallback.is_some() && history.committed() == history.newest() {
            history.keep_older(&beginning.expectation);
        }
        let generation = history.committed();
        let before = before.filter(|before| before.generation == generation);
        let most = before.map_or(0, |before| before.most) + 1;
        let starts = Starts {
            generation,
            least: most,
            most,
            fallback,
        };
        if beginning.missing.is_some() {
            history.keep_strays(&beginning.expectation);
        }
        let mut life = Self {
            seen: store.progress(),
            machine,
            store,
            history,
            moments: Vec::new(),
            starts,
            changed: BTreeSet::new(),
            alone: false,
            lazy: random.once_in(3),
        };
        // While it was coming up, what could be found was what could be found before.
        life.take(beginning.expectation.clone(), false);
        for moment in &mut life.moments {
            // This start may be recorded already, or not yet.
            moment.starts = beginning.starts.map(|before| Starts {
                most: before.most + 1,
                ..before
            });
        }
        let up = life.now();
        life.moments.push(up);
        Ok(life)
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
            redundant: self.seen.redundant && !self.alone,
            starts: self.starts(),
        }
    }

    /// Does a step of a workload.
    pub fn step(&mut self, step: &Step) -> Result<(), String> {
        match step {
            Step::Act(action) => self.perform(action),
            Step::Checkpoint => self.checkpoint(),
            Step::Restart(list) => {
                self.history.world.restart = list.clone();
                Ok(())
            }
            Step::Poll(times) => (0..*times).try_for_each(|_| self.poll()),
            Step::Settle => self.settle(),
            Step::Damage(id) => {
                // While a snapshot is being saved, if it can be taken; a byte of the first node, or of anything else.
                self.try_checkpoint()?;
                for _ in 0..8 {
                    self.poll()?;
                    let saved = !self.changed.contains(&object_frame(*id));
                    if self.store.damage(*id, 100, saved) {
                        self.checkpoint()?;
                        return self.settle();
                    }
                }
                Ok(())
            }
            // The only good disk of a pair stays.
            Step::Lose(_) if self.alone || !self.seen.redundant => Ok(()),
            Step::Lose(disk) => {
                self.machine.lose(*disk);
                self.alone = true;
                self.observe()
            }
            Step::Fault(disk, fault, spared) => {
                let disk = *disk % self.machine.cut().disks();
                self.machine.inject(disk, Faults::once(*fault, *spared));
                Ok(())
            }
        }
    }

    /// Has an action done, polling and taking checkpoints until the store takes it.
    pub fn perform(&mut self, action: &Action) -> Result<(), String> {
        for _ in 0..PATIENCE {
            match self.store.perform(action)? {
                Outcome::Done => return self.done(action),
                Outcome::Refused => return self.observe(),
                Outcome::Later => {
                    self.observe()?;
                    if self.store.due() {
                        self.try_checkpoint()?;
                    }
                    self.poll()?;
                }
            }
        }
        Err(format!("stuck: {action:?} is put off for ever"))
    }

    /// Takes a checkpoint as soon as the store can.
    fn checkpoint(&mut self) -> Result<(), String> {
        for _ in 0..PATIENCE {
            if self.try_checkpoint()? {
                return Ok(());
            }
            self.poll()?;
        }
        Err("stuck: a checkpoint is put off for ever".into())
    }

    fn try_checkpoint(&mut self) -> Result<bool, String> {
        let list = self.history.world.runnable();
        self.history.world.restart = list.clone();
        let outcome = self.store.perform(&Action::Checkpoint(list))?;
        self.observe()?;
        Ok(outcome == Outcome::Done)
    }

    /// One step of what is under way.
    pub fn poll(&mut self) -> Result<(), String> {
        self.store.poll()?;
        self.observe()?;
        if !self.lazy && self.store.due() {
            self.try_checkpoint()?;
        }
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
    fn done(&mut self, action: &Action) -> Result<(), String> {
        if let Action::Journal(pages) = action {
            // What was written meanwhile may already be found.
            self.history.journal(pages);
            self.seen.journaled = false;
        }
        self.observe()?;
        if let Action::Journal(pages) = action {
            self.changed
                .extend(pages.iter().map(|id| object_frame(*id)));
        }
        if let Action::Put(objects) = action {
            let frames = objects.iter().map(|(id, _)| object_frame(*id));
            self.changed.extend(frames);
            self.history.world.objects.extend(objects.iter().cloned());
        }
        Ok(())
    }

    /// Takes down what the store did in its last step.
    fn observe(&mut self) -> Result<(), String> {
        if self.machine.hazards() > 0 {
            return Err("two writes of one frame are in flight".into());
        }
        let now = self.store.progress();
        let before = self.seen;
        self.seen = now;
        let mut expectation = self.history.expectation();
        if now.snapshots > before.snapshots {
            self.history.demarcate(now.newest);
            self.changed.clear();
            expectation = self.history.expectation();
        }
        // In the middle of the step the promise was not yet made.
        self.take(
            expectation,
            before.redundant && now.redundant && !self.alone,
        );
        let promised = now.committed > before.committed || now.journaled && !before.journaled;
        if promised {
            self.history.commit(now.committed);
            if now.journaled {
                self.history.journaled();
            }
            let moment = self.now();
            self.moments.push(moment);
        }
        Ok(())
    }

    fn take(&mut self, expectation: Rc<Expectation>, redundant: bool) {
        let cuts = self.machine.cuts().into_iter();
        let starts = self.starts();
        self.moments.extend(cuts.map(|cut| Moment {
            cut,
            expectation: expectation.clone(),
            redundant,
            starts,
        }));
    }

    /// The starts of what runs, as long as nothing is committed after them.
    fn starts(&self) -> Option<Starts> {
        let counts =
            self.starts.fallback.is_some() && self.history.committed() == self.starts.generation;
        counts.then_some(self.starts)
    }
}
