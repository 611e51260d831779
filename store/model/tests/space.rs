//! Address spaces: what a tree of nodes maps, with which rights, and who keeps it (EROS, section 3.1).

mod support;

use std::collections::BTreeMap;

use pebble_store_model::invoke::{Operation, Reply};
use pebble_store_model::process::{Part, State, Touch};
use pebble_store_model::random::Random;
use pebble_store_model::space::{slots_of, Access, Missing, HEIGHTS, KEEPER_SLOT};
use pebble_store_model::{Error, World, DIMINISHED};
use pebble_store_object::{Capability, Kind, Rights};
use support::*;

/// A node of this height.
fn level(world: &mut World, id: u64, height: u8) -> Capability {
    let node = node(world, id);
    world.invoke(node, Operation::SetHeight(height)).unwrap();
    node
}

#[test]
fn heights_are_those_of_the_processor_s_tables_at_every_second_level() {
    for (height, below, slots) in [
        (17, 12, 32),
        (21, 17, 16),
        (26, 21, 32),
        (30, 26, 16),
        (35, 30, 32),
        (39, 35, 16),
    ] {
        assert_eq!(slots_of(height), Ok((below, slots)));
    }
    for height in (0..=255).filter(|height| !HEIGHTS.contains(height)) {
        assert_eq!(slots_of(height), Err(Error::NoHeight(height)));
        let mut world = World::new();
        let node = node(&mut world, 1);
        let set = world.invoke(node, Operation::SetHeight(height));
        assert_eq!(set.is_ok(), height == 0, "0 takes a node out of a space");
    }
    // One leaf table of Sv39 spans 9 bits of pages; so do two levels of nodes.
    assert_eq!((21 - 12, 30 - 21, 39 - 30), (9, 9, 9));
}

#[test]
fn a_single_page_is_a_space() {
    let mut world = World::new();
    let page = data_page(&mut world, 1);
    for address in [0, 4095] {
        assert_eq!(world.lookup(page, address).page, Ok(page));
    }
    assert_eq!(world.lookup(page, 0).steps, 0);
    for address in [4096, 1 << 38, u64::MAX] {
        assert_eq!(world.lookup(page, address).page, Err(Missing::Hole));
    }
    let read_only = with(page, Rights::READ_ONLY);
    assert_eq!(world.lookup(read_only, 0).allows(Access::Write), None);
    assert_eq!(
        world.lookup(read_only, 0).allows(Access::Read),
        Some(read_only)
    );
}

#[test]
fn an_address_goes_through_one_slot_of_each_level() {
    let mut world = World::new();
    let page = data_page(&mut world, 1);
    // One page through the last slot at each level, from the smallest space to the largest.
    let mut below = page;
    let mut address = 0;
    for (number, height) in HEIGHTS.into_iter().enumerate() {
        let node = level(&mut world, 10 + number as u64, height);
        let (bits, slots) = slots_of(height).unwrap();
        store(&mut world, node, slots - 1, below);
        address += (slots as u64 - 1) << bits;
        below = node;
        let found = world.lookup(node, address + 123);
        assert_eq!((found.page, found.steps), (Ok(page), number + 1));
        // One page further, one before, and beyond the end there is nothing.
        for wrong in [address ^ 0x1000, 1 << height, address | 1 << 63] {
            assert_eq!(
                world.lookup(node, wrong).page,
                Err(Missing::Hole),
                "{height} {wrong:#x}"
            );
        }
    }
    assert_eq!(address, (1 << 39) - 4096);
}

#[test]
fn levels_can_be_left_out() {
    let mut world = World::new();
    let page = data_page(&mut world, 1);
    let leaf = level(&mut world, 2, 17);
    store(&mut world, leaf, 5, page);
    for (number, height) in HEIGHTS.into_iter().enumerate().skip(1) {
        let top = level(&mut world, 10 + number as u64, height);
        let (bits, _) = slots_of(height).unwrap();
        store(&mut world, top, 3, leaf);
        store(&mut world, top, 4, page);
        let base = 3u64 << bits;
        assert_eq!(world.lookup(top, base + 0x5000).page, Ok(page));
        assert_eq!(world.lookup(top, base + 0x5000).steps, 2);
        // What is small is at the beginning of its slot; the rest of the slot is a hole. In a slot that the leaf fills,
        // that address is the next slot's, with the page in it at another place.
        let beyond = world.lookup(top, base + (1 << 17) + 0x5000).page;
        assert_eq!(beyond, Err(Missing::Hole));
        assert_eq!(world.lookup(top, (4 << bits) + 4095).page, Ok(page));
        assert_eq!(
            world.lookup(top, (4 << bits) + 4096).page,
            Err(Missing::Hole)
        );
    }
}

#[test]
fn rings_and_trees_upside_down_end() {
    let mut world = World::new();
    let page = data_page(&mut world, 9);
    for own in HEIGHTS {
        for other in HEIGHTS {
            let (one, two) = (level(&mut world, 1, own), level(&mut world, 2, other));
            for slot in 0..16 {
                store(&mut world, one, slot, two);
                store(&mut world, two, slot, one);
            }
            for root in [one, two] {
                for address in [0, 0x1000, 1 << 20, (1 << 39) - 1] {
                    let found = world.lookup(root, address);
                    assert!(
                        found.page.is_err() && found.steps <= HEIGHTS.len(),
                        "{own} {other}"
                    );
                }
            }
            // A node in itself.
            store(&mut world, one, 0, one);
            assert_eq!(world.lookup(one, 0).page, Err(Missing::Malformed));
            store(&mut world, one, 0, page);
            assert_eq!(world.lookup(one, 0).page, Ok(page));
            for node in [one, two] {
                world.destroy(node.object).unwrap();
            }
        }
    }
    let plain = node(&mut world, 50);
    store(&mut world, plain, 0, page);
    assert_eq!(
        world.lookup(plain, 0).page,
        Err(Missing::Malformed),
        "a node of height 0 is no space"
    );
}

#[test]
fn a_capability_page_is_never_mapped() {
    let mut world = World::new();
    let capabilities = capability_page(&mut world, 1);
    let leaf = level(&mut world, 2, 17);
    store(&mut world, leaf, 0, capabilities);
    for space in [capabilities, leaf] {
        let found = world.lookup(space, 0);
        assert_eq!(found.page, Ok(capabilities));
        for access in [Access::Read, Access::Write] {
            assert_eq!(found.allows(access), None);
        }
    }
}

/// Rights on the way: what any capability takes away stays away.
#[test]
fn rights_add_up_on_the_way() {
    for on_root in all_rights() {
        for on_leaf in all_rights() {
            for on_page in all_rights() {
                let mut world = World::new();
                let (root, leaf) = (level(&mut world, 1, 21), level(&mut world, 2, 17));
                let page = data_page(&mut world, 3);
                store(&mut world, root, 0, with(leaf, on_leaf));
                store(&mut world, leaf, 0, with(page, on_page));
                let found = world.lookup(with(root, on_root), 0);
                let read_only = [on_root, on_leaf, on_page]
                    .iter()
                    .any(|rights| rights.has(Rights::READ_ONLY));
                let weak = [on_root, on_leaf]
                    .iter()
                    .any(|rights| rights.has(Rights::WEAK));
                // Opaque takes nothing away here: it is for memory that is used and not looked into.
                assert_eq!(found.allows(Access::Write).is_some(), !read_only && !weak);
                assert!(found.allows(Access::Read).is_some());
            }
        }
    }
}

/// What the tree maps, written down anew for each page of a random space, from the slots alone.
#[test]
fn random_trees_map_what_their_slots_say() {
    let mut mapped = 0;
    for seed in 0..1_000 {
        let mut random = Random::new(seed);
        let mut world = World::new();
        let root = level(&mut world, 1, 26);
        let mut reference: BTreeMap<u64, (Capability, bool)> = BTreeMap::new();
        let mut id = 100;
        let mut next = || {
            id += 1;
            id
        };
        for top in 0..4u64 {
            let middle_rights = if random.one_in(3) {
                Rights::READ_ONLY
            } else {
                Rights::FULL
            };
            let middle = level(&mut world, next(), 21);
            store(&mut world, root, top as usize, with(middle, middle_rights));
            for second in 0..3u64 {
                let leaf = level(&mut world, next(), 17);
                let leaf_rights = if random.one_in(4) {
                    DIMINISHED
                } else {
                    Rights::FULL
                };
                store(&mut world, middle, second as usize, with(leaf, leaf_rights));
                for slot in 0..32u64 {
                    if random.one_in(3) {
                        let page = data_page(&mut world, next());
                        let rights = if random.one_in(3) {
                            Rights::READ_ONLY
                        } else {
                            Rights::FULL
                        };
                        store(&mut world, leaf, slot as usize, with(page, rights));
                        let full = [middle_rights, leaf_rights, rights] == [Rights::FULL; 3];
                        reference.insert(top << 21 | second << 17 | slot << 12, (page, full));
                    }
                }
            }
        }
        for address in (0..1 << 23).step_by(4096) {
            let found = world.lookup(root, address + random.below(4096) as u64);
            let (page, writable) = match reference.get(&address) {
                Some((page, writable)) => (Some(page.object), *writable),
                None => (None, false),
            };
            assert_eq!(
                found.page.ok().map(|page| page.object),
                page,
                "seed {seed} {address:#x}"
            );
            assert_eq!(
                found.allows(Access::Write).is_some(),
                writable,
                "seed {seed} {address:#x}"
            );
            mapped += u64::from(page.is_some());
        }
    }
    assert!(mapped > 100_000, "{mapped}");
}

/// A space with a keeper at three heights, a program in it, and the four keepers, the program's own last.
fn kept() -> (World, Capability, [Capability; 3], [Capability; 4]) {
    let mut world = World::new();
    let keepers = [40, 43, 46, 49].map(|first| process(&mut world, first));
    let nodes = [
        level(&mut world, 1, 39),
        level(&mut world, 2, 30),
        level(&mut world, 3, 21),
    ];
    store(&mut world, nodes[0], 1, nodes[1]);
    store(&mut world, nodes[1], 1, nodes[2]);
    for (number, node) in nodes.iter().enumerate() {
        store(
            &mut world,
            *node,
            KEEPER_SLOT,
            entry(keepers[number], number as u64),
        );
    }
    let program = running(&mut world, 10, &[]);
    set_part(&mut world, program, Part::Space, nodes[0]);
    set_part(&mut world, program, Part::Keeper, entry(keepers[3], 3));
    (world, program, nodes, keepers)
}

const INNER: u64 = (1 << 35) + (1 << 26) + 0x3000;
const MIDDLE: u64 = (1 << 35) + (2 << 26);
const OUTER: u64 = 2 << 35;
const NOWHERE: u64 = 1 << 39;

#[test]
fn the_innermost_keeper_is_called() {
    for (address, expected) in [(INNER, 2), (MIDDLE, 1), (OUTER, 0), (NOWHERE, 3)] {
        let (mut world, program, nodes, keepers) = kept();
        let delivery = match world.touch(program, address, Access::Write) {
            Ok(Touch::Fault(delivery)) => delivery,
            other => panic!("{other:?}"),
        };
        assert_eq!(delivery.to, keepers[expected].object, "{address:#x}");
        let called = keepers[expected];
        assert_eq!(
            [1, 2].map(|number| word(&mut world, called, number)),
            [address, 1]
        );
        let subject = register(&mut world, called, 0);
        assert_eq!(subject, nodes.get(expected).copied().unwrap_or(program));
        assert_eq!(register(&mut world, called, 3).kind, Kind::Fault);
        assert_eq!(world.state(program), Ok(State::Waiting));
        for other in keepers.iter().filter(|keeper| **keeper != called) {
            assert_eq!(world.state(*other), Ok(State::Available));
        }
    }
}

#[test]
fn a_keeper_repairs_and_restarts_or_passes_on() {
    let (mut world, program, nodes, keepers) = kept();
    world.touch(program, INNER, Access::Write).unwrap();
    let inner = keepers[2];
    let fault = register(&mut world, inner, 3);
    let leaf = level(&mut world, 4, 17);
    let page = data_page(&mut world, 5);
    store(&mut world, leaf, 3, page);
    store(&mut world, nodes[2], 0, leaf);
    world.invoke(fault, Operation::Restart).unwrap();
    world.listen(inner).unwrap();
    assert_eq!(
        world.touch(program, INNER, Access::Write),
        Ok(Touch::Page(page))
    );

    world.touch(program, INNER + 0x1000, Access::Read).unwrap();
    let fault = register(&mut world, inner, 3);
    assert_eq!(world.invoke(fault, Operation::PassOn), Ok(Reply::Done));
    let own = keepers[3];
    assert_eq!(word(&mut world, own, 1), INNER + 0x1000);
    assert_eq!(
        world.invoke(fault, Operation::Restart),
        Err(Error::Void),
        "it is the other's matter now"
    );
    let fault = register(&mut world, own, 3);
    assert_eq!(world.invoke(fault, Operation::Restart), Ok(Reply::Done));
    assert_eq!(world.state(program), Ok(State::Running));
}

#[test]
fn a_keeper_that_is_dead_is_passed_over_and_one_that_is_busy_waited_for() {
    let (mut world, program, _, keepers) = kept();
    world.destroy(keepers[2].object).unwrap();
    let space = world_space(&mut world, program);
    let found = world.lookup(space, INNER);
    assert_eq!(found.keeper.unwrap().entry.object, keepers[1].object);

    world.invoke(keepers[1], Operation::Start).unwrap();
    let before = world.objects().clone();
    assert_eq!(
        world.touch(program, INNER, Access::Read),
        Err(Error::NotReady(keepers[1].object))
    );
    assert_eq!(*world.objects(), before, "the program tries again later");
    world.listen(keepers[1]).unwrap();
    assert!(world.touch(program, INNER, Access::Read).is_ok());

    // Nobody is left to be called.
    let (mut world, program, _, keepers) = kept();
    for keeper in keepers {
        world.destroy(keeper.object).unwrap();
    }
    assert_eq!(world.touch(program, INNER, Access::Read), Err(Error::Void));
}

fn world_space(world: &mut World, program: Capability) -> Capability {
    capability(world.invoke(program, Operation::FetchPart(Part::Space))).unwrap()
}

#[test]
fn a_keeper_may_fault_itself() {
    let (mut world, program, _, keepers) = kept();
    let inner = keepers[2];
    set_part(&mut world, inner, Part::Keeper, entry(keepers[0], 7));
    world.touch(program, INNER, Access::Read).unwrap();
    // The keeper has no memory at all.
    world.touch(inner, 0x42, Access::Read).unwrap();
    assert_eq!(word(&mut world, keepers[0], 1), 0x42);
    assert_eq!(register(&mut world, keepers[0], 0), inner);
    // One that would be its own keeper cannot be called while it runs.
    let own = process(&mut world, 60);
    set_part(&mut world, own, Part::Keeper, entry(own, 0));
    world.invoke(own, Operation::Start).unwrap();
    assert_eq!(
        world.touch(own, 0, Access::Read),
        Err(Error::NotReady(own.object))
    );
}

#[test]
fn through_weak_access_no_keeper_is_called() {
    let (mut world, program, nodes, keepers) = kept();
    store(&mut world, nodes[0], 1, with(nodes[1], DIMINISHED));
    world.touch(program, INNER, Access::Read).unwrap();
    assert_eq!(
        world.state(keepers[0]),
        Ok(State::Running),
        "the one above the weak capability"
    );
    for weak in [with(nodes[0], Rights::WEAK), with(nodes[0], DIMINISHED)] {
        assert_eq!(world.lookup(weak, INNER).keeper, None);
    }
}

#[test]
fn two_processes_in_one_space_see_the_same_and_hold_their_own() {
    let mut world = World::new();
    let leaf = level(&mut world, 1, 17);
    let page = data_page(&mut world, 2);
    store(&mut world, leaf, 0, page);
    let secret = data_page(&mut world, 3);
    let one = running(&mut world, 10, &[secret]);
    let two = running(&mut world, 20, &[]);
    for program in [one, two] {
        set_part(&mut world, program, Part::Space, leaf);
        assert_eq!(
            world.touch(program, 0, Access::Write),
            Ok(Touch::Page(page))
        );
    }
    assert_eq!(register(&mut world, two, 8), Capability::VOID);
}
