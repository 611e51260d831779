//! Ending an object ends every capability to it, wherever it was copied (EROS, section 2.3).

mod support;

use pebble_store_model::invoke::{Operation, Reply, FORWARD_TARGET};
use pebble_store_model::process::{Manner, Message, Part, SPACE};
use pebble_store_model::space::Access;
use pebble_store_model::{Error, World};
use pebble_store_object::{Capability, Kind, ObjectId, ObjectKind, Version, COUNTER_LIMIT};
use support::*;

/// Copies a capability to `number` places: slots of nodes, of capability pages, registers of processes. Gives for
/// each place the holder and the slot.
fn scatter(
    world: &mut World,
    what: Capability,
    number: usize,
    first: u64,
) -> Vec<(Capability, usize)> {
    let mut places = Vec::new();
    let mut id = first;
    while places.len() < number {
        let holders = [
            node(world, id),
            capability_page(world, id + 1),
            process(world, id + 2),
        ];
        id += 5;
        for holder in holders {
            let slots = if holder.kind == Kind::CapabilityPage {
                128
            } else {
                32
            };
            for slot in 0..slots {
                if places.len() < number {
                    match holder.kind {
                        Kind::Process => world
                            .invoke(holder, Operation::StoreRegister(slot, what))
                            .map(drop)
                            .unwrap(),
                        _ => store(world, holder, slot, what),
                    }
                    places.push((holder, slot));
                }
            }
        }
    }
    places
}

fn at(world: &mut World, (holder, slot): (Capability, usize)) -> Capability {
    match holder.kind {
        Kind::Process => register(world, holder, slot),
        _ => fetch(world, holder, slot).unwrap(),
    }
}

#[test]
fn ten_thousand_copies_are_void_and_stay_so() {
    for kind in [
        ObjectKind::Node,
        ObjectKind::DataPage,
        ObjectKind::CapabilityPage,
    ] {
        let mut world = World::new();
        let object = world.create(ObjectId(1), kind).unwrap();
        let places = scatter(&mut world, object, 10_000, 1_000);
        for place in &places {
            assert_eq!(at(&mut world, *place), object);
        }
        world.destroy(object.object).unwrap();
        let check = |world: &mut World| {
            for place in &places {
                assert_eq!(at(world, *place), Capability::VOID);
            }
            assert_eq!(world.invoke(object, Operation::Clear), Err(Error::Void));
            assert_eq!(
                world.invoke(object, Operation::TypeOf),
                Ok(Reply::Kind(Kind::Void))
            );
        };
        check(&mut world);
        // Somebody else gets the same storage, as whatever kind: the old copies are no capabilities to that.
        for again in [
            ObjectKind::Node,
            ObjectKind::DataPage,
            ObjectKind::CapabilityPage,
        ] {
            let new = world.create(ObjectId(1), again).unwrap();
            check(&mut world);
            assert_ne!(
                world.invoke(new, Operation::TypeOf),
                Ok(Reply::Kind(Kind::Void))
            );
            world.destroy(ObjectId(1)).unwrap();
        }
    }
}

#[test]
fn what_was_made_of_a_node_ends_with_it() {
    let mut world = World::new();
    let client = running(&mut world, 10, &[]);
    let server = process(&mut world, 20);
    let call = entry(server, 0);
    world
        .invoke(client, Operation::StoreRegister(8, call))
        .unwrap();
    world
        .communicate(client, Manner::Call, 8, &Message::default())
        .unwrap();
    let resume = register(&mut world, server, 3);
    let target = data_page(&mut world, 30);
    let forwarder = node(&mut world, 31);
    store(&mut world, forwarder, FORWARD_TARGET, target);
    let through = capability(world.invoke(forwarder, Operation::MakeIndirector)).unwrap();
    assert_eq!(
        world.invoke(through, Operation::TypeOf),
        Ok(Reply::Kind(Kind::DataPage))
    );

    for (object, made) in [(client, resume), (server, call), (forwarder, through)] {
        assert!(world.is_live(made));
        world.destroy(object.object).unwrap();
        assert!(!world.is_live(made));
        world.create(object.object, ObjectKind::Node).unwrap();
        assert!(!world.is_live(made), "{made:?} came back");
    }
    // The target of the forwarder is as good as before, for who has it directly.
    assert!(world.is_live(target));
}

#[test]
fn a_message_in_flight_carries_nothing_of_a_dead_object() {
    let mut world = World::new();
    let server = process(&mut world, 20);
    let page = data_page(&mut world, 30);
    let client = running(&mut world, 10, &[entry(server, 0), page]);
    world.destroy(page.object).unwrap();
    let message = Message {
        capabilities: [Some(9), None, None, None],
        ..Message::default()
    };
    world
        .communicate(client, Manner::Send, 8, &message)
        .unwrap();
    assert_eq!(register(&mut world, server, 0), Capability::VOID);
}

#[test]
fn a_page_that_is_gone_is_gone_from_every_space() {
    let mut world = World::new();
    let page = data_page(&mut world, 1);
    let space = node(&mut world, 2);
    world.invoke(space, Operation::SetHeight(17)).unwrap();
    store(&mut world, space, 3, page);
    let program = running(&mut world, 10, &[]);
    set_part(&mut world, program, Part::Space, space);
    assert!(world.lookup(space, 0x3000).allows(Access::Write).is_some());
    assert!(world.touch(program, 0x3000, Access::Write).is_ok());
    world.destroy(page.object).unwrap();
    data_page(&mut world, 1);
    assert!(world.lookup(space, 0x3000).page.is_err());
    world.destroy(space.object).unwrap();
    assert_eq!(
        capability(world.invoke(program, Operation::FetchPart(Part::Space))),
        Ok(Capability::VOID)
    );
    assert_eq!(SPACE, 2, "the slot that a stranger would look at");
}

#[test]
fn nothing_is_left_of_what_an_object_held() {
    let mut world = World::new();
    for round in 0..100_000u64 {
        let id = ObjectId(round % 7);
        let kind = [
            ObjectKind::DataPage,
            ObjectKind::CapabilityPage,
            ObjectKind::Node,
        ][(round % 3) as usize];
        let made = world.create(id, kind).unwrap();
        if kind == ObjectKind::DataPage {
            let at = (round as usize * 61) % 4088;
            assert_eq!(read(&mut world, made, at, 8), [0; 8]);
            assert_eq!(read(&mut world, made, (at * 7) % 4088, 8), [0; 8]);
            world
                .invoke(made, Operation::WriteBytes(at, b"canaries"))
                .unwrap();
            let at = (at * 7) % 4088;
            world
                .invoke(made, Operation::WriteBytes(at, b"canaries"))
                .unwrap();
        } else {
            let slot = (round % 32) as usize;
            assert_eq!(fetch(&mut world, made, slot), Ok(Capability::VOID));
            store(&mut world, made, slot, Capability::number(round));
            assert!(
                kind != ObjectKind::Node
                    || world.invoke(made, Operation::Height) == Ok(Reply::Number(0))
            );
        }
        world.destroy(id).unwrap();
    }
}

#[test]
fn a_version_at_the_limit_retires_the_object() {
    let mut world = World::new();
    let id = ObjectId(1);
    let old = pebble_store_model::Object {
        version: Version(COUNTER_LIMIT - 2),
        ..Default::default()
    };
    world.put(id, old);
    let mut seen = Vec::new();
    for left in [2, 1] {
        let made = world.create(id, ObjectKind::Node).unwrap();
        assert_eq!(made.version, Version(COUNTER_LIMIT - left));
        seen.push(made);
        world.destroy(id).unwrap();
    }
    assert_eq!(world.create(id, ObjectKind::Node), Err(Error::Retired(id)));
    assert_eq!(world.object(id).unwrap().version, Version(COUNTER_LIMIT));
    // No version that was ever good is good again, nor one that would come of a wrap.
    for version in [0, 1, COUNTER_LIMIT - 1, COUNTER_LIMIT, COUNTER_LIMIT + 1] {
        let version = Version(version);
        assert!(!world.is_live(Capability { version, ..seen[0] }));
    }
}
