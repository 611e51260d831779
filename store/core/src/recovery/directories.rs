//! Reading the directories into the index: the part of recovery that grows with what was changed.

use alloc::vec::Vec;

use pebble_store_device::BlockDevice;
use pebble_store_format::{
    fold_directory, DecodeError, DirectoryReader, GenerationHeader, PackedEntry, Problem,
    RestartFrame,
};

use super::{Ahead, Recovery, READ_AHEAD};
use crate::index::Index;
use crate::mutant::mutated;
use crate::store::Generation;
use crate::volume::{Answer, Job};
use crate::{Error, Store};

impl<D: BlockDevice> Store<D> {
    /// Which frames to read, in which order.
    pub(super) fn plan_directories(&mut self, recovery: &mut Recovery) {
        let newest = if mutated!(self, GivenUpStayListed) {
            0
        } else {
            recovery.chosen
        };
        let header = recovery.header.as_ref();
        let mut objects = 0;
        for place in (newest..recovery.listed.len()).rev() {
            let (Some(generation), Some(header)) = (recovery.listed[place], header) else {
                continue;
            };
            let extent = generation.objects;
            recovery
                .frames
                .extend((0..extent.frames).map(|frame| (place, extent.first + frame, false)));
            objects += extent.entries as usize;
            self.generations.push(Generation {
                number: generation.generation,
                first_log: generation.first_log,
                bit: 1 << self.generations.len(),
                reference: header.generations[place],
                entries: Vec::with_capacity(extent.entries as usize),
            });
        }
        if let Some(chosen) = recovery.listed[recovery.chosen] {
            let extent = chosen.restart;
            let frames =
                (0..extent.frames).map(|frame| (recovery.chosen, extent.first + frame, true));
            recovery.frames.extend(frames);
            recovery.recovered.restart.reserve(extent.entries as usize);
        }
        self.index = Index::with_room(objects);
    }

    /// Reads ahead, and works off what has come, in order. Says whether that was all.
    pub(super) fn read_directories(&mut self, recovery: &mut Recovery) -> Result<bool, Error> {
        loop {
            while recovery.ahead.len() < READ_AHEAD && recovery.sent < recovery.frames.len() {
                let number = recovery.sent;
                recovery.sent += 1;
                recovery.ahead.push_back(Ahead::default());
                self.read_directory(recovery, number);
            }
            if recovery.worked == recovery.frames.len() {
                return Ok(true);
            }
            let Some(contents) = recovery
                .ahead
                .front_mut()
                .and_then(|ahead| ahead.contents.take())
            else {
                return Ok(false);
            };
            let (place, log, restart) = recovery.frames[recovery.worked];
            let Some(generation) = recovery.listed[place] else {
                return Err(Error::NoCheckpoint);
            };
            let read = if restart {
                self.enter_restart(recovery, &generation, log, &contents)
            } else {
                self.enter_objects(recovery, &generation, log, &contents)
            };
            match read {
                Ok(()) => {
                    self.volume.recycle(contents);
                    recovery.ahead.pop_front();
                    recovery.worked += 1;
                }
                Err(Trouble::Final(error)) => return Err(error),
                Err(Trouble::Misread(error)) => {
                    // Perhaps another disk has it right.
                    if !self.read_directory(recovery, recovery.worked) {
                        let at = self.volume.geometry.log_place(log).frame;
                        return Err(Error::Record { disk: 0, at, error });
                    }
                    self.counters.repaired_reads += 1;
                }
            }
        }
    }

    fn read_directory(&mut self, recovery: &mut Recovery, number: usize) -> bool {
        let place = self.volume.geometry.log_place(recovery.frames[number].1);
        let tried = recovery
            .ahead
            .get(number - recovery.worked)
            .map_or(0, |ahead| ahead.tried);
        self.volume
            .read(Job::Directory(number as u64), place, tried)
    }

    pub(super) fn directory_answer(
        &mut self,
        recovery: &mut Recovery,
        number: usize,
        answer: Answer,
    ) {
        let place = number.wrapping_sub(recovery.worked);
        let Some(ahead) = recovery.ahead.get_mut(place) else {
            return;
        };
        ahead.tried |= 1 << answer.disk;
        match (answer.result, answer.buffer) {
            (Ok(()), Some(contents)) => ahead.contents = Some(contents),
            (result, _) => {
                if !self.read_directory(recovery, number) {
                    let error = result.err().unwrap_or(pebble_store_device::Error::Medium);
                    let disk = answer.disk;
                    self.stop(Error::Disk {
                        disk,
                        request: "read",
                        error,
                    });
                }
            }
        }
    }

    fn enter_objects(
        &mut self,
        recovery: &mut Recovery,
        generation: &GenerationHeader,
        log: u64,
        contents: &pebble_store_device::Frame,
    ) -> Result<(), Trouble> {
        let number = generation.generation;
        let wrong = |problem| {
            Trouble::Final(Error::Generation {
                generation: number,
                problem,
            })
        };
        let expected = log - generation.objects.first;
        if expected == 0 {
            recovery.fold = 0;
            recovery.last_frame = None;
        }
        let kept = self
            .generations
            .iter_mut()
            .find(|kept| kept.number == number);
        let kept = kept.ok_or(wrong("it is not listed"))?;
        let (bit, index, spans) = (kept.bit, &mut self.index, &recovery.spans);
        let (first_log, length) = (
            generation.first_log,
            generation.end_log - generation.first_log,
        );
        let reader = DirectoryReader::open(self.key, log, contents).map_err(Trouble::of)?;
        let sum = reader.checksum;
        if reader.generation != number || reader.index != expected {
            return Err(wrong("a directory frame is of another generation or place"));
        }
        let least = recovery.last_frame.map_or(0, |last| last + 1);
        let before = kept.entries.len();
        kept.entries.extend(reader.entries());
        let entries = &kept.entries[before..];
        let (flaws, inside, least) = look_through(entries, least, first_log, length);
        // In ascending order: if first and last are in one span, all are.
        let (Some(first), Some(last)) = (entries.first(), entries.last()) else {
            return Err(wrong("a directory frame is empty"));
        };
        let (first, last) = (first.frame.0, last.frame.0);
        let known = |frame: u64| {
            spans
                .iter()
                .any(|(start, end)| (*start..*end).contains(&frame))
        };
        let together = spans
            .iter()
            .any(|(start, end)| first >= *start && last < *end);
        if !together && !entries.iter().all(|entry| known(entry.frame.0)) {
            return Err(wrong("its directory has objects that no range has"));
        }
        if flaws != 0 {
            for (place, entry) in entries.iter().enumerate() {
                entry.unpack(place).map_err(Trouble::of)?;
            }
            return Err(wrong("an entry of its directory means nothing"));
        }
        index.enter_all(entries, bit);
        if !inside {
            return Err(wrong(
                "its directory is not in order, or names places outside of it",
            ));
        }
        recovery.last_frame = least.checked_sub(1);
        recovery.fold = fold_directory(recovery.fold, sum);
        if expected + 1 == generation.objects.frames {
            let entries = kept.entries.len() as u64;
            if recovery.fold != generation.objects.checksum || entries != generation.objects.entries
            {
                return Err(wrong("its directory is not the one that was committed"));
            }
            self.counters.recovered_entries += entries;
        }
        Ok(())
    }

    fn enter_restart(
        &mut self,
        recovery: &mut Recovery,
        generation: &GenerationHeader,
        log: u64,
        contents: &pebble_store_device::Frame,
    ) -> Result<(), Trouble> {
        let number = generation.generation;
        let (frame, sum) = RestartFrame::decode(self.key, log, contents).map_err(Trouble::of)?;
        let expected = log - generation.restart.first;
        if expected == 0 {
            recovery.fold = 0;
        }
        recovery.fold = fold_directory(recovery.fold, sum);
        recovery.recovered.restart.extend(frame.entries);
        let last = expected + 1 == generation.restart.frames;
        let entries = recovery.recovered.restart.len() as u64;
        let complete =
            recovery.fold == generation.restart.checksum && entries == generation.restart.entries;
        if frame.generation != number || frame.index != expected || last && !complete {
            let problem = "its restart list is not the one that was committed";
            return Err(Trouble::Final(Error::Generation {
                generation: number,
                problem,
            }));
        }
        Ok(())
    }
}

/// What is wrong with any of the entries by itself; whether they are in order, from a frame on, and in a part of the log; and
/// the least frame that may follow. A function of its own: what it needs stays in registers, whatever its caller grows to.
#[inline(never)]
fn look_through(
    entries: &[PackedEntry],
    mut least: u64,
    first_log: u64,
    length: u64,
) -> (u64, bool, u64) {
    let (mut flaws, mut inside) = (0, true);
    for entry in entries {
        flaws |= entry.flaws();
        inside &= entry.frame.0 >= least;
        least = entry.frame.0.wrapping_add(1);
        inside &= entry.is_null() | (entry.log.wrapping_sub(first_log) < length);
    }
    (flaws, inside, least)
}

/// Why a directory frame is not taken.
enum Trouble {
    /// What was read is not what was written: another disk may do better.
    Misread(DecodeError),
    /// It was written like this.
    Final(Error),
}

impl Trouble {
    fn of(error: DecodeError) -> Self {
        match error.problem {
            Problem::Magic { .. } | Problem::Checksum { .. } => Self::Misread(error),
            _ => Self::Final(Error::Record {
                disk: 0,
                at: 0,
                error,
            }),
        }
    }
}
