//! Making an empty volume, or a disk that is to join one.

use alloc::boxed::Box;
use alloc::vec::Vec;

use pebble_store_device::{BlockDevice, Frame, Request, Tag};
use pebble_store_format::{
    CheckpointHeader, DirectoryExtent, GenerationHeader, GenerationReference, JournalLayout,
    LogLayout, Range, RangeKind, Superblock, TagPot, BOOT_SLOTS, CLUSTER_FRAMES, CLUSTER_POTS,
    HEADER_SLOTS, SUPERBLOCK_FRAMES,
};

use crate::cache::zero_frame;
use crate::Error;

/// How one disk is to be divided.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DiskPlan {
    /// Its number in the volume: 0 to 7.
    pub disk: u8,
    /// Its ranges.
    pub ranges: Vec<Range>,
}

/// What is to be written to one disk, in order.
struct Writes {
    superblock: Superblock,
    /// Which range, and which step in it.
    range: usize,
    step: u64,
    superblocks: u64,
    header: bool,
}

/// Formats disks, without waiting: poll it until it is done.
///
/// The last write of all is the checkpoint header, after a flush: a volume whose formatting was interrupted does not open.
pub struct Formatter<D> {
    disks: Vec<D>,
    writes: Vec<Writes>,
    /// Whether this is a new volume: a joining disk gets no tags, objects and headers of its own.
    fresh: bool,
    time: u64,
    under_way: usize,
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Contents,
    FirstFlush,
    Header,
    SecondFlush,
    Done,
}

impl<D: BlockDevice> Formatter<D> {
    /// Begins to format disks as a new volume: an empty generation, numbered 1, and objects that were never used. `volume`
    /// should be random; `time` is nanoseconds since 1970.
    pub fn volume(disks: Vec<(D, DiskPlan)>, volume: u128, time: u64) -> Result<Self, Error> {
        Self::begin(disks, volume, time, true)
    }

    /// Begins to prepare a disk that is to be attached to a running volume ([`crate::Store::attach`]) or given with its other
    /// disks: ranges that match theirs, and nothing in them that could be believed.
    pub fn replica(disk: D, plan: DiskPlan, volume: u128) -> Result<Self, Error> {
        Self::begin(alloc::vec![(disk, plan)], volume, 0, false)
    }

    fn begin(
        disks: Vec<(D, DiskPlan)>,
        volume: u128,
        time: u64,
        fresh: bool,
    ) -> Result<Self, Error> {
        let mut writes = Vec::new();
        let mut devices = Vec::new();
        for (index, (device, plan)) in disks.into_iter().enumerate() {
            let frames = device.frames();
            let ranges = plan.ranges;
            let problem = if ranges
                .iter()
                .any(|range| range.end() > frames || range.first < SUPERBLOCK_FRAMES)
            {
                Some("a range lies behind the disk's end, or on the superblocks")
            } else if plan.disk > 7 {
                Some("its number is greater than 7")
            } else {
                None
            };
            let superblock = Superblock {
                volume,
                disk: plan.disk,
                ranges,
            };
            let readable = Superblock::decode(&superblock.encode());
            let unreadable = readable
                .is_err()
                .then_some("ranges overlap, are empty, or have the same number");
            if let Some(problem) = problem.or(unreadable) {
                return Err(Error::Ranges {
                    disk: index,
                    problem,
                });
            }
            writes.push(Writes {
                superblock,
                range: 0,
                step: 0,
                superblocks: 0,
                header: false,
            });
            devices.push(device);
        }
        Ok(Self {
            disks: devices,
            writes,
            fresh,
            time,
            under_way: 0,
            stage: Stage::Contents,
        })
    }

    /// Moves formatting on. Says whether it is done; the disks can be had back then.
    pub fn poll(&mut self) -> Result<bool, Error> {
        for (index, disk) in self.disks.iter_mut().enumerate() {
            while let Some(completion) = disk.poll() {
                self.under_way = self.under_way.saturating_sub(1);
                completion.result.map_err(|error| Error::Disk {
                    disk: index,
                    request: "write",
                    error,
                })?;
            }
        }
        match self.stage {
            Stage::Contents | Stage::Header => {
                let sent = self.send_writes();
                if sent && self.under_way == 0 && self.flush() {
                    self.stage = if self.stage == Stage::Contents {
                        Stage::FirstFlush
                    } else {
                        Stage::SecondFlush
                    };
                }
            }
            Stage::FirstFlush if self.under_way == 0 => {
                self.stage = if self.fresh {
                    Stage::Header
                } else {
                    Stage::Done
                };
            }
            Stage::SecondFlush if self.under_way == 0 => self.stage = Stage::Done,
            Stage::FirstFlush | Stage::SecondFlush | Stage::Done => {}
        }
        Ok(self.stage == Stage::Done)
    }

    /// The disks.
    pub fn into_disks(self) -> Vec<D> {
        self.disks
    }

    /// Frames to be written and frames written so far, roughly: for a display of progress.
    pub fn progress(&self) -> (u64, u64) {
        let total = self
            .writes
            .iter()
            .flat_map(|writes| &writes.superblock.ranges)
            .map(|range| self.steps(range));
        let done = self.writes.iter().map(|writes| {
            let ranges = writes.superblock.ranges.iter().take(writes.range);
            ranges.map(|range| self.steps(range)).sum::<u64>() + writes.step
        });
        (total.sum(), done.sum())
    }

    fn flush(&mut self) -> bool {
        let mut all = true;
        for disk in &mut self.disks {
            match disk.submit(Tag(0), Request::Flush) {
                Ok(()) => self.under_way += 1,
                Err(_) => all = false,
            }
        }
        all
    }

    /// Hands out writes until no disk takes more. Says whether there are none left in this stage.
    fn send_writes(&mut self) -> bool {
        let mut all = true;
        for index in 0..self.disks.len() {
            while let Some((at, buffer)) = self.next_write(index) {
                if self.disks[index]
                    .submit(Tag(0), Request::Write { at, buffer })
                    .is_err()
                {
                    all = false;
                    break;
                }
                self.under_way += 1;
                self.advance(index);
            }
        }
        all
    }

    /// Writes that a range needs.
    fn steps(&self, range: &Range) -> u64 {
        match range.kind {
            RangeKind::Log => HEADER_SLOTS + BOOT_SLOTS + u64::from(self.fresh),
            RangeKind::Object if self.fresh => {
                let clusters = range.frames.div_ceil(CLUSTER_FRAMES);
                let short = range.frames - (clusters - 1) * CLUSTER_FRAMES < CLUSTER_POTS;
                clusters * CLUSTER_POTS - u64::from(short)
            }
            RangeKind::Journal if self.fresh => {
                JournalLayout::of(range.frames).map_or(0, |journal| journal.records)
            }
            _ => 0,
        }
    }

    fn next_write(&self, index: usize) -> Option<(u64, Box<Frame>)> {
        let writes = &self.writes[index];
        let log = writes
            .superblock
            .ranges
            .iter()
            .find(|range| range.kind == RangeKind::Log);
        if self.stage == Stage::Header {
            let first = log.filter(|_| !writes.header)?.first;
            return Some((
                first + LogLayout::header_slot(1),
                self.first_header(&writes.superblock),
            ));
        }
        if writes.superblocks < SUPERBLOCK_FRAMES {
            return Some((writes.superblocks, writes.superblock.encode()));
        }
        let mut place = writes.range;
        let mut step = writes.step;
        loop {
            let range = writes.superblock.ranges.get(place)?;
            if step < self.steps(range) {
                return Some(self.write_of(&writes.superblock, range, step));
            }
            place += 1;
            step = 0;
        }
    }

    fn advance(&mut self, index: usize) {
        if self.stage == Stage::Header {
            self.writes[index].header = true;
            return;
        }
        if self.writes[index].superblocks < SUPERBLOCK_FRAMES {
            self.writes[index].superblocks += 1;
            return;
        }
        loop {
            let writes = &self.writes[index];
            let Some(range) = writes.superblock.ranges.get(writes.range) else {
                return;
            };
            if writes.step < self.steps(range) {
                self.writes[index].step += 1;
                return;
            }
            self.writes[index].range += 1;
            self.writes[index].step = 0;
        }
    }

    fn write_of(&self, superblock: &Superblock, range: &Range, step: u64) -> (u64, Box<Frame>) {
        let key = superblock.key();
        match range.kind {
            RangeKind::Log if step == HEADER_SLOTS + BOOT_SLOTS => {
                let frame = LogLayout::of(range.frames).map_or(0, |log| log.frame(1));
                (
                    range.first + frame,
                    first_generation(self.time).encode(key, 1).0,
                )
            }
            RangeKind::Object => {
                let (cluster, copy) = (step / CLUSTER_POTS, step % CLUSTER_POTS);
                let mut pot = TagPot::unused();
                pot.sequence = copy;
                let at = range.first + cluster * CLUSTER_FRAMES + copy;
                (at, pot.encode(key, range.number, cluster))
            }
            _ => (range.first + step, zero_frame()),
        }
    }

    fn first_header(&self, superblock: &Superblock) -> Box<Frame> {
        let key = superblock.key();
        let checksum = first_generation(self.time).encode(key, 1).1;
        let disks = self
            .writes
            .iter()
            .fold(0, |bits, writes| bits | 1 << writes.superblock.disk);
        let header = CheckpointHeader {
            sequence: 1,
            generation: 1,
            next_log: 2,
            oldest_log: 1,
            restart: 0,
            time: self.time,
            replica_sequence: 0,
            in_sync: disks,
            bootable_from: 1,
            generations: alloc::vec![GenerationReference { log: 1, checksum }],
        };
        header.encode(key)
    }
}

/// The generation that a volume begins with: nothing at all.
fn first_generation(time: u64) -> GenerationHeader {
    GenerationHeader {
        generation: 1,
        first_log: 1,
        end_log: 2,
        objects: DirectoryExtent::default(),
        time,
        ..GenerationHeader::default()
    }
}
