//! Weak access is transitively read-only (EROS, section 3.4).
//!
//! From one weak capability an attacker does everything that can be done, until he gets nothing new; then nothing
//! may have changed but, if his capability was weak and not read-only, the object that it names.
//!
//! Enumerated without a gap, the order of the slots within a node aside; every seventh graph also from a root that is
//! weak and not read-only:
//!
//! - 4 nodes of 3 slots, each slot void or an unrestricted capability to one of the nodes: 35^4 = 1,500,625 graphs.
//!   They stand for all graphs of 4 nodes of 3 slots: what weak access makes of a stored capability does not depend on
//!   whether that was read-only or weak (`what_is_written_through_a_weak_capability_is_diminished`), and opaque only
//!   refuses more (`restrictions_only_take_away`).
//! - 3 nodes of 2 slots, each slot void or a capability to one of the nodes, unrestricted, read-only, weak, or both:
//!   91^3 = 753,571 graphs.
//! - 2 nodes of 3 slots with every one of the 8 combinations of restrictions: 969^2 = 938,961 graphs.
//!
//! With all restrictions, 4 nodes of 3 slots would be 6545^4, some 10^15 graphs. A million random graphs of 6 holders
//! and every kind of capability are tried besides.

mod support;

use std::collections::BTreeSet;

use pebble_store_model::invoke::{Operation, Reply};
use pebble_store_model::process::{Manner, Message, Part};
use pebble_store_model::random::Random;
use pebble_store_model::{Node, World, DIMINISHED};
use pebble_store_object::{Capability, Kind, ObjectId, Rights};
use support::*;

/// Does everything with every capability that can be got from `root`, until there is nothing new. Returns what was
/// got. `slots` is how many slots of each node are in use.
fn attack(world: &mut World, root: Capability, slots: usize) -> Vec<Capability> {
    let mut held = vec![root];
    loop {
        let before = held.len();
        let mut number = 0;
        while let Some(target) = held.get(number).copied() {
            number += 1;
            for slot in 0..slots {
                gain(world, &mut held, target, Operation::Fetch(slot));
                // What he has that is most powerful, and what he has got last.
                for stolen in [held[0], held[held.len() - 1], Capability::number(1)] {
                    gain(world, &mut held, target, Operation::Swap(slot, stolen));
                }
            }
            for operation in [
                Operation::Store(0, held[held.len() / 2]),
                Operation::SetHeight(17),
                Operation::MakeProcess,
                Operation::MakeIndirector,
                Operation::WriteBytes(0, b"!"),
                Operation::Clear,
            ] {
                gain(world, &mut held, target, operation);
            }
        }
        if held.len() == before {
            return held;
        }
    }
}

fn gain(
    world: &mut World,
    held: &mut Vec<Capability>,
    target: Capability,
    operation: Operation<'_>,
) {
    if let Ok(Reply::Capability(new)) = world.invoke(target, operation) {
        if new.kind != Kind::Void && !held.contains(&new) {
            held.push(new);
        }
    }
}

/// The state of the world of the graph with these slots.
fn set(world: &mut World, nodes: &[Capability], graph: &[&[Capability]]) {
    for (node, slots) in nodes.iter().zip(graph) {
        let mut contents = Node::EMPTY;
        contents.slots[..slots.len()].copy_from_slice(slots);
        let mut object = world.object(node.object).cloned().unwrap();
        object.contents = Some(pebble_store_model::Contents::Node(contents.into()));
        world.put(node.object, object);
    }
    world.take_changed();
}

/// Every multiset of `size` of these.
fn multisets(of: &[Capability], size: usize) -> Vec<Vec<Capability>> {
    if size == 0 {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (first, capability) in of.iter().enumerate() {
        for mut rest in multisets(&of[first..], size - 1) {
            rest.push(*capability);
            all.push(rest);
        }
    }
    all
}

/// Attacks every graph of `count` nodes of `slots` slots from its first node. Returns how many there were, and in how
/// many the attacker got further than the first node.
fn every_graph(count: usize, slots: usize, rights: &[Rights]) -> (u64, u64) {
    let mut world = World::new();
    let nodes: Vec<_> = (1..=count as u64).map(|id| node(&mut world, id)).collect();
    let mut choices = vec![Capability::VOID];
    for rights in rights {
        choices.extend(nodes.iter().map(|node| with(*node, *rights)));
    }
    let fillings = multisets(&choices, slots);
    let (mut graphs, mut further) = (0, 0);
    let mut digits = vec![0; count];
    loop {
        let graph: Vec<&[Capability]> = digits.iter().map(|digit| &fillings[*digit][..]).collect();
        set(&mut world, &nodes, &graph);
        let root = with(nodes[0], DIMINISHED);
        let held = attack(&mut world, root, slots);
        assert!(world.take_changed().is_empty(), "{graph:?}");
        assert!(
            held.iter()
                .all(|capability| capability.rights.has(DIMINISHED)),
            "{graph:?}"
        );
        graphs += 1;
        further += u64::from(
            held.iter()
                .any(|capability| capability.object != root.object),
        );
        // Every seventh, with a root that is weak only: the root may change, nothing else.
        if graphs % 7 == 0 {
            attack(&mut world, with(nodes[0], Rights::WEAK), slots);
            let changed = world.take_changed();
            assert_eq!(changed, BTreeSet::from([nodes[0].object]), "{graph:?}");
        }
        let mut place = 0;
        while place < count {
            digits[place] += 1;
            if digits[place] < fillings.len() {
                break;
            }
            digits[place] = 0;
            place += 1;
        }
        if place == count {
            return (graphs, further);
        }
    }
}

#[test]
fn all_graphs_of_four_nodes_and_three_slots_unrestricted() {
    let (graphs, further) = every_graph(4, 3, &[Rights::FULL]);
    assert_eq!(graphs, 1_500_625);
    // All but those whose first node names only itself: void or itself in each of its slots.
    assert_eq!(further, graphs - 4 * 35u64.pow(3));
}

#[test]
fn all_graphs_of_three_nodes_and_two_slots_with_weak_and_read_only() {
    let rights = [Rights::FULL, Rights::READ_ONLY, Rights::WEAK, DIMINISHED];
    let (graphs, further) = every_graph(3, 2, &rights);
    assert_eq!(graphs, 753_571);
    // The first node's slots are of the 5 that are void or name itself: 15 multisets.
    assert_eq!(further, graphs - 15 * 91u64.pow(2));
}

#[test]
fn all_graphs_of_two_nodes_and_three_slots_with_all_restrictions() {
    let (graphs, further) = every_graph(2, 3, &all_rights().collect::<Vec<_>>());
    assert_eq!(graphs, 938_961);
    // Void or itself: 9 choices, 165 multisets.
    assert_eq!(further, graphs - 165 * 969);
}

/// Objects of every kind, in which a random graph is drawn.
struct Zoo {
    world: World,
    /// What has slots: nodes and a capability page.
    holders: Vec<Capability>,
    /// What can be in a slot.
    inhabitants: Vec<Capability>,
    attacker: Capability,
}

const ZOO_SLOTS: usize = 4;

fn zoo() -> Zoo {
    let mut world = World::new();
    let mut holders: Vec<_> = (1..=5).map(|id| node(&mut world, id)).collect();
    holders.push(capability_page(&mut world, 6));
    let pages = [7, 8].map(|id| data_page(&mut world, id));
    let server = process(&mut world, 10);
    let client = running(&mut world, 13, &[entry(server, 0)]);
    world
        .communicate(client, Manner::Call, 8, &Message::default())
        .unwrap();
    let resume = register(&mut world, server, 3);
    world.listen(server).unwrap();
    let keeper = process(&mut world, 20);
    let faulty = running(&mut world, 23, &[]);
    set_part(&mut world, faulty, Part::Keeper, entry(keeper, 0));
    world
        .touch(faulty, 0, pebble_store_model::space::Access::Read)
        .unwrap();
    let fault = register(&mut world, keeper, 3);
    let range = Capability {
        kind: Kind::Range,
        object: ObjectId(100),
        data: 8,
        ..Capability::VOID
    };
    let indirector = Capability {
        kind: Kind::Indirector,
        ..holders[4]
    };
    let mut inhabitants = vec![
        Capability::VOID,
        Capability::number(5),
        server,
        entry(server, 1),
        resume,
        fault,
    ];
    inhabitants.extend([range, indirector]);
    for memory in holders.iter().chain(&pages) {
        inhabitants.extend(all_rights().map(|rights| with(*memory, rights)));
    }
    let attacker = running(&mut world, 30, &[]);
    world.take_changed();
    Zoo {
        world,
        holders,
        inhabitants,
        attacker,
    }
}

#[test]
fn a_million_random_graphs_of_every_kind() {
    let mut zoo = zoo();
    let (mut further, mut deep) = (0u64, 0u64);
    for seed in 0..1_000_000 {
        let mut random = Random::new(seed);
        for number in 0..zoo.holders.len() {
            for slot in 0..ZOO_SLOTS {
                let what = *random.pick(&zoo.inhabitants).unwrap();
                store(&mut zoo.world, zoo.holders[number], slot, what);
            }
        }
        zoo.world.take_changed();
        let root = with(zoo.holders[0], DIMINISHED);
        let held = attack(&mut zoo.world, root, ZOO_SLOTS);
        for capability in &held {
            for reply in [
                zoo.world.invoke(*capability, Operation::Start),
                zoo.world.invoke(*capability, Operation::Restart),
                zoo.world.invoke(
                    *capability,
                    Operation::Create(0, pebble_store_object::ObjectKind::Node),
                ),
            ] {
                assert!(reply.is_err(), "seed {seed}: {capability:?}");
            }
        }
        let changed = zoo.world.take_changed();
        assert!(changed.is_empty(), "seed {seed}: {changed:?}");
        further += u64::from(held.len() > 1);
        deep += u64::from(held.len() > 4);
        // And by way of a message: nobody answers to what came out of a weak capability.
        if seed % 64 == 0 {
            for capability in held {
                zoo.world
                    .invoke(zoo.attacker, Operation::StoreRegister(8, capability))
                    .unwrap();
                zoo.world.take_changed();
                let sent =
                    zoo.world
                        .communicate(zoo.attacker, Manner::Send, 8, &Message::default());
                assert!(
                    sent.is_err() && zoo.world.take_changed().is_empty(),
                    "seed {seed}: {capability:?}"
                );
            }
        }
    }
    assert!(
        further > 900_000 && deep > 300_000,
        "{further} with more than the root, {deep} with more than 4"
    );
}

/// The hazard that weak access is there for: read-only alone is not transitive.
#[test]
fn through_a_read_only_node_one_gets_what_can_be_written() {
    let mut world = World::new();
    let holder = node(&mut world, 1);
    let page = data_page(&mut world, 2);
    store(&mut world, holder, 0, page);
    let read_only = with(holder, Rights::READ_ONLY);
    let got = fetch(&mut world, read_only, 0).unwrap();
    world
        .invoke(got, Operation::WriteBytes(0, b"written"))
        .unwrap();
    assert_eq!(read(&mut world, page, 0, 7), b"written");
    let got = fetch(&mut world, with(holder, DIMINISHED), 0).unwrap();
    assert!(world
        .invoke(got, Operation::WriteBytes(0, b"again"))
        .is_err());
}

/// A write through a weak capability stores the diminished form.
#[test]
fn what_is_written_through_a_weak_capability_is_diminished() {
    let zoo = &mut zoo();
    let weak = with(zoo.holders[0], Rights::WEAK);
    for what in zoo.inhabitants.clone() {
        store(&mut zoo.world, weak, 0, what);
        let stored = fetch(&mut zoo.world, zoo.holders[0], 0).unwrap();
        match what.kind {
            Kind::Number => assert_eq!(stored, what),
            Kind::Node | Kind::DataPage | Kind::CapabilityPage => {
                assert_eq!(stored, with(what, what.rights.and(DIMINISHED)));
            }
            _ => assert_eq!(stored, Capability::VOID, "{what:?}"),
        }
        // What was there before comes out diminished too.
        store(&mut zoo.world, zoo.holders[0], 1, what);
        let swapped =
            capability(zoo.world.invoke(weak, Operation::Swap(1, Capability::VOID))).unwrap();
        assert_eq!(swapped, stored);
    }
}

/// Restrictions only take away: whatever succeeds with more of them succeeds with fewer.
#[test]
fn restrictions_only_take_away() {
    let zoo = zoo();
    let operations = [
        Operation::Fetch(0),
        Operation::Store(0, Capability::number(1)),
        Operation::Clear,
        Operation::SetHeight(21),
        Operation::WriteBytes(0, b"x"),
        Operation::ReadBytes(0, 1),
        Operation::MakeProcess,
        Operation::MakeIndirector,
    ];
    for memory in zoo
        .holders
        .iter()
        .chain([&zoo.inhabitants[zoo.inhabitants.len() - 8]])
    {
        for (less, more) in
            all_rights().flat_map(|less| all_rights().map(move |more| (less, less.and(more))))
        {
            for operation in operations {
                let try_with = |rights| {
                    zoo.world
                        .clone()
                        .invoke(with(*memory, rights), operation)
                        .is_ok()
                };
                assert!(
                    !try_with(more) || try_with(less),
                    "{memory:?} {operation:?}"
                );
            }
        }
    }
}
