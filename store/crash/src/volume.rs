//! Freshly formatted disks for the real store: a log, perhaps a journal, pages and nodes in ranges of their own.

use pebble_store::{DiskPlan, Formatter};
use pebble_store_format::{
    object_frame, page_id, ClusterPlace, ObjectFrame, Range, RangeKind, Superblock, TagPot,
    BOOT_SLOTS, CLUSTER_POTS, HEADER_SLOTS, SUPERBLOCK_FRAMES,
};
use pebble_store_object::ObjectKind;
use pebble_store_simulation::{Fates, Image, Machine, Order};

use crate::object::World;
use crate::real::Shape;

/// The volume's identity.
const VOLUME: u128 = 0x5065_6262_6c65_2063_7261_7368_2074_6573;

/// The frame of the `number`th pot of nodes, from 0: behind the pages, which are frames 1 to `pages`, and a gap, as ranges of
/// objects are as long as the frames they take, tag pots included.
pub fn pot(pages: u64, number: u64) -> ObjectFrame {
    ObjectFrame(1 + pages + CLUSTER_POTS + number)
}

/// The ranges of each disk. Nodes are in a range of their own, so that there is more than one tag pot.
pub fn plan(shape: &Shape, disk: usize) -> DiskPlan {
    let first_pot = pot(shape.pages, 0).0;
    let mut ranges: Vec<Range> = Vec::new();
    let mut next = SUPERBLOCK_FRAMES;
    for (kind, frames, object_base) in [
        (RangeKind::Log, HEADER_SLOTS + BOOT_SLOTS + shape.log, 0),
        (RangeKind::Journal, shape.journal, 0),
        (RangeKind::Object, CLUSTER_POTS + 1 + shape.pages, 0),
        (RangeKind::Object, CLUSTER_POTS + shape.pots, first_pot),
    ] {
        if frames > 0 {
            ranges.push(Range {
                kind,
                number: ranges.len() as u16,
                first: next,
                frames,
                object_base,
                replica_sequence: 0,
            });
            next += frames;
        }
    }
    DiskPlan {
        disk: disk as u8,
        ranges,
    }
}

/// Formats the disks, with versions of free pages as in this world; returns them with the generation that they begin with.
pub fn format(shape: &Shape, world: &World) -> (Vec<Image>, u64) {
    let plans: Vec<DiskPlan> = (0..shape.disks).map(|disk| plan(shape, disk)).collect();
    let frames = |plan: &DiskPlan| plan.ranges.iter().map(Range::end).max().unwrap_or(0);
    let images: Vec<Image> = plans.iter().map(|plan| Image::new(frames(plan))).collect();
    let machine = Machine::new(&images, 1, Order::Submission, 64);
    let disks = plans.into_iter().enumerate();
    let disks = disks.map(|(index, plan)| (machine.disk(index), plan));
    let mut formatter = match Formatter::volume(disks.collect(), VOLUME, 0) {
        Ok(formatter) => formatter,
        Err(error) => panic!("{shape:?} cannot be formatted: {error}"),
    };
    loop {
        match formatter.poll() {
            Ok(true) => break,
            Ok(false) => {}
            Err(error) => panic!("{shape:?}: formatting failed: {error}"),
        }
    }
    let mut images = machine.cut().images(&Fates::subset(0));
    for image in &mut images {
        age(image, world);
    }
    (images, 1)
}

/// Gives free pages the versions that they have in a world.
fn age(image: &mut Image, world: &World) {
    let superblock = match Superblock::decode(image.read(0)) {
        Ok(superblock) => superblock,
        Err(error) => panic!("a volume that was just formatted: {error}"),
    };
    let ranges = superblock.ranges.iter();
    for range in ranges.filter(|range| range.kind == RangeKind::Object) {
        let mut pot = TagPot::unused();
        let capacity = ClusterPlace::capacity(range.frames);
        for number in 0..capacity {
            let frame = ObjectFrame(range.object_base + number);
            let page = world.objects.get(&page_id(frame));
            if let Some(page) = page.filter(|page| page.kind != ObjectKind::Node) {
                debug_assert_eq!(object_frame(page_id(frame)), frame);
                pot.tags[ClusterPlace::of(number).index].version = page.version;
            }
        }
        // The copies as formatting leaves them.
        for copy in 0..CLUSTER_POTS {
            pot.sequence = copy;
            let encoded = pot.encode(superblock.key(), range.number, 0);
            image.write(range.first + copy, *encoded);
        }
    }
}
