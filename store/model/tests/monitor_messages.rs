//! Calls between compartments: they work as if nobody were in between, and nothing crosses as it is.

mod support;

use pebble_store_model::bank::Banks;
use pebble_store_model::invoke::Operation;
use pebble_store_model::monitor::{Compartment, Mediation, Monitor};
use pebble_store_model::process::{Delivery, Manner, Message, State};
use pebble_store_model::{Error, World};
use pebble_store_object::{Capability, Kind, ObjectId};
use support::*;

const HERE: Compartment = Compartment(0);
const THERE: Compartment = Compartment(1);

fn anything(_: Compartment, _: Compartment, capability: Capability) -> Option<Capability> {
    Some(capability)
}

fn no_nodes(_: Compartment, _: Compartment, capability: Capability) -> Option<Capability> {
    (capability.kind != Kind::Node).then_some(capability)
}

/// A client here, with a filter in front of a server there in register 8, and two objects of its own.
struct Stage {
    world: World,
    banks: Banks,
    monitor: Monitor,
    client: Capability,
    server: Capability,
    handed: Capability,
    own: [Capability; 2],
}

fn stage() -> Stage {
    let mut world = World::new();
    let mut banks = Banks::new(
        &mut world,
        (ObjectId(0x1_0000), 10),
        (ObjectId(0x2_0000), 500),
    )
    .unwrap();
    let mut monitor = Monitor::new(banks.prime(), anything);
    let server = process(&mut world, 20);
    let way = (THERE, HERE);
    let handed = monitor
        .grant(
            &mut world,
            &mut banks,
            way,
            entry(server, 7),
            Mediation::Filter,
        )
        .unwrap();
    let own = [data_page(&mut world, 30), node(&mut world, 31)];
    let client = running(&mut world, 10, &[handed, own[0], own[1]]);
    Stage {
        world,
        banks,
        monitor,
        client,
        server,
        handed,
        own,
    }
}

impl Stage {
    fn send(
        &mut self,
        from: Capability,
        manner: Manner,
        register: usize,
        message: &Message,
    ) -> Result<Delivery, Error> {
        self.monitor.communicate(
            &mut self.world,
            &mut self.banks,
            from,
            manner,
            register,
            message,
        )
    }
}

fn with_capabilities(capabilities: [Option<usize>; 4]) -> Message {
    Message {
        words: [1, 2, 3, 4],
        capabilities,
        bytes: b"text".to_vec(),
    }
}

#[test]
fn a_call_and_its_answer_cross() {
    let mut stage = stage();
    let grants = stage.monitor.audit().count();
    let message = with_capabilities([Some(9), None, None, None]);
    let delivery = stage.send(stage.client, Manner::Call, 8, &message).unwrap();
    assert_eq!(
        (delivery.to, &delivery.bytes[..]),
        (stage.server.object, &b"text"[..])
    );
    assert_eq!(stage.world.state(stage.client), Ok(State::Waiting));
    let server = stage.server;
    assert_eq!(
        [0, 1, 2, 3, 4].map(|number| word(&mut stage.world, server, number)),
        [1, 2, 3, 4, 7]
    );
    // What has arrived works, and is not the client's own.
    let (page, resume) = (
        register(&mut stage.world, server, 0),
        register(&mut stage.world, server, 3),
    );
    for arrived in [page, resume] {
        let listed = stage
            .monitor
            .audit()
            .any(|grant| grant.handed == arrived && grant.to == THERE);
        assert!(
            listed
                && arrived.object != stage.client.object
                && arrived.object != stage.own[0].object
        );
    }
    let written = stage.monitor.invoke(
        &mut stage.world,
        &mut stage.banks,
        page,
        Operation::WriteBytes(0, b"there"),
    );
    assert!(written.is_ok());
    assert_eq!(read(&mut stage.world, stage.own[0], 0, 5), b"there");
    // Its own comes back to the client as itself, something of the server's through a filter.
    let servers = data_page(&mut stage.world, 40);
    stage
        .world
        .invoke(server, Operation::StoreRegister(9, servers))
        .unwrap();
    let answer = with_capabilities([Some(0), Some(9), None, None]);
    stage.send(server, Manner::Return, 3, &answer).unwrap();
    assert_eq!(stage.world.state(stage.client), Ok(State::Running));
    let client = stage.client;
    assert_eq!(register(&mut stage.world, client, 0), stage.own[0]);
    let got = register(&mut stage.world, client, 1);
    assert!(got.object != servers.object && stage.monitor.audit().any(|grant| grant.handed == got));
    // The page's and the server's page's filters stay; the used resume capability's is gone.
    assert_eq!(stage.monitor.audit().count(), grants + 2);
    assert!(!stage.world.is_live(resume));
}

#[test]
fn an_answer_goes_through_once_whoever_has_the_filter() {
    let mut stage = stage();
    stage
        .send(stage.client, Manner::Call, 8, &Message::default())
        .unwrap();
    let server = stage.server;
    let resume = register(&mut stage.world, server, 3);
    let others: Vec<_> = (0..20)
        .map(|number| running(&mut stage.world, 100 + 3 * number, &[resume]))
        .collect();
    let mut answered = 0;
    for other in others {
        match stage.send(other, Manner::Send, 8, &Message::default()) {
            Ok(_) => answered += 1,
            Err(error) => assert_eq!(error, Error::Void),
        }
    }
    assert_eq!(answered, 1);
}

#[test]
fn what_is_refused_leaves_nothing_behind() {
    let mut stage = stage();
    let before = |stage: &Stage| {
        (
            stage.monitor.audit().copied().collect::<Vec<_>>(),
            stage.banks.free(),
        )
    };
    let as_it_was = before(&stage);
    // One capability may cross and the other may not.
    stage.monitor.set_policy(no_nodes);
    let message = with_capabilities([Some(9), Some(10), None, None]);
    assert_eq!(
        stage.send(stage.client, Manner::Call, 8, &message),
        Err(Error::Policy)
    );
    assert_eq!(before(&stage), as_it_was);
    assert_eq!(stage.world.state(stage.client), Ok(State::Running));
    // The server is busy.
    stage.world.invoke(stage.server, Operation::Start).unwrap();
    let error = stage.send(
        stage.client,
        Manner::Call,
        8,
        &with_capabilities([Some(9), None, None, None]),
    );
    assert_eq!(error, Err(Error::NotReady(stage.server.object)));
    assert_eq!(before(&stage), as_it_was);
    stage.world.listen(stage.server).unwrap();
    // Closed, opened, taken away.
    stage
        .monitor
        .set_blocked(&mut stage.world, stage.handed, true)
        .unwrap();
    let closed = stage.send(stage.client, Manner::Send, 8, &Message::default());
    assert_eq!(closed, Err(Error::Blocked(stage.handed.object)));
    stage
        .monitor
        .set_blocked(&mut stage.world, stage.handed, false)
        .unwrap();
    assert!(stage
        .send(stage.client, Manner::Send, 8, &Message::default())
        .is_ok());
    stage.world.listen(stage.server).unwrap();
    stage
        .monitor
        .revoke(&mut stage.world, &mut stage.banks, stage.handed)
        .unwrap();
    assert_eq!(
        stage.send(stage.client, Manner::Send, 8, &Message::default()),
        Err(Error::Void)
    );
}

#[test]
fn a_filter_of_a_filter_passes_messages_too() {
    let mut stage = stage();
    let third = Compartment(2);
    let second = stage
        .monitor
        .grant(
            &mut stage.world,
            &mut stage.banks,
            (HERE, third),
            stage.handed,
            Mediation::Filter,
        )
        .unwrap();
    let page = data_page(&mut stage.world, 50);
    let client = running(&mut stage.world, 60, &[second, page]);
    let message = with_capabilities([Some(9), None, None, None]);
    stage.send(client, Manner::Call, 8, &message).unwrap();
    let server = stage.server;
    let got = register(&mut stage.world, server, 0);
    assert!(got.object != page.object);
    let reply = stage.monitor.invoke(
        &mut stage.world,
        &mut stage.banks,
        got,
        Operation::WriteBytes(0, b"far"),
    );
    assert!(reply.is_ok());
    assert_eq!(read(&mut stage.world, page, 0, 3), b"far");
    stage
        .send(
            server,
            Manner::Return,
            3,
            &with_capabilities([Some(0), None, None, None]),
        )
        .unwrap();
    assert_eq!(
        register(&mut stage.world, client, 0),
        page,
        "its own, as it was"
    );
    // Cutting either of the two ends it.
    stage
        .monitor
        .revoke(&mut stage.world, &mut stage.banks, stage.handed)
        .unwrap();
    assert_eq!(
        stage.send(client, Manner::Send, 8, &Message::default()),
        Err(Error::Void)
    );
}
