//! Both readers of the format agree: the store's recovery takes what was built, and what the store leaves on its disks is
//! read the same here, at every moment.

mod common;

use std::collections::VecDeque;

use common::{build, frame, newest};
use pebble_store::{Parameters, Status, Stop, Store};
use pebble_store_device::{BlockDevice, Completion, Error as DeviceError, Request, Tag};
use pebble_store_format::{node_id, FrameKind, ObjectFrame};
use pebble_store_image::{check, Builder, Layout, Media, Memory, Severity, Volume};

/// A disk that does at once what it is told, and remembers in which order it was told to write.
struct Disk {
    image: Memory,
    answers: VecDeque<Completion>,
    writes: Vec<(u64, Vec<u8>)>,
}

impl BlockDevice for Disk {
    fn frames(&self) -> u64 {
        self.image.frames()
    }

    fn submit(&mut self, tag: Tag, request: Request) -> Result<(), Request> {
        let (buffer, result) = match request {
            Request::Read { at, mut buffer } => {
                let result = self.image.read(at, &mut buffer);
                (Some(buffer), result)
            }
            Request::Write { at, buffer } => {
                self.writes.push((at, buffer.to_vec()));
                let result = self.image.write(at, &buffer);
                (Some(buffer), result)
            }
            Request::Flush => (None, Ok(())),
        };
        self.answers.push_back(Completion {
            tag,
            buffer,
            result: result.map_err(|_| DeviceError::OutOfRange),
        });
        Ok(())
    }

    fn poll(&mut self) -> Option<Completion> {
        self.answers.pop_front()
    }
}

fn started(media: Vec<Memory>, parameters: Parameters) -> Store<Disk> {
    let disks = media.into_iter().map(|image| Disk {
        image,
        answers: VecDeque::new(),
        writes: Vec::new(),
    });
    let mut store = Store::open(disks.collect(), parameters);
    for _ in 0..10_000 {
        if store.poll() != Status::Opening {
            break;
        }
    }
    store
}

fn open(media: Vec<Memory>) -> Store<Disk> {
    let parameters = Parameters {
        restart_limit: 2,
        cache_frames: 32,
        ..Parameters::default()
    };
    let store = started(media, parameters);
    assert_eq!(store.status(), Status::Running, "{:?}", store.failure());
    store
}

/// Repeats an operation until it need not wait; begins checkpoints that are due.
fn wait<T>(
    store: &mut Store<Disk>,
    mut operation: impl FnMut(&mut Store<Disk>) -> Result<T, Stop>,
) -> T {
    for _ in 0..10_000 {
        match operation(store) {
            Ok(done) => return done,
            Err(Stop::Wait(_)) => {
                store.poll();
                if store.checkpoint_due().is_some() {
                    let _ = store.snapshot(Vec::new(), 0, 0);
                }
            }
            Err(Stop::Error(error)) => panic!("{error}"),
        }
    }
    panic!("waits for ever")
}

fn settle(store: &mut Store<Disk>) {
    for _ in 0..10_000 {
        store.poll();
        if !store.busy() {
            return;
        }
    }
    panic!("never comes to rest")
}

#[test]
fn recovery_takes_what_was_built() {
    for disks in 1..=2 {
        let media = build(disks).expect("built");
        let mut volume = Volume::open(media.clone()).expect("an image");
        let (_, snapshot) = newest(&mut volume).expect("a generation");
        let mut store = open(media);
        let recovered = store.recovered().expect("open").clone();
        assert_eq!((recovered.generation, recovered.time), (1, snapshot.time));
        assert_eq!(recovered.restart, snapshot.restart);
        for object in &snapshot.objects {
            assert_eq!(
                wait(&mut store, |store| store.tag(object.frame)),
                object.tag
            );
            let wanted = volume.contents(object).expect("right");
            if object.tag.kind == FrameKind::Nodes {
                let id = node_id(object.frame, 2);
                let node = wait(&mut store, |store| store.node(id));
                assert_eq!(node.slots[4].data, 0);
                assert_eq!(node.slots[3].object, pebble_store_format::page_id(frame(3)));
            } else {
                let found = wait(&mut store, |store| store.read(object.frame).copied());
                assert_eq!(found, wanted.map_or([0; 4096], |wanted| *wanted));
            }
        }
        let unused = wait(&mut store, |store| store.tag(frame(100)));
        assert_eq!(unused.kind, FrameKind::Unused);
    }
}

#[test]
fn a_log_of_40_frames_is_the_least_that_usual_parameters_open() {
    for (log, status) in [(39, Status::Stopped), (40, Status::Running)] {
        let layout = Layout {
            log,
            ..common::layout()
        };
        let media = vec![Memory::zeros(layout.frames())];
        let builder = Builder::new(media, layout).expect("a layout");
        let media = builder.finish(&mut |_, _| {}).expect("room");
        let store = started(media, Parameters::default());
        assert_eq!(store.status(), status, "{:?}", store.failure());
    }
}

/// A store that has run for a while: generations that overlap, migrations, a journaled page.
fn used(disks: usize) -> Store<Disk> {
    let mut store = open(build(disks).expect("built"));
    for round in 0..14_u8 {
        for place in [1, 10 + u64::from(round), 270] {
            let at: ObjectFrame = frame(place);
            if wait(&mut store, |store| store.tag(at)).kind == FrameKind::Unused {
                wait(&mut store, |store| store.allocate(at, FrameKind::DataPage));
            }
            wait(&mut store, |store| {
                store.write(at).map(|page| page.fill(round + 1))
            });
        }
        let restart = store.recovered().map(|recovered| recovered.restart.clone());
        let restart = restart.unwrap_or_default();
        wait(&mut store, |store| {
            store.snapshot(restart.clone(), 1000 + u64::from(round), 0)
        });
        settle(&mut store);
    }
    wait(&mut store, |store| {
        store.write(frame(1)).map(|page| page.fill(99))
    });
    wait(&mut store, |store| store.journal(&[frame(1)]));
    settle(&mut store);
    store
}

#[test]
fn what_the_store_leaves_is_read_the_same() {
    for disks in 1..=2 {
        let mut store = used(disks);
        let committed = store.committed();
        let bootable = store.bootable();
        let mut wanted = Vec::new();
        for place in [1, 2, 3, 10, 15, 260, 270] {
            wanted.push((
                frame(place),
                wait(&mut store, |store| store.read(frame(place)).copied()),
            ));
        }
        let media: Vec<Memory> = store
            .into_disks()
            .into_iter()
            .map(|disk| disk.image)
            .collect();
        let mut volume = Volume::open(media.clone()).expect("an image");
        let (report, error) = check(&mut volume, &mut |_, _| {});
        assert_eq!(
            (error, report.is_clean()),
            (None, true),
            "{:?}",
            report.findings
        );
        let (generations, snapshot) = newest(&mut volume).expect("a generation");
        assert_eq!(snapshot.generation, committed);
        let mut listed: Vec<u64> = generations
            .iter()
            .map(|one| one.header.generation)
            .collect();
        listed.retain(|number| *number >= volume.oldest(&generations));
        listed.sort_unstable();
        let mut bootable = bootable;
        bootable.sort_unstable();
        assert_eq!(listed, bootable);
        for (at, contents) in &wanted {
            let object = snapshot
                .objects
                .iter()
                .find(|object| object.frame == *at)
                .expect("in use");
            let found = volume.contents(object).expect("right");
            assert_eq!(found.map_or([0; 4096], |found| *found), *contents, "{at:?}");
        }
        assert_eq!(wanted[0].1, [99; 4096], "journaled");
        // The generation before the newest, as it was then.
        let before = volume
            .snapshot(&generations, Some(committed - 1), &mut |_, _| {})
            .expect("listed");
        let page = before
            .objects
            .iter()
            .find(|object| object.frame == frame(1))
            .expect("in use");
        assert_eq!(
            volume.contents(page).expect("right").as_deref(),
            Some(&[13; 4096])
        );
        assert_eq!(before.time, 1012);
    }
}

#[test]
fn at_every_moment_a_cut_leaves_an_image_that_can_be_checked_and_sent() {
    let store = used(1);
    let writes = store.into_disks().remove(0).writes;
    assert!(writes.len() > 100, "{}", writes.len());
    let mut image = build(1).expect("built").remove(0);
    for (number, (at, contents)) in writes.iter().enumerate() {
        let bytes = &mut image.0[*at as usize * 4096..][..4096];
        // The write that the cut hit is torn in the middle.
        bytes[..1000].copy_from_slice(&contents[..1000]);
        for torn in [true, false] {
            if !torn {
                image.0[*at as usize * 4096..][..4096].copy_from_slice(contents);
            }
            let mut volume = Volume::open(vec![image.clone()]).expect("an image");
            let (report, error) = check(&mut volume, &mut |_, _| {});
            assert_eq!(error, None, "write {number}");
            assert!(
                report.worst < Some(Severity::Loss),
                "write {number}: {:?}",
                report.findings
            );
            let (_, snapshot) = newest(&mut volume).expect("a generation");
            let mut sent = 0;
            let done = pebble_store_image::send(
                &mut volume,
                &snapshot,
                &mut |bytes| {
                    sent += bytes.len();
                    Ok(())
                },
                &mut |_, _| {},
            );
            assert_eq!(done, Ok(()), "write {number}");
            assert!(sent > 1024);
        }
    }
}
