//! Which header counts, which disks can be trusted, and which generation is started.

use alloc::vec::Vec;

use pebble_store_device::BlockDevice;
use pebble_store_format::{CheckpointHeader, GenerationHeader, BOOT_ATTEMPTS_LIMIT};

use super::Recovery;
use crate::mutant::mutated;
use crate::volume::Standing;
use crate::{Error, Store};

impl<D: BlockDevice> Store<D> {
    fn bit(&self, disk: usize) -> u8 {
        1 << (self.volume.disks[disk].number & 7)
    }

    /// Headers are ordered by the set of trusted disks first: a start without some disk gives its first checkpoint the number
    /// that a checkpoint may have had that was cut off before, and that arrived on the absent disk only.
    fn order(header: &CheckpointHeader) -> (u64, u64) {
        (header.replica_sequence, header.sequence)
    }

    /// A disk's newest header.
    fn newest(recovery: &Recovery, disk: usize) -> Option<&CheckpointHeader> {
        let headers = recovery.headers[disk].iter().flatten();
        headers.max_by_key(|header| Self::order(header))
    }

    /// The newest header counts, among those on disks that they call trusted. A disk can be
    /// trusted if that header says so, and if it has that header or the one before: every disk is written and flushed
    /// before the next header is.
    pub(super) fn choose_header(&mut self, recovery: &mut Recovery) -> Result<(), Error> {
        let disks: Vec<usize> = self.volume.trusted().collect();
        let own = |disk: &usize| {
            let header = Self::newest(recovery, *disk)?;
            (header.in_sync & self.bit(*disk) != 0).then_some((*disk, header))
        };
        let candidates: Vec<(usize, &CheckpointHeader)> = disks.iter().filter_map(own).collect();
        let followed = self.parameters.follow;
        let followed = candidates
            .iter()
            .find(|(disk, _)| Some(self.volume.disks[*disk].number) == followed);
        let best = candidates
            .iter()
            .max_by_key(|(_, header)| Self::order(header));
        let mut best = followed.or(best);
        if mutated!(self, FirstHeaderBelieved) {
            best = candidates.first();
        }
        let Some((source, header)) = best.map(|(disk, header)| (*disk, (*header).clone())) else {
            let known = disks
                .iter()
                .find(|disk| Self::newest(recovery, **disk).is_some());
            return Err(match (known, recovery.unreadable.first()) {
                (Some(disk), _) => Error::OutOfDate { disk: *disk },
                (None, Some((disk, slot))) => Error::HeaderUnreadable {
                    disk: *disk,
                    slot: *slot,
                },
                (None, None) => Error::NoCheckpoint,
            });
        };
        if followed.is_none() {
            let split = candidates.iter().find(|(disk, other)| {
                header.in_sync & self.bit(*disk) == 0 && other.in_sync & self.bit(source) == 0
            });
            if let Some((other, _)) = split {
                let (one, other) = (source, *other);
                return Err(Error::SplitReplicas { one, other });
            }
        }
        let complete = |disk: usize| recovery.unreadable.iter().all(|(bad, _)| *bad != disk);
        let certain = candidates.iter().any(|(disk, _)| complete(*disk));
        if let (Some((disk, slot)), false) = (
            recovery.unreadable.first(),
            certain || self.parameters.accept_older,
        ) {
            let (disk, slot) = (*disk, *slot);
            return Err(Error::HeaderUnreadable { disk, slot });
        }
        let trusted = |disk: &usize| {
            let listed = header.in_sync & self.bit(*disk) != 0;
            let own = Self::newest(recovery, *disk);
            let recent = own.is_some_and(|own| own.sequence + 1 >= header.sequence);
            *disk == source || listed && recent || mutated!(self, StaleReplicaBelieved)
        };
        let (_, stale): (Vec<usize>, Vec<usize>) = disks.iter().partition(|disk| trusted(disk));
        for disk in stale {
            self.volume.disks[disk].standing = Standing::Out;
            self.volume.disks[disk].stale = true;
        }
        let mut newest = self
            .volume
            .trusted()
            .map(|disk| Self::newest(recovery, disk));
        self.even =
            newest.all(|newest| newest.is_some_and(|newest| newest.sequence == header.sequence));
        let span = header.next_log - header.oldest_log;
        if span > self.log.frames {
            let generation = header.generation;
            let problem = "its log numbers span more than the log";
            return Err(Error::Generation {
                generation,
                problem,
            });
        }
        let matching = recovery
            .boots
            .iter()
            .filter(|boot| boot.header == header.sequence);
        recovery.boot = matching.max_by_key(|boot| boot.sequence).copied();
        self.counters.chained_recoveries = u64::from(recovery.boot.is_some());
        self.log.head = header.next_log;
        self.log.tail = header.oldest_log;
        if mutated!(self, CursorAtOldest) {
            self.log.head = header.oldest_log;
        }
        recovery.header = Some(header);
        Ok(())
    }

    /// The generation asked for; else the newest, unless it was started in vain too often.
    pub(super) fn choose_generation(&mut self, recovery: &mut Recovery) -> Result<(), Error> {
        let Some(header) = &recovery.header else {
            return Err(Error::NoCheckpoint);
        };
        // What was given up or cannot be read stays in the list as a gap; only what is started, and what that needs, must be
        // there.
        let mut newer: Option<GenerationHeader> = None;
        for generation in recovery.listed.iter().flatten() {
            let number = generation.generation;
            let follows = match &newer {
                None => number <= header.generation && generation.end_log <= header.next_log,
                Some(newer) => number < newer.generation && generation.end_log <= newer.first_log,
            };
            if !follows || generation.first_log < header.oldest_log {
                let problem = "it does not follow the one before it";
                let generation = number;
                return Err(Error::Generation {
                    generation,
                    problem,
                });
            }
            newer = Some(*generation);
        }
        let listed = &recovery.listed;
        let bootable = |place: usize| {
            let generation = listed.get(place).copied().flatten();
            generation.is_some_and(|generation| generation.generation >= header.bootable_from)
        };
        let place_of = |number: u64| {
            let same = |generation: &Option<GenerationHeader>| {
                generation.is_some_and(|generation| generation.generation == number)
            };
            listed
                .iter()
                .position(same)
                .filter(|place| bootable(*place))
        };
        let chosen = match (self.parameters.generation, &recovery.boot) {
            (Some(generation), _) => place_of(generation).ok_or(Error::NoSuchGeneration {
                generation,
                oldest: header.bootable_from,
                newest: header.generation,
            })?,
            (None, Some(boot)) if self.parameters.count_boots => {
                let last = place_of(boot.generation).unwrap_or(0);
                let failed = boot.attempts >= BOOT_ATTEMPTS_LIMIT;
                if failed && bootable(last + 1) {
                    self.counters.fall_backs = 1;
                    last + 1
                } else {
                    last
                }
            }
            _ => 0,
        };
        if listed.iter().skip(chosen).any(Option::is_none) {
            return Err(recovery.problem.take().unwrap_or(Error::NoCheckpoint));
        }
        let newest = listed
            .first()
            .copied()
            .flatten()
            .map(|newest| newest.generation);
        let oldest = listed.last().copied().flatten().unwrap_or_default();
        if oldest.first_log != header.oldest_log
            || newest.is_some_and(|newest| newest != header.generation)
        {
            let problem = "the list in the header is not that of its generations";
            let generation = oldest.generation;
            return Err(Error::Generation {
                generation,
                problem,
            });
        }
        recovery.chosen = chosen;
        self.plan_directories(recovery);
        Ok(())
    }
}
