//! Recovery: which header to believe, on which disks, and what memory was.

use crate::checkpoint::settle;
use crate::content::{Content, Header, Members, Snapshot};
use crate::disk::Place;
use crate::model::{Event, Protocol};
use crate::state::{Phase, State, System};
use crate::{Mistake, DISKS, LISTED, OBJECTS};

/// Why no state is recovered.
pub(crate) enum Refusal {
    /// What should be there cannot be read.
    Unreadable(&'static str),
    /// Each disk was started without the other.
    Split,
}

use Refusal::Unreadable;

/// Decides what each frame held whose content the crash left open, along a given path of decisions.
pub(crate) struct Fate {
    path: Vec<u8>,
    options: Vec<u8>,
}

impl Fate {
    /// The path to follow; beyond its end the first possibility is taken.
    pub fn new(path: Vec<u8>) -> Self {
        Self {
            path,
            options: Vec::new(),
        }
    }

    fn read(&mut self, state: &mut State, disk: usize, place: Place) -> Content {
        let survivors = state.disks[disk].survivors(place);
        if let [content] = survivors {
            return *content;
        }
        let step = self.options.len();
        if step == self.path.len() {
            self.path.push(0);
        }
        self.options.push(survivors.len() as u8);
        let content = survivors[usize::from(self.path[step])];
        state.disks[disk].settle(place, content);
        content
    }

    /// The path after this one, if there is another.
    pub fn next(mut self) -> Option<Vec<u8>> {
        while let (Some(last), Some(options)) = (self.path.pop(), self.options.pop()) {
            if last + 1 < options {
                self.path.push(last + 1);
                return Some(self.path);
            }
        }
        None
    }

    /// The path that was followed.
    pub fn path(&self) -> &[u8] {
        &self.path
    }
}

/// What recovery found out.
pub(crate) struct Found {
    header: Header,
    /// Disks that hold all of it.
    believed: Members,
    memory: Snapshot,
}

impl Protocol {
    /// Reads the disks in `present`, the log and the homes from `preferred` if it is believed. `Err` says why no state
    /// is recovered.
    pub(crate) fn recover(
        &self,
        state: &mut State,
        present: Members,
        preferred: usize,
        fate: &mut Fate,
    ) -> Result<Found, Refusal> {
        let mut newest: [Option<Header>; DISKS] = [None; DISKS];
        for disk in present.disks() {
            newest[disk] = self.newest_header(state, disk, fate);
        }
        let split = |one: Header, other: Header| one.is_split_from(&other);
        if newest[0]
            .zip(newest[1])
            .is_some_and(|(one, other)| split(one, other))
            && !self.makes(Mistake::SplitIgnored)
        {
            return Err(Refusal::Split);
        }
        let order = |header: &Header| {
            let epoch = if self.makes(Mistake::NoEpoch) {
                0
            } else {
                header.epoch
            };
            (epoch, header.sequence)
        };
        let preferred_first = [preferred, DISKS - 1 - preferred];
        let best = preferred_first.into_iter().filter_map(|disk| newest[disk]);
        // Of equals the first one, not the last as `max_by_key` would have it.
        let header = best.reduce(|one, other| {
            if order(&other) > order(&one) {
                other
            } else {
                one
            }
        });
        let header = header.ok_or(Unreadable("no header can be read"))?;
        let mut believed = Members::NONE;
        for disk in present.disks() {
            let equal = match newest[disk] {
                Some(found) if self.makes(Mistake::NoEpoch) => order(&found) == order(&header),
                found => found == Some(header),
            };
            if equal || (self.makes(Mistake::StaleReplicaBelieved) && newest[disk].is_some()) {
                believed = believed.with(disk);
            }
        }
        let source = preferred_first.into_iter().find(|disk| believed.has(*disk));
        let source = source.ok_or(Unreadable("no disk can be read"))?;
        let memory = self.contents(state, &header, source, fate)?;
        Ok(Found {
            header,
            believed,
            memory,
        })
    }

    pub(crate) fn newest_header(
        &self,
        state: &mut State,
        disk: usize,
        fate: &mut Fate,
    ) -> Option<Header> {
        let slots = [0, 1].map(|slot| fate.read(state, disk, Place::Slot(slot)));
        let valid = slots.iter().filter_map(|content| match content {
            Content::Header(header) => Some(*header),
            _ => None,
        });
        let newest = valid.max_by_key(|header| (header.epoch, header.sequence));
        if self.makes(Mistake::NoHeaderChecksum) && slots.contains(&Content::Torn) {
            // Its first words are there, its list is not.
            return newest.map(|header| Header {
                sequence: header.sequence + 1,
                listed: [None; LISTED],
                ..header
            });
        }
        newest
    }

    fn contents(
        &self,
        state: &mut State,
        header: &Header,
        source: usize,
        fate: &mut Fate,
    ) -> Result<Snapshot, Refusal> {
        let skipped = if self.makes(Mistake::ForgetUnmigrated) {
            header.records().count().saturating_sub(1)
        } else {
            0
        };
        for record in header.records().skip(skipped) {
            let found = fate.read(state, source, Place::Log(record.place()));
            if found != Content::Record(*record) {
                return Err(Unreadable("a listed generation's record cannot be read"));
            }
        }
        let mut memory = [0; OBJECTS];
        for (object, memory) in memory.iter_mut().enumerate() {
            let mut newest = None;
            for record in header.records().skip(skipped) {
                newest = record.entries().find(|entry| entry.0 == object).or(newest);
            }
            let place = newest.map_or(Place::Home(object), |(_, place, _)| Place::Log(place));
            let found = fate.read(state, source, place);
            *memory = match (found, newest) {
                (Content::Object(of, value), None) if usize::from(of) == object => value,
                (content, Some((_, _, value)))
                    if content == Content::Object(object as u8, value) =>
                {
                    value
                }
                _ => return Err(Unreadable("an object cannot be read")),
            };
        }
        Ok(memory)
    }

    /// Starts the machine.
    pub(crate) fn boot(&self, state: &mut State, preferred: usize, fate: &mut Fate) {
        let Found {
            mut header,
            believed,
            memory,
        } = match self.recover(state, state.present, preferred, fate) {
            Ok(found) => found,
            Err(Refusal::Split) => {
                self.count(Event::SplitRefused);
                state.phase = Phase::Refused;
                return;
            }
            Err(Unreadable(why)) => {
                state.truth.violation = Some(why);
                return;
            }
        };
        self.count_if(Event::StaleRefused, believed != state.present);
        if memory != state.truth.committed {
            if Some(memory) == state.truth.in_flight {
                self.count(Event::RecoveredInFlight);
            } else {
                state.truth.violation =
                    Some("the recovered state is neither the last committed nor the one in flight");
            }
        } else {
            self.count_if(Event::FellBack, state.truth.in_flight.is_some());
        }
        // Even if the header names no other disk: one that was about to join may hold a header that says so.
        let known = self.makes(Mistake::EpochOnlyOnChange) && header.members == believed;
        let degraded = believed != Members::ALL && !known;
        let wait = degraded && !self.makes(Mistake::NoEpoch) && !self.makes(Mistake::EpochLater);
        if wait {
            header.epoch += 1;
            header.sequence += 1;
            header.members = believed;
            for disk in believed.disks() {
                state.disks[disk].write(self.slot(header.sequence), Content::Header(header));
            }
        }
        let last = header.records().last();
        let cursor = match last {
            Some(record) if self.makes(Mistake::CursorBehind) => record.first,
            _ => header.cursor,
        };
        let system = System {
            memory,
            saved: memory,
            header,
            members: believed,
            cursor,
            migrated: 0,
            checkpoint: None,
            joining: None,
        };
        if wait {
            state.phase = Phase::Starting(system);
        } else {
            settle(state, memory, believed);
            state.phase = Phase::Running(system);
        }
    }

    /// The new epoch is stable: the system runs.
    pub(crate) fn started(&self, state: &mut State, system: System) {
        for disk in system.members.disks() {
            state.disks[disk].flush(None);
        }
        self.count(Event::StartedDegraded);
        settle(state, system.memory, system.members);
        state.phase = Phase::Running(system);
    }

    /// Whether a disk that is not current, alone, gives a state that never was.
    pub(crate) fn stale_disk_mixes(&self, state: &State) -> bool {
        (0..DISKS)
            .filter(|disk| !state.truth.current.has(*disk))
            .any(|disk| {
                let mut path = Some(Vec::new());
                while let Some(next) = path {
                    let mut fate = Fate::new(next);
                    let alone = Members::NONE.with(disk);
                    let mut trial = state.clone();
                    if let Ok(found) = self.recover(&mut trial, alone, disk, &mut fate) {
                        if trial.truth.history.binary_search(&found.memory).is_err() {
                            return true;
                        }
                    }
                    path = fate.next();
                }
                false
            })
    }
}
