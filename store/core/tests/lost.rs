//! An object that is lost for good: its tag says so until it is written as a whole or given back.

mod support;

use pebble_store::{Error, Parameters, Stop, Store, Verify};
use pebble_store_format::{node_id, FrameKind, Node, ObjectFrame};
use pebble_store_object::Version;
use support::*;

const PAGE: u64 = 5;
const NODES: u64 = 6;

fn parameters() -> Parameters {
    Parameters {
        keep_generations: 1,
        verify: Verify::Lazily,
        ..small()
    }
}

/// A store whose page 5 and pot 6 are in the log.
fn saved() -> Store<MemoryDisk> {
    let mut store = open(formatted(ROOMY, 1), parameters());
    fill(&mut store, PAGE, 0xAB);
    let pot = ObjectFrame(NODES);
    wait(&mut store, |store| store.allocate(pot, FrameKind::Nodes));
    wait(&mut store, |store| {
        store.set_node(node_id(pot, 2), &Node::empty(Version(7)))
    });
    checkpoint(&mut store);
    store
}

/// Spoils what the log has of page 5 and pot 6.
fn spoil(disk: &mut MemoryDisk) {
    let log = disk.frames[6..2 + ROOMY.log as usize].iter_mut();
    let number = (NODES << 3).to_le_bytes();
    let objects =
        log.filter(|frame| frame.iter().all(|byte| *byte == 0xAB) || frame[..8] == number);
    assert_eq!(objects.map(|frame| frame[1000] ^= 1).count(), 2);
}

/// A store whose page 5 and pot 6 were lost in the log before they came home.
fn lost() -> Store<MemoryDisk> {
    // Nothing has come home yet: that begins with the next commit.
    let mut disks = saved_before_migration();
    spoil(&mut disks[0]);
    let mut store = open(disks, parameters());
    for round in 0..3 {
        fill(&mut store, 9, round);
        checkpoint(&mut store);
    }
    assert_eq!(store.counters().lost_objects, 2);
    open(store.into_disks(), parameters())
}

/// The disks just after the commit, with home as it was when it was formatted.
fn saved_before_migration() -> Vec<MemoryDisk> {
    let mut disks = saved().into_disks();
    for disk in &mut disks {
        let home = 2 + (ROOMY.log + ROOMY.journal) as usize;
        let fresh = formatted(ROOMY, 1).remove(0);
        disk.frames[home..].copy_from_slice(&fresh.frames[home..]);
        disk.volatile.retain(|(at, _)| (*at as usize) < home);
    }
    disks
}

fn error(store: &mut Store<MemoryDisk>, frame: u64) -> Option<Error> {
    for _ in 0..10_000 {
        match store.read(ObjectFrame(frame)).map(drop) {
            Ok(()) => return None,
            Err(Stop::Wait(_)) => {
                store.poll();
            }
            Err(Stop::Error(error)) => return Some(error),
        }
    }
    panic!("never read");
}

fn is_lost(frame: u64) -> Option<Error> {
    let frame = ObjectFrame(frame);
    Some(Error::Lost { frame })
}

#[test]
fn the_loss_is_told_to_every_reader_after_every_start() {
    let mut store = lost();
    for _ in 0..3 {
        assert_eq!(error(&mut store, PAGE), is_lost(PAGE));
        assert_eq!(error(&mut store, NODES), is_lost(NODES));
        let tag = wait(&mut store, |store| store.tag(ObjectFrame(PAGE)));
        assert!(tag.lost && tag.kind == FrameKind::DataPage, "{tag:?}");
        fill(&mut store, 9, 1);
        checkpoint(&mut store);
        store = open(store.into_disks(), parameters());
    }
    let text = is_lost(PAGE).map(|error| error.to_string());
    assert!(text.is_some_and(|text| text.contains("write it as a whole")));
}

#[test]
fn writing_it_as_a_whole_ends_that() {
    let mut store = lost();
    let refused = store.write(ObjectFrame(PAGE)).map(drop);
    assert!(matches!(refused, Err(Stop::Wait(_) | Stop::Error(_))));
    wait(&mut store, |store| {
        let contents = store.overwrite(ObjectFrame(PAGE))?;
        assert!(contents.iter().all(|byte| *byte == 0));
        contents.fill(0xCD);
        Ok(())
    });
    assert_eq!(byte(&mut store, PAGE), 0xCD);
    for round in 0..3 {
        checkpoint(&mut store);
        fill(&mut store, 9, round);
        store = open(store.into_disks(), parameters());
        assert_eq!(byte(&mut store, PAGE), 0xCD);
    }
    // At home by now, with a tag that is like any other.
    let tag = wait(&mut store, |store| store.tag(ObjectFrame(PAGE)));
    assert!(!tag.lost);
}

#[test]
fn a_whole_write_that_was_not_committed_leaves_it_lost() {
    let mut store = lost();
    wait(&mut store, |store| {
        store.overwrite(ObjectFrame(PAGE)).map(drop)
    });
    let mut store = open(store.into_disks(), parameters());
    assert_eq!(error(&mut store, PAGE), is_lost(PAGE));
}

#[test]
fn giving_it_back_ends_that_and_no_old_capability_is_good() {
    let mut store = lost();
    for (frame, version) in [(PAGE, 1), (NODES, 8)] {
        let frame = ObjectFrame(frame);
        wait(&mut store, |store| store.deallocate(frame));
        let tag = wait(&mut store, |store| store.tag(frame));
        assert_eq!(
            (tag.kind, tag.version.0, tag.lost),
            (FrameKind::Unused, version, false)
        );
        let kind = FrameKind::DataPage;
        wait(&mut store, |store| store.allocate(frame, kind));
    }
    checkpoint(&mut store);
    assert_eq!(byte(&mut store, NODES), 0);
}

#[test]
fn nodes_cannot_be_written_as_a_whole() {
    let mut store = lost();
    // Reading the tag takes a poll or two.
    wait(&mut store, |store| store.tag(ObjectFrame(NODES)));
    let refused = store.overwrite(ObjectFrame(NODES)).map(drop);
    assert!(matches!(
        refused,
        Err(Stop::Error(Error::WrongKind {
            found: FrameKind::Nodes,
            ..
        }))
    ));
}

#[test]
fn what_had_come_home_before_is_not_lost() {
    let mut store = saved();
    settle(&mut store);
    let mut disks = store.into_disks();
    // Everything that was written has reached the disk, and is home; the header does not say so yet.
    for disk in &mut disks {
        *disk = disk.clone().cut(|_| true);
        spoil(disk);
    }
    let mut store = open(disks, parameters());
    for round in 0..3 {
        fill(&mut store, 9, round);
        checkpoint(&mut store);
    }
    assert_eq!(store.counters().lost_objects, 0);
    let mut store = open(store.into_disks(), parameters());
    assert_eq!(byte(&mut store, PAGE), 0xAB);
    assert_eq!(error(&mut store, NODES), None);
}

#[test]
fn a_page_that_was_journaled_after_its_loss_is_found_again() {
    let mut store = lost();
    wait(&mut store, |store| {
        store
            .overwrite(ObjectFrame(PAGE))
            .map(|contents| contents.fill(0xEF))
    });
    let record = wait(&mut store, |store| store.journal(&[ObjectFrame(PAGE)]));
    for _ in 0..1000 {
        store.poll();
    }
    assert!(store.journaled() > record);
    let mut store = open(store.into_disks(), parameters());
    assert_eq!(store.counters().journal_replays, 1);
    assert_eq!(byte(&mut store, PAGE), 0xEF);
}

#[test]
fn what_is_still_in_memory_as_it_was_saved_is_not_lost() {
    let parameters = Parameters {
        keep_generations: 4,
        ..parameters()
    };
    let mut store = open(formatted(ROOMY, 1), parameters.clone());
    fill(&mut store, PAGE, 0xAB);
    fill(&mut store, 7, 0xAC);
    checkpoint(&mut store);
    let disk = store.disk_mut(0).unwrap();
    let log = disk.frames[6..2 + ROOMY.log as usize].iter_mut();
    let saved = log.filter(|frame| matches!(frame[4000], 0xAB | 0xAC));
    assert_eq!(saved.map(|frame| frame[1000] ^= 1).count(), 2);
    // One of them is something else in memory by now, and newer on disk.
    fill(&mut store, 7, 0xAD);
    for round in 0..8 {
        fill(&mut store, 9, round);
        checkpoint(&mut store);
    }
    assert_eq!(store.counters().lost_objects, 0);
    let mut store = open(store.into_disks(), parameters);
    assert_eq!(byte(&mut store, PAGE), 0xAB);
    assert_eq!(byte(&mut store, 7), 0xAD);
}
