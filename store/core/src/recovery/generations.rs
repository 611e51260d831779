//! Reading the headers of the listed generations.

use pebble_store_device::BlockDevice;
use pebble_store_format::GenerationHeader;

use super::Recovery;
use crate::mutant::mutated;
use crate::volume::{Answer, Job};
use crate::{Error, Store};

impl<D: BlockDevice> Store<D> {
    pub(super) fn read_generations(&mut self, recovery: &mut Recovery) -> Result<(), Error> {
        let Some(header) = recovery.header.as_mut() else {
            return Err(Error::NoCheckpoint);
        };
        if mutated!(self, OlderGenerationsForgotten) {
            header.generations.truncate(1);
        }
        let count = header.generations.len();
        recovery.listed = (0..count).map(|_| None).collect();
        recovery.tried = alloc::vec![0; count];
        for place in 0..count {
            recovery.under_way += 1;
            self.read_generation(recovery, place);
        }
        Ok(())
    }

    fn read_generation(&mut self, recovery: &mut Recovery, place: usize) -> bool {
        let reference = recovery
            .header
            .as_ref()
            .and_then(|header| header.generations.get(place));
        let Some(reference) = reference else {
            return false;
        };
        let at = self.volume.geometry.log_place(reference.log);
        self.volume
            .read(Job::Generation(place), at, recovery.tried[place])
    }

    pub(super) fn generation_answer(
        &mut self,
        recovery: &mut Recovery,
        place: usize,
        answer: Answer,
    ) {
        let disk = answer.disk;
        let reference = recovery
            .header
            .as_ref()
            .and_then(|header| header.generations.get(place));
        let Some(reference) = reference.copied() else {
            return;
        };
        recovery.tried[place] |= 1 << disk;
        let at = self.volume.disks[disk].at(self.volume.geometry.log_place(reference.log));
        let at = at.unwrap_or(0);
        let problem = match (answer.result, answer.buffer) {
            (Ok(()), Some(frame)) => {
                match GenerationHeader::decode(self.key, reference.log, &frame) {
                    Ok((header, checksum)) if checksum == reference.checksum => {
                        recovery.listed[place] = Some(header);
                        recovery.under_way -= 1;
                        self.counters.repaired_reads +=
                            u64::from(recovery.tried[place].count_ones() > 1);
                        return;
                    }
                    Ok((header, _)) => Error::Generation {
                        generation: header.generation,
                        problem: "its header is not the one that was committed",
                    },
                    Err(error) => Error::Record { disk, at, error },
                }
            }
            (result, _) => Error::Disk {
                disk,
                request: "read",
                error: result.err().unwrap_or(pebble_store_device::Error::Medium),
            },
        };
        recovery.problem = Some(problem);
        if !self.read_generation(recovery, place) {
            recovery.under_way -= 1;
        }
    }
}
