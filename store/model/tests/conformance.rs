//! Every kind of capability, with every restriction and in every state, asked everything.

mod support;

use pebble_store_model::invoke::{Operation, Reply, FORWARD_BLOCKED, FORWARD_TARGET};
use pebble_store_model::process::{Manner, Message, Part};
use pebble_store_model::space::Access;
use pebble_store_model::{Error, World};
use pebble_store_object::{Capability, Kind, ObjectId, ObjectKind, Rights};
use support::*;

/// What must happen. A column is an operation, in the order of [`operations`]:
///
/// - `+` it is answered, nothing changes; `c` it is done, something changes;
/// - `-` not understood; `r` restricted; `v` void; `n` not ready; `b` blocked: nothing changes.
///
/// Groups: type, number | fetch, store, swap, clear | height, set height, read bytes, write bytes | reduce, make
/// process, make indirector | read register, write register, fetch register, store register | fetch part, store part,
/// state, start, stop, make entry | restart, pass on | create, destroy, split, identify.
const TABLE: &[(&str, &str)] = &[
    ("void", "+v vvvv vvvv vvv vvvv vvvvvv vv vvvv"),
    ("rescinded node", "+v vvvv vvvv vvv vvvv vvvvvv vv vvvv"),
    (
        "rescinded data page",
        "+v vvvv vvvv vvv vvvv vvvvvv vv vvvv",
    ),
    ("rescinded process", "+v vvvv vvvv vvv vvvv vvvvvv vv vvvv"),
    ("number", "++ ---- ---- --- ---- ------ -- ----"),
    ("node", "+- +ccc +c-- +++ ---- ------ -- ----"),
    ("node, read-only", "+- +rrr +r-- +rr ---- ------ -- ----"),
    ("node, weak", "+- +ccc +c-- +rr ---- ------ -- ----"),
    (
        "node, read-only, weak",
        "+- +rrr +r-- +rr ---- ------ -- ----",
    ),
    ("node, opaque", "+- rrrr +r-- +rr ---- ------ -- ----"),
    (
        "node, read-only, opaque",
        "+- rrrr +r-- +rr ---- ------ -- ----",
    ),
    ("node, weak, opaque", "+- rrrr +r-- +rr ---- ------ -- ----"),
    (
        "node, read-only, weak, opaque",
        "+- rrrr +r-- +rr ---- ------ -- ----",
    ),
    ("data page", "+- ---c --+c +-- ---- ------ -- ----"),
    (
        "data page, read-only",
        "+- ---r --+r +-- ---- ------ -- ----",
    ),
    ("data page, weak", "+- ---c --+c +-- ---- ------ -- ----"),
    (
        "data page, read-only, weak",
        "+- ---r --+r +-- ---- ------ -- ----",
    ),
    ("data page, opaque", "+- ---c --+c +-- ---- ------ -- ----"),
    (
        "data page, read-only, opaque",
        "+- ---r --+r +-- ---- ------ -- ----",
    ),
    (
        "data page, weak, opaque",
        "+- ---c --+c +-- ---- ------ -- ----",
    ),
    (
        "data page, read-only, weak, opaque",
        "+- ---r --+r +-- ---- ------ -- ----",
    ),
    ("capability page", "+- +ccc ---- +-- ---- ------ -- ----"),
    (
        "capability page, read-only",
        "+- +rrr ---- +-- ---- ------ -- ----",
    ),
    (
        "capability page, weak",
        "+- +ccc ---- +-- ---- ------ -- ----",
    ),
    (
        "capability page, read-only, weak",
        "+- +rrr ---- +-- ---- ------ -- ----",
    ),
    (
        "capability page, opaque",
        "+- rrrr ---- +-- ---- ------ -- ----",
    ),
    (
        "capability page, read-only, opaque",
        "+- rrrr ---- +-- ---- ------ -- ----",
    ),
    (
        "capability page, weak, opaque",
        "+- rrrr ---- +-- ---- ------ -- ----",
    ),
    (
        "capability page, read-only, weak, opaque",
        "+- rrrr ---- +-- ---- ------ -- ----",
    ),
    ("process, available", "+- ---- ---- --- +c+c +c+cn+ -- ----"),
    ("process, running", "+- ---- ---- --- +c+c +c+nc+ -- ----"),
    ("process, waiting", "+- ---- ---- --- +c+c +c+cn+ -- ----"),
    ("entry", "+- ---- ---- --- ---- ------ -- ----"),
    ("resume", "+- ---- ---- --- ---- ------ -- ----"),
    ("resume, used", "+v vvvv vvvv vvv vvvv vvvvvv vv vvvv"),
    ("fault", "+- ---- ---- --- ---- ------ cc ----"),
    ("fault, used", "+v vvvv vvvv vvv vvvv vvvvvv vv vvvv"),
    ("range", "+- ---- ---- --- ---- ------ -- cc++"),
    (
        "indirector to nothing",
        "+v vvvv vvvv vvv vvvv vvvvvv vv vvvv",
    ),
    (
        "indirector, blocked",
        "bb bbbb bbbb bbb bbbb bbbbbb bb bbbb",
    ),
];

const IN_RANGE: u64 = 101;

/// Every operation, in the order of the table's columns.
fn operations() -> Vec<Operation<'static>> {
    let number = Capability::number(7);
    let in_range = Capability {
        kind: Kind::DataPage,
        object: ObjectId(IN_RANGE),
        ..Capability::VOID
    };
    vec![
        Operation::TypeOf,
        Operation::ReadNumber,
        Operation::Fetch(1),
        Operation::Store(2, number),
        Operation::Swap(3, number),
        Operation::Clear,
        Operation::Height,
        Operation::SetHeight(17),
        Operation::ReadBytes(0, 8),
        Operation::WriteBytes(0, b"other"),
        Operation::Reduce(Rights::READ_ONLY),
        Operation::MakeProcess,
        Operation::MakeIndirector,
        Operation::ReadRegister(0),
        Operation::WriteRegister(0, 9),
        Operation::FetchRegister(1),
        Operation::StoreRegister(9, number),
        Operation::FetchPart(Part::Space),
        Operation::StorePart(Part::Space, in_range),
        Operation::State,
        Operation::Start,
        Operation::Stop,
        Operation::MakeEntry(5),
        Operation::Restart,
        Operation::PassOn,
        Operation::Create(0, ObjectKind::Node),
        Operation::Destroy(1),
        Operation::Split(0, 4),
        Operation::Identify(in_range),
    ]
}

fn gone(world: &mut World, capability: Capability) -> Capability {
    world.destroy(capability.object).unwrap();
    capability
}

/// A world with one of everything, and the capability of each row of the table.
fn prepare() -> (World, Vec<(Kind, Capability)>) {
    let mut world = World::new();
    let full_node = node(&mut world, 1);
    let page = data_page(&mut world, 2);
    let capabilities = capability_page(&mut world, 3);
    world
        .invoke(page, Operation::WriteBytes(0, b"before"))
        .unwrap();
    for holder in [full_node, capabilities] {
        store(&mut world, holder, 1, page);
    }
    let available = process(&mut world, 10);
    let runs = running(&mut world, 13, &[entry(available, 3)]);

    let server = process(&mut world, 20);
    let waits = running(&mut world, 23, &[entry(server, 0)]);
    world
        .communicate(waits, Manner::Call, 8, &Message::default())
        .unwrap();
    let resume = register(&mut world, server, 3);
    let client = running(&mut world, 26, &[]);
    let (keeper, inner) = (process(&mut world, 30), process(&mut world, 33));
    set_part(&mut world, client, Part::Keeper, entry(keeper, 0));
    let space = node(&mut world, 36);
    world.invoke(space, Operation::SetHeight(21)).unwrap();
    store(&mut world, space, 16, entry(inner, 0));
    set_part(&mut world, client, Part::Space, space);
    world.touch(client, 0x1000, Access::Read).unwrap();
    let fault = register(&mut world, inner, 3);
    assert_eq!((resume.kind, fault.kind), (Kind::Resume, Kind::Fault));

    let range = Capability {
        kind: Kind::Range,
        object: ObjectId(IN_RANGE - 1),
        data: 32,
        ..Capability::VOID
    };
    data_page(&mut world, IN_RANGE);
    let closed = node(&mut world, 40);
    store(&mut world, closed, FORWARD_TARGET, full_node);
    store(&mut world, closed, FORWARD_BLOCKED, Capability::number(1));
    let nothing = node(&mut world, 41);
    let old = [
        node(&mut world, 50),
        data_page(&mut world, 51),
        process(&mut world, 52),
    ];
    let old = old.map(|object| gone(&mut world, object));

    let void = |capability| (Kind::Void, capability);
    let mut rows = vec![
        void(Capability::VOID),
        void(old[0]),
        void(old[1]),
        void(old[2]),
    ];
    rows.push((Kind::Number, Capability::number(5)));
    for memory in [full_node, page, capabilities] {
        rows.extend(all_rights().map(|rights| (memory.kind, with(memory, rights))));
    }
    rows.extend([available, runs, waits].map(|process| (Kind::Process, process)));
    rows.push((Kind::Entry, entry(available, 4)));
    rows.push((Kind::Resume, resume));
    rows.push(void(Capability {
        data: resume.data + 1,
        ..resume
    }));
    rows.push((Kind::Fault, fault));
    rows.push(void(Capability {
        data: fault.data + 1,
        ..fault
    }));
    rows.push((Kind::Range, range));
    let indirector = |node| Capability {
        kind: Kind::Indirector,
        ..node
    };
    rows.push(void(indirector(nothing)));
    rows.push((Kind::Indirector, indirector(closed)));
    (world, rows)
}

/// What an operation did to a world, as a letter of the table.
fn letter(
    world: &mut World,
    capability: Capability,
    operation: Operation<'_>,
) -> (char, Result<Reply, Error>) {
    let before = world.objects().clone();
    let reply = world.invoke(capability, operation);
    let letter = match &reply {
        Ok(_) if *world.objects() != before => return ('c', reply),
        Ok(_) => '+',
        Err(Error::NotUnderstood(_)) => '-',
        Err(Error::Restricted(_)) => 'r',
        Err(Error::Void) => 'v',
        Err(Error::NotReady(_)) => 'n',
        Err(Error::Blocked(_)) => 'b',
        Err(_) => '?',
    };
    assert_eq!(
        *world.objects(),
        before,
        "{operation:?} was refused and has changed something"
    );
    (letter, reply)
}

#[test]
fn every_kind_and_restriction_is_asked_everything() {
    let (world, rows) = prepare();
    assert_eq!(rows.len(), TABLE.len());
    let mut cells = 0;
    for ((name, expected), (kind, capability)) in TABLE.iter().zip(&rows) {
        let expected: Vec<char> = expected.chars().filter(|letter| *letter != ' ').collect();
        assert_eq!(expected.len(), operations().len(), "{name}");
        for (operation, expected) in operations().into_iter().zip(expected) {
            let mut world = world.clone();
            let (found, reply) = letter(&mut world, *capability, operation);
            assert_eq!(found, expected, "{name}: {operation:?} gave {reply:?}");
            if operation == Operation::TypeOf && expected == '+' {
                assert_eq!(reply, Ok(Reply::Kind(*kind)), "{name}");
            }
            cells += 1;
        }
    }
    assert_eq!(cells, 40 * 29);
}

/// Whoever holds a forwarder cannot tell that it is one: same answers, same effects.
#[test]
fn a_forwarder_is_what_it_forwards_to() {
    let (world, rows) = prepare();
    for (depth, first) in [(1, 200), (3, 300)] {
        for ((name, _), (_, capability)) in TABLE.iter().zip(&rows) {
            let mut prepared = world.clone();
            let mut indirect = *capability;
            for step in 0..depth {
                let forwarder = node(&mut prepared, first + step);
                store(&mut prepared, forwarder, FORWARD_TARGET, indirect);
                indirect = capability_of(&mut prepared, forwarder);
            }
            for operation in operations() {
                let (mut direct, mut forwarded) = (prepared.clone(), prepared.clone());
                let expected = letter(&mut direct, *capability, operation);
                let found = letter(&mut forwarded, indirect, operation);
                assert_eq!(found, expected, "{name} behind {depth}: {operation:?}");
                assert_eq!(
                    direct.objects(),
                    forwarded.objects(),
                    "{name}: {operation:?}"
                );
            }
        }
    }
}

fn capability_of(world: &mut World, node: Capability) -> Capability {
    capability(world.invoke(node, Operation::MakeIndirector)).unwrap()
}

/// Entry and resume capabilities take messages; nothing else does.
#[test]
fn only_entry_and_resume_take_messages() {
    let (world, rows) = prepare();
    for ((name, _), (kind, capability)) in TABLE.iter().zip(&rows) {
        let mut world = world.clone();
        let sender = running(&mut world, 400, &[*capability]);
        let before = world.objects().clone();
        let sent = world.communicate(sender, Manner::Send, 8, &Message::default());
        match kind {
            Kind::Entry | Kind::Resume => assert!(sent.is_ok(), "{name}: {sent:?}"),
            Kind::Void => assert_eq!(sent, Err(Error::Void), "{name}"),
            Kind::Indirector => assert!(matches!(sent, Err(Error::Blocked(_))), "{name}: {sent:?}"),
            other => assert_eq!(sent, Err(Error::NotUnderstood(*other)), "{name}"),
        }
        assert_eq!(sent.is_err(), *world.objects() == before, "{name}");
    }
}
