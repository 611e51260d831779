//! One run of a campaign: a chain of lives from one seed, and the states of their moments.

use pebble_store_simulation::{Fates, Fault, Random};

use crate::examine::{self, Wrong};
use crate::graph::{holds_together, Graph};
use crate::history::History;
use crate::life::{Beginning, Life, Moment};
use crate::subject::{Action, Subject};
use crate::tally::Tally;
use crate::violation::{Place, Violation};
use crate::workload::{Step, Weights};

/// Which states of a moment are tried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choice {
    /// Every subset of the writes, where there are at most this many; samples beyond.
    Every(usize),
    /// Samples of one moment in `one_in`, each with `more` random ones.
    Samples {
        /// Of so many moments one is looked at.
        one_in: u64,
        /// Random subsets.
        more: usize,
    },
}

/// Where the steps of a life come from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Source {
    /// Random ones.
    Random(Weights),
    /// The capability model makes the changes; the rest is random.
    Model(Weights),
    /// These, and then everything is done that is under way.
    Script(Vec<Step>),
}

/// What a run does.
#[derive(Clone, Debug)]
pub struct Plan<Shape> {
    /// The campaign's name.
    pub name: String,
    /// The store.
    pub shape: Shape,
    /// Lives of a run at most, each after a cut of the one before.
    pub lives: u64,
    /// Steps of a life at most.
    pub steps: u64,
    /// What the steps are.
    pub source: Source,
    /// Which states are tried.
    pub choice: Choice,
}

/// A run under way.
struct Run<'plan, S: Subject> {
    plan: &'plan Plan<S::Shape>,
    random: Random,
    tally: Tally,
    place: Place,
    /// Only this state is looked at.
    only: Option<u64>,
    /// The model, where it makes the changes.
    graph: Option<Graph>,
    hurt: Hurt,
}

/// Says which seed it was when the store panics.
struct Told<'plan> {
    campaign: &'plan str,
    seed: u64,
}

impl Drop for Told<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Self { campaign, seed } = self;
            eprintln!(
                "{campaign}: panic in the run of seed {seed}; again: STORE_CRASH={campaign}:{seed}"
            );
        }
    }
}

/// Runs one seed. With `only`, of all states just that one is recovered from, and told about.
pub fn run<S: Subject>(
    plan: &Plan<S::Shape>,
    seed: u64,
    only: Option<u64>,
) -> Result<Tally, Box<Violation>> {
    let _told = Told {
        campaign: &plan.name,
        seed,
    };
    let mut run = Run::<S> {
        plan,
        random: Random::new(seed),
        tally: Tally {
            runs: 1,
            ..Tally::default()
        },
        place: Place {
            seed,
            life: 0,
            state: None,
        },
        only,
        graph: None,
        hurt: Hurt::None,
    };
    run.lives()?;
    Ok(run.tally)
}

impl<S: Subject> Run<'_, S> {
    fn lives(&mut self) -> Result<(), Box<Violation>> {
        let shape = &self.plan.shape;
        let mut world = S::world(shape);
        if let Source::Model(_) = self.plan.source {
            let graph = Graph::new(self.random.word());
            let graph = graph.map_err(|why| self.running(why))?;
            world = graph.free_world();
            self.graph = Some(graph);
        }
        let (images, generation) = S::format(shape, &world);
        let mut beginning = Beginning {
            images,
            missing: None,
            expectation: History::new(generation, world).expectation(),
            starts: None,
        };
        let lives = 1 + self.random.below(self.plan.lives);
        for number in 0..lives {
            self.place.life = number;
            let begun = Life::<S>::begin(shape, &beginning, &mut self.random);
            let mut life = match begun {
                Ok(life) => life,
                Err(why) => return self.broken(why),
            };
            self.tally.lives += 1;
            let early = life.moments();
            self.tally.during_recovery += self.moments(&early)?;
            self.come_back(&mut life).map_err(|why| self.running(why))?;
            let end = self.live(&mut life);
            self.tally += life.coverage();
            beginning = end?;
        }
        Ok(())
    }

    /// The store has given up. With a broken disk it may.
    fn broken(&self, why: String) -> Result<(), Box<Violation>> {
        match self.hurt {
            Hurt::None => Err(self.running(why)),
            _ => Ok(()),
        }
    }

    /// The model goes back to where the store is, and what came back holds together; at first it fills the store.
    fn come_back(&mut self, life: &mut Life<S>) -> Result<(), String> {
        let Some(graph) = &mut self.graph else {
            return Ok(());
        };
        if self.place.life == 0 {
            for action in graph.put_each() {
                life.perform(&action)?;
            }
            life.step(&Step::Checkpoint)?;
            life.settle()?;
            // What came before is no state of the model, and is not cut.
            life.moments();
            graph.snapshot(life.history().newest(), None);
            return Ok(());
        }
        let generation = life.history().newest();
        let world = &life.history().world;
        holds_together(world).map_err(|why| format!("generation {generation}: {why}"))?;
        graph.go_back(generation, world)
    }

    /// Does the steps of a life; returns with what a cut at its end, or somewhat earlier, left.
    fn live(&mut self, life: &mut Life<S>) -> Result<Beginning, Box<Violation>> {
        let steps = match &self.plan.source {
            Source::Script(script) => script.len() as u64 + 1,
            _ => 1 + self.random.below(self.plan.steps),
        };
        let mut last = Vec::new();
        for number in 0..steps {
            let before = self.graph.clone();
            let (step, snapshots) = (self.step(number, life), life.snapshots());
            match step {
                Step::Fault(_, fault, _) => self.hurt = self.hurt.and(fault),
                // The store stops when it finds out.
                Step::Damage(_) => self.hurt = self.hurt.max(Hurt::Noticed),
                _ => {}
            }
            if self.only.is_some() {
                let life = self.place.life;
                println!("life {life}, state {}: {}", self.tally.states, step.told());
            }
            let done = life.step(&step);
            if let Some(graph) = self.graph.as_mut().filter(|_| life.snapshots() > snapshots) {
                graph.snapshot(life.history().newest(), before.as_ref());
            }
            last = life.moments();
            self.moments(&last)?;
            if let Err(why) = done {
                self.broken(format!("{}: {why}", step.name()))?;
                break;
            }
        }
        last.push(life.now());
        Ok(self.end(&last))
    }

    fn step(&mut self, number: u64, life: &mut Life<S>) -> Step {
        let random = &mut self.random;
        match (&self.plan.source, &mut self.graph) {
            (Source::Script(script), _) => {
                let step = script.get(number as usize);
                step.cloned().unwrap_or(Step::Settle)
            }
            (Source::Model(weights), Some(graph)) => {
                match weights.step(&life.history().world, random) {
                    Step::Act(Action::Put(_)) => Step::Act(graph.step()),
                    other => other,
                }
            }
            (Source::Random(weights) | Source::Model(weights), _) => {
                weights.step(&life.history().world, random)
            }
        }
    }

    /// A cut at one of these moments.
    fn end(&mut self, moments: &[Moment]) -> Beginning {
        let at = self.random.below(moments.len() as u64) as usize;
        let moment = &moments[at];
        let fates = Fates::samples(&moment.cut, &mut self.random, 4);
        let which = self.random.below(fates.len() as u64) as usize;
        Beginning {
            images: moment.cut.images(&fates[which]),
            missing: missing(moment, self.random.below(6)),
            expectation: moment.expectation.clone(),
            starts: moment.starts,
        }
    }

    /// Looks at the states of moments; returns how many.
    fn moments(&mut self, moments: &[Moment]) -> Result<u64, Box<Violation>> {
        let before = self.tally.states;
        for moment in moments {
            let cut = &moment.cut;
            // A generator of its own, so that what a state is does not hang on which others were looked at.
            let mut random = Random::new(self.random.word());
            let states = match self.plan.choice {
                Choice::Every(limit) if cut.volatile() <= limit => Fates::every(cut, &mut random),
                Choice::Every(_) => Fates::samples(cut, &mut random, 20),
                Choice::Samples { one_in, .. } if !random.once_in(one_in) => continue,
                Choice::Samples { more, .. } => Fates::samples(cut, &mut random, more),
            };
            self.tally.moments += 1;
            for fates in &states {
                self.states(moment, fates, random.below(6))?;
            }
        }
        Ok(self.tally.states - before)
    }

    /// One state, and in some cases the same with a disk less.
    fn states(
        &mut self,
        moment: &Moment,
        fates: &Fates,
        chance: u64,
    ) -> Result<(), Box<Violation>> {
        let number = self.tally.states;
        self.tally.states += 1;
        self.tally.chained += u64::from(self.place.life > 0);
        let missing = missing(moment, chance);
        self.tally.one_disk += u64::from(missing.is_some());
        if self.only.is_some_and(|only| only != number) {
            return Ok(());
        }
        let images = moment.cut.images(fates);
        let shape = &self.plan.shape;
        let (expectation, starts) = (&moment.expectation, moment.starts);
        let found = examine::state::<S>(shape, &images, missing, expectation, starts);
        if self.only.is_some() {
            let result = found.as_ref().err().map_or("as expected", Wrong::text);
            println!("{}\n{result}", told(moment, fates, missing));
        }
        match found {
            Ok(store) => self.tally += store.coverage(),
            Err(wrong) if self.hurt.excuses() && !matches!(wrong, Wrong::Contradiction(_)) => {
                self.tally.refused += 1;
            }
            Err(wrong) => {
                self.place.state = Some(number);
                return Err(Box::new(Violation {
                    campaign: self.plan.name.clone(),
                    place: self.place,
                    cut: told(moment, fates, missing),
                    what: wrong.text().into(),
                }));
            }
        }
        Ok(())
    }

    /// A promise that was broken while the machine ran.
    fn running(&self, what: String) -> Box<Violation> {
        Box::new(Violation {
            campaign: self.plan.name.clone(),
            place: self.place,
            cut: "while running".into(),
            what,
        })
    }
}

/// Which disk of a pair is not there when a machine comes up again, by a chance of 6.
fn missing(moment: &Moment, chance: u64) -> Option<usize> {
    let gone = (0..moment.cut.disks()).find(|disk| moment.cut.gone(*disk));
    match gone {
        // It stays away, or comes back as it was.
        Some(disk) => (chance < 3).then_some(disk),
        None if moment.cut.disks() > 1 && moment.redundant && chance < 2 => Some(chance as usize),
        None => None,
    }
}

/// What broken disks have done to what is stored.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Hurt {
    /// Nothing.
    None,
    /// The store may have noticed, and stopped; what is stored is whole.
    Noticed,
    /// Something was lost without a word.
    Silent,
}

impl Hurt {
    fn and(self, fault: Fault) -> Self {
        self.max(match fault {
            Fault::MisdirectedWrite | Fault::LostWrite => Self::Silent,
            _ => Self::Noticed,
        })
    }

    /// Whether something that is wrong after a cut is the disk's fault: it may be anything that a write of any kind can
    /// lead to that never happened, an older tag too, as no checksum covers what is not there.
    fn excuses(self) -> bool {
        self == Self::Silent
    }
}

/// A state in words.
fn told(moment: &Moment, fates: &Fates, missing: Option<usize>) -> String {
    let cut = &moment.cut;
    let places = (0..cut.volatile()).filter_map(|write| cut.place(write));
    let places: Vec<_> = places.map(|(disk, at)| format!("{disk}:{at}")).collect();
    let missing = missing.map_or(String::new(), |disk| format!(", disk {disk} missing"));
    format!(
        "after event {}, {fates}{missing}; writes not stable (disk:frame): {}",
        cut.event,
        places.join(" ")
    )
}
