//! Bringing generations home: from the log to where the objects live.
//!
//! What is written home comes from the log, never from memory: memory is newer. It goes out a cluster at a time, in the
//! order of the frames, and the cluster's tag pot follows once, into the copy that does not count. Nothing of it needs a
//! flush of its own: until a committed header no longer lists the generation, every reader finds the objects in the log,
//! and the first flush of that header's checkpoint makes the home writes stable.

use alloc::boxed::Box;
use alloc::vec::Vec;

use pebble_store_device::{BlockDevice, Frame};
use pebble_store_format::{checksum, ObjectFrame, PackedEntry, Tag, TagPot};

use crate::mutant::mutated;
use crate::volume::{Answer, Job, RangePlace};
use crate::{Error, Store};

/// How often each disk is asked for an object before it is given up.
pub(crate) const READ_ROUNDS: u32 = 3;

/// An object on its way home.
#[derive(Clone, Copy)]
struct Item {
    frame: ObjectFrame,
    log: u64,
    tag: Tag,
    /// Its place in the cluster.
    index: usize,
    tried: u32,
    /// How often all disks were asked in vain.
    rounds: u32,
    /// It is lost in the log; what is at home is looked at.
    home: bool,
}

/// The cluster that is being worked on.
struct Cluster {
    name: (usize, u64),
    /// The pot with the new tags; none until it is read.
    pot: Option<Box<TagPot>>,
    items: Vec<Item>,
    next: usize,
    under_way: usize,
    pot_sent: bool,
    /// How often no copy of the pot could be believed.
    pot_rounds: u32,
}

pub(crate) struct Migration {
    /// How many generations, from the oldest on.
    pub count: usize,
    /// How far the directory of each is worked off.
    cursors: Vec<usize>,
    cluster: Option<Cluster>,
    /// Everything is written. The next header may drop the generations.
    pub done: bool,
}

impl Migration {
    pub fn new(count: usize) -> Self {
        Self {
            count,
            cursors: alloc::vec![0; count],
            cluster: None,
            done: false,
        }
    }
}

impl<D: BlockDevice> Store<D> {
    pub(crate) fn step_migration(&mut self) -> Result<(), Error> {
        let Some(mut migration) = self.migration.take() else {
            return Ok(());
        };
        let stepped = self.bring_home(&mut migration);
        if migration.done && mutated!(self, LogReusedEarly) {
            if let Some(kept) = self.generations.get(migration.count) {
                self.log.tail = self.log.tail.max(kept.first_log);
            } else {
                self.log.tail = self.log.head;
            }
        }
        self.migration = Some(migration);
        stepped
    }

    fn bring_home(&mut self, migration: &mut Migration) -> Result<(), Error> {
        if migration.done {
            return Ok(());
        }
        for _ in 0..self.parameters.step.max(1) {
            if migration.cluster.is_none() {
                migration.cluster = self.next_cluster(migration);
            }
            let Some(cluster) = migration.cluster.as_mut() else {
                migration.done = true;
                return Ok(());
            };
            if cluster.items.is_empty() {
                // Newer contents of all of them are in the next generation.
                migration.cluster = None;
                continue;
            }
            if cluster.pot.is_none() {
                match self.want_pot(cluster.name) {
                    Ok(Some(pot)) => cluster.pot = Some(Box::new(pot.clone())),
                    Ok(None) => return Ok(()),
                    // Without the tags of its neighbours nothing can be brought home. A later attempt may read them right.
                    Err(error) => {
                        cluster.pot_rounds += 1;
                        if cluster.pot_rounds >= READ_ROUNDS {
                            return Err(error);
                        }
                        return Ok(());
                    }
                }
            }
            self.send_items(cluster);
            if cluster.next == cluster.items.len() && cluster.under_way == 0 && !cluster.pot_sent {
                self.send_pot(cluster);
            }
            return Ok(());
        }
        Ok(())
    }

    /// The objects of the next cluster that any of the generations has, each once and the newest. Those that the generation
    /// after these has as well stay where they are: whatever can be started has the newer contents.
    fn next_cluster(&mut self, migration: &mut Migration) -> Option<Cluster> {
        let mut cluster: Option<Cluster> = None;
        loop {
            let heads = migration.cursors.iter().enumerate();
            let head = |(number, cursor): (usize, &usize)| -> Option<PackedEntry> {
                self.generations.get(number)?.entries.get(*cursor).copied()
            };
            let Some(frame) = heads.filter_map(head).map(|entry| entry.frame).min() else {
                return cluster;
            };
            let home = self.volume.geometry.home(frame)?;
            let name = (home.range, home.place.cluster);
            if cluster.as_ref().is_some_and(|cluster| cluster.name != name) {
                return cluster;
            }
            let cluster = cluster.get_or_insert_with(|| Cluster {
                name,
                pot: None,
                items: Vec::new(),
                next: 0,
                under_way: 0,
                pot_sent: false,
                pot_rounds: 0,
            });
            let mut newest = None;
            for (number, cursor) in migration.cursors.iter_mut().enumerate() {
                let entries = self
                    .generations
                    .get(number)
                    .map(|generation| &generation.entries);
                let entry = entries.and_then(|entries| entries.get(*cursor));
                if let Some(entry) = entry.filter(|entry| entry.frame == frame) {
                    newest = Some(*entry);
                    *cursor += 1;
                }
            }
            let entry = newest?;
            if self.is_superseded(frame, migration.count) {
                self.counters.superseded += 1;
                continue;
            }
            cluster.items.push(Item {
                frame,
                log: entry.log,
                tag: entry.tag.unpack(),
                index: home.place.index,
                tried: 0,
                rounds: 0,
                home: false,
            });
        }
    }

    fn is_superseded(&self, frame: ObjectFrame, count: usize) -> bool {
        let Some(entry) = self.index.get(frame) else {
            return false;
        };
        if mutated!(self, SupersededByUncommitted) {
            let newer = self.generations.iter().skip(count);
            let uncommitted = self
                .checkpoint
                .as_ref()
                .map_or(0, |checkpoint| checkpoint.bit);
            let bits = newer.fold(uncommitted, |bits, generation| bits | generation.bit);
            return entry.generations & bits != 0;
        }
        let next = self.generations.get(count);
        next.is_some_and(|next| entry.generations & next.bit != 0)
    }

    fn send_items(&mut self, cluster: &mut Cluster) {
        let limit = self.parameters.in_flight.max(1);
        while cluster.under_way < limit && cluster.next < cluster.items.len() {
            let number = cluster.next;
            cluster.next += 1;
            let item = cluster.items[number];
            if item.tag.null {
                self.enter_tag(cluster, number);
                continue;
            }
            cluster.under_way += 1;
            self.read_item(cluster, number);
        }
    }

    fn read_item(&mut self, cluster: &mut Cluster, number: usize) {
        let job = Job::Migrate(number as u32);
        for home in [false, true] {
            let item = &mut cluster.items[number];
            if item.home && !home {
                continue;
            }
            // Lost in the log on every disk; but it may have been brought home before a crash, and be right there.
            if home && !item.home {
                (item.home, item.tried, item.rounds) = (true, 0, 0);
            }
            let Some(place) = self.place_of(item) else {
                break;
            };
            if self.volume.read(job, place, item.tried) {
                return;
            }
            // What is given up here is lost for ever, and a disk that was wrong once may be right the next time.
            item.tried = 0;
            item.rounds += 1;
            if item.rounds < READ_ROUNDS && self.volume.read(job, place, 0) {
                return;
            }
        }
        let item = cluster.items[number];
        if let Some(contents) = self.same_in_memory(&item) {
            self.counters.repaired_reads += 1;
            self.enter_tag(cluster, number);
            if let Some(home) = self.volume.geometry.home(item.frame) {
                let place = self.volume.geometry.contents(home);
                self.counters.home_objects += 1;
                // The read that is over is counted on as this write.
                self.volume.write(Job::Home, place, contents);
            }
            return;
        }
        // The tag says so from now on, until the object is written as a whole.
        cluster.items[number].tag.lost = true;
        self.counters.lost_objects += 1;
        self.enter_tag(cluster, number);
        cluster.under_way -= 1;
    }

    /// The cache's copy of an object that no disk has right any more, if its checksum says that it is the one in the log.
    fn same_in_memory(&self, item: &Item) -> Option<Box<Frame>> {
        let slot = self.cache.find(item.frame)?;
        let contents = self.cache.slots[slot as usize].contents.as_ref()?;
        let same = checksum::of_object(item.frame, contents) == item.tag.checksum;
        same.then(|| contents.clone())
    }

    fn place_of(&self, item: &Item) -> Option<RangePlace> {
        let geometry = &self.volume.geometry;
        if item.home {
            let home = geometry.home(item.frame)?;
            return Some(geometry.contents(home));
        }
        Some(geometry.log_place(item.log))
    }

    fn enter_tag(&mut self, cluster: &mut Cluster, number: usize) {
        let item = cluster.items[number];
        if mutated!(self, MigrationWithoutTags) {
            return;
        }
        if let Some(pot) = cluster.pot.as_mut() {
            pot.tags[item.index] = item.tag;
        }
    }

    fn send_pot(&mut self, cluster: &mut Cluster) {
        let Some(pot) = cluster.pot.as_mut() else {
            return;
        };
        pot.sequence += 1;
        let (range, number) = cluster.name;
        let copy = if mutated!(self, PotInPlace) {
            0
        } else {
            pot.sequence
        };
        let place = RangePlace {
            range,
            frame: number * pebble_store_format::CLUSTER_FRAMES
                + copy % pebble_store_format::CLUSTER_POTS,
        };
        let range_number = self.volume.geometry.ranges[range].number;
        let frame = pot.encode(self.key, range_number, number);
        cluster.pot_sent = true;
        cluster.under_way += 1;
        self.counters.pots += 1;
        self.volume.write(Job::HomePot, place, frame);
    }

    pub(crate) fn migration_answer(&mut self, answer: Answer) -> Result<(), Error> {
        let Some(mut migration) = self.migration.take() else {
            return Ok(());
        };
        let done = self.migration_answered(&mut migration, answer);
        self.migration = Some(migration);
        done
    }

    fn migration_answered(
        &mut self,
        migration: &mut Migration,
        answer: Answer,
    ) -> Result<(), Error> {
        let Some(cluster) = migration.cluster.as_mut() else {
            return Ok(());
        };
        if let Job::Migrate(number) = answer.job {
            let number = number as usize;
            if number < cluster.items.len() {
                self.read_for_home(cluster, number, answer);
            }
            return Ok(());
        }
        cluster.under_way = cluster.under_way.saturating_sub(1);
        if let Err(error) = answer.result {
            return Err(Error::Disk {
                disk: answer.disk,
                request: "write",
                error,
            });
        }
        if answer.job == Job::HomePot {
            if let Some(cluster) = migration.cluster.take() {
                if let Some(pot) = cluster.pot {
                    self.pots.put(cluster.name, pot);
                }
            }
        }
        Ok(())
    }

    fn read_for_home(&mut self, cluster: &mut Cluster, number: usize, answer: Answer) {
        let item = &mut cluster.items[number];
        item.tried |= 1 << answer.disk;
        let (frame, wanted) = (item.frame, item.tag.checksum);
        let right = |contents: &Frame| checksum::of_object(frame, contents) == wanted;
        let contents = match (answer.result, answer.buffer) {
            (Ok(()), Some(contents)) if mutated!(self, ReadUnchecked) || right(&contents) => {
                contents
            }
            _ => return self.read_item(cluster, number),
        };
        if cluster.items[number].tried.count_ones() > 1 {
            self.counters.repaired_reads += 1;
        }
        #[cfg(feature = "mutants")]
        let contents = self.mutate_home(&mut cluster.items[number], contents);
        self.enter_tag(cluster, number);
        if cluster.items[number].home {
            cluster.under_way -= 1;
            return;
        }
        if let Some(home) = self.volume.geometry.home(frame) {
            let place = self.volume.geometry.contents(home);
            self.counters.home_objects += 1;
            self.volume.write(Job::Home, place, contents);
        }
    }

    #[cfg(feature = "mutants")]
    fn mutate_home(&mut self, item: &mut Item, contents: Box<Frame>) -> Box<Frame> {
        if mutated!(self, MigrationFromMemory) {
            let slot = self.cache.find(item.frame);
            let memory = slot.and_then(|slot| self.cache.slots[slot as usize].contents.clone());
            if let Some(memory) = memory {
                item.tag.checksum = checksum::of_object(item.frame, &memory);
                return memory;
            }
        }
        contents
    }
}
