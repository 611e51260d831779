//! A checkpoint: log, flush 1, header, flush 2; and the disks that join or drop out meanwhile.

use crate::content::{Content, Members, Record, Snapshot};
use crate::disk::Place;
use crate::log::without_oldest;
use crate::model::{Event, Protocol};
use crate::state::{Checkpoint, Joining, Phase, Stage, State, System};
use crate::{Mistake, DISKS, OBJECTS};

impl Protocol {
    /// Freezes memory and writes what has changed, and the record of it, to the log.
    pub(crate) fn begin(&self, state: &mut State, system: &mut System) -> Option<()> {
        if system.checkpoint.is_some() {
            return None;
        }
        let mut objects = [None; OBJECTS];
        if self.fits(system) && system.dirty().next().is_some() {
            for object in system.dirty() {
                objects[object] = Some(system.memory[object]);
            }
            system.saved = system.memory;
        } else if !self.publishes(system) {
            return None;
        }
        if self.makes(Mistake::RecordOmitsObject) {
            objects[OBJECTS - 1] = None;
        }
        let record = Record {
            first: system.cursor,
            objects,
        };
        let targets = system.written();
        for disk in targets.disks() {
            if self.makes(Mistake::ReuseEarly) {
                state.disks[disk].flush(None);
            }
            for (object, place, value) in record.entries() {
                state.disks[disk].write(Place::Log(place), Content::Object(object as u8, value));
            }
            state.disks[disk].write(Place::Log(record.place()), Content::Record(record));
        }
        system.cursor += record.frames();
        self.count_if(Event::LogWrapped, system.cursor > self.bounds.log);
        self.count_if(Event::RetirementOnly, record.frames() == 1);
        let mut header = without_oldest(&system.header, system.migrated);
        let end = header.records().count();
        header.listed[end] = Some(record);
        header.cursor = system.cursor;
        header.sequence += 1;
        state.truth.in_flight = Some(system.saved);
        state.truth.remember(system.saved);
        system.checkpoint = Some(Checkpoint {
            header,
            targets,
            flushed: Members::NONE,
            stage: Stage::Log,
            retired: system.migrated,
            flushes: [0; DISKS],
        });
        if self.makes(Mistake::DropFirstFlush) {
            self.write_header(state, system);
        }
        Some(())
    }

    /// Flush 1 or flush 2 is answered by a disk; only a mistake takes an answer that is not `good` for one.
    pub(crate) fn flush(
        &self,
        state: &mut State,
        system: &mut System,
        disk: usize,
        good: bool,
    ) -> Option<()> {
        let checkpoint = system.checkpoint.as_mut()?;
        if !checkpoint.targets.has(disk) || checkpoint.flushed.has(disk) {
            return None;
        }
        let late = checkpoint.header.records().last().map(Record::place);
        let early = self.makes(Mistake::FlushBeforeCompletion) && checkpoint.stage == Stage::Log;
        if good {
            state.disks[disk].flush(late.filter(|_| early).map(Place::Log));
        }
        checkpoint.flushes[disk] += 1;
        checkpoint.flushed = checkpoint.flushed.with(disk);
        self.proceed(state, system);
        Some(())
    }

    /// Takes the next step if every target has been flushed.
    fn proceed(&self, state: &mut State, system: &mut System) {
        let Some(checkpoint) = system.checkpoint else {
            return;
        };
        if checkpoint.flushed != checkpoint.targets {
            return;
        }
        match checkpoint.stage {
            Stage::Log => self.write_header(state, system),
            Stage::Header => self.commit(state, system),
        }
    }

    fn write_header(&self, state: &mut State, system: &mut System) {
        let Some(mut checkpoint) = system.checkpoint else {
            return;
        };
        if self.makes(Mistake::RetireAfterFirstFlush) {
            let more = system.migrated - checkpoint.retired;
            checkpoint.header = without_oldest(&checkpoint.header, more);
            checkpoint.retired = system.migrated;
        }
        let lost = system
            .header
            .members
            .disks()
            .any(|disk| !checkpoint.targets.has(disk));
        if lost && !self.makes(Mistake::NoEpoch) {
            checkpoint.header.epoch += 1;
        }
        checkpoint.header.members = checkpoint.targets;
        checkpoint.stage = Stage::Header;
        checkpoint.flushed = Members::NONE;
        for disk in checkpoint.targets.disks() {
            let place = self.slot(checkpoint.header.sequence);
            state.disks[disk].write(place, Content::Header(checkpoint.header));
        }
        system.checkpoint = Some(checkpoint);
        if self.makes(Mistake::DropSecondFlush) {
            self.commit(state, system);
        }
    }

    /// The slot that does not hold the header before.
    pub(crate) fn slot(&self, sequence: u8) -> Place {
        Place::Slot(if self.makes(Mistake::OneHeaderSlot) {
            0
        } else {
            sequence & 1
        })
    }

    fn commit(&self, state: &mut State, system: &mut System) {
        let Some(checkpoint) = system.checkpoint.take() else {
            return;
        };
        system.header = checkpoint.header;
        system.migrated -= checkpoint.retired;
        self.count_if(Event::Retired, checkpoint.retired > 0);
        let flushes = checkpoint
            .targets
            .disks()
            .map(|disk| checkpoint.flushes[disk]);
        if flushes.max() > Some(2) {
            state.truth.violation = Some("a checkpoint took more than two flushes");
        }
        self.count(Event::Committed);
        if let Some((disk, Joining::Copied)) = system.joining {
            if checkpoint.targets.has(disk) {
                system.members = system.members.with(disk);
                system.joining = None;
                self.count(Event::Rejoined);
            }
        }
        settle(
            state,
            state.truth.in_flight.unwrap_or(system.saved),
            checkpoint.targets,
        );
    }

    /// A disk does not answer any more, or reported that a flush failed: the system goes on without it, if it can.
    pub(crate) fn detach(&self, state: &mut State, mut system: System, disk: usize) {
        state.disks[disk].crash();
        if system.joining.is_some_and(|(joining, _)| joining == disk) {
            system.joining = None;
        }
        system.members = system.members.without(disk);
        if let Some(checkpoint) = &mut system.checkpoint {
            self.count_if(Event::LostInCheckpoint, checkpoint.targets.has(disk));
            checkpoint.targets = checkpoint.targets.without(disk);
            checkpoint.flushed = checkpoint.flushed.without(disk);
        }
        if system.members.is_empty() {
            self.crash(state);
            return;
        }
        self.proceed(state, &mut system);
        state.phase = Phase::Running(system);
    }

    /// The power goes.
    pub(crate) fn crash(&self, state: &mut State) {
        for disk in &mut state.disks {
            disk.crash();
        }
        state.phase = Phase::Down;
    }
}

/// This state is what the outside may rely on from now on.
pub(crate) fn settle(state: &mut State, snapshot: Snapshot, disks: Members) {
    state.truth.committed = snapshot;
    state.truth.in_flight = None;
    state.truth.current = disks;
    state.truth.remember(snapshot);
}
