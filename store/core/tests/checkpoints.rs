//! Checkpoints, crashes and recovery on a small disk in memory.

mod support;

use pebble_store::{Due, Error, Formatter, Parameters, Status, Stop, Store, Wait};
use pebble_store_format::{node_id, FrameKind, Node, ObjectFrame, RestartEntry};
use pebble_store_object::{CallCount, Capability, ObjectId, Version};
use support::*;

#[test]
fn what_was_committed_is_there_after_a_crash_and_nothing_else() {
    let mut store = opened(formatted(ROOMY, 1));
    fill(&mut store, 3, 0x33);
    fill(&mut store, 700, 0x70);
    checkpoint(&mut store);
    fill(&mut store, 3, 0x44);
    fill(&mut store, 9, 0x99);
    let disks = store
        .into_disks()
        .into_iter()
        .map(|disk| disk.cut(|_| true))
        .collect();
    let mut store = opened(disks);
    assert_eq!(byte(&mut store, 3), 0x33);
    assert_eq!(byte(&mut store, 700), 0x70);
    assert_eq!(
        wait(&mut store, |store| store.tag(ObjectFrame(9))).kind,
        FrameKind::Unused
    );
}

#[test]
fn a_tight_log_wraps_and_brings_everything_home() {
    let mut store = opened(formatted(TIGHT, 1));
    for round in 0..60u64 {
        for object in 0..5 {
            fill(
                &mut store,
                (round * 7 + object * 31) % 250,
                (round + object) as u8,
            );
        }
        checkpoint(&mut store);
    }
    let counters = *store.counters();
    assert!(counters.log_wraps > 5, "{counters:?}");
    assert!(counters.migrations > 30, "{counters:?}");
    assert_eq!(counters.checkpoint_flushes, 2 * counters.checkpoints);
    let mut expected = std::collections::BTreeMap::new();
    for round in 0..60u64 {
        for object in 0..5 {
            expected.insert((round * 7 + object * 31) % 250, (round + object) as u8);
        }
    }
    let disks = store
        .into_disks()
        .into_iter()
        .map(|disk| disk.cut(|_| false))
        .collect();
    let mut store = opened(disks);
    for (frame, wanted) in expected {
        assert_eq!(byte(&mut store, frame), wanted, "frame {frame}");
    }
}

#[test]
fn a_storm_of_changes_forces_checkpoints_and_never_ends_in_a_full_log() {
    let mut store = opened(formatted(TIGHT, 1));
    for round in 0..400u64 {
        fill(&mut store, round * 13 % 300, round as u8);
    }
    settle(&mut store);
    assert!(
        store.counters().forced_checkpoints > 10,
        "{:?}",
        store.counters()
    );
    assert_eq!(
        store.counters().forced_checkpoints,
        store.counters().checkpoints
    );
}

#[test]
fn an_object_changed_while_it_is_saved_is_saved_as_it_was() {
    let mut store = opened(formatted(ROOMY, 1));
    for frame in 0..5 {
        fill(&mut store, frame, 1);
    }
    let generation = store.snapshot(Vec::new(), 0, 0).unwrap();
    for frame in 0..5 {
        fill(&mut store, frame, 2);
    }
    assert_eq!(store.counters().copies, 5);
    assert_eq!(
        store.snapshot(Vec::new(), 0, 0),
        Err(Stop::Wait(Wait::Checkpoint))
    );
    settle(&mut store);
    assert_eq!(store.committed(), generation);
    assert_eq!(byte(&mut store, 4), 2);
    let disks = store
        .into_disks()
        .into_iter()
        .map(|disk| disk.cut(|_| false))
        .collect();
    let mut store = opened(disks);
    assert_eq!(byte(&mut store, 4), 1);
}

#[test]
fn nodes_versions_and_restart_lists_survive() {
    let mut store = opened(formatted(ROOMY, 1));
    let frame = ObjectFrame(11);
    let id = node_id(frame, 3);
    wait(&mut store, |store| store.allocate(frame, FrameKind::Nodes));
    let mut node = wait(&mut store, |store| store.node(id));
    assert_eq!(node, Node::empty(Version(0)));
    node.call_count = CallCount(9);
    node.slots[31] = Capability::number(5);
    wait(&mut store, |store| store.set_node(id, &node));
    fill(&mut store, 12, 1);
    wait(&mut store, |store| store.deallocate(ObjectFrame(12)));
    let process = RestartEntry {
        process: id,
        call_count: CallCount(9),
        hazard: 2,
        ..RestartEntry::default()
    };
    wait(&mut store, |store| store.snapshot(vec![process; 8], 55, 0));
    settle(&mut store);
    let mut store = opened(store.into_disks());
    assert_eq!(wait(&mut store, |store| store.node(id)), node);
    assert_eq!(store.recovered().unwrap().restart, [process; 8]);
    assert_eq!(store.recovered().unwrap().time, 55);
    let tag = wait(&mut store, |store| store.tag(ObjectFrame(12)));
    assert_eq!((tag.kind, tag.version), (FrameKind::Unused, Version(1)));
    assert_eq!(
        store.snapshot(vec![process; 9], 0, 0),
        Err(Stop::Error(Error::RestartList { given: 9, limit: 8 }))
    );
}

#[test]
fn any_of_the_last_eight_generations_can_be_started() {
    let mut store = opened(formatted(ROOMY, 1));
    for round in 0..20 {
        fill(&mut store, 5, round);
        fill(&mut store, 100 + u64::from(round % 3), round);
        checkpoint(&mut store);
    }
    let bootable = store.bootable();
    assert_eq!(bootable.len(), 8);
    settle(&mut store);
    let disks = store.into_disks();
    for generation in bootable {
        let parameters = Parameters {
            generation: Some(generation),
            ..small()
        };
        let mut store = open(disks.clone(), parameters);
        assert_eq!(store.status(), Status::Running, "{:?}", store.failure());
        // The first generation was empty, so that round n is generation n + 2.
        let round = (generation - 2) as u8;
        assert_eq!(byte(&mut store, 5), round);
        for back in 0..3 {
            assert_eq!(
                byte(&mut store, 100 + u64::from((round - back) % 3)),
                round - back
            );
        }
        // What is committed from there is the newest then.
        fill(&mut store, 6, 0xEE);
        checkpoint(&mut store);
        let mut store = opened(store.into_disks());
        assert_eq!((byte(&mut store, 5), byte(&mut store, 6)), (round, 0xEE));
    }
}

#[test]
fn after_three_failed_starts_an_older_generation_is_started() {
    let mut store = opened(formatted(ROOMY, 1));
    for round in 0..3 {
        fill(&mut store, 5, round);
        checkpoint(&mut store);
    }
    let mut disks = store.into_disks();
    let mut seen = Vec::new();
    for _ in 0..8 {
        let mut store = open(
            disks,
            Parameters {
                count_boots: true,
                ..small()
            },
        );
        seen.push(byte(&mut store, 5));
        disks = store.into_disks();
    }
    assert_eq!(seen, [2, 2, 2, 1, 1, 1, 0, 0]);
    let mut store = open(
        disks,
        Parameters {
            count_boots: true,
            ..small()
        },
    );
    fill(&mut store, 6, 1);
    checkpoint(&mut store);
    let store = open(
        store.into_disks(),
        Parameters {
            count_boots: true,
            ..small()
        },
    );
    assert_eq!(store.recovered().unwrap().generation, 5);
    assert_eq!(store.counters().chained_recoveries, 0);
}

#[test]
fn journaled_pages_survive_alone() {
    let mut store = opened(formatted(ROOMY, 1));
    for frame in [1, 2, 3] {
        fill(&mut store, frame, 1);
    }
    checkpoint(&mut store);
    for frame in [1, 2, 3] {
        fill(&mut store, frame, 2);
    }
    let pages = [ObjectFrame(1), ObjectFrame(2)];
    let record = wait(&mut store, |store| store.journal(&pages));
    settle(&mut store);
    while store.journaled() <= record {
        store.poll();
    }
    fill(&mut store, 1, 3);
    let disks = store
        .into_disks()
        .into_iter()
        .map(|disk| disk.cut(|_| false))
        .collect();
    let mut store = opened(disks);
    assert_eq!(store.recovered().unwrap().journaled, pages);
    assert_eq!([1, 2, 3].map(|frame| byte(&mut store, frame)), [2, 2, 1]);
    // The next checkpoint takes them in, and the record is not applied again.
    fill(&mut store, 2, 9);
    checkpoint(&mut store);
    let disks = store
        .into_disks()
        .into_iter()
        .map(|disk| disk.cut(|_| false))
        .collect();
    let mut store = opened(disks);
    assert_eq!(store.recovered().unwrap().journaled, []);
    assert_eq!([1, 2, 3].map(|frame| byte(&mut store, frame)), [2, 9, 1]);
}

#[test]
fn nodes_are_not_journaled() {
    let mut store = opened(formatted(ROOMY, 1));
    let frame = ObjectFrame(11);
    wait(&mut store, |store| store.allocate(frame, FrameKind::Nodes));
    let refused = Err(Stop::Error(Error::WrongKind {
        frame,
        found: FrameKind::Nodes,
    }));
    assert_eq!(store.journal(&[frame]), refused);
}

#[test]
fn a_checkpoint_is_due_at_its_share_of_the_log() {
    let mut store = opened(formatted(ROOMY, 1));
    let mut changed = 0;
    let mut parameters_cache_is_small = 0;
    while store.checkpoint_due() != Some(Due::Log) {
        match store.allocate(ObjectFrame(changed), FrameKind::DataPage) {
            Ok(_) => changed += 1,
            Err(Stop::Wait(Wait::Object)) => {
                store.poll();
            }
            Err(Stop::Wait(Wait::CacheSpace)) => {
                parameters_cache_is_small += 1;
                break;
            }
            Err(other) => panic!("{other:?}"),
        }
    }
    // The cache of 24 frames is full first.
    assert_eq!((changed, parameters_cache_is_small), (24, 1));
    assert_eq!(store.checkpoint_due(), Some(Due::Cache));
}

#[test]
fn other_sizes_open_the_same_volume() {
    let mut store = opened(formatted(ROOMY, 1));
    for frame in 0..60 {
        fill(&mut store, frame, frame as u8);
    }
    checkpoint(&mut store);
    let mut disks = store.into_disks();
    for (cache_frames, pot_slots, in_flight) in [(2, 2, 1), (500, 50, 64), (7, 2, 3)] {
        let parameters = Parameters {
            cache_frames,
            pot_slots,
            in_flight,
            copy_frames: 1,
            ..small()
        };
        let mut store = open(disks, parameters);
        for frame in 0..60 {
            assert_eq!(byte(&mut store, frame), frame as u8);
        }
        fill(&mut store, 60, 1);
        checkpoint(&mut store);
        disks = store.into_disks();
    }
}

#[test]
fn a_retired_object_is_never_used_again() {
    let mut store = opened(formatted(ROOMY, 1));
    let id = ObjectId(8 * 20);
    let frame = ObjectFrame(20);
    wait(&mut store, |store| store.allocate(frame, FrameKind::Nodes));
    let last = Node::empty(Version(pebble_store_object::COUNTER_LIMIT - 1));
    wait(&mut store, |store| store.set_node(id, &last));
    wait(&mut store, |store| store.deallocate(frame));
    checkpoint(&mut store);
    let mut store = opened(store.into_disks());
    let _ = wait(&mut store, |store| store.tag(frame));
    assert_eq!(
        store.allocate(frame, FrameKind::DataPage),
        Err(Stop::Error(Error::Retired { frame }))
    );
}

/// A cut in the middle of a journal record, and two starts after it with records of their own.
#[test]
fn a_torn_journal_record_is_forgotten_by_every_later_start() {
    let mut store = opened(formatted(ROOMY, 1));
    for frame in [1, 2] {
        fill(&mut store, frame, 1);
    }
    checkpoint(&mut store);
    for frame in [1, 2] {
        fill(&mut store, frame, 2);
    }
    wait(&mut store, |store| {
        store.journal(&[ObjectFrame(1), ObjectFrame(2)])
    });
    store.poll();
    let mut disk = store.into_disks().remove(0);
    assert_eq!(
        disk.volatile.len(),
        3,
        "two pages and a record, not flushed"
    );
    // One of the pages does not arrive.
    let record = 2 + ROOMY.log..2 + ROOMY.log + ROOMY.journal / 4;
    let page = disk
        .volatile
        .iter()
        .position(|(at, _)| !record.contains(at));
    disk.volatile.remove(page.unwrap());
    let mut store = opened(vec![disk.cut(|_| true)]);
    assert_eq!([1, 2].map(|frame| byte(&mut store, frame)), [1, 1]);
    for start in 3..6 {
        fill(&mut store, 1, start);
        let record = wait(&mut store, |store| store.journal(&[ObjectFrame(1)]));
        while store.journaled() <= record {
            store.poll();
        }
        let disks = store
            .into_disks()
            .into_iter()
            .map(|disk| disk.cut(|_| false))
            .collect();
        store = opened(disks);
        assert_eq!([1, 2].map(|frame| byte(&mut store, frame)), [start, 1]);
    }
}

#[test]
fn a_volume_that_was_not_formatted_to_the_end_does_not_open() {
    let disk = (MemoryDisk::new(TIGHT.total()), TIGHT.plan(0));
    let mut formatter = Formatter::volume(vec![disk], 77, 0).unwrap();
    let mut polls = 0;
    while !formatter.poll().unwrap() {
        polls += 1;
    }
    for stopped in 0..polls {
        let disk = (MemoryDisk::new(TIGHT.total()), TIGHT.plan(0));
        let mut formatter = Formatter::volume(vec![disk], 77, 0).unwrap();
        for _ in 0..stopped {
            assert!(!formatter.poll().unwrap());
        }
        let disk = formatter.into_disks().remove(0).cut(|_| false);
        let store = open(vec![disk], small());
        assert_eq!(store.status(), Status::Stopped, "after {stopped} polls");
    }
}

#[test]
fn what_is_pinned_stays_in_memory() {
    let mut store = opened(formatted(ROOMY, 1));
    let frames = small().cache_frames as u64;
    for frame in 0..3 * frames {
        fill(&mut store, frame, frame as u8);
    }
    checkpoint(&mut store);
    let read = |store: &mut Store<MemoryDisk>| {
        let before = store.counters().fetches;
        assert_eq!(byte(store, 0), 0);
        store.counters().fetches - before
    };
    for pinned in [true, false] {
        read(&mut store);
        if pinned {
            store.pin(ObjectFrame(0)).unwrap();
        }
        for frame in 1..3 * frames {
            assert_eq!(byte(&mut store, frame), frame as u8);
        }
        assert_eq!(read(&mut store), u64::from(!pinned));
        store.unpin(ObjectFrame(0));
    }
}
