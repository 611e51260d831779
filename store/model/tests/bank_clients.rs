//! What a bank's client can do with it, and what nobody can.

mod support;

use pebble_store_model::bank::{Banks, Destroy, NO_DESTROY, NO_LIMIT};
use pebble_store_model::invoke::{Operation, Reply};
use pebble_store_model::{Error, World};
use pebble_store_object::{Capability, Kind, ObjectId, ObjectKind, Rights};
use support::*;

const KINDS: [ObjectKind; 3] = [
    ObjectKind::DataPage,
    ObjectKind::CapabilityPage,
    ObjectKind::Node,
];

fn banks(pages: u64, nodes: u64) -> (World, Banks) {
    let mut world = World::new();
    let banks = Banks::new(
        &mut world,
        (ObjectId(0x1000), pages),
        (ObjectId(0x2000), nodes),
    )
    .unwrap();
    (world, banks)
}

#[test]
fn only_the_bank_that_sold_takes_back() {
    let (mut world, mut banks) = banks(100, 100);
    let prime = banks.prime();
    let above = banks.make_bank(&mut world, prime, None).unwrap();
    let below = banks.make_bank(&mut world, above, None).unwrap();
    let beside = banks.make_bank(&mut world, prime, None).unwrap();
    let object = banks.allocate(&mut world, below, ObjectKind::Node).unwrap();
    let before = world.objects().clone();
    for wrong in [prime, above, beside] {
        assert_eq!(
            banks.deallocate(&mut world, wrong, object),
            Err(Error::Foreign(object.object))
        );
    }
    for rights in all_rights().filter(|rights| *rights != Rights::FULL) {
        let less = banks.deallocate(&mut world, below, with(object, rights));
        assert_eq!(less, Err(Error::Restricted(rights)));
    }
    // A bank's node is not given back like an object, even by who got hold of it.
    let node_of_bank = Capability {
        kind: Kind::Node,
        data: 0,
        ..below
    };
    assert_eq!(
        banks.deallocate(&mut world, above, node_of_bank),
        Err(Error::Foreign(below.object))
    );
    let calls = entry(object, 0);
    assert_eq!(
        banks.deallocate(&mut world, below, calls),
        Err(Error::NotUnderstood(Kind::Entry))
    );
    assert_eq!(*world.objects(), before);
    assert_eq!(banks.deallocate(&mut world, below, object), Ok(()));
    assert_eq!(
        banks.deallocate(&mut world, below, object),
        Err(Error::Void)
    );
}

#[test]
fn a_restricted_bank_capability_does_less() {
    let (mut world, mut banks) = banks(100, 100);
    let prime = banks.prime();
    let bank = banks.make_bank(&mut world, prime, None).unwrap();
    let object = banks.allocate(&mut world, bank, ObjectKind::Node).unwrap();
    let no_destroy = banks.restrict(&world, bank, NO_DESTROY).unwrap();
    let no_limit = banks.restrict(&world, bank, NO_LIMIT).unwrap();
    assert_eq!(
        banks.restrict(&world, no_destroy, 0),
        Ok(no_destroy),
        "nothing comes back"
    );
    assert_eq!(
        banks.destroy(&mut world, no_destroy, Destroy::Reclaim),
        Err(Error::BankRestricted)
    );
    assert_eq!(
        banks.destroy(&mut world, prime, Destroy::Return),
        Err(Error::BankRestricted)
    );
    assert_eq!(
        banks.deallocate(&mut world, no_destroy, object),
        Err(Error::BankRestricted)
    );
    assert_eq!(banks.set_limit(&world, no_destroy, Some(5)), Ok(()));
    assert_eq!(
        banks.set_limit(&world, no_limit, Some(50)),
        Err(Error::BankRestricted)
    );
    assert!(banks
        .allocate(&mut world, no_limit, ObjectKind::Node)
        .is_ok());
    assert_eq!(
        banks.destroy(&mut world, no_limit, Destroy::Reclaim),
        Ok(())
    );
}

#[test]
fn a_bank_can_be_told_from_what_looks_like_one() {
    let (mut world, mut banks) = banks(100, 100);
    let prime = banks.prime();
    let bank = banks.make_bank(&mut world, prime, None).unwrap();
    assert_eq!(banks.verify(&world, bank), Ok(bank.object));
    let object = banks.allocate(&mut world, bank, ObjectKind::Node).unwrap();
    let forged = entry(object, 0);
    assert_eq!(banks.verify(&world, forged), Err(Error::NotGenuine));
    assert_eq!(banks.verify(&world, object), Err(Error::NotGenuine));
    assert_eq!(
        banks.allocate(&mut world, forged, ObjectKind::Node),
        Err(Error::NotGenuine)
    );
    assert_eq!(banks.verify(&world, Capability::VOID), Err(Error::Void));
}

/// Nobody but the bank service can make or end an object: a range does not come out of anything that is sold.
#[test]
fn nothing_that_is_sold_leads_to_a_range() {
    let (mut world, mut banks) = banks(100, 100);
    let prime = banks.prime();
    let mut held: Vec<_> = KINDS
        .iter()
        .map(|kind| banks.allocate(&mut world, prime, *kind).unwrap())
        .collect();
    held.push(prime);
    let everything = |what: Capability| {
        let mut operations = vec![
            Operation::Clear,
            Operation::MakeProcess,
            Operation::MakeIndirector,
        ];
        operations.extend(
            (0..128).flat_map(|slot| [Operation::Fetch(slot), Operation::Swap(slot, what)]),
        );
        operations.extend((0..32).map(Operation::FetchRegister));
        operations
    };
    let mut number = 0;
    while let Some(target) = held.get(number).copied() {
        number += 1;
        for operation in everything(target) {
            if let Ok(Reply::Capability(new)) = world.invoke(target, operation) {
                assert_ne!(new.kind, Kind::Range, "{operation:?}");
                if !held.contains(&new) {
                    held.push(new);
                }
            }
        }
        let before = banks.owners().len();
        for operation in [
            Operation::Create(0, ObjectKind::Node),
            Operation::Destroy(0),
        ] {
            assert!(world.invoke(target, operation).is_err());
        }
        assert_eq!(before, banks.owners().len());
    }
    assert!(held.len() > 6, "{held:?}");
}

/// The end of the bank is the end of the subsystem: whatever it had left elsewhere is void.
#[test]
fn nothing_of_a_subsystem_outlives_its_bank() {
    let (mut world, mut banks) = banks(1_000, 1_000);
    let prime = banks.prime();
    let friend_bank = banks.make_bank(&mut world, prime, None).unwrap();
    let hideout = banks
        .allocate(&mut world, friend_bank, ObjectKind::CapabilityPage)
        .unwrap();
    let bank = banks.make_bank(&mut world, prime, None).unwrap();
    let mut hidden = 0;
    let mut programs = Vec::new();
    for _ in 0..20 {
        // Each in a bank of its own below, calling the one before, its power and faces hidden with a friend.
        let sub = banks.make_bank(&mut world, bank, None).unwrap();
        let nodes = [0; 3].map(|_| banks.allocate(&mut world, sub, ObjectKind::Node).unwrap());
        let program = world.make_process(nodes[0], nodes[1], nodes[2]).unwrap();
        for kept in [program, entry(program, 1), sub, nodes[1]] {
            store(&mut world, hideout, hidden, kept);
            hidden += 1;
        }
        programs.push(program);
    }
    for pair in programs.windows(2) {
        world
            .invoke(pair[1], Operation::StoreRegister(8, entry(pair[0], 0)))
            .unwrap();
    }
    world.invoke(programs[19], Operation::Start).unwrap();
    let call = pebble_store_model::process::Manner::Call;
    for number in (1..20).rev() {
        world
            .communicate(programs[number], call, 8, &Default::default())
            .unwrap();
        let resume = register(&mut world, programs[number - 1], 3);
        store(&mut world, hideout, hidden, resume);
        hidden += 1;
    }
    banks.destroy(&mut world, bank, Destroy::Reclaim).unwrap();
    for slot in 0..hidden {
        assert_eq!(fetch(&mut world, hideout, slot), Ok(Capability::VOID));
    }
    for program in programs {
        assert_eq!(world.invoke(program, Operation::Start), Err(Error::Void));
        assert_eq!(world.state(program), Err(Error::Void));
    }
}
