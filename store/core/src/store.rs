//! The store: what it consists of, and its heartbeat.

use alloc::boxed::Box;
use alloc::vec::Vec;

use pebble_store_device::BlockDevice;
use pebble_store_format::{ObjectFrame, PackedEntry, RestartEntry, VolumeKey};

use crate::cache::{Cache, Pots};
use crate::checkpoint::Checkpoint;
use crate::index::Index;
use crate::journal::Journal;
use crate::log::Log;
use crate::migration::Migration;
use crate::recovery::Recovery;
use crate::verify::{Verification, Verified};
use crate::volume::{Answer, Job, Standing, Volume};
use crate::{Counters, Error, Parameters, Stop, Wait};

/// Disks that a store works with, those that are out included. A volume has eight at most.
pub(crate) const DISKS_LIMIT: usize = 16;

/// A generation that a committed header lists.
pub(crate) struct Generation {
    pub number: u64,
    pub first_log: u64,
    /// Its mark in the index: one bit.
    pub bit: u32,
    pub reference: pebble_store_format::GenerationReference,
    /// Its object directory, in the order of the frames.
    pub entries: Vec<PackedEntry>,
}

/// What was committed last.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Committed {
    /// The header's sequence number.
    pub sequence: u64,
    /// The newest generation.
    pub generation: u64,
    /// How often the system was started, this time included.
    pub restart: u64,
    pub replica_sequence: u64,
    pub in_sync: u8,
    /// Generations up to this one may be brought home.
    pub bootable_from: u64,
}

/// What the store is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// It is being opened; objects are not to be had yet.
    Opening,
    /// It is open.
    Running,
    /// It could not be opened, or something happened after which nothing may be committed any more. What is in the cache
    /// and on the disks can still be read if it was open. [`Store::failure`] says what it was.
    Stopped,
}

/// What opening found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Recovered {
    /// The generation that was started.
    pub generation: u64,
    /// The oldest and the newest generation that could be started.
    pub bootable: (u64, u64),
    /// The processes to start.
    pub restart: Vec<RestartEntry>,
    /// How often the system has been started, this time included.
    pub restarts: u64,
    /// When the snapshot was taken: nanoseconds since 1970.
    pub time: u64,
    /// Pages that come from the journal.
    pub journaled: Vec<ObjectFrame>,
}

/// Why a checkpoint should be taken now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Due {
    /// The log's share for one generation is used up.
    Log,
    /// The cache is full of changed objects.
    Cache,
    /// The journal is full.
    Journal,
    /// A disk was lost or joined, and that must be written down.
    Replicas,
}

/// A single-level store on one disk or several.
///
/// Nothing here waits: an operation that cannot be done yet says what it waits for, and [`Store::poll`] moves everything on
/// that is under way.
pub struct Store<D: BlockDevice> {
    pub(crate) parameters: Parameters,
    pub(crate) volume: Volume<D>,
    pub(crate) key: VolumeKey,
    pub(crate) recovery: Option<Box<Recovery>>,
    pub(crate) recovered: Option<Recovered>,
    pub(crate) verification: Option<Verification>,
    pub(crate) verified: Option<Verified>,
    pub(crate) failure: Option<Error>,
    pub(crate) cache: Cache,
    pub(crate) index: Index,
    pub(crate) pots: Pots,
    pub(crate) log: Log,
    /// Oldest first.
    pub(crate) generations: Vec<Generation>,
    pub(crate) committed: Committed,
    pub(crate) checkpoint: Option<Checkpoint>,
    pub(crate) migration: Option<Migration>,
    pub(crate) journal: Journal,
    /// Pages that came from the journal and are in no generation yet.
    pub(crate) carried: Vec<ObjectFrame>,
    /// Objects whose contents could not be read; the next who asks is told.
    pub(crate) damaged: Vec<ObjectFrame>,
    pub(crate) due: Option<Due>,
    /// Every trusted disk has everything that was committed.
    pub(crate) even: bool,
    pub(crate) counters: Counters,
    /// Where the background check goes on.
    pub(crate) check_hand: usize,
    pub(crate) answers: Vec<Answer>,
    #[cfg(feature = "mutants")]
    pub(crate) mutant: Option<crate::Mutant>,
    #[cfg(feature = "mutants")]
    pub(crate) stale_restart: Vec<RestartEntry>,
}

impl<D: BlockDevice> Store<D> {
    /// Begins to open the store on these disks: all of one volume, in any order. [`Store::poll`] does it.
    pub fn open(devices: Vec<D>, parameters: Parameters) -> Self {
        #[cfg(feature = "mutants")]
        let mutant = parameters.mutant;
        let mut volume = Volume::new(devices, parameters.in_flight);
        let mut cache = Cache::new(parameters.cache_frames, parameters.copy_frames, 1);
        #[cfg(feature = "mutants")]
        {
            volume.mutant = mutant;
            cache.mutant = mutant;
        }
        let recovery = Recovery::begin(&mut volume);
        let failure = match volume.disks.len() {
            0 => Some(Error::NoDisk),
            1..=DISKS_LIMIT => None,
            _ => Some(Error::ForeignDisk { disk: DISKS_LIMIT }),
        };
        cache.epoch = 1;
        Self {
            pots: Pots::new(parameters.pot_slots),
            log: Log {
                restart_frames: Log::frames_for_restart(parameters.restart_limit),
                ..Log::default()
            },
            parameters,
            volume,
            key: VolumeKey::of(0),
            recovery: Some(Box::new(recovery)),
            recovered: None,
            verification: None,
            verified: None,
            failure,
            cache,
            index: Index::with_room(0),
            generations: Vec::new(),
            committed: Committed::default(),
            checkpoint: None,
            migration: None,
            journal: Journal::default(),
            carried: Vec::new(),
            damaged: Vec::new(),
            due: None,
            even: true,
            counters: Counters::default(),
            check_hand: 0,
            answers: Vec::new(),
            #[cfg(feature = "mutants")]
            mutant,
            #[cfg(feature = "mutants")]
            stale_restart: Vec::new(),
        }
    }

    /// Moves on whatever is under way: collects the disks' answers and sends what is next. Does not wait.
    pub fn poll(&mut self) -> Status {
        let mut answers = core::mem::take(&mut self.answers);
        self.volume.poll(&mut answers);
        for answer in answers.drain(..) {
            self.take(answer);
        }
        self.answers = answers;
        if self.failure.is_none() {
            let done = if self.recovery.is_some() {
                self.step_recovery()
            } else {
                self.step_running()
            };
            if let Err(error) = done {
                self.stop(error);
            }
        }
        self.counters.lost_disks = self.volume.lost;
        self.status()
    }

    fn step_running(&mut self) -> Result<(), Error> {
        self.step_verification()?;
        if self.recovered.is_none() {
            return Ok(());
        }
        self.step_checkpoint()?;
        self.step_migration()?;
        self.step_journal()?;
        self.volume.step_resync();
        self.rejoin();
        Ok(())
    }

    /// What the store is doing.
    pub fn status(&self) -> Status {
        match (&self.failure, &self.recovered) {
            (Some(_), _) => Status::Stopped,
            (None, None) => Status::Opening,
            (None, Some(_)) => Status::Running,
        }
    }

    /// Whether anything is under way that a poll could move on: requests, a checkpoint, a migration, a resync.
    pub fn busy(&self) -> bool {
        self.failure.is_none()
            && (self.recovery.is_some()
                || self.verification.is_some()
                || self.checkpoint.is_some()
                || self
                    .migration
                    .as_ref()
                    .is_some_and(|migration| !migration.done)
                || self
                    .volume
                    .resync
                    .as_ref()
                    .is_some_and(|resync| !resync.done)
                || self.volume.busy())
    }

    /// Why the store stopped.
    pub fn failure(&self) -> Option<&Error> {
        self.failure.as_ref()
    }

    /// What opening found, once the store is open.
    pub fn recovered(&self) -> Option<&Recovered> {
        self.recovered.as_ref()
    }

    /// The generation that was committed last.
    pub fn committed(&self) -> u64 {
        self.committed.generation
    }

    /// The generation that changes made now will belong to.
    pub fn epoch(&self) -> u64 {
        self.cache.epoch
    }

    /// The generations that could be started, oldest first.
    pub fn bootable(&self) -> Vec<u64> {
        let numbers = self.generations.iter().map(|generation| generation.number);
        numbers
            .filter(|number| *number >= self.committed.bootable_from)
            .collect()
    }

    /// Whether the loss of any one disk, now, would lose nothing that was committed: at least two are trusted, the newest
    /// header says so, and all of them have it.
    pub fn redundant(&self) -> bool {
        let trusted = self.volume.numbers(Standing::Trusted);
        self.recovered.is_some()
            && self.even
            && trusted.count_ones() > 1
            && trusted == self.committed.in_sync
    }

    /// Whether objects can be had.
    pub(crate) fn ready(&self) -> Result<(), Stop> {
        match (&self.recovered, &self.failure) {
            (Some(_), _) => Ok(()),
            (None, None) => Err(Stop::Wait(Wait::Recovery)),
            (None, Some(_)) => Err(Stop::Error(Error::Stopped)),
        }
    }

    /// The counts.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Gives the disks back. What is not committed is lost, as in a crash.
    pub fn into_disks(self) -> Vec<D> {
        self.volume
            .disks
            .into_iter()
            .map(|disk| disk.device)
            .collect()
    }

    /// A disk, by its place in the list that the store was opened with.
    pub fn disk(&self, index: usize) -> Option<&D> {
        self.volume.disks.get(index).map(|disk| &disk.device)
    }

    /// The same, to be changed: for devices that must be driven from outside.
    pub fn disk_mut(&mut self, index: usize) -> Option<&mut D> {
        self.volume
            .disks
            .get_mut(index)
            .map(|disk| &mut disk.device)
    }

    pub(crate) fn stop(&mut self, error: Error) {
        self.failure.get_or_insert(error);
    }

    /// Takes an answer to where it belongs.
    fn take(&mut self, answer: Answer) {
        let done = match answer.job {
            Job::Superblock(_)
            | Job::Slot(_)
            | Job::Generation(_)
            | Job::Directory(_)
            | Job::JournalRecord(_)
            | Job::JournalPage(_)
            | Job::Boot
            | Job::BootFlush
            | Job::OpenFlush => self.recovery_answer(answer),
            Job::Fetch(slot) => {
                self.fetch_answer(slot, answer);
                Ok(())
            }
            Job::Verify(number) => {
                self.verify_answer(number, answer);
                Ok(())
            }
            Job::Pot(name) => {
                self.pot_answer(name, answer);
                Ok(())
            }
            Job::Save(_) | Job::Carry(_) | Job::SaveRecord | Job::Header | Job::CheckpointFlush => {
                self.checkpoint_answer(answer)
            }
            Job::Migrate(_) | Job::Home | Job::HomePot => self.migration_answer(answer),
            Job::Journal | Job::JournalFlush => self.journal_answer(answer),
            Job::Resync(step) => {
                self.volume
                    .resync_answer(step, answer.disk, answer.buffer, answer.result);
                Ok(())
            }
        };
        if let Err(error) = done {
            self.stop(error);
        }
    }
}
