//! Opening a volume: from whatever a crash left to the newest state that was committed.
//!
//! Nothing on disk is changed by it but the boot record, so that a crash on the way changes nothing either. It begins with
//! a flush: what is read afterwards is then what a power cut would leave, and not what a disk still holds in its cache.
//!
//! Steps: flush; superblocks; headers and boot records; generation headers; directories, oldest generation first, so that
//! the newest place of an object is entered last; the restart list; the journal; the boot record.

mod choose;
mod directories;
mod disks;
mod generations;
mod replay;

pub(crate) use replay::JOURNAL_BIT;

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use pebble_store_device::{BlockDevice, Frame};
use pebble_store_format::{
    BootRecord, CheckpointHeader, GenerationHeader, JournalRecord, LogLayout, Superblock,
};

use crate::store::{Committed, Recovered};
use crate::volume::{Answer, Job, Volume};
use crate::{Error, Store};

/// Requests that recovery has under way for reading ahead.
const READ_AHEAD: usize = 32;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Flush,
    Superblocks,
    Slots,
    Generations,
    Directories,
    JournalRecords,
    JournalPages,
    JournalTags,
    Boot,
    BootFlush,
}

/// A frame that is read ahead.
#[derive(Default)]
struct Ahead {
    tried: u32,
    contents: Option<Box<Frame>>,
}

/// A page that a journal record has.
#[derive(Clone, Copy)]
struct Replayed {
    record: usize,
    page: pebble_store_format::JournalPage,
    position: u64,
    tried: u32,
    good: bool,
}

/// What is found out on the way.
pub(crate) struct Recovery {
    stage: Stage,
    under_way: usize,
    superblocks: Vec<Option<Superblock>>,
    /// For each disk: the valid headers of the two slots, and the valid boot records.
    headers: Vec<[Option<CheckpointHeader>; 2]>,
    boots: Vec<BootRecord>,
    /// Header slots that answered with an error: disk and slot.
    unreadable: Vec<(usize, u64)>,
    /// Journal record frames that answered with an error, once for each disk.
    unreadable_records: Vec<u64>,
    problem: Option<Error>,
    header: Option<CheckpointHeader>,
    boot: Option<BootRecord>,
    /// The listed generations, newest first, and the disks tried for each.
    listed: Vec<Option<GenerationHeader>>,
    tried: Vec<u32>,
    /// The generation to start: its place in the list.
    chosen: usize,
    /// Directory frames in the order of reading: place in the list, log number, and whether it is of the restart list.
    frames: Vec<(usize, u64, bool)>,
    ahead: VecDeque<Ahead>,
    sent: usize,
    worked: usize,
    fold: u64,
    last_frame: Option<u64>,
    spans: Vec<(u64, u64)>,
    records: Vec<JournalRecord>,
    pages: Vec<Replayed>,
    recovered: Recovered,
}

impl Recovery {
    /// Begins with the flush.
    pub fn begin<D: BlockDevice>(volume: &mut Volume<D>) -> Self {
        let disks = volume.disks.len();
        if disks > 0 {
            volume.flush(Job::OpenFlush);
        }
        Self {
            stage: Stage::Flush,
            under_way: 1,
            superblocks: (0..disks).map(|_| None).collect(),
            headers: (0..disks).map(|_| [None, None]).collect(),
            boots: Vec::new(),
            unreadable: Vec::new(),
            unreadable_records: Vec::new(),
            problem: None,
            header: None,
            boot: None,
            listed: Vec::new(),
            tried: Vec::new(),
            chosen: 0,
            frames: Vec::new(),
            ahead: VecDeque::new(),
            sent: 0,
            worked: 0,
            fold: 0,
            last_frame: None,
            spans: Vec::new(),
            records: Vec::new(),
            pages: Vec::new(),
            recovered: Recovered::default(),
        }
    }
}

impl<D: BlockDevice> Store<D> {
    pub(crate) fn step_recovery(&mut self) -> Result<(), Error> {
        let Some(mut recovery) = self.recovery.take() else {
            return Ok(());
        };
        let done = self.recover(&mut recovery);
        if !matches!(done, Ok(true)) {
            self.recovery = Some(recovery);
        }
        done.map(|_| ())
    }

    /// Says whether the store is open.
    fn recover(&mut self, recovery: &mut Recovery) -> Result<bool, Error> {
        loop {
            if recovery.stage == Stage::Directories {
                if !self.read_directories(recovery)? {
                    return Ok(false);
                }
                recovery.stage = Stage::JournalRecords;
                self.begin_journal(recovery);
                continue;
            }
            if recovery.stage == Stage::JournalRecords {
                self.read_journal_records(recovery);
            }
            if recovery.under_way > 0 {
                return Ok(false);
            }
            match recovery.stage {
                Stage::Flush => {
                    recovery.stage = Stage::Superblocks;
                    self.read_superblocks(recovery);
                }
                Stage::Superblocks => {
                    self.enter_disks(recovery)?;
                    recovery.stage = Stage::Slots;
                    self.read_slots(recovery);
                }
                Stage::Slots => {
                    self.choose_header(recovery)?;
                    recovery.stage = Stage::Generations;
                    self.read_generations(recovery)?;
                }
                Stage::Generations => {
                    self.choose_generation(recovery)?;
                    recovery.stage = Stage::Directories;
                }
                Stage::Directories => {}
                Stage::JournalRecords => {
                    self.chain_records(recovery)?;
                    recovery.stage = Stage::JournalPages;
                    self.read_pages(recovery);
                }
                Stage::JournalPages => {
                    self.judge_records(recovery)?;
                    recovery.stage = Stage::JournalTags;
                }
                Stage::JournalTags => {
                    if !self.apply_journal(recovery)? {
                        return Ok(false);
                    }
                    recovery.stage = Stage::Boot;
                    self.write_boot(recovery);
                }
                Stage::Boot => {
                    recovery.stage = Stage::BootFlush;
                    if self.parameters.count_boots {
                        recovery.under_way += 1;
                        self.volume.flush(Job::BootFlush);
                    }
                }
                Stage::BootFlush => {
                    self.finish(recovery);
                    return Ok(true);
                }
            }
        }
    }

    /// Takes the answer to one of recovery's requests; afterwards those to the superblocks of an attached disk.
    pub(crate) fn recovery_answer(&mut self, answer: Answer) -> Result<(), Error> {
        let Some(mut recovery) = self.recovery.take() else {
            return self.attach_answer(answer);
        };
        let done = self.recovery_answered(&mut recovery, answer);
        self.recovery = Some(recovery);
        done
    }

    fn recovery_answered(&mut self, recovery: &mut Recovery, answer: Answer) -> Result<(), Error> {
        match answer.job {
            Job::Directory(number) => {
                self.directory_answer(recovery, number as usize, answer);
                return Ok(());
            }
            Job::Superblock(copy) => self.superblock_answer(recovery, copy, answer),
            Job::Slot(slot) => self.slot_answer(recovery, slot, answer),
            Job::Generation(place) => self.generation_answer(recovery, place, answer),
            Job::JournalRecord(slot) => self.record_answer(recovery, slot, answer),
            Job::JournalPage(number) => self.page_answer(recovery, number as usize, answer),
            job => {
                recovery.under_way -= 1;
                if let Err(error) = answer.result {
                    return Err(Error::Disk {
                        disk: answer.disk,
                        request: if job == Job::Boot { "write" } else { "flush" },
                        error,
                    });
                }
            }
        }
        Ok(())
    }

    /// Counts this start, so that the fourth in a row without a checkpoint takes an older generation.
    fn write_boot(&mut self, recovery: &mut Recovery) {
        let (Some(header), Some(chosen)) = (&recovery.header, recovery.listed[recovery.chosen])
        else {
            return;
        };
        let last = recovery
            .boots
            .iter()
            .max_by_key(|boot| boot.sequence)
            .copied()
            .unwrap_or_default();
        let same = recovery
            .boot
            .filter(|boot| boot.generation == chosen.generation);
        let record = BootRecord {
            sequence: last.sequence + 1,
            header: header.sequence,
            generation: chosen.generation,
            attempts: same.map_or(0, |boot| boot.attempts) + 1,
            restart: last
                .restart
                .max(header.restart)
                .max(recovery.recovered.restarts)
                + 1,
            journal_sequence: match (recovery.chosen, same) {
                (0, _) => 0,
                (_, Some(boot)) => boot.journal_sequence,
                (_, None) => self.journal.sequence,
            },
        };
        recovery.recovered.restarts = record.restart;
        if self.parameters.count_boots && !crate::mutant::mutated!(self, BootNotCounted) {
            recovery.under_way += 1;
            let place = self
                .volume
                .geometry
                .slot(LogLayout::boot_slot(record.sequence));
            self.volume.write(Job::Boot, place, record.encode(self.key));
        }
    }

    /// Everything is known: the store is open.
    fn finish(&mut self, recovery: &mut Recovery) {
        let Some(header) = recovery.header.take() else {
            return;
        };
        let chosen = recovery.listed[recovery.chosen].unwrap_or_default();
        self.committed = Committed {
            sequence: header.sequence,
            generation: chosen.generation,
            restart: recovery.recovered.restarts,
            replica_sequence: header.replica_sequence,
            in_sync: header.in_sync,
            bootable_from: header.bootable_from,
        };
        // A header that some disk lacks is written again by the next checkpoint.
        let trusted = self.volume.numbers(crate::volume::Standing::Trusted);
        self.volume.changed = header.in_sync != trusted || trusted.count_ones() > 1 && !self.even;
        self.cache.epoch =
            header.generation + u64::from(!crate::mutant::mutated!(self, GenerationNumberReused));
        recovery.recovered.generation = chosen.generation;
        recovery.recovered.bootable = (header.bootable_from, chosen.generation);
        recovery.recovered.time = chosen.time;
        self.begin_migration(false);
        self.begin_verification(core::mem::take(&mut recovery.recovered));
    }
}
