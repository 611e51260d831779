//! A disk that was away while the system started must not bring back a checkpoint that nobody saw.

mod support;

use pebble_store::{Error, Status};
use pebble_store_format::ObjectFrame;
use support::*;

/// Frames with the header slots.
const SLOTS: [u64; 2] = [2, 3];

fn absent(first: usize) {
    let mut store = opened(formatted(ROOMY, 2));
    fill(&mut store, 1, 1);
    checkpoint(&mut store);
    settle(&mut store);
    // A checkpoint is cut off while its header is on its way to both disks.
    fill(&mut store, 1, 2);
    store.snapshot(Vec::new(), 0, 0).unwrap();
    let header_on_its_way = |disk: &MemoryDisk| {
        let mut volatile = disk.volatile.iter();
        volatile.any(|(at, _)| SLOTS.contains(at))
    };
    for _ in 0..10_000 {
        if (0..2).all(|disk| store.disk(disk).is_some_and(header_on_its_way)) {
            break;
        }
        store.poll();
    }
    let mut disks = store.into_disks();
    assert!(disks.iter().all(header_on_its_way));
    // It arrives on one disk, which is away when the system starts again; the other never saw it.
    let away = disks.remove(1).cut(|_| true);
    let here = disks.remove(0).cut(|_| false);
    let mut store = opened(vec![here]);
    // One checkpoint of this start, no more: it gets the number that the lost one had.
    let page = ObjectFrame(1);
    while store.write(page).map(|contents| contents.fill(3)).is_err() {
        store.poll();
    }
    while store.snapshot(Vec::new(), 0, 0).is_err() {
        store.poll();
    }
    settle(&mut store);
    let here = store.into_disks().remove(0).cut(|_| false);
    // Both are there again: what was committed last counts, or a person is asked. Never the state that nobody saw.
    let mut disks = vec![here, away];
    disks.rotate_left(first);
    let mut store = open(disks, small());
    match store.status() {
        Status::Running => assert_eq!(byte(&mut store, 1), 3, "disk {first} first"),
        _ => assert!(
            matches!(store.failure(), Some(Error::SplitReplicas { .. })),
            "{:?}",
            store.failure()
        ),
    }
}

#[test]
fn a_header_that_nobody_saw_does_not_come_back() {
    absent(0);
}

#[test]
fn nor_when_it_is_on_the_first_disk() {
    absent(1);
}
