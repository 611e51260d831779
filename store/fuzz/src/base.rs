//! The good images that inputs change: volumes on which the store has run for a while.

use std::sync::OnceLock;

use pebble_store::{DiskPlan, Formatter, Parameters, Status, Stop, Store};
use pebble_store_format::{node_id, FrameKind, ObjectFrame, Range, RangeKind, RestartEntry};
use pebble_store_image::{send, Memory, Volume};

use crate::disk::{Disk, Patience};

/// The identity of the volumes.
pub const VOLUME: u128 = 0x1234_5678_9abc_def0;
/// Where the ranges are, for who puts checksums right: first frame and frames.
pub const LOG: (u64, u64) = (2, 44);
pub const JOURNAL: (u64, u64) = (46, 16);
pub const OBJECTS: (u64, u64) = (62, 300);
/// The number of the object range.
pub const OBJECT_RANGE: u16 = 2;

const FRAMES: u64 = OBJECTS.0 + OBJECTS.1;
/// Frames of the two clusters that have objects.
const USED: [u64; 4] = [1, 2, 3, 260];

/// How the store is run on images: small caches, so that a run is short.
pub fn parameters() -> Parameters {
    Parameters {
        cache_frames: 24,
        copy_frames: 6,
        pot_slots: 4,
        restart_limit: 8,
        step: 16,
        ..Parameters::default()
    }
}

fn ranges() -> Vec<Range> {
    let parts = [
        (RangeKind::Log, LOG),
        (RangeKind::Journal, JOURNAL),
        (RangeKind::Object, OBJECTS),
    ];
    let range = |(number, (kind, (first, frames)))| Range {
        kind,
        number,
        first,
        frames,
        object_base: 0,
        replica_sequence: 0,
    };
    (0..).zip(parts).map(range).collect()
}

/// The images of a volume on one disk, or on two.
pub fn images(disks: usize) -> Vec<Memory> {
    static ONE: OnceLock<Vec<Memory>> = OnceLock::new();
    static TWO: OnceLock<Vec<Memory>> = OnceLock::new();
    let known = if disks == 1 { &ONE } else { &TWO };
    known.get_or_init(|| make(disks)).clone()
}

/// A generation of the volume on one disk, as a stream.
pub fn stream() -> Vec<u8> {
    static STREAM: OnceLock<Vec<u8>> = OnceLock::new();
    let make = || {
        let mut volume = Volume::open(images(1)).expect("a good image");
        let generations = volume.generations().expect("a good log");
        let snapshot = volume
            .snapshot(&generations, None, &mut |_, _| {})
            .expect("good tags");
        let mut bytes = Vec::new();
        let mut sink = |part: &[u8]| {
            bytes.extend_from_slice(part);
            Ok(())
        };
        send(&mut volume, &snapshot, &mut sink, &mut |_, _| {}).expect("good objects");
        bytes
    };
    STREAM.get_or_init(make).clone()
}

fn make(disks: usize) -> Vec<Memory> {
    let patience = Patience::new(1_000_000);
    let new = |disk: usize| {
        let plan = DiskPlan {
            disk: disk as u8,
            ranges: ranges(),
        };
        (Disk::new(Memory::zeros(FRAMES), &patience), plan)
    };
    let disks = (0..disks).map(new).collect();
    let mut formatter = Formatter::volume(disks, VOLUME, 1).expect("a good plan");
    while !formatter.poll().expect("good disks") {}
    let mut store = Store::open(formatter.into_disks(), parameters());
    while store.poll() == Status::Opening {}
    for (number, frame) in (0..).zip(USED) {
        let kind = [
            FrameKind::DataPage,
            FrameKind::CapabilityPage,
            FrameKind::Nodes,
        ][number % 3];
        retry(&mut store, |store| store.allocate(ObjectFrame(frame), kind));
    }
    let process = node_id(ObjectFrame(USED[2]), 1);
    let restart = vec![RestartEntry {
        process,
        ..RestartEntry::default()
    }];
    for round in 0..10_u8 {
        for frame in [USED[0], USED[3], 10 + u64::from(round)] {
            let frame = ObjectFrame(frame);
            if retry(&mut store, |store| store.tag(frame)).kind == FrameKind::Unused {
                retry(&mut store, |store| {
                    store.allocate(frame, FrameKind::DataPage)
                });
            }
            retry(&mut store, |store| {
                store.write(frame).map(|page| page.fill(round + 1))
            });
        }
        let mut node = retry(&mut store, |store| store.node(process));
        node.slots[usize::from(round)] = itself(u64::from(round));
        retry(&mut store, |store| store.set_node(process, &node));
        retry(&mut store, |store| {
            store.snapshot(restart.clone(), u64::from(round), 0)
        });
        while store.busy() {
            store.poll();
        }
    }
    let page = ObjectFrame(USED[0]);
    retry(&mut store, |store| {
        store.write(page).map(|page| page.fill(99))
    });
    retry(&mut store, |store| store.journal(&[page]));
    while store.busy() {
        store.poll();
    }
    store
        .into_disks()
        .into_iter()
        .map(Disk::into_image)
        .collect()
}

/// A node's slot that names the node itself.
fn itself(data: u64) -> pebble_store_object::Capability {
    pebble_store_object::Capability {
        kind: pebble_store_object::Kind::Node,
        object: node_id(ObjectFrame(USED[2]), 1),
        data,
        ..pebble_store_object::Capability::VOID
    }
}

fn retry<T>(
    store: &mut Store<Disk>,
    mut operation: impl FnMut(&mut Store<Disk>) -> Result<T, Stop>,
) -> T {
    loop {
        match operation(store) {
            Ok(done) => return done,
            Err(Stop::Wait(_)) => {
                store.poll();
            }
            Err(Stop::Error(error)) => panic!("{error}"),
        }
    }
}
