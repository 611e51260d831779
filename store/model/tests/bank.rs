//! Space banks: every object is paid for by one bank and all above it, and ends with any of them.

use std::collections::BTreeMap;

use pebble_store_model::bank::{Banks, Destroy};
use pebble_store_model::random::Random;
use pebble_store_model::{Error, World};
use pebble_store_object::{Capability, ObjectId, ObjectKind};

const PAGES: (ObjectId, u64) = (ObjectId(0x10_0000), 200_000);
const NODES: (ObjectId, u64) = (ObjectId(0x1000_0000), 200_000);
const KINDS: [ObjectKind; 3] = [
    ObjectKind::DataPage,
    ObjectKind::CapabilityPage,
    ObjectKind::Node,
];

fn banks(pages: u64, nodes: u64) -> (World, Banks) {
    let mut world = World::new();
    let banks = Banks::new(&mut world, (PAGES.0, pages), (NODES.0, nodes)).unwrap();
    (world, banks)
}

/// Counts anew, from owners alone, and compares with what the banks say; and that exactly what is owned exists.
fn conserved(world: &World, banks: &Banks) {
    let mut own: BTreeMap<ObjectId, u64> = BTreeMap::new();
    for (object, owner) in banks.owners() {
        assert!(
            world
                .object(*object)
                .is_some_and(|object| object.contents.is_some()),
            "{object:?} does not exist"
        );
        *own.entry(*owner).or_default() += 1;
    }
    let exist = world
        .objects()
        .values()
        .filter(|object| object.contents.is_some())
        .count();
    assert_eq!(exist, banks.owners().len(), "what exists is what is owned");
    for (id, bank) in banks.banks() {
        assert_eq!(bank.own.len() as u64, own.get(id).copied().unwrap_or(0));
        let children: u64 = bank
            .children
            .iter()
            .map(|child| banks.banks()[child].total)
            .sum();
        assert_eq!(bank.total, children + bank.own.len() as u64, "{id:?}");
        for child in &bank.children {
            assert_eq!(banks.banks()[child].parent, Some(*id));
            assert!(
                bank.own.contains(child),
                "a bank's node is bought from the bank above"
            );
        }
    }
}

/// The same for one bank and those above it: the cheap check after each of a million operations.
fn conserved_upwards(banks: &Banks, from: ObjectId) {
    let mut next = Some(from);
    while let Some(bank) = next.map(|id| &banks.banks()[&id]) {
        let children: u64 = bank
            .children
            .iter()
            .map(|child| banks.banks()[child].total)
            .sum();
        assert_eq!(bank.total, children + bank.own.len() as u64);
        next = bank.parent;
    }
}

#[test]
fn a_million_random_operations_conserve() {
    let seed = 42;
    let mut random = Random::new(seed);
    let (mut world, mut banks) = banks(25, 40);
    let mut faces = vec![banks.prime()];
    let mut bought: Vec<Capability> = Vec::new();
    let (mut limits, mut exhausted, mut foreign, mut destroyed) = (0, 0, 0, 0);
    for step in 0..1_000_000 {
        let bank = faces[random.below(faces.len())];
        let touched;
        match random.below(20) {
            0..=9 => {
                let kind = KINDS[random.below(3)];
                let room = banks.available(&world, bank).unwrap();
                match banks.allocate(&mut world, bank, kind) {
                    Ok(made) => {
                        assert!(room > 0, "step {step}");
                        bought.push(made);
                    }
                    Err(Error::Limit(_)) => {
                        assert_eq!(room, 0, "step {step}");
                        limits += 1;
                    }
                    Err(Error::Exhausted) => exhausted += 1,
                    Err(other) => panic!("seed {seed} step {step}: {other}"),
                }
                touched = bank.object;
            }
            10..=16 => {
                let Some(object) = random.pick(&bought).copied() else {
                    continue;
                };
                let owner = banks.owners()[&object.object];
                // Most of the time by the right bank.
                let seller = *faces.iter().find(|face| face.object == owner).unwrap();
                let seller = if random.one_in(4) { bank } else { seller };
                let done = banks.deallocate(&mut world, seller, object);
                if seller.object == owner {
                    assert_eq!(done, Ok(()), "seed {seed} step {step}");
                    bought.retain(|other| *other != object);
                    assert!(!world.is_live(object));
                } else {
                    assert_eq!(
                        done,
                        Err(Error::Foreign(object.object)),
                        "seed {seed} step {step}"
                    );
                    foreign += 1;
                }
                touched = owner;
            }
            17 | 18 => {
                if faces.len() < 12 {
                    let limit = random.one_in(2).then(|| random.below(30) as u64);
                    if let Ok(made) = banks.make_bank(&mut world, bank, limit) {
                        faces.push(made);
                    }
                }
                touched = bank.object;
            }
            _ => {
                let how = if random.one_in(2) {
                    Destroy::Reclaim
                } else {
                    Destroy::Return
                };
                touched = banks.banks()[&bank.object].parent.unwrap_or(bank.object);
                let done = banks.destroy(&mut world, bank, how);
                assert_eq!(done.is_err(), bank == banks.prime());
                destroyed += u64::from(done.is_ok());
                faces.retain(|face| world.is_live(*face));
                let before = bought.len();
                bought.retain(|object| world.is_live(*object));
                assert!(how == Destroy::Reclaim || bought.len() == before);
            }
        }
        conserved_upwards(&banks, touched);
        if step % 10_000 == 0 {
            conserved(&world, &banks);
        }
    }
    conserved(&world, &banks);
    let seen = [limits, exhausted, foreign, destroyed];
    assert!(
        seen.iter().all(|times| *times > 1_000),
        "limits, exhausted, foreign, destroyed: {seen:?}"
    );
}

#[test]
fn limits_hold_to_the_very_object() {
    for limit in [1u64, 2, 7] {
        let (mut world, mut banks) = banks(100, 100);
        let prime = banks.prime();
        let outer = banks.make_bank(&mut world, prime, Some(limit)).unwrap();
        assert_eq!(banks.available(&world, outer), Ok(limit));
        let mut made = Vec::new();
        for left in (0..limit).rev() {
            made.push(
                banks
                    .allocate(&mut world, outer, ObjectKind::DataPage)
                    .unwrap(),
            );
            assert_eq!(banks.available(&world, outer), Ok(left));
        }
        let before = world.objects().clone();
        for kind in KINDS {
            let refused = banks.allocate(&mut world, outer, kind);
            assert_eq!(refused, Err(Error::Limit(outer.object)));
        }
        assert_eq!(
            banks.make_bank(&mut world, outer, None),
            Err(Error::Limit(outer.object))
        );
        assert_eq!(*world.objects(), before);
        // One given back is one that can be bought.
        banks.deallocate(&mut world, outer, made[0]).unwrap();
        banks.allocate(&mut world, outer, ObjectKind::Node).unwrap();
        assert_eq!(
            banks.allocate(&mut world, outer, ObjectKind::Node),
            Err(Error::Limit(outer.object))
        );
        // One more, if the limit is one more; none, if it is less than what is there.
        banks.set_limit(&world, outer, Some(limit + 1)).unwrap();
        banks.allocate(&mut world, outer, ObjectKind::Node).unwrap();
        banks.set_limit(&world, outer, Some(0)).unwrap();
        assert_eq!(banks.available(&world, outer), Ok(0));
        assert_eq!(
            banks.allocate(&mut world, outer, ObjectKind::Node),
            Err(Error::Limit(outer.object))
        );
        conserved(&world, &banks);
    }
}

#[test]
fn the_most_constraining_limit_on_the_way_counts() {
    for tight in 0..4 {
        let (mut world, mut banks) = banks(100, 100);
        let mut path = vec![banks.prime()];
        for level in 0..4 {
            let limit = if level == tight { 10 } else { 50 };
            let made = banks
                .make_bank(&mut world, path[level], Some(limit))
                .unwrap();
            path.push(made);
        }
        // The nodes of the banks below the tight one count for it.
        let room = 10 - (3 - tight as u64);
        assert_eq!(banks.available(&world, path[4]), Ok(room));
        for _ in 0..room {
            banks
                .allocate(&mut world, path[4], ObjectKind::DataPage)
                .unwrap();
        }
        let full = path[tight + 1].object;
        assert_eq!(
            banks.allocate(&mut world, path[4], ObjectKind::DataPage),
            Err(Error::Limit(full))
        );
        // What a bank above has left is not theirs.
        assert!(banks
            .allocate(&mut world, path[0], ObjectKind::DataPage)
            .is_ok());
        conserved(&world, &banks);
    }
}

/// A tree of 1,000 banks below one, with 100,000 objects; what there was before besides.
fn forest() -> (World, Banks, Capability, Vec<Capability>, (u64, u64)) {
    let (mut world, mut banks) = banks(PAGES.1, NODES.1);
    let prime = banks.prime();
    banks
        .allocate(&mut world, prime, ObjectKind::DataPage)
        .unwrap();
    let parent = banks.make_bank(&mut world, prime, None).unwrap();
    let before = banks.free();
    let top = banks.make_bank(&mut world, parent, None).unwrap();
    let mut random = Random::new(9);
    let mut tree = vec![top];
    while tree.len() < 1_000 {
        // Some of it deep: often below the newest.
        let above = if random.one_in(2) {
            tree[tree.len() - 1]
        } else {
            tree[random.below(tree.len())]
        };
        let made = banks.make_bank(&mut world, above, None).unwrap();
        tree.push(made);
    }
    let mut objects = Vec::new();
    for number in 0..100_000 {
        // Few pages, for the sake of the memory that the model takes.
        let kind = if number % 20 == 0 {
            KINDS[random.below(2)]
        } else {
            ObjectKind::Node
        };
        let bank = tree[random.below(tree.len())];
        objects.push(banks.allocate(&mut world, bank, kind).unwrap());
    }
    conserved(&world, &banks);
    assert_eq!(banks.banks()[&parent.object].total, 101_000);
    (world, banks, top, objects, before)
}

#[test]
fn destroy_and_reclaim_leaves_nothing_of_a_thousand_banks() {
    let (mut world, mut banks, top, objects, before) = forest();
    let faces: Vec<_> = banks.banks().keys().copied().collect();
    let parent = banks.banks()[&top.object].parent.unwrap();
    banks.destroy(&mut world, top, Destroy::Reclaim).unwrap();
    assert_eq!(banks.free(), before);
    assert_eq!(banks.banks().len(), 2);
    assert_eq!(banks.banks()[&parent].total, 0);
    assert!(objects.iter().all(|object| !world.is_live(*object)));
    let dead = faces
        .iter()
        .filter(|id| world.object(**id).unwrap().contents.is_none())
        .count();
    assert_eq!(dead, 1_000);
    assert_eq!(
        banks.allocate(&mut world, top, ObjectKind::Node),
        Err(Error::Void)
    );
    conserved(&world, &banks);
    // All of it can be bought again, and no old capability is good for what is new.
    let prime = banks.prime();
    for _ in 0..1_000 {
        banks.allocate(&mut world, prime, ObjectKind::Node).unwrap();
    }
    assert!(objects.iter().all(|object| !world.is_live(*object)));
}

#[test]
fn destroy_and_return_hands_all_of_it_up() {
    let (mut world, mut banks, top, objects, before) = forest();
    let parent = banks.banks()[&top.object].parent.unwrap();
    let mut left = 1_000;
    // All the tree, bank by bank, each time the one that is now directly below.
    let mut next = Some(top.object);
    while let Some(bank) = next {
        let version = world.object(bank).unwrap().version;
        let face = Capability {
            object: bank,
            version,
            ..top
        };
        banks.destroy(&mut world, face, Destroy::Return).unwrap();
        left -= 1;
        assert_eq!(banks.banks()[&parent].total, 100_000 + left);
        next = banks.banks()[&parent].children.first().copied();
    }
    assert_eq!(left, 0);
    assert!(objects
        .iter()
        .all(|object| world.is_live(*object) && banks.owners()[&object.object] == parent));
    let (pages, nodes) = banks.free();
    assert_eq!(before.0 + before.1 - (pages + nodes), 100_000);
    conserved(&world, &banks);
}
