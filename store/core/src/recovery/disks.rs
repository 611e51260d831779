//! The first look at the disks: superblocks, headers, boot records.

use alloc::vec::Vec;

use pebble_store_device::BlockDevice;
use pebble_store_format::{BootRecord, CheckpointHeader, Superblock, BOOT_SLOTS, HEADER_SLOTS};

use super::Recovery;
use crate::store::DISKS_LIMIT;
use crate::volume::{Answer, Disk, Job, Standing};
use crate::{Error, Store};

impl<D: BlockDevice> Store<D> {
    pub(super) fn read_superblocks(&mut self, recovery: &mut Recovery) {
        let disks: Vec<usize> = self.volume.trusted().collect();
        for disk in disks {
            recovery.under_way += 1;
            self.volume.read_raw(Job::Superblock(0), disk, 0);
        }
    }

    pub(super) fn superblock_answer(&mut self, recovery: &mut Recovery, copy: u64, answer: Answer) {
        let disk = answer.disk;
        match superblock(copy, &answer) {
            Ok(superblock) => recovery.superblocks[disk] = Some(superblock),
            Err(_) if copy == 0 => {
                self.volume.read_raw(Job::Superblock(1), disk, 1);
                return;
            }
            Err(error) => {
                recovery.problem.get_or_insert(error);
            }
        }
        recovery.under_way -= 1;
    }

    /// All superblocks are read: which volume is it, and where is what.
    pub(super) fn enter_disks(&mut self, recovery: &mut Recovery) -> Result<(), Error> {
        let mut volume = None;
        for disk in 0..self.volume.disks.len() {
            let Some(superblock) = &recovery.superblocks[disk] else {
                self.volume.disks[disk].standing = Standing::Out;
                continue;
            };
            let twice = recovery.superblocks[..disk].iter().flatten();
            let twice = twice.into_iter().any(|other| other.disk == superblock.disk);
            if *volume.get_or_insert(superblock.volume) != superblock.volume || twice {
                return Err(Error::ForeignDisk { disk });
            }
            self.volume.enter(disk, superblock)?;
            self.key = superblock.key();
            self.volume.key = self.key;
        }
        if volume.is_none() {
            return Err(recovery.problem.take().unwrap_or(Error::NoDisk));
        }
        for (disk, superblock) in recovery.superblocks.iter().enumerate() {
            if let Some(superblock) = superblock {
                self.volume.place_ranges(disk, superblock);
            }
        }
        let problem = "no log range, or one without room";
        let layout = self
            .volume
            .geometry
            .log
            .ok_or(Error::Ranges { disk: 0, problem })?;
        self.log.frames = layout.frames;
        let (frames, needed) = (layout.frames, self.log.smallest());
        if frames < needed {
            return Err(Error::LogTooSmall { frames, needed });
        }
        recovery.spans = self.volume.geometry.spans();
        Ok(())
    }

    pub(super) fn read_slots(&mut self, recovery: &mut Recovery) {
        let disks: Vec<usize> = self.volume.trusted().collect();
        for disk in disks {
            for slot in 0..HEADER_SLOTS + BOOT_SLOTS {
                if let Some(at) = self.volume.disks[disk].at(self.volume.geometry.slot(slot)) {
                    recovery.under_way += 1;
                    self.volume.read_raw(Job::Slot(slot), disk, at);
                }
            }
        }
    }

    pub(super) fn slot_answer(&mut self, recovery: &mut Recovery, slot: u64, answer: Answer) {
        recovery.under_way -= 1;
        let disk = answer.disk;
        let (Ok(()), Some(frame)) = (answer.result, answer.buffer) else {
            if slot < HEADER_SLOTS {
                recovery.unreadable.push((disk, slot));
            }
            return;
        };
        if slot >= HEADER_SLOTS {
            recovery
                .boots
                .extend(BootRecord::decode(self.key, slot, &frame).ok());
            return;
        }
        #[cfg(feature = "mutants")]
        let frame = if crate::mutant::mutated!(self, HeaderUnchecked) {
            CheckpointHeader::reseal(self.key, slot, frame)
        } else {
            frame
        };
        // A torn header is what a crash leaves; the other slot has the one before it.
        recovery.headers[disk][slot as usize] =
            CheckpointHeader::decode(self.key, slot, &frame).ok();
    }

    /// Adds a disk of this volume while the store runs: one that was formatted as a replica, or was out for a while. It is
    /// brought up to date, and counts from the checkpoint after that on. The answer is its place in the list of disks; with sixteen disks in it, the device comes
    /// back.
    pub fn attach(&mut self, device: D) -> Result<usize, D> {
        if self.volume.disks.len() >= DISKS_LIMIT {
            return Err(device);
        }
        let mut disk = Disk::new(device);
        disk.standing = Standing::Out;
        self.volume.disks.push(disk);
        let index = self.volume.disks.len() - 1;
        self.volume.read_raw(Job::Superblock(0), index, 0);
        Ok(index)
    }

    pub(crate) fn attach_answer(&mut self, answer: Answer) -> Result<(), Error> {
        let (Job::Superblock(copy), disk) = (answer.job, answer.disk) else {
            return Ok(());
        };
        let Ok(superblock) = superblock(copy, &answer) else {
            if copy == 0 {
                self.volume.read_raw(Job::Superblock(1), disk, 1);
            }
            return Ok(());
        };
        let twice = self.volume.disks.iter().enumerate();
        let twice = twice.into_iter().any(|(other, known)| {
            other != disk && known.standing != Standing::Out && known.number == superblock.disk
        });
        let known = self.volume.geometry.ranges.len();
        let fits =
            superblock.key() == self.key && !twice && self.volume.enter(disk, &superblock).is_ok();
        if fits && self.volume.geometry.ranges.len() == known {
            self.volume.place_ranges(disk, &superblock);
            self.volume.disks[disk].stale = true;
        } else {
            // New ranges cannot come in this way, nor another volume's: the disk stays out.
            self.volume.geometry.ranges.truncate(known);
        }
        Ok(())
    }

    /// Begins to bring the next disk that is out of date up to date.
    pub(crate) fn rejoin(&mut self) {
        if self.volume.resync.is_some() || !self.parameters.rejoin {
            return;
        }
        let stale = self.volume.disks.iter().position(|disk| disk.stale);
        if let Some(disk) = stale {
            self.volume.disks[disk].stale = false;
            self.volume.begin_resync(disk);
        }
    }
}

fn superblock(copy: u64, answer: &Answer) -> Result<Superblock, Error> {
    let disk = answer.disk;
    match (answer.result, &answer.buffer) {
        (Ok(()), Some(frame)) => Superblock::decode(frame).map_err(|error| Error::Record {
            disk,
            at: copy,
            error,
        }),
        (result, _) => Err(Error::Disk {
            disk,
            request: "read",
            error: result.err().unwrap_or(pebble_store_device::Error::Medium),
        }),
    }
}
