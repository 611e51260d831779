//! A small disk in memory, and a store driven to rest on it.
#![allow(dead_code, reason = "each test program uses a part of it")]

use std::collections::VecDeque;

use pebble_store::{DiskPlan, Formatter, Parameters, Status, Stop, Store};
use pebble_store_device::{BlockDevice, Completion, Error, Frame, Request, Tag, FRAME_SIZE};
use pebble_store_format::{FrameKind, ObjectFrame, Range, RangeKind};

/// A disk in memory. Requests complete in a mixed-up order; what is not flushed can be thrown away.
#[derive(Clone)]
pub struct MemoryDisk {
    pub frames: Vec<Frame>,
    /// Written and completed since the last flush.
    pub volatile: Vec<(u64, Frame)>,
    queue: VecDeque<(Tag, Request)>,
    pub depth: usize,
    random: u64,
    /// Frames whose reading fails.
    pub unreadable: Vec<u64>,
    /// Every request fails from now on.
    pub dead: bool,
    /// The next flush fails.
    pub bad_flush: bool,
    pub flushes: u64,
    pub writes: u64,
}

impl MemoryDisk {
    pub fn new(frames: u64) -> Self {
        Self {
            frames: vec![[0; FRAME_SIZE]; frames as usize],
            volatile: Vec::new(),
            queue: VecDeque::new(),
            depth: 16,
            random: 1,
            unreadable: Vec::new(),
            dead: false,
            bad_flush: false,
            flushes: 0,
            writes: 0,
        }
    }

    /// What a power cut leaves: of the unflushed writes only those that `keep` says.
    pub fn cut(mut self, mut keep: impl FnMut(usize) -> bool) -> Self {
        for (index, (at, contents)) in std::mem::take(&mut self.volatile).into_iter().enumerate() {
            if keep(index) {
                self.frames[at as usize] = contents;
            }
        }
        self.queue.clear();
        self
    }

    fn get(&self, at: u64) -> Frame {
        let newest = self
            .volatile
            .iter()
            .rev()
            .find(|(written, _)| *written == at);
        newest.map_or(self.frames[at as usize], |(_, contents)| *contents)
    }
}

impl BlockDevice for MemoryDisk {
    fn frames(&self) -> u64 {
        self.frames.len() as u64
    }

    fn submit(&mut self, tag: Tag, request: Request) -> Result<(), Request> {
        if self.queue.len() >= self.depth {
            return Err(request);
        }
        self.queue.push_back((tag, request));
        Ok(())
    }

    fn poll(&mut self) -> Option<Completion> {
        self.random = self
            .random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let place = (self.random >> 33) as usize % self.queue.len().max(1);
        let (tag, request) = self.queue.remove(place)?;
        let (buffer, result) = match request {
            _ if self.dead => (None, Err(Error::Gone)),
            Request::Read { at, mut buffer } => {
                if self.unreadable.contains(&at) {
                    (Some(buffer), Err(Error::Medium))
                } else {
                    *buffer = self.get(at);
                    (Some(buffer), Ok(()))
                }
            }
            Request::Write { at, buffer } => {
                self.writes += 1;
                self.volatile.push((at, *buffer));
                (Some(buffer), Ok(()))
            }
            Request::Flush => {
                self.flushes += 1;
                if std::mem::take(&mut self.bad_flush) {
                    (None, Err(Error::Medium))
                } else {
                    for (at, contents) in std::mem::take(&mut self.volatile) {
                        self.frames[at as usize] = contents;
                    }
                    (None, Ok(()))
                }
            }
        };
        Some(Completion {
            tag,
            buffer,
            result,
        })
    }
}

/// Frames of the parts of a test volume.
#[derive(Clone, Copy)]
pub struct Sizes {
    pub log: u64,
    pub journal: u64,
    pub objects: u64,
}

pub const TIGHT: Sizes = Sizes {
    log: 4 + 24,
    journal: 8,
    objects: 512,
};
pub const ROOMY: Sizes = Sizes {
    log: 4 + 400,
    journal: 40,
    objects: 1024,
};

impl Sizes {
    pub fn total(self) -> u64 {
        2 + self.log + self.journal + self.objects
    }

    pub fn ranges(self) -> Vec<Range> {
        let mut first = 2;
        let parts = [
            (RangeKind::Log, self.log),
            (RangeKind::Journal, self.journal),
            (RangeKind::Object, self.objects),
        ];
        let mut ranges = Vec::new();
        for (number, (kind, frames)) in parts.into_iter().enumerate() {
            let number = number as u16;
            ranges.push(Range {
                kind,
                number,
                first,
                frames,
                object_base: 0,
                replica_sequence: 0,
            });
            first += frames;
        }
        ranges
    }

    pub fn plan(self, disk: u8) -> DiskPlan {
        DiskPlan {
            disk,
            ranges: self.ranges(),
        }
    }
}

pub fn formatted(sizes: Sizes, disks: u8) -> Vec<MemoryDisk> {
    let disks = (0..disks).map(|disk| (MemoryDisk::new(sizes.total()), sizes.plan(disk)));
    let mut formatter = Formatter::volume(disks.collect(), 77, 1000).unwrap();
    for _ in 0..10_000 {
        if formatter.poll().unwrap() {
            return formatter.into_disks();
        }
    }
    panic!("formatting does not end");
}

pub fn replica(sizes: Sizes, disk: u8) -> MemoryDisk {
    let mut formatter =
        Formatter::replica(MemoryDisk::new(sizes.total()), sizes.plan(disk), 77).unwrap();
    for _ in 0..10_000 {
        if formatter.poll().unwrap() {
            return formatter.into_disks().remove(0);
        }
    }
    panic!("formatting does not end");
}

pub fn small() -> Parameters {
    Parameters {
        cache_frames: 24,
        copy_frames: 6,
        pot_slots: 4,
        in_flight: 4,
        restart_limit: 8,
        step: 3,
        count_boots: false,
        ..Parameters::default()
    }
}

/// Opens and waits until it is open, or not.
pub fn open(disks: Vec<MemoryDisk>, parameters: Parameters) -> Store<MemoryDisk> {
    let mut store = Store::open(disks, parameters);
    for _ in 0..100_000 {
        if store.poll() != Status::Opening {
            return store;
        }
    }
    panic!("opening does not end");
}

pub fn opened(disks: Vec<MemoryDisk>) -> Store<MemoryDisk> {
    let store = open(disks, small());
    assert_eq!(store.status(), Status::Running, "{:?}", store.failure());
    store
}

/// Repeats an operation until it need not wait any more. Takes checkpoints that are due.
pub fn wait<T>(
    store: &mut Store<MemoryDisk>,
    mut operation: impl FnMut(&mut Store<MemoryDisk>) -> Result<T, Stop>,
) -> T {
    for _ in 0..100_000 {
        match operation(store) {
            Ok(done) => return done,
            Err(Stop::Wait(_)) => {
                store.poll();
                if store.checkpoint_due().is_some() {
                    store.snapshot(Vec::new(), 0, 0).unwrap();
                }
            }
            Err(Stop::Error(error)) => panic!("{error}"),
        }
    }
    panic!("waits for ever");
}

pub fn fill(store: &mut Store<MemoryDisk>, frame: u64, byte: u8) {
    let frame = ObjectFrame(frame);
    if wait(store, |store| store.tag(frame)).kind == FrameKind::Unused {
        wait(store, |store| {
            store.allocate(frame, FrameKind::DataPage).map(drop)
        });
    }
    wait(store, |store| {
        store.write(frame).map(|contents| contents.fill(byte))
    });
}

pub fn byte(store: &mut Store<MemoryDisk>, frame: u64) -> u8 {
    wait(store, |store| {
        store
            .read(ObjectFrame(frame))
            .map(|contents| contents[4000])
    })
}

/// Takes a checkpoint and waits until it is committed.
pub fn checkpoint(store: &mut Store<MemoryDisk>) -> u64 {
    let generation = wait(store, |store| store.snapshot(Vec::new(), 0, 0));
    settle(store);
    assert_eq!(store.status(), Status::Running, "{:?}", store.failure());
    assert!(store.committed() >= generation);
    generation
}

/// Polls until nothing is under way.
pub fn settle(store: &mut Store<MemoryDisk>) {
    for _ in 0..100_000 {
        store.poll();
        if !store.busy() {
            return;
        }
    }
    panic!("never at rest");
}
