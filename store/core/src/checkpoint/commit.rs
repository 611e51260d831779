//! The last steps: flush, header, flush; and what is different afterwards.

use alloc::vec::Vec;

use pebble_store_device::BlockDevice;
use pebble_store_format::{CheckpointHeader, DirectoryEntry, LogLayout, PackedEntry};

use super::{Checkpoint, Stage};
use crate::migration::Migration;
use crate::mutant::mutated;
use crate::recovery::JOURNAL_BIT;
use crate::store::{Committed, Generation};
use crate::volume::{Job, Standing};
use crate::Store;

impl<D: BlockDevice> Store<D> {
    /// Every write is done: the first flush.
    pub(super) fn settle(&mut self, checkpoint: &mut Checkpoint) {
        let resync = self.volume.resync.as_ref();
        checkpoint.joining = resync
            .filter(|resync| resync.done || mutated!(self, JoinedEarly))
            .map(|resync| resync.disk);
        checkpoint.stage = Stage::FirstFlush;
        if mutated!(self, HeaderBeforeObjects) {
            checkpoint.stage = Stage::Header;
            self.header_written(checkpoint);
            return;
        }
        if mutated!(self, FirstFlushDropped) {
            self.flushed(checkpoint);
            return;
        }
        checkpoint.under_way += 1;
        self.counters.checkpoint_flushes += 1;
        self.volume.flush(Job::CheckpointFlush);
    }

    /// The objects are stable: the header.
    pub(super) fn flushed(&mut self, checkpoint: &mut Checkpoint) {
        checkpoint.stage = Stage::Header;
        self.write_header(checkpoint);
    }

    pub(super) fn write_header(&mut self, checkpoint: &mut Checkpoint) {
        let mut in_sync = self.volume.numbers(Standing::Trusted);
        if let Some(joining) = checkpoint.joining {
            if self.volume.disks[joining].standing == Standing::Joining {
                in_sync |= 1 << (self.volume.disks[joining].number & 7);
            }
        }
        if mutated!(self, LossNotRecorded) {
            in_sync |= self.committed.in_sync;
        }
        let changed = in_sync != self.committed.in_sync;
        checkpoint.in_sync = in_sync;
        checkpoint.replica_sequence = self.committed.replica_sequence + u64::from(changed);
        let kept = self.generations.iter().skip(self.dropped());
        let mut listed: Vec<(u64, u64)> = kept.map(|kept| (kept.number, kept.first_log)).collect();
        listed.push((checkpoint.generation, checkpoint.first_log));
        let through = self.plan(&listed);
        checkpoint.bootable_from = listed[through.saturating_sub(1)].0;
        let mut generations = Vec::with_capacity(listed.len());
        generations.push(checkpoint.reference);
        let older = self.generations.iter().skip(self.dropped()).rev();
        generations.extend(older.map(|kept| kept.reference));
        let sequence = self.committed.sequence + 1;
        let header = CheckpointHeader {
            sequence,
            generation: checkpoint.generation,
            next_log: checkpoint.end_log,
            oldest_log: listed[0].1,
            restart: self.committed.restart,
            time: checkpoint.time,
            replica_sequence: checkpoint.replica_sequence,
            in_sync,
            bootable_from: checkpoint.bootable_from,
            generations,
        };
        let mut sequence = sequence;
        let mut header = header;
        if mutated!(self, SingleHeaderSlot) {
            // Even sequence numbers only: the slot is always the same.
            sequence = self.committed.sequence + 2;
            header.sequence = sequence;
        }
        checkpoint.under_way += 1;
        self.counters.log_records += 1;
        let place = self.volume.geometry.slot(LogLayout::header_slot(sequence));
        self.volume
            .write(Job::Header, place, header.encode(self.key));
    }

    /// The header is written: the second flush.
    pub(super) fn header_written(&mut self, checkpoint: &mut Checkpoint) {
        checkpoint.stage = Stage::SecondFlush;
        if mutated!(self, SecondFlushDropped) {
            return;
        }
        checkpoint.under_way += 1;
        self.counters.checkpoint_flushes += 1;
        self.volume.flush(Job::CheckpointFlush);
    }

    /// Generations, from the oldest on, that the header under way no longer lists.
    fn dropped(&self) -> usize {
        match &self.migration {
            Some(migration) if migration.done || mutated!(self, DroppedBeforeHome) => {
                migration.count - usize::from(mutated!(self, MigrationBeyondBootable))
            }
            _ => 0,
        }
    }

    /// How many of the listed generations, from the oldest on, are to be brought home before the next header: so many that
    /// the limit on generations is kept and half of the log is free after it.
    pub(crate) fn plan(&self, listed: &[(u64, u64)]) -> usize {
        let keep = self.parameters.keep_generations.clamp(1, 18);
        let surplus = (listed.len() + 1).saturating_sub(keep);
        let held_from = |count: usize| match listed.get(count) {
            Some((_, first_log)) => self.log.head - first_log,
            None => 0,
        };
        let crowding = (0..listed.len()).find(|count| held_from(*count) <= self.log.frames / 2);
        surplus
            .min(listed.len())
            .max(crowding.unwrap_or(listed.len()))
    }

    /// Committed: only now is the space of what the header no longer lists free.
    pub(super) fn commit(&mut self, checkpoint: &mut Checkpoint) {
        let dropped: Vec<Generation> = self.generations.drain(..self.dropped()).collect();
        for generation in &dropped {
            for entry in &generation.entries {
                self.index.leave(entry.frame, generation.bit);
            }
        }
        self.counters.migrations += dropped.len() as u64;
        for frame in &checkpoint.journaled {
            self.index.leave(*frame, JOURNAL_BIT);
        }
        self.generations.push(Generation {
            number: checkpoint.generation,
            first_log: checkpoint.first_log,
            bit: checkpoint.bit,
            reference: checkpoint.reference,
            entries: core::mem::take(&mut checkpoint.entries)
                .into_iter()
                .map(packed)
                .collect(),
        });
        self.log.tail = self.generations[0].first_log;
        self.journal
            .free_to(checkpoint.journal_sequence, checkpoint.journal_position);
        self.committed = Committed {
            sequence: self.committed.sequence + 1 + u64::from(mutated!(self, SingleHeaderSlot)),
            generation: checkpoint.generation,
            restart: self.committed.restart,
            replica_sequence: checkpoint.replica_sequence,
            in_sync: checkpoint.in_sync,
            bootable_from: checkpoint.bootable_from,
        };
        if let Some(joining) = checkpoint.joining {
            if self.volume.disks[joining].standing == Standing::Joining {
                self.volume.disks[joining].standing = Standing::Trusted;
                self.counters.resyncs += 1;
                self.counters.resync_frames +=
                    self.volume.resync.take().map_or(0, |resync| resync.copied);
            }
        }
        self.volume.changed = self.committed.in_sync != self.volume.numbers(Standing::Trusted);
        self.journal.replicas_recorded(self.volume.changed);
        self.even = true;
        self.counters.checkpoints += 1;
        self.counters.forced_checkpoints += u64::from(checkpoint.forced);
        self.begin_migration(true);
    }

    /// Begins to bring home what the plan says, as far as the header allows.
    pub(crate) fn begin_migration(&mut self, planned: bool) {
        let listed = self
            .generations
            .iter()
            .map(|listed| (listed.number, listed.first_log));
        let listed: Vec<(u64, u64)> = listed.collect();
        let mut count = self.plan(&listed);
        if !planned {
            // The header was written under other parameters, or by another run: what it offers for starting stays.
            let allowed = listed
                .iter()
                .take_while(|(number, _)| *number <= self.committed.bootable_from);
            count = count.min(allowed.count());
        }
        if mutated!(self, MigrationBeyondBootable) {
            count = (count + 1).min(listed.len());
        }
        self.migration = (count > 0).then(|| Migration::new(count));
    }
}

fn packed(entry: DirectoryEntry) -> PackedEntry {
    let (frame, log) = (entry.frame, entry.log);
    let tag = entry.tag.pack();
    PackedEntry { frame, log, tag }
}
