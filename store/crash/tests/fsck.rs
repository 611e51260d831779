//! Every kind of damage to a volume is noticed by fsck, and a volume without damage is clean.

use pebble_store_crash::corruption::{injectors, Volume};
use pebble_store_crash::examine;
use pebble_store_crash::history::History;
use pebble_store_crash::life::{Beginning, Life};
use pebble_store_crash::object::World;
use pebble_store_crash::plans;
use pebble_store_crash::real::Real;
use pebble_store_crash::subject::Subject;
use pebble_store_crash::workload::{Step, Weights};
use pebble_store_device::{Frame, FRAME_SIZE};
use pebble_store_image::{check, Fault, Media, Volume as Checked};
use pebble_store_simulation::{Fates, Image, Random};

/// An image as fsck reads it.
struct Disk(Image);

impl Media for Disk {
    fn frames(&self) -> u64 {
        self.0.frames()
    }

    fn read(&mut self, at: u64, frame: &mut Frame) -> Result<(), Fault> {
        if at >= self.0.frames() {
            return Err(Fault);
        }
        frame.copy_from_slice(self.0.read(at));
        Ok(())
    }

    fn write(&mut self, _: u64, _: &Frame) -> Result<(), Fault> {
        panic!("fsck writes nothing");
    }
}

/// What fsck says of an image; nothing if it is clean.
fn complaint(image: &Image) -> Option<String> {
    let mut volume = match Checked::open(vec![Disk(image.clone())]) {
        Ok(volume) => volume,
        Err(error) => return Some(error.to_string()),
    };
    let (report, error) = check(&mut volume, &mut |_, _| {});
    if let Some(error) = error {
        return Some(error.to_string());
    }
    let worst = report
        .findings
        .iter()
        .max_by_key(|finding| finding.severity);
    worst
        .filter(|_| !report.is_clean())
        .map(|finding| finding.what.clone())
}

/// Volumes that have lived for a while, all of them saved.
fn volumes() -> Vec<Image> {
    let mut shape = plans::lagging().shape;
    shape.pages = 12;
    shape.pots = 2;
    shape.log = 60;
    let weights = Weights {
        put: 20,
        journal: 0,
        ..Weights::ORDINARY
    };
    let mut images = Vec::new();
    for seed in 0..12 {
        let mut random = Random::new(seed);
        let world: World = Real::world(&shape);
        let (formatted, generation) = Real::format(&shape, &world);
        let beginning = Beginning {
            images: formatted,
            missing: None,
            expectation: History::new(generation, world).expectation(),
            starts: None,
        };
        let mut life = Life::<Real>::begin(&shape, &beginning, &mut random).expect("it comes up");
        for _ in 0..150 {
            let step = weights.step(&life.history().world, &mut random);
            life.step(&step).expect("nothing is broken");
        }
        life.step(&Step::Checkpoint).expect("nothing is broken");
        life.settle().expect("nothing is broken");
        let now = life.now();
        let image = now.cut.images(&Fates::subset(u64::MAX)).remove(0);
        let found = examine::state::<Real>(
            &shape,
            std::slice::from_ref(&image),
            None,
            &now.expectation,
            None,
        );
        assert!(found.is_ok(), "the image is whole");
        images.push(image);
    }
    images
}

#[test]
fn every_damage_is_noticed() {
    let images = volumes();
    for image in &images {
        assert_eq!(complaint(image), None, "a volume without damage");
    }
    let all = injectors();
    assert!(all.len() >= 30, "{} kinds of damage", all.len());
    let mut unnoticed = Vec::new();
    for injector in &all {
        let mut tried = 0;
        for image in &images {
            let Some(mut volume) = Volume::of(image) else {
                panic!("a sound volume cannot be taken apart");
            };
            if (injector.inject)(&mut volume).is_none() || volume.image.same(image) {
                continue;
            }
            tried += 1;
            if complaint(&volume.image).is_none() {
                unnoticed.push(injector.name);
            }
        }
        if tried == 0 {
            unnoticed.push(injector.name);
            println!("{}: nothing to damage", injector.name);
        }
    }
    unnoticed.sort_unstable();
    unnoticed.dedup();
    assert!(unnoticed.is_empty(), "{unnoticed:#?}");
    assert_eq!(FRAME_SIZE, 4096);
}
