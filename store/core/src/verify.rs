//! Looking at every object of the started generation, before anything is built on it.
//!
//! What a reader would find out object by object, perhaps days later, is found out while the older generation can still be
//! started. Only what the generation itself saved is looked at: what is older was looked at when it was the newest. So the
//! work is bounded by the log, and the memory by the requests in flight.

use alloc::vec::Vec;

use pebble_store_device::BlockDevice;
use pebble_store_format::{checksum, ObjectFrame};

use crate::index::Source;
use crate::migration::READ_ROUNDS;
use crate::mutant::mutated;
use crate::store::Recovered;
use crate::volume::{Answer, Job};
use crate::{Error, Store};

/// Lost objects that are named; more are only counted.
pub const NAMED_LIMIT: usize = 256;

/// When the objects of the generation that is started are looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verify {
    /// Never together: each when it is read.
    Lazily,
    /// After the store is open, by and by. [`Store::verified`] has the outcome; nothing else comes of it.
    Behind,
    /// Before the store is open. A generation with lost objects is not opened: [`Error::Untrusted`].
    First,
}

/// What looking at the objects of a generation has shown.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Verified {
    /// Which generation.
    pub generation: u64,
    /// Objects that are as they were saved, on one disk at least.
    pub good: u64,
    /// Objects that no disk has right.
    pub bad: u64,
    /// Those, as far as [`NAMED_LIMIT`] goes, in the order in which they were found out.
    pub frames: Vec<ObjectFrame>,
}

/// An object that is being read.
#[derive(Clone, Copy)]
struct Reading {
    frame: ObjectFrame,
    log: u64,
    checksum: u64,
    tried: u32,
    rounds: u32,
    /// No disk has it in the log; what is at home is looked at.
    home: bool,
}

pub(crate) struct Verification {
    found: Verified,
    /// Its place in the directory.
    next: usize,
    readings: Vec<Option<Reading>>,
    /// What opening found: kept back until the generation is trusted.
    recovered: Option<Recovered>,
}

impl<D: BlockDevice> Store<D> {
    /// What looking at the objects of the started generation has shown; none before it is done, or if it is not done at all.
    pub fn verified(&self) -> Option<&Verified> {
        self.verified.as_ref()
    }

    /// The object frames that a listed generation has saved, in ascending order; none if it is not listed.
    pub fn saved_in(&self, generation: u64) -> impl Iterator<Item = ObjectFrame> + '_ {
        let listed = self.generations.iter();
        let named = listed.filter(move |listed| listed.number == generation);
        named.flat_map(|listed| listed.entries.iter().map(|entry| entry.frame))
    }

    /// The generation is known: it is open, or looked at first.
    pub(crate) fn begin_verification(&mut self, recovered: Recovered) {
        let found = Verified {
            generation: recovered.generation,
            ..Verified::default()
        };
        let mut verification = Verification {
            found,
            next: 0,
            readings: Vec::new(),
            recovered: Some(recovered),
        };
        if self.parameters.verify != Verify::First {
            self.recovered = verification.recovered.take();
        }
        if self.parameters.verify != Verify::Lazily {
            self.verification = Some(verification);
        }
    }

    pub(crate) fn step_verification(&mut self) -> Result<(), Error> {
        let Some(mut verification) = self.verification.take() else {
            return Ok(());
        };
        let number = verification.found.generation;
        for _ in 0..self.parameters.step.max(1) {
            if verification.under_way() >= self.parameters.in_flight.max(1) {
                break;
            }
            let mut listed = self.generations.iter();
            let generation = listed.find(|listed| listed.number == number);
            let entries = generation.map_or(&[][..], |generation| &generation.entries);
            let Some(entry) = entries.get(verification.next).copied() else {
                if verification.under_way() == 0 {
                    return self.end_verification(verification);
                }
                break;
            };
            verification.next += 1;
            if !entry.is_null() {
                let reading = Reading {
                    frame: entry.frame,
                    log: entry.log,
                    checksum: entry.tag.unpack().checksum,
                    tried: 0,
                    rounds: 0,
                    home: false,
                };
                let place = verification.place();
                self.read_again(&mut verification, place, reading);
            }
        }
        self.verification = Some(verification);
        Ok(())
    }

    fn end_verification(&mut self, verification: Verification) -> Result<(), Error> {
        let Verification {
            found, recovered, ..
        } = verification;
        let first = found.frames.first().copied();
        let (generation, objects) = (found.generation, found.bad);
        self.counters.verified_objects = found.good;
        self.counters.verified_bad = objects;
        self.verified = Some(found);
        match (first, recovered) {
            (Some(first), Some(_)) => {
                let mut bootable = self.bootable();
                bootable.retain(|number| *number < generation);
                let older = bootable.last().copied();
                Err(Error::Untrusted {
                    generation,
                    objects,
                    first,
                    older,
                })
            }
            (None, Some(recovered)) => {
                self.recovered = Some(recovered);
                Ok(())
            }
            (_, None) => Ok(()),
        }
    }

    pub(crate) fn verify_answer(&mut self, number: u32, answer: Answer) {
        let Some(mut verification) = self.verification.take() else {
            return;
        };
        let place = number as usize;
        if let Some(mut reading) = verification.readings.get_mut(place).and_then(Option::take) {
            reading.tried |= 1 << answer.disk;
            let right = answer.result.is_ok()
                && answer.buffer.as_ref().is_some_and(|contents| {
                    checksum::of_object(reading.frame, contents) == reading.checksum
                });
            if right || mutated!(self, VerifiedUnseen) {
                verification.found.good += 1;
            } else {
                self.read_again(&mut verification, place, reading);
            }
        }
        if let Some(buffer) = answer.buffer {
            self.volume.recycle(buffer);
        }
        self.verification = Some(verification);
    }

    /// Asks the next disk for an object, each of them a few times, then for what is at home; then it is lost.
    fn read_again(&mut self, verification: &mut Verification, place: usize, mut reading: Reading) {
        // It may have been saved anew, or gone home with its generation, and its log frame be something else by now.
        let source = self.index.get(reading.frame).map(|entry| entry.source);
        if source != Some(Source::Log(reading.log)) {
            return;
        }
        let geometry = &self.volume.geometry;
        let home = geometry.home(reading.frame);
        let home = home.map(|home| geometry.contents(home));
        let log = geometry.log_place(reading.log);
        let job = Job::Verify(place as u32);
        while let Some(at) = if reading.home { home } else { Some(log) } {
            if self.volume.read(job, at, reading.tried) {
                verification.readings[place] = Some(reading);
                return;
            }
            reading.tried = 0;
            reading.rounds += 1;
            if reading.rounds == READ_ROUNDS {
                if reading.home {
                    break;
                }
                (reading.home, reading.rounds) = (true, 0);
            }
        }
        verification.found.bad += 1;
        if verification.found.frames.len() < NAMED_LIMIT {
            verification.found.frames.push(reading.frame);
        }
    }
}

impl Verification {
    fn under_way(&self) -> usize {
        self.readings.iter().flatten().count()
    }

    /// Room for one more reading.
    fn place(&mut self) -> usize {
        let free = self.readings.iter().position(Option::is_none);
        free.unwrap_or_else(|| {
            self.readings.push(None);
            self.readings.len() - 1
        })
    }
}
