//! Several disks: one is lost, comes back, is brought up to date; bad reads; failed flushes.

mod support;

use pebble_store::{Due, Error, Finding, Parameters, Status, Stop, Verify, Wait};
use pebble_store_device::FRAME_SIZE;
use pebble_store_format::ObjectFrame;
use support::*;

#[test]
fn either_disk_alone_has_everything() {
    let mut store = opened(formatted(ROOMY, 2));
    for frame in 0..40 {
        fill(&mut store, frame, frame as u8);
    }
    checkpoint(&mut store);
    settle(&mut store);
    for alone in store.into_disks() {
        let mut store = opened(vec![alone]);
        assert_eq!(store.checkpoint_due(), Some(Due::Replicas));
        for frame in 0..40 {
            assert_eq!(byte(&mut store, frame), frame as u8);
        }
    }
}

#[test]
fn a_disk_lost_in_the_middle_stops_nothing_and_is_brought_up_to_date_later() {
    let mut store = opened(formatted(TIGHT, 2));
    for round in 0..30u64 {
        fill(&mut store, round * 11 % 240, round as u8);
        if round == 12 {
            store.disk_mut(0).unwrap().dead = true;
        }
    }
    checkpoint(&mut store);
    assert_eq!(store.counters().lost_disks, 1);
    let mut disks = store.into_disks();
    disks[0].dead = false;
    let disks: Vec<MemoryDisk> = disks.into_iter().map(|disk| disk.cut(|_| false)).collect();
    // The disk that was lost is not believed, and is rewritten while the store runs.
    let mut store = opened(disks);
    for round in 0..60u64 {
        fill(&mut store, round * 17 % 240, 100 + round as u8);
    }
    settle(&mut store);
    if store.checkpoint_due() == Some(Due::Replicas) {
        checkpoint(&mut store);
    }
    settle(&mut store);
    assert_eq!(store.counters().resyncs, 1, "{:?}", store.counters());
    let expected: Vec<u8> = (0..240).map(|frame| byte(&mut store, frame)).collect();
    checkpoint(&mut store);
    for alone in store.into_disks() {
        let mut store = opened(vec![alone.cut(|_| false)]);
        let found: Vec<u8> = (0..240).map(|frame| byte(&mut store, frame)).collect();
        assert_eq!(found, expected);
    }
}

#[test]
fn installing_is_mirroring_to_a_new_disk() {
    let mut store = opened(formatted(ROOMY, 1));
    for frame in 0..30 {
        fill(&mut store, frame * 20, frame as u8);
    }
    checkpoint(&mut store);
    assert!(store.attach(replica(ROOMY, 1)).is_ok());
    // Until it is complete, the new disk does not open by itself.
    let early = store.disk(1).unwrap().clone().cut(|_| true);
    assert_eq!(open(vec![early], small()).status(), Status::Stopped);
    for round in 0..10 {
        fill(&mut store, 3, round);
        store.poll();
    }
    settle(&mut store);
    assert_eq!(store.checkpoint_due(), Some(Due::Replicas));
    checkpoint(&mut store);
    assert_eq!(store.counters().resyncs, 1);
    let installed = store.into_disks().remove(1).cut(|_| false);
    let mut store = opened(vec![installed]);
    assert_eq!(byte(&mut store, 3), 9);
    for frame in 1..30 {
        assert_eq!(byte(&mut store, frame * 20), frame as u8);
    }
}

#[test]
fn disks_that_were_used_one_without_the_other_are_not_mixed() {
    let mut disks = formatted(ROOMY, 2);
    for (number, disk) in disks.iter_mut().enumerate() {
        let mut store = opened(vec![disk.clone()]);
        fill(&mut store, 1, number as u8);
        checkpoint(&mut store);
        *disk = store.into_disks().remove(0);
    }
    let store = open(disks.clone(), small());
    assert_eq!(
        store.failure(),
        Some(&Error::SplitReplicas { one: 1, other: 0 })
    );
    let mut store = open(
        disks,
        Parameters {
            follow: Some(0),
            ..small()
        },
    );
    assert_eq!(byte(&mut store, 1), 0);
}

#[test]
fn a_damaged_frame_is_answered_by_the_other_disk() {
    let mut store = opened(formatted(ROOMY, 2));
    for frame in 0..40 {
        fill(&mut store, frame, 1 + frame as u8);
    }
    checkpoint(&mut store);
    settle(&mut store);
    let mut disks: Vec<MemoryDisk> = store
        .into_disks()
        .into_iter()
        .map(|disk| disk.cut(|_| false))
        .collect();
    // Every other frame of the log on one disk, the rest on the other, is unreadable or something else.
    for at in 2 + 4..2 + ROOMY.log {
        let disk = &mut disks[at as usize / 3 % 2];
        match at % 4 {
            0 | 1 => disk.unreadable.push(at),
            _ => disk.frames[at as usize] = [0xDB; FRAME_SIZE],
        }
    }
    let mut store = opened(disks);
    for frame in 0..40 {
        assert_eq!(byte(&mut store, frame), 1 + frame as u8);
    }
    assert!(
        store.counters().repaired_reads > 10,
        "{:?}",
        store.counters()
    );
}

#[test]
fn lost_contents_are_an_error_and_not_something_else() {
    let mut store = opened(formatted(ROOMY, 1));
    for frame in 0..10 {
        fill(&mut store, frame, 0x5A);
    }
    checkpoint(&mut store);
    let mut disks: Vec<MemoryDisk> = store
        .into_disks()
        .into_iter()
        .map(|disk| disk.cut(|_| false))
        .collect();
    for contents in disks[0]
        .frames
        .iter_mut()
        .filter(|contents| contents[0] == 0x5A)
    {
        contents[77] ^= 1;
    }
    let parameters = Parameters {
        verify: Verify::Lazily,
        ..small()
    };
    let mut store = open(disks, parameters);
    for _ in 0..100 {
        store.poll();
        match store.read(ObjectFrame(4)) {
            Err(Stop::Wait(Wait::Object)) => {}
            other => {
                let frame = ObjectFrame(4);
                assert_eq!(other.map(drop), Err(Stop::Error(Error::Damaged { frame })));
                return;
            }
        }
    }
    panic!("no answer");
}

#[test]
fn after_a_failed_flush_nothing_is_committed_any_more() {
    let mut store = opened(formatted(ROOMY, 1));
    fill(&mut store, 1, 1);
    checkpoint(&mut store);
    let committed = store.committed();
    fill(&mut store, 1, 2);
    store.disk_mut(0).unwrap().bad_flush = true;
    store.snapshot(Vec::new(), 0, 0).unwrap();
    settle(&mut store);
    assert_eq!(store.status(), Status::Stopped);
    assert!(matches!(
        store.failure(),
        Some(Error::Disk {
            request: "flush",
            ..
        })
    ));
    assert_eq!(store.committed(), committed);
    fill_is_refused(&mut store);
    let disks = store
        .into_disks()
        .into_iter()
        .map(|disk| disk.cut(|_| false))
        .collect();
    assert_eq!(byte(&mut opened(disks), 1), 1);
}

fn fill_is_refused(store: &mut pebble_store::Store<MemoryDisk>) {
    assert_eq!(
        store.snapshot(Vec::new(), 0, 0),
        Err(Stop::Error(Error::Stopped))
    );
    assert_eq!(byte(store, 1), 2, "what is in memory can still be read");
}

#[test]
fn a_failed_flush_of_one_of_two_disks_costs_only_that_disk() {
    let mut store = opened(formatted(ROOMY, 2));
    fill(&mut store, 1, 1);
    store.disk_mut(1).unwrap().bad_flush = true;
    checkpoint(&mut store);
    assert_eq!(store.counters().lost_disks, 1);
    let disks = store
        .into_disks()
        .into_iter()
        .map(|disk| disk.cut(|_| false))
        .collect();
    assert_eq!(byte(&mut opened(disks), 1), 1);
}

#[test]
fn an_unreadable_header_slot_is_not_taken_for_an_old_one() {
    let mut store = opened(formatted(ROOMY, 1));
    fill(&mut store, 1, 1);
    checkpoint(&mut store);
    fill(&mut store, 1, 2);
    checkpoint(&mut store);
    let mut disks: Vec<MemoryDisk> = store
        .into_disks()
        .into_iter()
        .map(|disk| disk.cut(|_| false))
        .collect();
    // Header 3, the newest, is in slot 1.
    disks[0].unreadable.push(2 + 1);
    let store = open(disks.clone(), small());
    assert_eq!(
        store.failure(),
        Some(&Error::HeaderUnreadable { disk: 0, slot: 1 })
    );
    let mut store = open(
        disks,
        Parameters {
            accept_older: true,
            ..small()
        },
    );
    assert_eq!(byte(&mut store, 1), 1);
}

#[test]
fn an_object_that_changed_without_leave_is_found_and_nothing_is_committed() {
    let mut store = opened(formatted(ROOMY, 1));
    fill(&mut store, 1, 1);
    checkpoint(&mut store);
    assert_eq!(store.check(1000), None);
    // The check has nothing to find in a store that is used properly; what it finds otherwise is tested with damage.
    fill(&mut store, 2, 1);
    store.snapshot(Vec::new(), 0, 0).unwrap();
    fill(&mut store, 2, 2);
    assert_eq!(store.check(1000), None::<Finding>);
    settle(&mut store);
    assert_eq!(store.status(), Status::Running);
}

#[test]
fn an_older_generation_can_be_started_when_the_newest_is_damaged() {
    let mut store = opened(formatted(ROOMY, 1));
    for round in 0..3 {
        fill(&mut store, 1, round);
        checkpoint(&mut store);
    }
    let disks = store
        .into_disks()
        .into_iter()
        .map(|disk| disk.cut(|_| false));
    let mut disks: Vec<MemoryDisk> = disks.collect();
    let newest = disks[0]
        .frames
        .iter()
        .rposition(|frame| frame[..8] == *b"PebGener");
    disks[0].frames[newest.unwrap()][100] ^= 1;
    let store = open(disks.clone(), small());
    assert!(
        matches!(store.failure(), Some(Error::Record { .. })),
        "{:?}",
        store.failure()
    );
    let parameters = Parameters {
        generation: Some(3),
        ..small()
    };
    let mut store = open(disks, parameters);
    assert_eq!(store.status(), Status::Running, "{:?}", store.failure());
    assert_eq!(byte(&mut store, 1), 1);
}

/// Damaged images open, or are refused; they do not stop the program, and what they claim does not cost memory.
#[test]
fn damaged_volumes_are_opened_or_refused() {
    let mut store = opened(formatted(TIGHT, 1));
    for round in 0..40u64 {
        fill(&mut store, round * 11 % 240, round as u8);
    }
    wait(&mut store, |store| {
        store.journal(&[ObjectFrame(5)]).or_else(|stop| match stop {
            Stop::Error(_) => Ok(0),
            wait => Err(wait),
        })
    });
    checkpoint(&mut store);
    let image = store.into_disks().remove(0).cut(|_| true);
    let mut random = 99_u64;
    let mut next = |limit: usize| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (random >> 33) as usize % limit
    };
    let mut outcomes = [0, 0];
    for _ in 0..400 {
        let mut disk = image.clone();
        for _ in 0..1 + next(4) {
            let (at, other) = (next(40), next(disk.frames.len()));
            match next(3) {
                0 => disk.frames[at][next(FRAME_SIZE)] ^= 1 << next(8),
                1 => disk.frames[at] = disk.frames[other],
                _ => disk.unreadable.push(at as u64),
            }
        }
        let mut store = open(vec![disk], small());
        outcomes[usize::from(store.status() == Status::Running)] += 1;
        for _ in 0..20 {
            let _ = store.read(ObjectFrame(next(300) as u64));
            store.poll();
        }
    }
    assert!(outcomes[0] > 20 && outcomes[1] > 20, "{outcomes:?}");
}
