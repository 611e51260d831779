//! Constructors: what they install, seal, say and make (EROS, section 5.3).

mod support;

use pebble_store_model::bank::{Banks, Destroy, NO_DESTROY};
use pebble_store_model::constructor::{
    Constructors, Verdict, BANK_REGISTER, COMPONENTS, FIRST_COMPONENT_REGISTER,
};
use pebble_store_model::copy::write_fault;
use pebble_store_model::invoke::Operation;
use pebble_store_model::process::{Manner, Message, State, Touch};
use pebble_store_model::space::Access;
use pebble_store_model::{Error, World, DIMINISHED};
use pebble_store_object::{Capability, ObjectId, ObjectKind, Rights};
use support::*;

struct Stage {
    world: World,
    banks: Banks,
    constructors: Constructors,
    manager: Capability,
    template: Capability,
}

fn stage() -> Stage {
    let mut world = World::new();
    let banks = Banks::new(
        &mut world,
        (ObjectId(0x1_0000), 2_000),
        (ObjectId(0x2_0000), 2_000),
    )
    .unwrap();
    let manager = process(&mut world, 10);
    let template = node(&mut world, 1);
    world.invoke(template, Operation::SetHeight(17)).unwrap();
    let page = data_page(&mut world, 2);
    world
        .invoke(page, Operation::WriteBytes(0, b"program"))
        .unwrap();
    store(&mut world, template, 0, page);
    Stage {
        world,
        banks,
        constructors: Constructors::new(entry(manager, 0)),
        manager,
        template,
    }
}

impl Stage {
    fn builder(&mut self) -> Capability {
        let prime = self.banks.prime();
        self.constructors
            .make(&mut self.world, &mut self.banks, prime, self.template)
            .unwrap()
    }

    /// A sealed constructor with these components.
    fn sealed(&mut self, components: &[Capability]) -> Capability {
        let builder = self.builder();
        for component in components {
            self.constructors
                .install(&mut self.world, builder, *component)
                .unwrap();
        }
        self.constructors.seal(&mut self.world, builder).unwrap()
    }

    fn verdict(&self, requestor: Capability, allowed: &[Capability]) -> Verdict {
        self.constructors
            .verdict(&self.world, requestor, allowed)
            .unwrap()
    }

    fn request(&mut self, requestor: Capability, bank: Capability) -> Result<Capability, Error> {
        self.constructors
            .request(&mut self.world, &mut self.banks, requestor, bank)
    }
}

#[test]
fn after_sealing_nothing_can_be_added() {
    let mut stage = stage();
    let builder = stage.builder();
    let one = stage
        .constructors
        .install(&mut stage.world, builder, Capability::number(1));
    assert_eq!(one, Ok(0));
    let requestor = stage.constructors.seal(&mut stage.world, builder).unwrap();
    assert_eq!(
        stage.constructors.seal(&mut stage.world, builder),
        Ok(requestor)
    );
    let before = stage.world.objects().clone();
    let again = stage
        .constructors
        .install(&mut stage.world, builder, Capability::number(2));
    assert_eq!(again, Err(Error::Sealed));
    assert_eq!(*stage.world.objects(), before);
}

#[test]
fn builders_build_and_requestors_request() {
    let mut stage = stage();
    let builder = stage.builder();
    let prime = stage.banks.prime();
    // Before it is sealed, nobody can ask.
    assert_eq!(
        stage.constructors.verdict(&stage.world, builder, &[]),
        Err(Error::NotGenuine)
    );
    assert_eq!(stage.request(builder, prime), Err(Error::NotGenuine));
    let requestor = stage.constructors.seal(&mut stage.world, builder).unwrap();
    assert_eq!(
        stage.constructors.seal(&mut stage.world, requestor),
        Err(Error::NotGenuine)
    );
    let install = stage
        .constructors
        .install(&mut stage.world, requestor, Capability::number(1));
    assert_eq!(install, Err(Error::NotGenuine));
    assert!(stage.constructors.is_requestor(&stage.world, requestor));
    assert!(!stage.constructors.is_requestor(&stage.world, builder));
}

#[test]
fn what_only_looks_like_a_constructor_is_refused() {
    let mut stage = stage();
    let prime = stage.banks.prime();
    let forger = process(&mut stage.world, 30);
    for forged in [
        entry(forger, 1),
        entry(forger, 0),
        Capability::number(1),
        forger,
    ] {
        assert!(!stage.constructors.is_requestor(&stage.world, forged));
        assert_eq!(
            stage.constructors.verdict(&stage.world, forged, &[]),
            Err(Error::NotGenuine)
        );
        assert_eq!(stage.request(forged, prime), Err(Error::NotGenuine));
    }
    // Another metaconstructor's are not this one's.
    let mut other = Constructors::new(entry(stage.manager, 0));
    let builder = other
        .make(&mut stage.world, &mut stage.banks, prime, Capability::VOID)
        .unwrap();
    let theirs = other.seal(&mut stage.world, builder).unwrap();
    assert!(
        !stage.constructors.is_requestor(&stage.world, theirs)
            && other.is_requestor(&stage.world, theirs)
    );
    // A constructor that is gone, and whatever is there now.
    let own_bank = stage
        .banks
        .make_bank(&mut stage.world, prime, None)
        .unwrap();
    let builder = stage
        .constructors
        .make(
            &mut stage.world,
            &mut stage.banks,
            own_bank,
            Capability::VOID,
        )
        .unwrap();
    let requestor = stage.constructors.seal(&mut stage.world, builder).unwrap();
    stage
        .banks
        .destroy(&mut stage.world, own_bank, Destroy::Reclaim)
        .unwrap();
    assert_eq!(stage.request(requestor, prime), Err(Error::Void));
    assert_eq!(
        stage.constructors.verdict(&stage.world, requestor, &[]),
        Err(Error::Void)
    );
}

#[test]
fn there_is_room_for_so_many_components() {
    let mut stage = stage();
    let builder = stage.builder();
    for number in 0..COMPONENTS {
        let installed = stage.constructors.install(
            &mut stage.world,
            builder,
            Capability::number(number as u64),
        );
        assert_eq!(installed, Ok(number));
    }
    let full = stage
        .constructors
        .install(&mut stage.world, builder, Capability::number(0));
    let slots = COMPONENTS;
    assert_eq!(full, Err(Error::NoSlot { slot: slots, slots }));
}

/// Each kind with each restriction as the only component: a hole or none.
#[test]
fn the_rule_for_each_kind() {
    let mut stage = stage();
    let stranger = process(&mut stage.world, 30);
    let (page, capabilities, nodes) = (
        data_page(&mut stage.world, 40),
        capability_page(&mut stage.world, 41),
        node(&mut stage.world, 42),
    );
    let dead = data_page(&mut stage.world, 43);
    stage.world.destroy(dead.object).unwrap();
    let mut cases = vec![
        (Capability::VOID, true),
        (Capability::number(7), true),
        (dead, true),
        (stranger, false),
        (entry(stranger, 0), false),
        (
            capability(stage.world.invoke(nodes, Operation::MakeIndirector)).unwrap(),
            false,
        ),
        (stage.banks.prime(), false),
    ];
    for rights in all_rights() {
        cases.push((with(page, rights), rights.has(Rights::READ_ONLY)));
        for holder in [capabilities, nodes] {
            cases.push((with(holder, rights), rights.has(DIMINISHED)));
        }
    }
    for (component, confined) in cases {
        let requestor = stage.sealed(&[component]);
        let expected = if confined {
            Verdict::Confined
        } else {
            Verdict::Holes(vec![component])
        };
        assert_eq!(stage.verdict(requestor, &[]), expected, "{component:?}");
        // With the client's consent there is no hole, whatever it is.
        assert_eq!(
            stage.verdict(requestor, &[component]),
            Verdict::Confined,
            "{component:?}"
        );
    }
}

#[test]
fn consent_covers_less_and_not_more() {
    let mut stage = stage();
    let holder = node(&mut stage.world, 40);
    for given in all_rights() {
        for consented in all_rights() {
            let requestor = stage.sealed(&[with(holder, given)]);
            let verdict = stage.verdict(requestor, &[with(holder, consented)]);
            let confined = given.has(DIMINISHED) || given.has(consented);
            assert_eq!(
                verdict == Verdict::Confined,
                confined,
                "{given:?} with {consented:?}"
            );
        }
    }
}

#[test]
fn other_constructors_are_asked_and_rings_of_them_end() {
    let mut stage = stage();
    let hole = entry(stage.manager, 5);
    let harmless = stage.sealed(&[Capability::number(1)]);
    let leaky = stage.sealed(&[hole]);
    let over_harmless = stage.sealed(&[harmless]);
    let over_leaky = stage.sealed(&[harmless, leaky]);
    let over_over = stage.sealed(&[over_leaky]);
    assert_eq!(stage.verdict(over_harmless, &[]), Verdict::Confined);
    assert_eq!(stage.verdict(over_over, &[]), Verdict::Holes(vec![hole]));
    assert_eq!(stage.verdict(over_over, &[hole]), Verdict::Confined);
    assert_eq!(stage.verdict(over_over, &[leaky]), Verdict::Confined);

    // Two that use each other: by the requestor's capability of one that is yet to be sealed.
    let (one, two) = (stage.builder(), stage.builder());
    let requestor = |builder| Capability { data: 1, ..builder };
    stage
        .constructors
        .install(&mut stage.world, one, requestor(two))
        .unwrap();
    stage
        .constructors
        .install(&mut stage.world, two, requestor(one))
        .unwrap();
    let one = stage.constructors.seal(&mut stage.world, one).unwrap();
    assert_eq!(
        stage.constructors.verdict(&stage.world, one, &[]),
        Err(Error::NotSealed)
    );
    stage
        .constructors
        .install(&mut stage.world, two, hole)
        .unwrap();
    stage.constructors.seal(&mut stage.world, two).unwrap();
    assert_eq!(stage.verdict(one, &[]), Verdict::Holes(vec![hole]));
    assert_eq!(stage.verdict(one, &[hole]), Verdict::Confined);
}

#[test]
fn a_product_is_the_clients_and_starts_in_a_copy() {
    let mut stage = stage();
    let prime = stage.banks.prime();
    let requestor = stage.sealed(&[Capability::number(11), Capability::number(12)]);
    let client_bank = stage
        .banks
        .make_bank(&mut stage.world, prime, None)
        .unwrap();
    let others = stage.banks.banks()[&prime.object].own.len();
    let product = stage.request(requestor, client_bank).unwrap();
    // Three nodes of the process, one of the copy; and nothing from anybody else.
    assert_eq!(stage.banks.banks()[&client_bank.object].total, 4);
    assert_eq!(stage.banks.banks()[&prime.object].own.len(), others);

    let power = Capability {
        kind: pebble_store_object::Kind::Process,
        ..product
    };
    assert_eq!(stage.world.state(power), Ok(State::Available));
    assert_eq!(
        register(&mut stage.world, power, FIRST_COMPONENT_REGISTER + 1),
        Capability::number(12)
    );
    assert_eq!(
        register(&mut stage.world, power, BANK_REGISTER),
        client_bank
    );
    for unused in (0..FIRST_COMPONENT_REGISTER).chain(BANK_REGISTER + 1..32) {
        assert_eq!(register(&mut stage.world, power, unused), Capability::VOID);
    }

    // It is called, reads the program, and writes to a copy that its client pays.
    let client = running(&mut stage.world, 30, &[product]);
    stage
        .world
        .communicate(client, Manner::Call, 8, &Message::default())
        .unwrap();
    let Ok(Touch::Page(page)) = stage.world.touch(power, 0, Access::Read) else {
        panic!("it cannot read its program");
    };
    assert_eq!(read(&mut stage.world, page, 0, 7), b"program");
    assert!(matches!(
        stage.world.touch(power, 0, Access::Write),
        Ok(Touch::Fault(_))
    ));
    let manager = stage.manager;
    let copied = register(&mut stage.world, manager, 0);
    let fault = register(&mut stage.world, manager, 3);
    write_fault(&mut stage.world, &mut stage.banks, copied, 0).unwrap();
    stage.world.invoke(fault, Operation::Restart).unwrap();
    let Ok(Touch::Page(page)) = stage.world.touch(power, 0, Access::Write) else {
        panic!("it cannot write to its copy");
    };
    stage
        .world
        .invoke(page, Operation::WriteBytes(0, b"changed"))
        .unwrap();
    let template = fetch(&mut stage.world, stage.template, 0).unwrap();
    assert_eq!(read(&mut stage.world, template, 0, 7), b"program");
    assert_eq!(stage.banks.banks()[&client_bank.object].total, 6);

    // With the client's bank, the product is gone.
    stage
        .banks
        .destroy(&mut stage.world, client_bank, Destroy::Reclaim)
        .unwrap();
    assert!(!stage.world.is_live(product) && !stage.world.is_live(page));
    assert!(stage.world.is_live(requestor));
}

#[test]
fn a_bank_without_room_sells_nothing() {
    for limit in 0..4 {
        let mut stage = stage();
        let prime = stage.banks.prime();
        let requestor = stage.sealed(&[]);
        let bank = stage
            .banks
            .make_bank(&mut stage.world, prime, Some(limit))
            .unwrap();
        let free = stage.banks.free();
        assert_eq!(
            stage.request(requestor, bank),
            Err(Error::Limit(bank.object))
        );
        assert_eq!(stage.banks.free(), free);
        assert_eq!(stage.banks.banks()[&bank.object].total, 0);
        stage.banks.set_limit(&stage.world, bank, Some(4)).unwrap();
        assert!(stage.request(requestor, bank).is_ok());
    }
}

/// Even if nothing can be given back to it.
#[test]
fn a_request_that_fails_has_bought_nothing() {
    let mut stage = stage();
    let prime = stage.banks.prime();
    let requestor = stage.sealed(&[]);
    let bank = stage
        .banks
        .make_bank(&mut stage.world, prime, Some(3))
        .unwrap();
    let restricted = stage
        .banks
        .restrict(&stage.world, bank, NO_DESTROY)
        .unwrap();
    let before = stage.world.objects().clone();
    assert_eq!(
        stage.request(requestor, restricted),
        Err(Error::Limit(bank.object))
    );
    assert_eq!(*stage.world.objects(), before);
    // A template that is no space.
    stage
        .world
        .invoke(stage.template, Operation::SetHeight(0))
        .unwrap();
    let before = stage.world.objects().clone();
    assert_eq!(stage.request(requestor, prime), Err(Error::NoHeight(0)));
    assert_eq!(*stage.world.objects(), before);
    // A store that is nearly full.
    stage
        .world
        .invoke(stage.template, Operation::SetHeight(17))
        .unwrap();
    while stage.banks.free().1 > 3 {
        stage
            .banks
            .allocate(&mut stage.world, prime, ObjectKind::Node)
            .unwrap();
    }
    let before = stage.world.objects().clone();
    assert_eq!(stage.request(requestor, prime), Err(Error::Exhausted));
    assert_eq!(*stage.world.objects(), before);
}
