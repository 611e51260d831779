//! Arbitrary images, opened by the store itself and by the checker.

use pebble_store::{Status, Stop, Store};
use pebble_store_device::FRAME_SIZE;
use pebble_store_format::{FrameKind, ObjectFrame};
use pebble_store_image::{check, Media, Memory, Volume};

use crate::base::{images, parameters};
use crate::disk::{Disk, Patience};
use crate::edit::Input;
use crate::seal::{right_seed, seal};

/// Requests that a run may make. The good image needs a few hundred.
const PATIENCE: u64 = 100_000;
/// Polls that a run may take.
const POLLS: usize = 100_000;
/// Changes of an image; more make it no more interesting.
const CHANGES: usize = 24;

/// The images that an input makes: one disk or two, cut short or not, with changed frames.
fn changed(input: &mut Input<'_>) -> Vec<Memory> {
    let first = input.byte();
    let mut images = images(1 + usize::from(first & 1));
    let sealed = first & 2 == 0;
    if first & 0x1c == 0x1c {
        let frames = input.word() as usize;
        let disk = frames % images.len();
        images[disk].0.truncate(frames * FRAME_SIZE);
    }
    for _ in 0..CHANGES {
        if input.is_empty() {
            break;
        }
        let number = input.byte();
        let disk = usize::from(number >> 7) % images.len();
        let image = &mut images[disk];
        let frames = image.frames().max(1);
        // Most of the interesting frames are in front.
        let at = match number & 0x7f {
            127 => input.word() % frames,
            near => u64::from(near) % frames,
        };
        let start = at as usize * FRAME_SIZE;
        let Some(frame) = image.0.get_mut(start..start + FRAME_SIZE) else {
            continue;
        };
        let right = right_seed(at, frame);
        input.change(frame);
        if let (true, Some((extent, seed))) = (sealed, right) {
            seal(frame, extent, seed);
        }
    }
    images
}

/// The store opens what the input makes, or says why not; then every object is read, one is changed, and a checkpoint taken.
pub fn recovery(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let patience = Patience::new(PATIENCE);
    let disks = changed(&mut input)
        .into_iter()
        .map(|image| Disk::new(image, &patience));
    let mut store = Store::open(disks.collect(), parameters());
    let mut polls = POLLS;
    let mut turn = |store: &mut Store<Disk>| {
        polls = polls.checked_sub(1).expect("this work does not end");
        store.poll()
    };
    while turn(&mut store) == Status::Opening {}
    if store.status() != Status::Running {
        assert!(store.failure().is_some(), "stopped, and no reason given");
        return;
    }
    let mut settle = |store: &mut Store<Disk>| loop {
        if turn(store) != Status::Running || !store.busy() {
            return;
        }
    };
    for frame in (0..16).chain([250, 260, u64::MAX >> 4]) {
        let frame = ObjectFrame(frame);
        for _ in 0..8 {
            match store.read(frame) {
                Err(Stop::Wait(_)) => settle(&mut store),
                _ => break,
            }
        }
    }
    for _ in 0..64 {
        let written = store.write(ObjectFrame(1)).map(|page| page.fill(7));
        match written {
            Err(Stop::Wait(_)) => settle(&mut store),
            _ => break,
        }
    }
    let _ = store.allocate(ObjectFrame(100), FrameKind::DataPage);
    for _ in 0..8 {
        match store.snapshot(Vec::new(), 0, 0) {
            Err(Stop::Wait(_)) => settle(&mut store),
            _ => break,
        }
    }
    settle(&mut store);
}

/// The checker reads what the input makes, offers what can be mended, and the mended image is read again.
pub fn fsck(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let patience = Patience::new(PATIENCE);
    let images = changed(&mut input);
    let disks = images
        .iter()
        .map(|image| Disk::new(image.clone(), &patience));
    let Ok(mut volume) = Volume::open(disks.collect()) else {
        return;
    };
    let (report, _) = check(&mut volume, &mut |_, _| {});
    if let Ok(generations) = volume.generations() {
        if let Ok(snapshot) = volume.snapshot(&generations, None, &mut |_, _| {}) {
            let _ = volume.graph(&snapshot, &mut |_, _| {});
        }
    }
    let worst = report.worst;
    let mut mended: Vec<Memory> = images;
    for finding in report.findings {
        if let Some(mending) = finding.mending {
            let written = mended[mending.disk].write(mending.at, &mending.contents);
            assert_eq!(written, Ok(()), "mending goes beyond the disk");
        }
    }
    let disks = mended.into_iter().map(|image| Disk::new(image, &patience));
    let mut volume = Volume::open(disks.collect()).expect("mending has ruined the volume");
    let (after, _) = check(&mut volume, &mut |_, _| {});
    assert!(after.worst <= worst, "mending has made it worse");
}
