//! From the frozen objects to the log.

use alloc::boxed::Box;
use alloc::vec::Vec;

use pebble_store_device::{BlockDevice, Frame};
use pebble_store_format::{
    checksum, fold_directory, DirectoryEntry, DirectoryExtent, DirectoryFrame, GenerationHeader,
    GenerationReference, RestartFrame, Tag, DIRECTORY_ENTRIES, RESTART_ENTRIES,
};
#[cfg(feature = "mutants")]
use pebble_store_format::{FrameKind, NodePot};
#[cfg(feature = "mutants")]
use pebble_store_object::Version;

use super::{Checkpoint, Item, Origin};
use crate::check::Finding;
use crate::index::Source;
use crate::mutant::mutated;
use crate::volume::{Answer, Job};
use crate::{Error, Store};

impl<D: BlockDevice> Store<D> {
    /// Looks at the next objects of the snapshot and takes their checksums; then at the rest of the cache (EROS, section
    /// 3.5.1). Says whether everything was looked at.
    pub(super) fn look(&mut self, checkpoint: &mut Checkpoint) -> Result<bool, Error> {
        for _ in 0..self.parameters.step.max(1) {
            let place = checkpoint.looked;
            if let Some(index) = checkpoint.frozen.get(place).copied() {
                let item = self.look_at_frozen(index, checkpoint.generation)?;
                checkpoint.items.push(item);
            } else if place - checkpoint.frozen.len() < self.cache.slots.len() {
                let index = (place - checkpoint.frozen.len()) as u32;
                if let (Some(finding), false) = (
                    self.look_at_slot(index, Some(checkpoint)),
                    mutated!(self, CheckSkipped),
                ) {
                    return Err(Error::Inconsistent(finding));
                }
            } else {
                let finding = self.look_at_whole(checkpoint);
                return match finding {
                    Some(finding) if !mutated!(self, CheckSkipped) => {
                        Err(Error::Inconsistent(finding))
                    }
                    _ => Ok(true),
                };
            }
            checkpoint.looked += 1;
        }
        Ok(false)
    }

    fn look_at_frozen(&mut self, index: u32, generation: u64) -> Result<Item, Error> {
        let finding = self.check_frozen(index, generation);
        if let (Some(finding), false) = (finding, mutated!(self, CheckSkipped)) {
            return Err(Error::Inconsistent(finding));
        }
        let frame = self.cache.slots[index as usize].frame;
        let Some((contents, tag)) = self.cache.frozen(index, generation) else {
            return Err(Error::Inconsistent(Finding::NotFrozen { frame }));
        };
        let checksum = if tag.null {
            0
        } else {
            checksum::of_object(frame, contents)
        };
        Ok(Item {
            frame,
            origin: Origin::Slot(index),
            tag: Tag { checksum, ..tag },
            log: 0,
            tried: 0,
        })
    }

    /// Brings the objects into the order of their frames, with those that come from the journal, and gives each its place.
    pub(super) fn give_places(&mut self, checkpoint: &mut Checkpoint) {
        for frame in checkpoint.journaled.iter().copied() {
            let Some(entry) = self.index.get(frame) else {
                continue;
            };
            if let (Source::Journal(position), false) =
                (entry.source, mutated!(self, JournalForgotten))
            {
                checkpoint.items.push(Item {
                    frame,
                    origin: Origin::Journal(position),
                    tag: entry.tag,
                    log: 0,
                    tried: 0,
                });
            }
        }
        // What was changed since the start counts, not what the journal had.
        checkpoint
            .items
            .sort_by_key(|item| (item.frame, matches!(item.origin, Origin::Journal(_))));
        checkpoint.items.dedup_by_key(|item| item.frame);
        let used = self
            .generations
            .iter()
            .fold(0, |bits, generation| bits | generation.bit);
        checkpoint.bit = 1 << (!used).trailing_zeros().min(31);
        checkpoint.first_log = self.log.head;
        let mut next = self.log.head;
        for item in &mut checkpoint.items {
            if !item.tag.null {
                item.log = next;
                next += 1;
            }
        }
        self.log.head = next;
        let entries = checkpoint.items.iter().map(|item| DirectoryEntry {
            frame: item.frame,
            log: item.log,
            tag: item.tag,
        });
        checkpoint.entries = entries.collect();
        #[cfg(feature = "mutants")]
        self.mutate_entries(checkpoint);
        let extent = |first: &mut u64, entries: usize, per_frame: usize| {
            let extent = DirectoryExtent {
                first: *first,
                frames: entries.div_ceil(per_frame) as u64,
                entries: entries as u64,
                checksum: 0,
            };
            *first += extent.frames;
            extent
        };
        let head = &mut self.log.head;
        checkpoint.objects = extent(head, checkpoint.entries.len(), DIRECTORY_ENTRIES);
        checkpoint.restarts = extent(head, checkpoint.restart.len(), RESTART_ENTRIES);
        checkpoint.reference.log = *head;
        *head += 1;
        checkpoint.end_log = *head;
        self.counters.log_wraps += *head / self.log.frames - checkpoint.first_log / self.log.frames;
        self.log.frozen = 0;
    }

    /// Sends objects to the log, as many as may be under way. Says whether all are sent.
    pub(super) fn save(&mut self, checkpoint: &mut Checkpoint) -> Result<bool, Error> {
        let limit = self.parameters.in_flight.max(1) * 2;
        while let Some(item) = checkpoint.items.get(checkpoint.next).copied() {
            if checkpoint.under_way >= limit {
                return Ok(false);
            }
            let number = checkpoint.next as u32;
            checkpoint.next += 1;
            match item.origin {
                _ if item.tag.null => self.saved_item(checkpoint, number),
                Origin::Slot(index) => {
                    let contents = self.hand_over(index, &item)?;
                    checkpoint.under_way += 1;
                    self.send(number, item.log, contents);
                }
                Origin::Journal(_) => {
                    checkpoint.under_way += 1;
                    if !self.read_carried(number, &item) {
                        return Err(Error::Damaged { frame: item.frame });
                    }
                }
            }
        }
        Ok(true)
    }

    /// The contents that were looked at, if they are still the same.
    fn hand_over(&mut self, index: u32, item: &Item) -> Result<Box<Frame>, Error> {
        let frame = item.frame;
        let missing = Error::Inconsistent(Finding::NotFrozen { frame });
        let contents = self.cache.hand_over(index).ok_or(missing)?;
        let found = checksum::of_object(frame, &contents);
        let skipped = mutated!(self, HandOverUnchecked) || mutated!(self, CopySkipped);
        if found != item.tag.checksum && !skipped {
            return Err(Error::Inconsistent(Finding::FrozenChanged { frame }));
        }
        #[cfg(feature = "mutants")]
        let contents = self.mutate_contents(item, contents);
        Ok(contents)
    }

    fn send(&mut self, number: u32, log: u64, contents: Box<Frame>) {
        self.counters.log_objects += 1;
        let place = self.volume.geometry.log_place(log);
        self.volume.write(Job::Save(number), place, contents);
    }

    fn read_carried(&mut self, number: u32, item: &Item) -> bool {
        let (Origin::Journal(position), Some(layout)) = (item.origin, self.volume.geometry.journal)
        else {
            return false;
        };
        let place = self.volume.geometry.journal_place(layout.page(position));
        self.volume.read(Job::Carry(number), place, item.tried)
    }

    /// Contents from the journal: on to the log with them.
    pub(super) fn carry_answer(
        &mut self,
        checkpoint: &mut Checkpoint,
        number: u32,
        answer: Answer,
    ) -> Result<(), Error> {
        let Some(item) = checkpoint.items.get_mut(number as usize) else {
            return Ok(());
        };
        item.tried |= 1 << answer.disk;
        let item = *item;
        match (answer.result, answer.buffer) {
            (Ok(()), Some(contents))
                if checksum::of_object(item.frame, &contents) == item.tag.checksum =>
            {
                self.send(number, item.log, contents);
                Ok(())
            }
            _ if self.read_carried(number, &item) => Ok(()),
            _ => Err(Error::Damaged { frame: item.frame }),
        }
    }

    /// An object's contents are in the log: that is where it is read from now on.
    pub(super) fn saved_item(&mut self, checkpoint: &mut Checkpoint, number: u32) {
        let Some(item) = checkpoint.items.get(number as usize) else {
            return;
        };
        let source = if item.tag.null {
            Source::Null
        } else {
            Source::Log(item.log)
        };
        self.index
            .enter(item.frame, source, item.tag, checkpoint.bit);
        if let Origin::Slot(index) = item.origin {
            self.cache.saved(index, checkpoint.generation, item.tag);
        }
    }

    /// Sends directories and generation header.
    pub(super) fn save_records(&mut self, checkpoint: &mut Checkpoint) {
        let mut frames: Vec<(u64, Box<Frame>)> = Vec::new();
        let (key, generation) = (self.key, checkpoint.generation);
        let mut log = checkpoint.objects.first;
        for (index, entries) in checkpoint.entries.chunks(DIRECTORY_ENTRIES).enumerate() {
            let (index, entries) = (index as u64, entries.to_vec());
            let record = DirectoryFrame {
                generation,
                index,
                entries,
            };
            let (frame, sum) = record.encode(key, log);
            checkpoint.objects.checksum = fold_directory(checkpoint.objects.checksum, sum);
            frames.push((log, frame));
            log += 1;
        }
        for (index, entries) in checkpoint.restart.chunks(RESTART_ENTRIES).enumerate() {
            let (index, entries) = (index as u64, entries.to_vec());
            let record = RestartFrame {
                generation,
                index,
                entries,
            };
            let (frame, sum) = record.encode(key, log);
            checkpoint.restarts.checksum = fold_directory(checkpoint.restarts.checksum, sum);
            frames.push((log, frame));
            log += 1;
        }
        let header = GenerationHeader {
            generation,
            parent: checkpoint.parent,
            first_log: checkpoint.first_log,
            end_log: checkpoint.end_log,
            objects: checkpoint.objects,
            restart: checkpoint.restarts,
            journal_sequence: checkpoint.journal_sequence,
            journal_position: checkpoint.journal_position,
            time: checkpoint.time,
            generator: checkpoint.generator,
        };
        let log = checkpoint.reference.log;
        let (frame, checksum) = header.encode(key, log);
        checkpoint.reference = GenerationReference { log, checksum };
        frames.push((log, frame));
        checkpoint.under_way += frames.len();
        self.counters.log_records += frames.len() as u64;
        for (log, frame) in frames {
            let place = self.volume.geometry.log_place(log);
            self.volume.write(Job::SaveRecord, place, frame);
        }
    }

    #[cfg(feature = "mutants")]
    fn mutate_entries(&self, checkpoint: &mut Checkpoint) {
        if mutated!(self, DirectoryOmitsObject) {
            checkpoint.entries.pop();
        }
        if mutated!(self, NullNotRecorded) {
            checkpoint.entries.retain(|entry| !entry.tag.null);
        }
        if mutated!(self, VersionNotSaved) {
            for entry in &mut checkpoint.entries {
                entry.tag.version = Version(0);
            }
        }
        if mutated!(self, CallCountNotSaved) {
            for (entry, item) in checkpoint.entries.iter_mut().zip(&mut checkpoint.items) {
                if let (FrameKind::Nodes, Origin::Slot(index)) = (entry.tag.kind, item.origin) {
                    if let Some((contents, _)) = self.cache.frozen(index, checkpoint.generation) {
                        let mutated = without_calls(item, contents);
                        entry.tag.checksum = checksum::of_object(item.frame, &mutated);
                    }
                }
            }
        }
    }

    #[cfg(feature = "mutants")]
    fn mutate_contents(&self, item: &Item, contents: Box<Frame>) -> Box<Frame> {
        if mutated!(self, CallCountNotSaved) && item.tag.kind == FrameKind::Nodes {
            return without_calls(item, &contents);
        }
        contents
    }

    /// The restart list of the snapshot before.
    #[cfg(feature = "mutants")]
    pub(super) fn mutated_restart(
        &mut self,
        restart: Vec<pebble_store_format::RestartEntry>,
    ) -> Vec<pebble_store_format::RestartEntry> {
        if mutated!(self, RestartListStale) {
            return core::mem::replace(&mut self.stale_restart, restart);
        }
        restart
    }
}

#[cfg(feature = "mutants")]
fn without_calls(item: &Item, contents: &Frame) -> Box<Frame> {
    match NodePot::decode(item.frame, contents) {
        Ok(mut pot) => {
            for node in &mut pot.nodes {
                node.call_count = pebble_store_object::CallCount(0);
            }
            pot.encode(item.frame)
        }
        Err(_) => Box::new(*contents),
    }
}
