//! The journal: data pages that are committed by themselves, without waiting for a checkpoint (EROS, footnote 4).
//!
//! Data pages only: a node or a page of capabilities that survived by itself could name what never was. Records go out one
//! after the other, so that only the last can be torn; a record is reported when a flush that was sent after all its writes
//! had completed is done.

use alloc::boxed::Box;
use alloc::vec::Vec;

use pebble_store_device::{BlockDevice, Frame};
use pebble_store_format::{
    checksum, FrameKind, JournalLayout, JournalPage, JournalRecord, ObjectFrame, JOURNAL_PAGES,
};

use crate::mutant::mutated;
use crate::volume::{Answer, Job};
use crate::{Due, Error, Stop, Store, Wait};

#[derive(Default)]
pub(crate) struct Journal {
    pub layout: Option<JournalLayout>,
    /// The number of the next record.
    pub sequence: u64,
    /// The position of its first page.
    pub position: u64,
    /// The oldest record, and the oldest page, that a start would need.
    oldest: (u64, u64),
    under_way: usize,
    /// The record being written.
    pending: Option<u64>,
    flushing: bool,
    /// Records below this are stable.
    stable: u64,
    /// Records below this are stable as soon as the loss of a disk is written down.
    waiting: u64,
}

impl Journal {
    pub fn begin(
        layout: Option<JournalLayout>,
        sequence: u64,
        position: u64,
        oldest: (u64, u64),
    ) -> Self {
        Self {
            layout,
            sequence,
            position,
            oldest,
            stable: sequence,
            waiting: sequence,
            ..Self::default()
        }
    }

    /// Records and pages below these are needed no more.
    pub fn free_to(&mut self, sequence: u64, position: u64) {
        self.oldest = (sequence, position);
    }

    fn has_room(&self, layout: JournalLayout, pages: usize) -> bool {
        let records = self.sequence - self.oldest.0;
        let used = self.position - self.oldest.1;
        records < layout.records && used + pages as u64 <= layout.pages
    }

    /// A committed header says which disks can be trusted; if all the same one is missing from it, reports go on waiting.
    pub fn replicas_recorded(&mut self, changed: bool) {
        if !changed {
            self.stable = self.stable.max(self.waiting);
        }
    }
}

impl<D: BlockDevice> Store<D> {
    /// Begins to commit data pages as they are now, together: after a crash all of them have this content, or a newer
    /// journaled one, or none has. The answer is the record's number; it is stable once [`Store::journaled`] is greater.
    pub fn journal(&mut self, frames: &[ObjectFrame]) -> Result<u64, Stop> {
        let layout = self.journal.layout;
        self.ready()?;
        if self.failure.is_some() {
            return Err(Stop::Error(Error::Stopped));
        }
        let layout = layout.ok_or(Error::NoJournal)?;
        let limit = JOURNAL_PAGES.min(layout.pages as usize);
        if frames.is_empty() || frames.len() > limit {
            let given = frames.len();
            return Err(Stop::Error(Error::JournalRecord { given, limit }));
        }
        if self.journal.pending.is_some() {
            return Err(Stop::Wait(Wait::Journal));
        }
        if !self.journal.has_room(layout, frames.len()) {
            self.due = Some(Due::Journal);
            return Err(Stop::Wait(Wait::JournalSpace));
        }
        let mut buffers: Vec<(JournalPage, Box<Frame>)> = Vec::with_capacity(frames.len());
        for frame in frames.iter().copied() {
            let found = self.tag(frame)?.kind;
            if found != FrameKind::DataPage && !mutated!(self, JournalTakesAll) {
                return Err(Stop::Error(Error::WrongKind { frame, found }));
            }
            // After a crash the page needs a place in the log: the one that is reserved for a changed object.
            self.write(frame)?;
            let contents = Box::new(*self.read(frame)?);
            let page = JournalPage {
                frame,
                version: self.tag(frame)?.version,
                checksum: checksum::of_object(frame, &contents),
            };
            buffers.push((page, contents));
        }
        let record = JournalRecord {
            sequence: self.journal.sequence,
            generation: self.committed.generation,
            restart: self.committed.restart,
            position: self.journal.position,
            pages: buffers.iter().map(|(page, _)| *page).collect(),
        };
        let slot = layout.record(record.sequence);
        let encoded = record.encode(self.key, slot);
        self.journal.under_way = buffers.len() + 1;
        for (offset, (_, contents)) in buffers.into_iter().enumerate() {
            let frame = layout.page(record.position + offset as u64);
            let place = self.volume.geometry.journal_place(frame);
            self.volume.write(Job::Journal, place, contents);
        }
        let place = self.volume.geometry.journal_place(slot);
        self.volume.write(Job::Journal, place, encoded);
        self.journal.pending = Some(record.sequence);
        self.journal.sequence += 1;
        self.journal.position += record.pages.len() as u64;
        Ok(record.sequence)
    }

    /// Journal records below this number are stable.
    pub fn journaled(&self) -> u64 {
        self.journal.stable
    }

    pub(crate) fn journal_answer(&mut self, answer: Answer) -> Result<(), Error> {
        if let Err(error) = answer.result {
            let request = match answer.job {
                Job::JournalFlush => "flush",
                _ => "write",
            };
            return Err(Error::Disk {
                disk: answer.disk,
                request,
                error,
            });
        }
        self.journal.under_way = self.journal.under_way.saturating_sub(1);
        Ok(())
    }

    pub(crate) fn step_journal(&mut self) -> Result<(), Error> {
        let journal = &mut self.journal;
        let Some(pending) = journal.pending.filter(|_| journal.under_way == 0) else {
            return Ok(());
        };
        if !journal.flushing && !mutated!(self, JournalWithoutFlush) {
            journal.flushing = true;
            journal.under_way = 1;
            self.volume.flush(Job::JournalFlush);
            return Ok(());
        }
        journal.flushing = false;
        journal.pending = None;
        journal.waiting = pending + 1;
        self.counters.journal_records += 1;
        if !self.volume.changed {
            self.journal.stable = pending + 1;
        }
        Ok(())
    }
}
