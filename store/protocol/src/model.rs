//! The model as the checker sees it: initial state, steps, bounds, and counts of what was reached.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use stateright::{Model, Property};

use crate::boot::Fate;
use crate::content::{Content, Header, Members};
use crate::disk::{Disk, Place};
use crate::properties;
use crate::state::{Budget, Joining, Phase, State, System, Truth};
use crate::{Mistake, DISKS, LISTED, OBJECTS};

/// How far the search goes. Everything within is searched.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Changes that programs make.
    pub changes: u8,
    /// Frames of the log.
    pub log: u8,
    /// Headers after the initial image's: checkpoints and starts with fewer disks.
    pub headers: u8,
    /// Power cuts.
    pub crashes: u8,
    /// Times that a disk is lost or reports a failed flush.
    pub losses: u8,
}

impl From<[u8; 5]> for Bounds {
    /// Changes, log, headers, crashes, losses.
    fn from([changes, log, headers, crashes, losses]: [u8; 5]) -> Self {
        Self {
            changes,
            log,
            headers,
            crashes,
            losses,
        }
    }
}

/// Things that must happen during a search that deserves trust.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// A checkpoint went beyond the log's end, back to its beginning.
    LogWrapped,
    /// A checkpoint was made only to publish a retirement.
    RetirementOnly,
    /// A generation was retired.
    Retired,
    /// A checkpoint was committed.
    Committed,
    /// A crash before the commit, and the new state was recovered.
    RecoveredInFlight,
    /// A crash before the commit, and the state before was recovered.
    FellBack,
    /// A disk was present and not believed.
    StaleRefused,
    /// Each disk had been started without the other, and neither was believed.
    SplitRefused,
    /// The system started with fewer disks than its header said.
    StartedDegraded,
    /// A stale disk became a member again.
    Rejoined,
    /// A disk was lost while a checkpoint went to it.
    LostInCheckpoint,
}

impl Event {
    /// Every event.
    pub const ALL: [Event; 11] = [
        Event::LogWrapped,
        Event::RetirementOnly,
        Event::Retired,
        Event::Committed,
        Event::RecoveredInFlight,
        Event::FellBack,
        Event::StaleRefused,
        Event::SplitRefused,
        Event::StartedDegraded,
        Event::Rejoined,
        Event::LostInCheckpoint,
    ];
}

/// The protocol, with or without a mistake.
#[derive(Clone, Debug)]
pub struct Protocol {
    pub(crate) bounds: Bounds,
    mistake: Option<Mistake>,
    counts: Arc<[AtomicU64; Event::ALL.len()]>,
}

/// A step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// A program changes an object.
    Change(usize),
    /// A checkpoint begins.
    Begin,
    /// A flush completes on a disk.
    Flush(usize),
    /// The oldest generation in the log is copied home.
    Migrate,
    /// The power goes.
    Crash,
    /// A disk is gone.
    Lose(usize),
    /// A flush fails on a disk, which stays.
    FlushError(usize),
    /// A lost disk is back, and its header slots hold what the path says.
    Return(usize, Vec<u8>),
    /// The next step of a stale disk's mirror recovery.
    Join(usize),
    /// The machine starts, reads from this disk if it can, and finds what the path says.
    Boot(usize, Vec<u8>),
    /// The header with the new epoch is stable.
    Started,
}

impl Protocol {
    /// The protocol within these bounds.
    pub fn new(bounds: Bounds, mistake: Option<Mistake>) -> Self {
        Self {
            bounds,
            mistake,
            counts: Arc::default(),
        }
    }

    /// How often each event happened in searches of this model and its clones.
    pub fn count_of(&self, event: Event) -> u64 {
        self.counts[event as usize].load(Ordering::Relaxed)
    }

    pub(crate) fn count(&self, event: Event) {
        self.counts[event as usize].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_if(&self, event: Event, happened: bool) {
        if happened {
            self.count(event);
        }
    }

    pub(crate) fn makes(&self, mistake: Mistake) -> bool {
        self.mistake == Some(mistake)
    }

    fn running(&self, state: &State, system: &System, actions: &mut Vec<Action>) {
        if state.budget.next_value <= self.bounds.changes {
            actions.extend((0..OBJECTS).map(Action::Change));
        }
        if system.header.sequence < self.bounds.headers + 1 {
            actions.push(Action::Begin);
        }
        actions.push(Action::Migrate);
        for disk in 0..DISKS {
            let pending = system.checkpoint.is_some_and(|checkpoint| {
                checkpoint.targets.has(disk) && !checkpoint.flushed.has(disk)
            });
            if pending {
                actions.push(Action::Flush(disk));
                if state.budget.losses > 0 {
                    actions.push(Action::FlushError(disk));
                }
            }
            let stale = state.present.has(disk) && !system.members.has(disk);
            let done = matches!(system.joining, Some((_, Joining::Copied)));
            if stale && !done {
                actions.push(Action::Join(disk));
            }
        }
    }

    fn step(&self, state: &mut State, action: Action) -> Option<()> {
        match action {
            Action::Crash => {
                state.budget.crashes -= 1;
                self.crash(state);
            }
            Action::Return(disk, path) => {
                state.present = state.present.with(disk);
                self.newest_header(state, disk, &mut Fate::new(path));
            }
            Action::Lose(disk) => {
                state.budget.losses -= 1;
                state.present = state.present.without(disk);
                state.disks[disk].crash();
                match state.phase.clone() {
                    Phase::Running(system) => self.detach(state, system, disk),
                    Phase::Starting(system) if system.members.has(disk) => self.crash(state),
                    _ => {}
                }
            }
            Action::Boot(preferred, path) => self.boot(state, preferred, &mut Fate::new(path)),
            Action::Started => match state.phase.clone() {
                Phase::Starting(system) => self.started(state, system),
                _ => return None,
            },
            action => {
                let Phase::Running(mut system) = state.phase.clone() else {
                    return None;
                };
                match action {
                    Action::Change(object) => {
                        system.memory[object] = state.budget.next_value;
                        state.budget.next_value += 1;
                    }
                    Action::Begin => self.begin(state, &mut system)?,
                    Action::Flush(disk) => self.flush(state, &mut system, disk, true)?,
                    Action::Migrate => self.migrate(state, &mut system)?,
                    Action::Join(disk) => self.join(state, &mut system, disk)?,
                    Action::FlushError(disk) => {
                        state.budget.losses -= 1;
                        if !self.makes(Mistake::IgnoreFlushError) {
                            self.detach(state, system, disk);
                            return Some(());
                        }
                        self.flush(state, &mut system, disk, false)?;
                    }
                    _ => return None,
                }
                state.phase = Phase::Running(system);
            }
        }
        Some(())
    }

    /// Mirror recovery of a stale disk, step by step.
    fn join(&self, state: &mut State, system: &mut System, disk: usize) -> Option<()> {
        let next = match system.joining {
            None if self.makes(Mistake::CopyUnderOldHeaders) => Joining::Erased,
            None => {
                if self.split(state, system, disk) && !self.makes(Mistake::SplitIgnored) {
                    return None;
                }
                // Never the newest first: an older header alone may list less than has been migrated since.
                let older = 1 - newest_slot(&state.disks[disk]);
                state.disks[disk].write(Place::Slot(older), Content::Blank);
                if self.makes(Mistake::EraseHeadersTogether) {
                    state.disks[disk].write(Place::Slot(1 - older), Content::Blank);
                }
                Joining::ErasingOld
            }
            Some((_, Joining::ErasingOld)) => {
                state.disks[disk].flush(None);
                for slot in 0..2 {
                    state.disks[disk].write(Place::Slot(slot), Content::Blank);
                }
                Joining::ErasingNew
            }
            Some((_, Joining::ErasingNew)) => {
                if !self.makes(Mistake::CopyBeforeEraseStable) {
                    state.disks[disk].flush(None);
                }
                Joining::Erased
            }
            Some((_, Joining::Erased)) => {
                self.copy(state, system, disk)?;
                if self.makes(Mistake::MemberBeforeFlush) {
                    let place = self.slot(system.header.sequence);
                    state.disks[disk].write(place, Content::Header(system.header));
                }
                Joining::Copied
            }
            Some((_, Joining::Copied)) => return None,
        };
        state.truth.current = state.truth.current.without(disk);
        system.joining = Some((disk, next));
        Some(())
    }

    /// Whether the disk was started without those that the system runs on.
    fn split(&self, state: &State, system: &System, disk: usize) -> bool {
        (0..2).any(|slot| match state.disks[disk].read(Place::Slot(slot)) {
            Content::Header(header) => header.is_split_from(&system.header),
            _ => false,
        })
    }

    fn copy(&self, state: &mut State, system: &System, disk: usize) -> Option<()> {
        let source = system.members.disks().next()?;
        let homes = (0..OBJECTS).map(Place::Home);
        for place in homes.chain((0..self.bounds.log).map(Place::Log)) {
            let content = match state.disks[source].read(place) {
                // What the last crash left open is needed by nothing, or it would have been read and settled.
                Content::Unknown => Content::Torn,
                content => content,
            };
            state.disks[disk].write(place, content);
        }
        Some(())
    }
}

/// The slot with the disk's newest header.
fn newest_slot(disk: &Disk) -> u8 {
    let order = |slot: &u8| match disk.read(Place::Slot(*slot)) {
        Content::Header(header) => Some((header.epoch, header.sequence)),
        _ => None,
    };
    (0..2).max_by_key(order).unwrap_or(0)
}

impl Model for Protocol {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let header = Header {
            epoch: 1,
            sequence: 1,
            members: Members::ALL,
            cursor: 0,
            listed: [None; LISTED],
        };
        let mut disk = Disk::blank(self.bounds.log);
        disk.write(self.slot(header.sequence), Content::Header(header));
        for object in 0..OBJECTS {
            disk.write(Place::Home(object), Content::Object(object as u8, 0));
        }
        disk.flush(None);
        vec![State {
            disks: std::array::from_fn(|_| disk.clone()),
            present: Members::ALL,
            phase: Phase::Down,
            truth: Truth {
                committed: [0; OBJECTS],
                in_flight: None,
                current: Members::ALL,
                history: vec![[0; OBJECTS]],
                violation: None,
            },
            budget: Budget {
                next_value: 1,
                crashes: self.bounds.crashes,
                losses: self.bounds.losses,
            },
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        if state.truth.violation.is_some() {
            return;
        }
        match &state.phase {
            Phase::Running(system) => self.running(state, system, actions),
            Phase::Starting(_) => actions.push(Action::Started),
            Phase::Refused => return,
            // The disk that was written last must be there: an older one cannot know that it is old.
            Phase::Down => {
                let reachable = state
                    .present
                    .disks()
                    .any(|disk| state.truth.current.has(disk));
                for preferred in state.present.disks().filter(|_| reachable) {
                    let mut path = Some(Vec::new());
                    while let Some(next) = path {
                        let mut fate = Fate::new(next);
                        self.boot(&mut state.clone(), preferred, &mut fate);
                        actions.push(Action::Boot(preferred, fate.path().to_vec()));
                        path = fate.next();
                    }
                }
            }
        }
        if state.budget.crashes > 0 && !matches!(state.phase, Phase::Down) {
            actions.push(Action::Crash);
        }
        for disk in 0..DISKS {
            if !state.present.has(disk) {
                let mut path = Some(Vec::new());
                while let Some(next) = path {
                    let mut fate = Fate::new(next);
                    self.newest_header(&mut state.clone(), disk, &mut fate);
                    actions.push(Action::Return(disk, fate.path().to_vec()));
                    path = fate.next();
                }
            } else if state.budget.losses > 0 {
                actions.push(Action::Lose(disk));
            }
        }
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        self.step(&mut state, action)?;
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        properties::all()
    }
}
