//! Reading objects: from the log, the journal or home, from whichever disk has them right.

use alloc::boxed::Box;

use pebble_store_device::{BlockDevice, Frame};
use pebble_store_format::{checksum, ObjectFrame, Tag, TagPot};

use crate::cache::Loading;
use crate::index::Source;
use crate::mutant::mutated;
use crate::volume::{Answer, Job, RangePlace};
use crate::{Error, Stop, Store, Wait};

impl<D: BlockDevice> Store<D> {
    /// Version, kind and checksum of an object as it was saved last, and where that is. None of it is in the cache.
    pub(crate) fn saved(&mut self, frame: ObjectFrame) -> Result<(Tag, Source, bool), Stop> {
        if let Some(entry) = self.index.get(frame) {
            return Ok((entry.tag, entry.source, false));
        }
        let home = self
            .volume
            .geometry
            .home(frame)
            .ok_or(Error::NoSuchFrame { frame })?;
        let name = (home.range, home.place.cluster);
        match self.want_pot(name)? {
            Some(pot) => {
                let tag = pot.tags[home.place.index];
                Ok((
                    tag,
                    if tag.null {
                        Source::Null
                    } else {
                        Source::Log(0)
                    },
                    true,
                ))
            }
            None => Err(Stop::Wait(Wait::Object)),
        }
    }

    /// A tag pot; none when it is still being read.
    pub(crate) fn want_pot(&mut self, name: (usize, u64)) -> Result<Option<&TagPot>, Error> {
        if let Some(error) = self.pots.take_lost(name) {
            return Err(error);
        }
        if self.pots.get(name).is_none() && !self.pots.is_loading(name) {
            let number = self.pots.begin(name);
            for copy in 0..2 {
                self.read_pot(number, copy);
            }
        }
        Ok(self.pots.get(name))
    }

    fn read_pot(&mut self, number: usize, copy: usize) {
        let Some(load) = self.pots.loads[number].as_ref() else {
            return;
        };
        let (range, cluster) = load.name;
        let tried = load.tried[copy];
        let place = RangePlace {
            range,
            frame: cluster * pebble_store_format::CLUSTER_FRAMES + copy as u64,
        };
        self.volume
            .read(Job::Pot((number * 2 + copy) as u64), place, tried);
    }

    pub(crate) fn pot_answer(&mut self, name: u64, answer: Answer) {
        let (number, copy) = ((name / 2) as usize, (name % 2) as usize);
        let Some(Some(load)) = self.pots.loads.get_mut(number) else {
            return;
        };
        let (range, cluster) = load.name;
        let place = RangePlace {
            range,
            frame: cluster * pebble_store_format::CLUSTER_FRAMES + copy as u64,
        };
        let range_number = self.volume.geometry.ranges[range].number;
        let at = self.volume.disks[answer.disk].at(place).unwrap_or(0);
        let disk = answer.disk;
        let decoded = match (answer.result, answer.buffer) {
            (Ok(()), Some(buffer)) => TagPot::decode(self.key, range_number, cluster, &buffer)
                .map(Box::new)
                .map_err(|error| Error::Record { disk, at, error }),
            (Err(error), _) => Err(Error::Disk {
                disk,
                request: "read",
                error,
            }),
            (Ok(()), None) => return,
        };
        load.tried[copy] |= 1 << disk;
        let tried = load.tried[copy];
        if decoded.is_err() && self.volume.read(Job::Pot(name), place, tried) {
            return;
        }
        if decoded.is_ok() && tried.count_ones() > 1 {
            self.counters.repaired_reads += 1;
        }
        load.copies[copy] = Some(decoded);
        if load.copies.iter().all(Option::is_some) {
            self.pots.finish(number);
        }
    }

    /// The slot with an object's contents. If it is not there, it is being read afterwards.
    pub(crate) fn present(&mut self, frame: ObjectFrame) -> Result<u32, Stop> {
        if let Some(index) = self.cache.find(frame) {
            let slot = &mut self.cache.slots[index as usize];
            if slot.loading.is_some() {
                return Err(Stop::Wait(Wait::Object));
            }
            slot.used = true;
            return Ok(index);
        }
        self.ready()?;
        if let Some(place) = self.damaged.iter().position(|damaged| *damaged == frame) {
            self.damaged.swap_remove(place);
            return Err(Stop::Error(Error::Damaged { frame }));
        }
        let (tag, source, at_home) = self.saved(frame)?;
        if tag.lost {
            return Err(Stop::Error(Error::Lost { frame }));
        }
        let index = self.cache.place(frame, tag).map_err(|wait| {
            self.due = self.due.or(Some(crate::Due::Cache));
            Stop::Wait(wait)
        })?;
        let slot = &mut self.cache.slots[index as usize];
        if source == Source::Null {
            slot.clear();
            return Ok(index);
        }
        slot.loading = Some(Loading {
            tried: 0,
            home: at_home,
            source,
            at_home,
        });
        self.counters.fetches += 1;
        self.read_object(index);
        Err(Stop::Wait(Wait::Object))
    }

    fn object_place(&self, frame: ObjectFrame, loading: &Loading) -> Option<RangePlace> {
        match loading.source {
            Source::Log(log) if !loading.home => Some(self.volume.geometry.log_place(log)),
            Source::Journal(position) if !loading.home => {
                let layout = self.volume.geometry.journal?;
                Some(self.volume.geometry.journal_place(layout.page(position)))
            }
            _ => {
                let home = self.volume.geometry.home(frame)?;
                Some(self.volume.geometry.contents(home))
            }
        }
    }

    /// Sends the next attempt at reading a slot's contents. Says whether there was one left.
    fn read_object(&mut self, index: u32) -> bool {
        loop {
            let slot = &self.cache.slots[index as usize];
            let Some(loading) = slot.loading else {
                return false;
            };
            if let Some(place) = self.object_place(slot.frame, &loading) {
                if self.volume.read(Job::Fetch(index), place, loading.tried) {
                    return true;
                }
            }
            if loading.home {
                return false;
            }
            // No disk has it right in the log. It may have been brought home already: the checksum decides.
            let slot = &mut self.cache.slots[index as usize];
            slot.loading = Some(Loading {
                tried: 0,
                home: true,
                ..loading
            });
        }
    }

    pub(crate) fn fetch_answer(&mut self, index: u32, answer: Answer) {
        let slot = &mut self.cache.slots[index as usize];
        let Some(loading) = slot.loading.as_mut() else {
            return;
        };
        loading.tried |= 1 << answer.disk;
        let first = loading.tried.count_ones() == 1 && loading.home == loading.at_home;
        let wanted = slot.tag.checksum;
        let frame = slot.frame;
        let right = |contents: &Frame| checksum::of_object(frame, contents) == wanted;
        match (answer.result, answer.buffer) {
            (Ok(()), Some(buffer)) if mutated!(self, ReadUnchecked) || right(&buffer) => {
                slot.contents = Some(buffer);
                slot.loading = None;
                if !first {
                    self.counters.repaired_reads += 1;
                }
            }
            _ => {
                if !self.read_object(index) {
                    self.cache.remove(index);
                    self.damaged.push(frame);
                }
            }
        }
    }
}
