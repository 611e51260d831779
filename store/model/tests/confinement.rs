//! A constructor that says "confined" is right: no product of it reaches anybody its client has not allowed.
//!
//! A million random worlds. In each, the verdict is compared with brute force: everything a product and all that it
//! can have made in its turn get is tried on the system itself, with every operation, until there is nothing new. Any
//! change of an object that was there before, and any capability by which somebody is called, is a leak.

mod support;

use pebble_store_model::bank::Banks;
use pebble_store_model::constructor::{Constructors, Verdict, COMPONENTS, SEALED, TEMPLATE};
use pebble_store_model::invoke::{Operation, Reply, FORWARD_TARGET};
use pebble_store_model::process::Part;
use pebble_store_model::random::Random;
use pebble_store_model::space::{Access, KEEPER_SLOT, PAGE_HEIGHT};
use pebble_store_model::{Contents, Error, Node, Object, World, DIMINISHED};
use pebble_store_object::{Capability, Kind, ObjectId, Rights};
use support::*;

const SLOTS: usize = 3;

/// Objects of third parties, constructors without components, and what can be given to constructors.
struct Stage {
    world: World,
    constructors: Constructors,
    builders: Vec<Capability>,
    holders: Vec<Capability>,
    gifts: Vec<Capability>,
}

fn stage() -> Stage {
    let mut world = World::new();
    let mut banks =
        Banks::new(&mut world, (ObjectId(1 << 20), 64), (ObjectId(1 << 21), 64)).unwrap();
    let prime = banks.prime();
    let holders = vec![
        node(&mut world, 1),
        node(&mut world, 2),
        capability_page(&mut world, 3),
    ];
    let page = data_page(&mut world, 4);
    let stranger = process(&mut world, 10);
    // Two of them are address spaces, and one has a keeper.
    for (holder, height) in [(holders[0], 17), (holders[1], 21)] {
        world.invoke(holder, Operation::SetHeight(height)).unwrap();
    }
    store(&mut world, holders[1], KEEPER_SLOT, entry(stranger, 9));
    let forwarder = node(&mut world, 20);
    store(&mut world, forwarder, FORWARD_TARGET, page);
    let forwarded = capability(world.invoke(forwarder, Operation::MakeIndirector)).unwrap();
    let manager = entry(process(&mut world, 13), 0);
    let mut constructors = Constructors::new(manager);
    let builders: Vec<_> = (0..3)
        .map(|_| {
            constructors
                .make(&mut world, &mut banks, prime, Capability::VOID)
                .unwrap()
        })
        .collect();
    let mut gifts = vec![
        Capability::number(3),
        forwarded,
        stranger,
        entry(stranger, 2),
    ];
    for memory in holders.iter().chain([&page]) {
        gifts.extend(all_rights().map(|rights| with(*memory, rights)));
        // What is common in practice, more often.
        gifts.extend([with(*memory, DIMINISHED); 6]);
    }
    for builder in &builders {
        let requestor = constructors.seal(&mut world, *builder).unwrap();
        gifts.extend([requestor; 5]);
    }
    // A process that looks like a constructor.
    gifts.push(entry(stranger, 1));
    Stage {
        world,
        constructors,
        builders,
        holders,
        gifts,
    }
}

/// Opens a constructor again, with this template and no component: the same ones are used for many graphs.
fn reset(world: &mut World, builder: Capability, template: Capability) {
    let Object { version, calls, .. } = *world.object(builder.object).unwrap();
    let mut node = Node::EMPTY;
    node.slots[SEALED] = Capability::number(0);
    node.slots[TEMPLATE] = template;
    let contents = Some(Contents::Node(node.into()));
    let object = Object {
        version,
        calls,
        contents,
    };
    world.put(builder.object, object);
}

fn requestor(builder: Capability) -> Capability {
    Capability { data: 1, ..builder }
}

/// Whether a client that allows `allowed` has allowed this: the same, or less of it.
fn is_allowed(allowed: &[Capability], what: Capability) -> bool {
    let mut allowed = allowed.iter();
    allowed.any(|allowed| {
        let same = (allowed.kind, allowed.object, allowed.version, allowed.data)
            == (what.kind, what.object, what.version, what.data);
        same && what.rights.bits() & allowed.rights.bits() == allowed.rights.bits()
    })
}

/// By brute force: what a product of this constructor can do to others. `Some` is a leak.
fn leak(stage: &mut Stage, constructor: Capability, allowed: &[Capability]) -> Option<Capability> {
    let mut held = vec![constructor];
    stage.world.take_changed();
    let builders = stage.builders.clone();
    let mut number = 0;
    while let Some(target) = held.get(number).copied() {
        number += 1;
        let made_by_constructor = builders.iter().any(|builder| requestor(*builder) == target);
        if made_by_constructor {
            // It can have products made, which may give it all that they get.
            let node = stage.world.object(target.object)?.contents.clone()?;
            for slot in &node.slots()[..COMPONENTS] {
                gain(
                    &mut held,
                    allowed,
                    Ok(Reply::Capability(stage.world.current(*slot))),
                );
            }
            // The space that it starts in can be read, all the way down.
            let template = with(node.slots()[TEMPLATE], DIMINISHED);
            gain(&mut held, allowed, Ok(Reply::Capability(template)));
            continue;
        }
        let world = &mut stage.world;
        // As an address space: writing to memory, or having a keeper called.
        for page in 0..SLOTS as u64 {
            let translation = world.lookup(target, page << PAGE_HEIGHT);
            if translation.allows(Access::Write).is_some() || translation.keeper.is_some() {
                return Some(target);
            }
        }
        if matches!(
            target.kind,
            Kind::Entry | Kind::Resume | Kind::Process | Kind::Range
        ) {
            return Some(target);
        }
        for slot in 0..SLOTS {
            gain(
                &mut held,
                allowed,
                world.invoke(target, Operation::Fetch(slot)),
            );
        }
        for operation in [
            Operation::Reduce(Rights::FULL),
            Operation::MakeProcess,
            Operation::MakeIndirector,
            Operation::FetchRegister(0),
            Operation::FetchPart(Part::Space),
            Operation::MakeEntry(0),
            Operation::Swap(1, target),
            Operation::Store(2, Capability::number(1)),
            Operation::SetHeight(17),
            Operation::WriteBytes(0, b"secret"),
            Operation::StoreRegister(0, target),
            Operation::Clear,
            Operation::Start,
            Operation::Restart,
        ] {
            gain(&mut held, allowed, world.invoke(target, operation));
        }
        if !world.take_changed().is_empty() {
            return Some(target);
        }
    }
    None
}

/// Adds what was got, unless it is the client's own business.
fn gain(held: &mut Vec<Capability>, allowed: &[Capability], reply: Result<Reply, Error>) {
    if let Ok(Reply::Capability(new)) = reply {
        if new.kind != Kind::Void && !held.contains(&new) && !is_allowed(allowed, new) {
            held.push(new);
        }
    }
}

#[test]
fn a_million_random_worlds() {
    let mut stage = stage();
    let (mut confined, mut leaks, mut cautious, mut nested) = (0u64, 0u64, 0u64, 0u64);
    let fresh: Vec<_> = stage
        .holders
        .iter()
        .map(|holder| stage.world.object(holder.object).cloned().unwrap())
        .collect();
    for seed in 0..1_000_000 {
        let mut random = Random::new(seed);
        // What the attack before has spoilt is made good.
        for (holder, object) in stage.holders.iter().zip(&fresh) {
            stage.world.put(holder.object, object.clone());
        }
        for number in 0..stage.holders.len() {
            for slot in 0..SLOTS {
                let gift = *random.pick(&stage.gifts).unwrap();
                store(&mut stage.world, stage.holders[number], slot, gift);
            }
        }
        for number in 0..stage.builders.len() {
            let builder = stage.builders[number];
            let template = *random.pick(&stage.holders).unwrap();
            reset(&mut stage.world, builder, template);
            for _ in 0..random.below(4) {
                let gift = *random.pick(&stage.gifts).unwrap();
                stage
                    .constructors
                    .install(&mut stage.world, builder, gift)
                    .unwrap();
            }
            stage.constructors.seal(&mut stage.world, builder).unwrap();
        }
        let allowed: Vec<_> = (0..random.below(3))
            .filter_map(|_| random.pick(&stage.gifts).copied())
            .collect();
        let asked = requestor(stage.builders[0]);
        let verdict = stage
            .constructors
            .verdict(&stage.world, asked, &allowed)
            .unwrap();
        // What others do to their own objects after the verdict must not make it wrong.
        if random.one_in(2) {
            let holder = stage.holders[random.below(3)];
            let gift = *random.pick(&stage.gifts).unwrap();
            store(&mut stage.world, holder, random.below(SLOTS), gift);
        }
        let components = stage
            .world
            .object(asked.object)
            .unwrap()
            .contents
            .clone()
            .unwrap();
        let uses_another = components.slots()[..COMPONENTS].iter().any(|slot| {
            stage
                .builders
                .iter()
                .any(|builder| requestor(*builder) == *slot)
        });
        let leak = leak(&mut stage, asked, &allowed);
        match (&verdict, leak) {
            (Verdict::Confined, Some(leak)) => {
                panic!("seed {seed}: said confined, and {leak:?} leads out")
            }
            (Verdict::Confined, None) => {
                confined += 1;
                nested += u64::from(uses_another);
            }
            (Verdict::Holes(_), Some(_)) => leaks += 1,
            (Verdict::Holes(_), None) => cautious += 1,
        }
    }
    let seen = format!("{confined} confined ({nested} with other constructors), {leaks} leaks, {cautious} cautious");
    assert!(
        confined > 50_000 && nested > 20_000 && leaks > 200_000,
        "{seen}"
    );
    // It may call a hole what leads nowhere today, and does not do so often.
    assert!(cautious < 150_000, "{seen}");
    println!("{seen}");
}
