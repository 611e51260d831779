//! A checkpoint, from snapshot to commit.
//!
//! Look at what was frozen, give it places in the log, save it, save the directories, wait for every write (those of the
//! migration too), flush, write the header into the slot that does not count, flush: committed. Two flushes, and no other
//! order between writes. What is not below the second flush is not believed by recovery.

mod commit;
mod save;

use alloc::vec::Vec;

use pebble_store_device::BlockDevice;
use pebble_store_format::{
    DirectoryEntry, DirectoryExtent, GenerationReference, ObjectFrame, RestartEntry, Tag,
};

use crate::mutant::mutated;
use crate::volume::{Answer, Job};
use crate::{Due, Error, Stop, Store, Wait};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stage {
    /// The frozen objects are looked at, then everything else in the cache.
    Look,
    /// Objects are on their way to the log.
    Save,
    /// Directories and generation header are.
    Settle,
    FirstFlush,
    Header,
    SecondFlush,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Origin {
    /// A slot of the cache.
    Slot(u32),
    /// The journal, at a position: nobody has changed it since the start.
    Journal(u64),
}

/// An object of the snapshot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item {
    pub frame: ObjectFrame,
    pub origin: Origin,
    pub tag: Tag,
    pub log: u64,
    /// Disks that gave wrong contents, when it comes from the journal.
    pub tried: u32,
}

pub(crate) struct Checkpoint {
    pub generation: u64,
    pub parent: u64,
    pub stage: Stage,
    pub forced: bool,
    pub restart: Vec<RestartEntry>,
    pub time: u64,
    pub generator: u64,
    pub journal_sequence: u64,
    pub journal_position: u64,
    pub frozen: Vec<u32>,
    /// Pages from the journal that this generation takes in.
    pub journaled: Vec<ObjectFrame>,
    pub looked: usize,
    pub items: Vec<Item>,
    pub next: usize,
    pub under_way: usize,
    pub first_log: u64,
    pub end_log: u64,
    /// Its mark in the index: one bit.
    pub bit: u32,
    pub objects: DirectoryExtent,
    pub restarts: DirectoryExtent,
    pub entries: Vec<DirectoryEntry>,
    pub reference: GenerationReference,
    /// What the header says of the replicas.
    pub replica_sequence: u64,
    pub in_sync: u8,
    pub joining: Option<usize>,
    pub bootable_from: u64,
}

impl<D: BlockDevice> Store<D> {
    /// Takes a snapshot: everything as it is now, to be committed as the generation whose number is the answer. What
    /// follows happens in polls, while objects go on changing. `restart` is the list of processes to start from it, `time`
    /// nanoseconds since 1970, `generator` whatever the caller wants to find again.
    ///
    /// Takes the same number of instructions for ten changed objects as for ten thousand (eros R103).
    pub fn snapshot(
        &mut self,
        restart: Vec<RestartEntry>,
        time: u64,
        generator: u64,
    ) -> Result<u64, Stop> {
        self.ready()?;
        if self.failure.is_some() {
            return Err(Stop::Error(Error::Stopped));
        }
        if self.checkpoint.is_some() {
            return Err(Stop::Wait(Wait::Checkpoint));
        }
        let (given, limit) = (restart.len(), self.parameters.restart_limit);
        if given > limit {
            return Err(Stop::Error(Error::RestartList { given, limit }));
        }
        #[cfg(feature = "mutants")]
        let restart = self.mutated_restart(restart);
        let generation = self.cache.epoch;
        let forced = self.checkpoint_due().is_some();
        let frozen = self.cache.next_epoch();
        let carried = core::mem::take(&mut self.carried);
        self.log.frozen = self.log.need(frozen.len() + carried.len());
        self.due = None;
        if mutated!(self, JournalReusedEarly) {
            self.journal
                .free_to(self.journal.sequence, self.journal.position);
        }
        self.checkpoint = Some(Checkpoint {
            generation,
            parent: self.committed.generation,
            stage: Stage::Look,
            forced,
            restart,
            time,
            generator,
            journal_sequence: self.journal.sequence,
            journal_position: self.journal.position,
            frozen,
            journaled: carried,
            looked: 0,
            items: Vec::new(),
            next: 0,
            under_way: 0,
            first_log: 0,
            end_log: 0,
            bit: 0,
            objects: DirectoryExtent::default(),
            restarts: DirectoryExtent::default(),
            entries: Vec::new(),
            reference: GenerationReference {
                log: 0,
                checksum: 0,
            },
            replica_sequence: 0,
            in_sync: 0,
            joining: None,
            bootable_from: 0,
        });
        Ok(generation)
    }

    /// Whether a checkpoint should be taken now, and why. Without one, writers wait in the end.
    pub fn checkpoint_due(&self) -> Option<Due> {
        if self.recovered.is_none() || self.failure.is_some() || self.checkpoint.is_some() {
            return None;
        }
        let objects = self.cache.changed.len() + self.carried.len();
        if self.log.is_due(objects, self.parameters.forced_percent) {
            return Some(Due::Log);
        }
        let joined = self
            .volume
            .resync
            .as_ref()
            .is_some_and(|resync| resync.done);
        if self.volume.changed || joined {
            return Some(Due::Replicas);
        }
        self.due
    }

    /// Whether a snapshot is being saved.
    pub fn checkpointing(&self) -> bool {
        self.checkpoint.is_some()
    }

    pub(crate) fn step_checkpoint(&mut self) -> Result<(), Error> {
        let Some(mut checkpoint) = self.checkpoint.take() else {
            return Ok(());
        };
        let done = self.advance(&mut checkpoint);
        match done {
            Ok(false) => self.checkpoint = Some(checkpoint),
            Ok(true) => self.cache.give_back(checkpoint.frozen),
            Err(error) => {
                self.checkpoint = Some(checkpoint);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Says whether it is committed.
    fn advance(&mut self, checkpoint: &mut Checkpoint) -> Result<bool, Error> {
        if checkpoint.stage == Stage::Look && self.look(checkpoint)? {
            self.give_places(checkpoint);
            checkpoint.stage = Stage::Save;
        }
        if checkpoint.stage == Stage::Save && self.save(checkpoint)? {
            self.save_records(checkpoint);
            checkpoint.stage = Stage::Settle;
            if mutated!(self, HeaderBeforeObjects) {
                self.write_header(checkpoint);
            }
        }
        let home = self
            .migration
            .as_ref()
            .is_none_or(|migration| migration.done)
            || mutated!(self, DroppedBeforeHome);
        let settled = checkpoint.under_way == 0 || mutated!(self, FlushBeforeCompletion);
        if checkpoint.stage == Stage::Settle && settled && home {
            self.settle(checkpoint);
        }
        // From the first flush on, answers alone move it on.
        Ok(
            checkpoint.stage == Stage::SecondFlush && checkpoint.under_way == 0 && {
                self.commit(checkpoint);
                true
            },
        )
    }

    pub(crate) fn checkpoint_answer(&mut self, answer: Answer) -> Result<(), Error> {
        let Some(mut checkpoint) = self.checkpoint.take() else {
            return Ok(());
        };
        let done = self.answered(&mut checkpoint, answer);
        self.checkpoint = Some(checkpoint);
        done
    }

    fn answered(&mut self, checkpoint: &mut Checkpoint, answer: Answer) -> Result<(), Error> {
        if let Job::Carry(item) = answer.job {
            return self.carry_answer(checkpoint, item, answer);
        }
        checkpoint.under_way = checkpoint.under_way.saturating_sub(1);
        let request = match answer.job {
            Job::CheckpointFlush => "flush",
            _ => "write",
        };
        if let Err(error) = answer.result {
            if request == "flush" && mutated!(self, FlushRetried) {
                checkpoint.under_way += 1;
                self.volume.flush(Job::CheckpointFlush);
                return Ok(());
            }
            // Nobody knows what of the writes since the last good flush is on the disk, and a later flush would not tell.
            return Err(Error::Disk {
                disk: answer.disk,
                request,
                error,
            });
        }
        match (answer.job, checkpoint.stage) {
            (Job::Save(item), _) => self.saved_item(checkpoint, item),
            (Job::CheckpointFlush, Stage::FirstFlush) => self.flushed(checkpoint),
            (Job::Header, Stage::Header) => self.header_written(checkpoint),
            _ => {}
        }
        Ok(())
    }
}
