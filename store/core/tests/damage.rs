//! Damage to memory, and what the consistency check says of it before anything is committed.
#![cfg(feature = "mutants")]

mod support;

use pebble_store::{Corruption, Error, Mutant, Parameters, Status, Store};
use pebble_store_format::{node_id, FrameKind, Node, ObjectFrame};
use pebble_store_object::Version;
use support::*;

const SAVED: u64 = 1;
const CHANGED: u64 = 2;
const NODES: u64 = 3;

/// A store with an object that is saved, one that is changed, and a changed pot of nodes.
fn prepared() -> Store<MemoryDisk> {
    let mut store = opened(formatted(ROOMY, 1));
    for frame in [SAVED, CHANGED] {
        fill(&mut store, frame, 1);
    }
    let pot = ObjectFrame(NODES);
    wait(&mut store, |store| store.allocate(pot, FrameKind::Nodes));
    wait(&mut store, |store| {
        store.set_node(node_id(pot, 2), &Node::empty(Version(3)))
    });
    checkpoint(&mut store);
    fill(&mut store, CHANGED, 2);
    wait(&mut store, |store| {
        store.set_node(node_id(pot, 2), &Node::empty(Version(4)))
    });
    store
}

#[test]
fn every_damage_is_found_before_the_commit() {
    let cases = [
        (SAVED, Corruption::Byte { at: 0, flip: 1 }),
        (
            SAVED,
            Corruption::Byte {
                at: 4095,
                flip: 0x80,
            },
        ),
        (SAVED, Corruption::ContentsLost),
        (
            SAVED,
            Corruption::OtherFrame {
                frame: ObjectFrame(9),
            },
        ),
        (
            SAVED,
            Corruption::OtherFrame {
                frame: ObjectFrame(1 << 50),
            },
        ),
        (
            SAVED,
            Corruption::Kind {
                kind: FrameKind::Nodes,
            },
        ),
        (SAVED, Corruption::Version { version: 5 }),
        (SAVED, Corruption::Checksum { flip: 4 }),
        (SAVED, Corruption::Null),
        (SAVED, Corruption::ChangeInvented { epoch: 3 }),
        (SAVED, Corruption::ChangeInvented { epoch: 1 }),
        (SAVED, Corruption::Unmapped),
        (SAVED, Corruption::IndexedAt { log: 1 << 40 }),
        (SAVED, Corruption::IndexChecksum { flip: 1 }),
        (SAVED, Corruption::IndexVersion { version: 7 }),
        (CHANGED, Corruption::ContentsLost),
        (
            CHANGED,
            Corruption::OtherFrame {
                frame: ObjectFrame(9),
            },
        ),
        (
            CHANGED,
            Corruption::Kind {
                kind: FrameKind::Nodes,
            },
        ),
        (
            CHANGED,
            Corruption::Kind {
                kind: FrameKind::Unused,
            },
        ),
        (CHANGED, Corruption::Null),
        (CHANGED, Corruption::ChangeForgotten),
        (CHANGED, Corruption::Unlisted),
        (CHANGED, Corruption::Unmapped),
        (CHANGED, Corruption::IndexVersion { version: 1 }),
        (NODES, Corruption::Byte { at: 0, flip: 1 }),
        (
            NODES,
            Corruption::Byte {
                at: 800 + 14,
                flip: 0x7F,
            },
        ),
        (
            NODES,
            Corruption::Byte {
                at: 1600 + 32 + 14,
                flip: 0x40,
            },
        ),
        (NODES, Corruption::Byte { at: 4090, flip: 1 }),
        (NODES, Corruption::Version { version: 3 }),
        (
            NODES,
            Corruption::Kind {
                kind: FrameKind::CapabilityPage,
            },
        ),
        (NODES, Corruption::IndexVersion { version: 9 }),
    ];
    for (frame, corruption) in cases {
        let mut store = prepared();
        let committed = store.committed();
        assert!(
            store.corrupt(ObjectFrame(frame), corruption),
            "{corruption:?}"
        );
        store.snapshot(Vec::new(), 0, 0).unwrap();
        settle(&mut store);
        assert!(
            matches!(store.failure(), Some(Error::Inconsistent(_))),
            "{frame} {corruption:?}: {:?}",
            store.failure()
        );
        assert_eq!(store.committed(), committed);
        // The system starts again from the checkpoint before.
        let mut store = opened(store.into_disks());
        assert_eq!(byte(&mut store, SAVED), 1);
        assert_eq!(byte(&mut store, CHANGED), 1);
    }
}

#[test]
fn damage_between_look_and_disk_is_found() {
    let mut store = prepared();
    for frame in 10..20 {
        fill(&mut store, frame, 1);
    }
    store.snapshot(Vec::new(), 0, 0).unwrap();
    // Three objects are looked at with each poll, so that the last one has been looked at after so many, and is not sent.
    for _ in 0..4 {
        store.poll();
    }
    assert!(store.corrupt(ObjectFrame(CHANGED), Corruption::Byte { at: 99, flip: 1 }));
    settle(&mut store);
    assert!(
        matches!(store.failure(), Some(Error::Inconsistent(_))),
        "{:?}",
        store.failure()
    );
}

#[test]
fn the_background_check_finds_it_without_a_checkpoint() {
    let mut store = prepared();
    assert_eq!(store.check(100), None);
    store.corrupt(ObjectFrame(SAVED), Corruption::Byte { at: 7, flip: 2 });
    assert!(store.check(100).is_some());
}

/// Every mistake leaves a store that runs: what is wrong shows after crashes, and is for the crash tests to find.
#[test]
fn every_mutant_runs_until_somebody_notices() {
    assert!(Mutant::ALL.len() >= 30);
    for mutant in Mutant::ALL {
        let parameters = Parameters {
            mutant: Some(*mutant),
            ..small()
        };
        let mut store = open(formatted(ROOMY, 1), parameters);
        assert_eq!(store.status(), Status::Running, "{mutant:?}");
        for round in 0..40 {
            store.poll();
            if store
                .allocate(ObjectFrame(round), FrameKind::DataPage)
                .is_ok()
                && round % 9 == 0
            {
                let _ = store.snapshot(Vec::new(), 0, 0);
            }
        }
    }
}
