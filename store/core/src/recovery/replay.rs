//! Replaying the journal: pages that were committed after the generation was taken.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use pebble_store_device::BlockDevice;
use pebble_store_format::{checksum, FrameKind, JournalRecord, ObjectFrame, Tag};

use super::{Recovery, Replayed, READ_AHEAD};
use crate::index::Source;
use crate::journal::Journal;
use crate::mutant::mutated;
use crate::volume::{Answer, Job};
use crate::{Error, Stop, Store, Wait};

/// The mark in the index of what comes from the journal and is in no generation yet.
pub(crate) const JOURNAL_BIT: u32 = 1 << 31;

impl<D: BlockDevice> Store<D> {
    pub(super) fn begin_journal(&mut self, recovery: &mut Recovery) {
        recovery.sent = 0;
    }

    /// Reads every record frame, on every trusted disk: the one that was lost before the crash may lack the last.
    pub(super) fn read_journal_records(&mut self, recovery: &mut Recovery) {
        let Some(layout) = self.volume.geometry.journal else {
            return;
        };
        let disks: Vec<usize> = self.volume.trusted().collect();
        while recovery.under_way < READ_AHEAD && (recovery.sent as u64) < layout.records {
            let slot = recovery.sent as u64;
            recovery.sent += 1;
            for disk in &disks {
                if let Some(at) =
                    self.volume.disks[*disk].at(self.volume.geometry.journal_place(slot))
                {
                    recovery.under_way += 1;
                    self.volume.read_raw(Job::JournalRecord(slot), *disk, at);
                }
            }
        }
    }

    pub(super) fn record_answer(&mut self, recovery: &mut Recovery, slot: u64, answer: Answer) {
        recovery.under_way -= 1;
        let Some(layout) = self.volume.geometry.journal else {
            return;
        };
        let (Ok(()), Some(frame)) = (answer.result, answer.buffer) else {
            recovery.unreadable_records.push(slot);
            return;
        };
        // A frame that is no record was never used, or its record was torn before it was reported.
        let Ok(record) = JournalRecord::decode(self.key, slot, &frame) else {
            return;
        };
        if layout.record(record.sequence) == slot && record.pages.len() as u64 <= layout.pages {
            recovery.records.push(record);
        }
    }

    /// All records are read: those that follow the generation without a gap count.
    pub(super) fn chain_records(&mut self, recovery: &mut Recovery) -> Result<(), Error> {
        let chosen = recovery.listed[recovery.chosen].unwrap_or_default();
        recovery.records.sort_by_key(|record| record.sequence);
        recovery.records.dedup_by_key(|record| record.sequence);
        let restarts = recovery.records.iter().map(|record| record.restart);
        recovery.recovered.restarts = restarts.max().unwrap_or(0);
        let last = recovery.records.last();
        let sequence = last
            .map_or(0, |last| last.sequence + 1)
            .max(chosen.journal_sequence);
        // The record that would come next may be in a frame that cannot be read, on any disk.
        let slot = self
            .volume
            .geometry
            .journal
            .map(|layout| layout.record(sequence));
        let trusted = self.volume.trusted().count();
        let unreadable = recovery
            .unreadable_records
            .iter()
            .filter(|bad| Some(**bad) == slot);
        if unreadable.count() >= trusted && !self.parameters.accept_older {
            let slot = slot.unwrap_or(0);
            return Err(Error::JournalUnreadable { slot });
        }
        let ends = recovery
            .records
            .iter()
            .map(|record| record.position + record.pages.len() as u64);
        let position = ends.max().unwrap_or(0).max(chosen.journal_position);
        let same = recovery
            .boot
            .filter(|boot| boot.generation == chosen.generation);
        let first = match (recovery.chosen, same) {
            (0, _) => chosen.journal_sequence,
            // An older generation: what was journaled after newer ones is not of its time.
            (_, Some(boot)) => boot.journal_sequence.min(sequence),
            (_, None) => sequence,
        };
        let mut wanted = first;
        if mutated!(self, JournalAcrossGenerations) {
            wanted = recovery.records.first().map_or(0, |record| record.sequence);
        }
        recovery.records.retain(|record| {
            let follows = record.sequence == wanted;
            wanted += u64::from(follows);
            follows
        });
        let start = recovery
            .records
            .first()
            .map_or(position, |record| record.position);
        self.journal = Journal::begin(
            self.volume.geometry.journal,
            sequence,
            position,
            (first, start),
        );
        if mutated!(self, JournalBackwards) {
            recovery.records.reverse();
        }
        Ok(())
    }

    /// Reads the pages of those records.
    pub(super) fn read_pages(&mut self, recovery: &mut Recovery) {
        for (number, record) in recovery.records.iter().enumerate() {
            for (offset, page) in record.pages.iter().enumerate() {
                recovery.pages.push(Replayed {
                    record: number,
                    page: *page,
                    position: record.position + offset as u64,
                    tried: 0,
                    good: false,
                });
            }
        }
        recovery.sent = 0;
        self.send_pages(recovery);
    }

    fn send_pages(&mut self, recovery: &mut Recovery) {
        while recovery.under_way < READ_AHEAD && recovery.sent < recovery.pages.len() {
            let number = recovery.sent;
            recovery.sent += 1;
            recovery.under_way += 1;
            self.send_page(recovery, number);
        }
    }

    fn send_page(&mut self, recovery: &mut Recovery, number: usize) {
        let page = recovery.pages[number];
        let Some(layout) = self.volume.geometry.journal else {
            return;
        };
        let place = self
            .volume
            .geometry
            .journal_place(layout.page(page.position));
        if !self
            .volume
            .read(Job::JournalPage(number as u64), place, page.tried)
        {
            recovery.under_way -= 1;
        }
    }

    pub(super) fn page_answer(&mut self, recovery: &mut Recovery, number: usize, answer: Answer) {
        let Some(page) = recovery.pages.get_mut(number) else {
            return;
        };
        page.tried |= 1 << answer.disk;
        let (frame, wanted) = (page.page.frame, page.page.checksum);
        let right = match (answer.result, answer.buffer) {
            (Ok(()), Some(contents)) => checksum::of_object(frame, &contents) == wanted,
            _ => false,
        };
        if right || mutated!(self, JournalPagesUnchecked) {
            page.good = true;
            recovery.under_way -= 1;
        } else {
            self.send_page(recovery, number);
        }
        self.send_pages(recovery);
    }

    /// All pages are read. The last record that a start wrote may be torn: it was never reported. One before it may not.
    pub(super) fn judge_records(&mut self, recovery: &mut Recovery) -> Result<(), Error> {
        let records = &recovery.records;
        let last_of_its_start = |number: usize| {
            let next = records.get(number + 1);
            next.is_none_or(|next| next.restart > records[number].restart)
        };
        let bad = recovery.pages.iter().filter(|page| !page.good);
        let lost = bad.clone().find(|page| !last_of_its_start(page.record));
        if let (Some(lost), false) = (lost, self.parameters.accept_older) {
            let frame = lost.page.frame;
            return Err(Error::Damaged { frame });
        }
        let torn: BTreeSet<usize> = bad.map(|page| page.record).collect();
        recovery.pages.retain(|page| !torn.contains(&page.record));
        self.counters.journal_replays = (recovery.records.len() - torn.len()) as u64;
        self.even &= self.counters.journal_replays == 0;
        Ok(())
    }

    /// Enters the pages, if they are still the pages that were journaled. Says whether all are entered.
    pub(super) fn apply_journal(&mut self, recovery: &mut Recovery) -> Result<bool, Error> {
        let mut newest: BTreeMap<ObjectFrame, Replayed> = BTreeMap::new();
        for page in &recovery.pages {
            newest.insert(page.page.frame, *page);
        }
        let mut entries: Vec<(ObjectFrame, Source, Tag)> = Vec::new();
        for (frame, page) in newest {
            let tag = match self.saved(frame) {
                Ok((tag, _, _)) => tag,
                Err(Stop::Wait(Wait::Object)) => return Ok(false),
                Err(Stop::Error(Error::NoSuchFrame { .. })) => continue,
                Err(Stop::Error(error)) => return Err(error),
                Err(Stop::Wait(_)) => return Ok(false),
            };
            let same = tag.kind == FrameKind::DataPage && tag.version == page.page.version;
            if same || mutated!(self, JournalTakesAll) {
                let tag = Tag {
                    null: false,
                    lost: false,
                    checksum: page.page.checksum,
                    ..tag
                };
                entries.push((frame, Source::Journal(page.position), tag));
            }
        }
        for (frame, source, tag) in entries {
            self.index.enter(frame, source, tag, JOURNAL_BIT);
            self.carried.push(frame);
        }
        recovery.recovered.journaled = self.carried.clone();
        Ok(true)
    }
}
