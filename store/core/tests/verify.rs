//! Looking at the objects of the generation that is started, before anything is built on it.

mod support;

use pebble_store::{Error, Parameters, Status, Stop, Store, Verify};
use pebble_store_format::ObjectFrame;
use support::*;

/// Where the log range of a test volume is.
fn log_range(sizes: Sizes) -> std::ops::Range<usize> {
    2..2 + sizes.log as usize
}

/// Spoils every frame of the log that is filled with a byte; says how many there were.
fn spoil(disk: &mut MemoryDisk, sizes: Sizes, byte: u8) -> usize {
    let log = disk.frames[log_range(sizes)].iter_mut();
    log.filter(|frame| frame.iter().all(|found| *found == byte))
        .map(|frame| frame[17] ^= 1)
        .count()
}

/// Two generations: objects 0 to 19 hold their number and 1, in the newer one objects 0 to 9 hold their number and 101.
fn two_generations(disks: u8) -> Vec<MemoryDisk> {
    let mut store = opened(formatted(ROOMY, disks));
    for frame in 0..20 {
        fill(&mut store, frame, 1 + frame as u8);
    }
    checkpoint(&mut store);
    for frame in 0..10 {
        fill(&mut store, frame, 101 + frame as u8);
    }
    checkpoint(&mut store);
    store.into_disks()
}

fn with(verify: Verify) -> Parameters {
    Parameters { verify, ..small() }
}

fn read(store: &mut Store<MemoryDisk>, frame: u64) -> Result<u8, Error> {
    for _ in 0..10_000 {
        match store.read(ObjectFrame(frame)) {
            Ok(contents) => return Ok(contents[0]),
            Err(Stop::Wait(_)) => {
                store.poll();
            }
            Err(Stop::Error(error)) => return Err(error),
        }
    }
    panic!("never read");
}

#[test]
fn a_whole_generation_is_looked_at_and_opened() {
    for (verify, looked) in [
        (Verify::First, true),
        (Verify::Behind, true),
        (Verify::Lazily, false),
    ] {
        let mut store = open(two_generations(1), with(verify));
        assert_eq!(store.status(), Status::Running, "{:?}", store.failure());
        settle(&mut store);
        let verified = store.verified().cloned();
        let found = verified.map(|verified| (verified.generation, verified.good, verified.bad));
        assert_eq!(found, looked.then_some((store.committed(), 10, 0)));
        assert_eq!(read(&mut store, 3), Ok(104));
    }
}

#[test]
fn a_generation_with_a_lost_object_is_not_opened_and_the_older_one_can_be() {
    let mut disks = two_generations(1);
    assert_eq!(spoil(&mut disks[0], ROOMY, 104), 1);
    let store = open(disks, with(Verify::First));
    let Some(Error::Untrusted {
        generation,
        objects: 1,
        first: ObjectFrame(3),
        older: Some(older),
    }) = store.failure().cloned()
    else {
        panic!("{:?}", store.failure());
    };
    assert_eq!((store.status(), older), (Status::Stopped, generation - 1));
    let parameters = Parameters {
        generation: Some(older),
        ..with(Verify::First)
    };
    let mut store = open(store.into_disks(), parameters);
    assert_eq!(store.status(), Status::Running, "{:?}", store.failure());
    assert_eq!(read(&mut store, 3), Ok(4));
    assert_eq!(read(&mut store, 4), Ok(5));
}

#[test]
fn behind_the_open_store_it_only_tells() {
    let mut disks = two_generations(1);
    spoil(&mut disks[0], ROOMY, 104);
    spoil(&mut disks[0], ROOMY, 110);
    let mut store = open(disks, with(Verify::Behind));
    assert_eq!(store.status(), Status::Running);
    settle(&mut store);
    let verified = store.verified().cloned().unwrap();
    assert_eq!((verified.good, verified.bad), (8, 2));
    let mut frames = verified.frames;
    frames.sort();
    assert_eq!(frames, [ObjectFrame(3), ObjectFrame(9)]);
    let lost = Error::Damaged {
        frame: ObjectFrame(3),
    };
    assert_eq!(read(&mut store, 3), Err(lost));
    assert_eq!(read(&mut store, 4), Ok(105));
}

#[test]
fn what_another_disk_has_right_is_good() {
    let mut disks = two_generations(2);
    assert_eq!(spoil(&mut disks[0], ROOMY, 104), 1);
    assert_eq!(spoil(&mut disks[1], ROOMY, 105), 1);
    let store = open(disks, with(Verify::First));
    assert_eq!(store.status(), Status::Running, "{:?}", store.failure());
    assert_eq!(store.verified().map(|verified| verified.good), Some(10));
    let mut disks = store.into_disks();
    assert_eq!(spoil(&mut disks[1], ROOMY, 104), 1);
    let store = open(disks, with(Verify::First));
    assert!(matches!(store.failure(), Some(Error::Untrusted { .. })));
}

#[test]
fn after_three_refusals_the_older_generation_is_started_by_itself() {
    let mut disks = two_generations(1);
    spoil(&mut disks[0], ROOMY, 104);
    let parameters = Parameters {
        count_boots: true,
        ..with(Verify::First)
    };
    for _ in 0..3 {
        let store = open(disks, parameters.clone());
        assert!(matches!(store.failure(), Some(Error::Untrusted { .. })));
        disks = store.into_disks();
    }
    let mut store = open(disks, parameters);
    assert_eq!(store.status(), Status::Running, "{:?}", store.failure());
    assert_eq!(store.counters().fall_backs, 1);
    assert_eq!(read(&mut store, 3), Ok(4));
}

/// Objects that are saved anew, and log frames that are used again, are nothing bad.
#[test]
fn a_store_that_runs_meanwhile_is_not_taken_for_damaged() {
    let mut verified = 0;
    let mut store = opened(formatted(TIGHT, 1));
    for round in 0..40u64 {
        for frame in 0..6 {
            fill(&mut store, frame, (round * 6 + frame) as u8);
        }
        if round % 3 == 0 {
            checkpoint(&mut store);
            let parameters = Parameters {
                step: 1,
                in_flight: 1,
                ..with(Verify::Behind)
            };
            store = open(store.into_disks(), parameters);
            assert_eq!(store.status(), Status::Running, "{:?}", store.failure());
        }
        if let Some(found) = store.verified() {
            assert_eq!(found.bad, 0, "{found:?}");
            verified += 1;
        }
    }
    assert!(verified > 10, "{verified}");
}
