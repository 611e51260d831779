//! Work to be counted by `valgrind --tool=callgrind --toggle-collect='counted::region*'`, and figures that need no counting.
//!
//! `counted snapshot N`: the pause of a snapshot with N changed objects. `counted copy N`: the first change of N objects
//! after a snapshot, `counted page N` the copies of pages in it by themselves. `counted recovery N`: opening a volume with N directory entries. `counted bytes N`: prints the frames
//! written for each changed page in the steady state, with N pages changed between checkpoints.

use std::collections::VecDeque;

use pebble_store::{DiskPlan, Formatter, Parameters, Status, Stop, Store, Verify};
use pebble_store_device::{BlockDevice, Completion, Frame, Request, Tag, FRAME_SIZE};
use pebble_store_format::{FrameKind, ObjectFrame, Range, RangeKind};

/// A disk in memory that does everything at once.
struct Memory {
    frames: Vec<Option<Box<Frame>>>,
    done: VecDeque<Completion>,
    /// Each frame is read once, and need not stay.
    once: bool,
}

impl BlockDevice for Memory {
    fn frames(&self) -> u64 {
        self.frames.len() as u64
    }

    fn submit(&mut self, tag: Tag, request: Request) -> Result<(), Request> {
        let buffer = match request {
            // In `recovery`, buffers change hands, as they do with a disk that copies by itself: each frame is read once.
            Request::Read { at, mut buffer } => {
                let contents = &mut self.frames[at as usize];
                match (self.once, contents.as_mut()) {
                    (true, Some(contents)) => std::mem::swap(contents, &mut buffer),
                    (false, Some(contents)) => buffer.copy_from_slice(&contents[..]),
                    (_, None) => buffer.fill(0),
                }
                Some(buffer)
            }
            Request::Write { at, buffer } => {
                self.frames[at as usize] = Some(buffer);
                None
            }
            Request::Flush => None,
        };
        let result = Ok(());
        self.done.push_back(Completion {
            tag,
            buffer,
            result,
        });
        Ok(())
    }

    fn poll(&mut self) -> Option<Completion> {
        self.done.pop_front()
    }
}

fn formatted(log: u64, objects: u64) -> Memory {
    let range = |kind, number, first, frames| Range {
        kind,
        number,
        first,
        frames,
        object_base: 0,
        replica_sequence: 0,
    };
    let ranges = vec![
        range(RangeKind::Log, 0, 2, log),
        range(RangeKind::Object, 1, 2 + log, objects),
    ];
    let mut frames = Vec::new();
    frames.resize_with((2 + log + objects) as usize, || None);
    let disk = Memory {
        frames,
        done: VecDeque::new(),
        once: false,
    };
    let mut formatter =
        Formatter::volume(vec![(disk, DiskPlan { disk: 0, ranges })], 1, 0).expect("the plan fits");
    while !formatter.poll().expect("a disk in memory does not fail") {}
    formatter.into_disks().remove(0)
}

fn open(disk: Memory, objects: usize, recovering: bool) -> Store<Memory> {
    let parameters = Parameters {
        cache_frames: objects + 64,
        copy_frames: objects.max(64),
        restart_limit: 1000,
        keep_generations: 8,
        count_boots: false,
        pot_slots: 256,
        // Directories are what is counted.
        verify: Verify::Lazily,
        ..Parameters::default()
    };
    let mut store = Store::open(vec![disk], parameters);
    if recovering {
        region_recovery(&mut store);
    }
    while store.poll() == Status::Opening {}
    assert_eq!(store.status(), Status::Running, "{:?}", store.failure());
    store
}

fn settle(store: &mut Store<Memory>) {
    while store.busy() {
        store.poll();
    }
    assert_eq!(store.status(), Status::Running, "{:?}", store.failure());
}

fn change(store: &mut Store<Memory>, object: u64, byte: u8) {
    let frame = ObjectFrame(object);
    loop {
        let done = match store.tag(frame) {
            Ok(tag) if tag.kind == FrameKind::Unused => {
                store.allocate(frame, FrameKind::DataPage).map(drop)
            }
            Ok(_) => store.write(frame).map(|contents| contents[0] = byte),
            Err(stop) => Err(stop),
        };
        match done {
            Ok(()) if store.read(frame).is_ok_and(|contents| contents[0] == byte) => return,
            Ok(()) => {}
            Err(Stop::Wait(_)) => {
                store.poll();
            }
            Err(Stop::Error(error)) => panic!("{error}"),
        }
    }
}

fn commit(store: &mut Store<Memory>) {
    store
        .snapshot(Vec::new(), 0, 0)
        .expect("nothing is being saved");
    settle(store);
}

#[inline(never)]
fn region_snapshot(store: &mut Store<Memory>) -> u64 {
    store
        .snapshot(Vec::new(), 0, 0)
        .expect("nothing is being saved")
}

#[inline(never)]
fn region_copy(store: &mut Store<Memory>, frame: ObjectFrame) -> bool {
    store.write(frame).is_ok()
}

#[inline(never)]
fn region_recovery(store: &mut Store<Memory>) {
    while store.poll() == Status::Opening {}
}

fn prepared(count: u64) -> Store<Memory> {
    let mut store = open(
        formatted(4 * count + 200, 2 * count + 600),
        count as usize,
        false,
    );
    for object in 0..count {
        change(&mut store, object, 1);
    }
    store
}

fn snapshot(count: u64) {
    // The second snapshot is the usual one: the first finds lists that never had anything in them.
    let mut store = prepared(count);
    commit(&mut store);
    for object in 0..count {
        change(&mut store, object, 2);
    }
    region_snapshot(&mut store);
    settle(&mut store);
}

fn copy(count: u64) {
    let mut store = prepared(count);
    commit(&mut store);
    for object in 0..count {
        change(&mut store, object, 2);
    }
    store
        .snapshot(Vec::new(), 0, 0)
        .expect("nothing is being saved");
    for object in 0..count {
        assert!(region_copy(&mut store, ObjectFrame(object)));
    }
    assert_eq!(store.counters().copies, count);
}

/// The copy of a page by itself, as often as `copy` makes it: what is to be taken off there.
fn page(count: u64) {
    let from = vec![[7; FRAME_SIZE]; count as usize];
    let mut into = vec![[0; FRAME_SIZE]; count as usize];
    for (from, into) in from.iter().zip(&mut into) {
        region_page(from, into);
    }
    assert!(from == into);
}

#[inline(never)]
fn region_page(from: &Frame, into: &mut Frame) {
    into.copy_from_slice(from);
}

fn recovery(count: u64) {
    let mut store = prepared(count);
    commit(&mut store);
    let mut disk = store.into_disks().remove(0);
    disk.once = true;
    let store = open(disk, 16, true);
    assert_eq!(store.counters().recovered_entries, count);
}

fn bytes(count: u64) {
    let mut store = open(
        formatted(30 * count, 20 * count),
        20 * count as usize,
        false,
    );
    let mut random = 7_u64;
    let mut changed = 0;
    let mut before = *store.counters();
    for round in 0..60 {
        if round == 20 {
            before = *store.counters();
            changed = 0;
        }
        // Pages all over a store of some ten times as many, each round others.
        for _ in 0..count {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let object = (random >> 33) % (10 * count);
            let epoch = round as u8;
            change(
                &mut store,
                object,
                epoch.wrapping_mul(3).wrapping_add(random as u8 | 1),
            );
        }
        let saved = store.counters().log_objects;
        commit(&mut store);
        changed += store.counters().log_objects - saved;
    }
    let after = store.counters();
    let written = after.log_objects - before.log_objects + after.log_records - before.log_records
        + after.home_objects
        - before.home_objects
        + after.pots
        - before.pots;
    assert!(after.migrations > before.migrations + 30, "{after:?}");
    println!("{:.4}", written as f64 / changed as f64);
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let what = arguments.next().unwrap_or_default();
    let count = arguments
        .next()
        .and_then(|count| count.parse().ok())
        .unwrap_or(1000);
    let frame = FRAME_SIZE as u64;
    assert!(count > 0 && count < frame * 1000, "a number of objects");
    match what.as_str() {
        "snapshot" => snapshot(count),
        "copy" => copy(count),
        "page" => page(count),
        "recovery" => recovery(count),
        "bytes" => bytes(count),
        _ => eprintln!("usage: counted snapshot|copy|page|recovery|bytes COUNT"),
    }
}
