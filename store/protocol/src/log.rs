//! The circular log: what is free, and migration out of it.

use crate::content::{Content, Header, Members};
use crate::disk::Place;
use crate::model::Protocol;
use crate::state::{State, System};
use crate::Mistake;

/// The header's list without its `count` oldest generations.
pub(crate) fn without_oldest(header: &Header, count: u8) -> Header {
    let mut rest = *header;
    rest.listed.rotate_left(usize::from(count));
    let kept = header.records().count() - usize::from(count);
    rest.listed[kept..].fill(None);
    rest
}

impl Protocol {
    /// Frames in use: from the oldest that the committed header needs to the cursor.
    fn used(&self, system: &System) -> u8 {
        let early = [Mistake::ReuseEarly, Mistake::MigrateWithoutHeader];
        let tail = if early.iter().any(|mistake| self.makes(*mistake)) {
            let rest = without_oldest(&system.header, system.migrated);
            if rest.records().next().is_none() {
                system.cursor
            } else {
                rest.tail()
            }
        } else {
            system.header.tail()
        };
        system.cursor - tail
    }

    /// Whether the log has room for a checkpoint of what has changed. One frame stays for the checkpoint that
    /// publishes a retirement, whose record is all that it writes.
    pub(crate) fn fits(&self, system: &System) -> bool {
        let objects = system.dirty().count() as u8;
        let reserve = u8::from(objects > 0 && !self.makes(Mistake::NoReserve));
        self.lists_another(system) && self.used(system) + objects + 1 + reserve <= self.bounds.log
    }

    /// Whether a checkpoint that only publishes retirements is possible.
    pub(crate) fn publishes(&self, system: &System) -> bool {
        system.migrated > 0 && self.lists_another(system) && self.used(system) < self.bounds.log
    }

    fn lists_another(&self, system: &System) -> bool {
        let listed = system.header.records().count() - usize::from(system.migrated);
        listed < crate::LISTED
    }

    /// Copies the oldest generation that is not migrated from the log to the homes.
    pub(crate) fn migrate(&self, state: &mut State, system: &mut System) -> Option<()> {
        let record = *system.header.records().nth(usize::from(system.migrated))?;
        let source = system.members.disks().next()?;
        for (object, place, value) in record.entries() {
            let content = if self.makes(Mistake::MigrateFromMemory) {
                Content::Object(object as u8, system.memory[object])
            } else {
                state.disks[source].read(Place::Log(place))
            };
            if content != Content::Object(object as u8, value)
                && !self.makes(Mistake::MigrateFromMemory)
            {
                state.truth.violation =
                    Some("migration found another content in the log than was put there");
            }
            for disk in system.written().disks() {
                state.disks[disk].write(Place::Home(object), content);
            }
        }
        system.migrated += 1;
        Some(())
    }

    /// Whether a log frame that the committed header needs is not certain to hold what it should.
    pub(crate) fn needed_frame_touched(state: &State, header: &Header, members: Members) -> bool {
        members.disks().any(|disk| {
            let disk = &state.disks[disk];
            header.records().any(|record| {
                let intact = |place, content| disk.certain(place) && disk.read(place) == content;
                !intact(Place::Log(record.place()), Content::Record(*record))
                    || record.entries().any(|(object, place, value)| {
                        !intact(Place::Log(place), Content::Object(object as u8, value))
                    })
            })
        })
    }
}
