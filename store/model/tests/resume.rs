//! A call is answered at most once, whoever has the resume capability (EROS, section 3.3).

mod support;

use pebble_store_model::invoke::{Operation, Reply};
use pebble_store_model::process::{
    Manner, Message, Part, State, Touch, FACE_REGISTER, FAULT_ACCESS, NO_INVOCATION,
};
use pebble_store_model::random::Random;
use pebble_store_model::space::Access;
use pebble_store_model::{Error, World};
use pebble_store_object::{CallCount, Capability, Kind, COUNTER_LIMIT};
use support::*;

/// A client that has called a server, both processes, and the resume capability.
fn called(world: &mut World) -> (Capability, Capability, Capability) {
    let server = process(world, 20);
    let client = running(world, 10, &[entry(server, 6)]);
    world
        .communicate(client, Manner::Call, 8, &Message::default())
        .unwrap();
    let resume = register(world, server, 3);
    (client, server, resume)
}

fn words(word: u64) -> Message {
    Message {
        words: [word; 4],
        ..Message::default()
    }
}

fn state(world: &World, process: Capability) -> State {
    world.state(process).unwrap()
}

#[test]
fn a_call_and_its_answer() {
    let mut world = World::new();
    let server = process(&mut world, 20);
    let page = data_page(&mut world, 30);
    let client = running(&mut world, 10, &[entry(server, 6), page]);
    let message = Message {
        words: [1, 2, 3, 4],
        capabilities: [Some(9), None, Some(8), Some(9)],
        bytes: b"question".to_vec(),
    };
    let delivery = world
        .communicate(client, Manner::Call, 8, &message)
        .unwrap();
    assert_eq!(
        (delivery.to, &delivery.bytes[..]),
        (server.object, &b"question"[..])
    );
    assert_eq!(
        (state(&world, client), state(&world, server)),
        (State::Waiting, State::Running)
    );
    assert_eq!(
        [0, 1, 2, 3].map(|number| word(&mut world, server, number)),
        [1, 2, 3, 4]
    );
    assert_eq!(word(&mut world, server, FACE_REGISTER), 6);
    assert_eq!(register(&mut world, server, 0), page);
    assert_eq!(register(&mut world, server, 1), Capability::VOID);
    assert_eq!(register(&mut world, server, 2), entry(server, 6));
    let resume = register(&mut world, server, 3);
    assert_eq!((resume.kind, resume.object), (Kind::Resume, client.object));

    world
        .communicate(server, Manner::Return, 3, &words(9))
        .unwrap();
    assert_eq!(
        (state(&world, client), state(&world, server)),
        (State::Running, State::Available)
    );
    assert_eq!(
        [0, 1, 2, 3].map(|number| word(&mut world, client, number)),
        [9; 4]
    );
    assert_eq!(word(&mut world, client, FACE_REGISTER), 0);
    assert_eq!(
        register(&mut world, server, 3),
        Capability::VOID,
        "it is used"
    );
}

#[test]
fn only_a_call_makes_a_resume_capability() {
    for (manner, expected) in [
        (Manner::Call, Kind::Resume),
        (Manner::Send, Kind::DataPage),
        (Manner::Return, Kind::DataPage),
    ] {
        let mut world = World::new();
        let server = process(&mut world, 20);
        let page = data_page(&mut world, 30);
        let client = running(&mut world, 10, &[entry(server, 0), page]);
        let message = Message {
            capabilities: [None, None, None, Some(9)],
            ..Message::default()
        };
        world.communicate(client, manner, 8, &message).unwrap();
        assert_eq!(register(&mut world, server, 3).kind, expected, "{manner:?}");
    }
}

#[test]
fn of_any_number_of_copies_one_is_good() {
    let mut random = Random::new(3);
    for copies in [1, 2, 3, 10, 100, 1_000, 10_000] {
        let mut world = World::new();
        let (client, _, resume) = called(&mut world);
        // Each copy in a register of somebody who will answer with it.
        let holders: Vec<_> = (0..copies)
            .map(|number| running(&mut world, 1_000 + 3 * number, &[resume]))
            .collect();
        let mut order: Vec<usize> = (0..holders.len()).collect();
        for place in 0..order.len() {
            let other = place + random.below(order.len() - place);
            order.swap(place, other);
        }
        let mut answered = Vec::new();
        for holder in order {
            match world.communicate(holders[holder], Manner::Send, 8, &words(holder as u64)) {
                Ok(_) => answered.push(holder),
                Err(error) => assert_eq!(error, Error::Void),
            }
            assert_eq!(register(&mut world, holders[holder], 8), Capability::VOID);
        }
        assert_eq!(answered.len(), 1, "of {copies} copies");
        assert_eq!(word(&mut world, client, 0), answered[0] as u64);
    }
}

#[test]
fn an_old_answer_does_not_fit_a_new_call() {
    let mut world = World::new();
    let (client, server, first) = called(&mut world);
    let thief = running(&mut world, 40, &[first]);
    world
        .communicate(server, Manner::Return, 3, &words(1))
        .unwrap();
    world
        .communicate(client, Manner::Call, 8, &words(2))
        .unwrap();
    assert_eq!(state(&world, client), State::Waiting);
    // Even if the thief writes the stolen capability back as it was.
    assert_eq!(
        world.communicate(thief, Manner::Send, 8, &words(3)),
        Err(Error::Void)
    );
    assert!(!world.is_live(first));
    assert_eq!(state(&world, client), State::Waiting);
}

#[test]
fn answers_come_in_any_order_and_from_anybody() {
    let mut world = World::new();
    let server = process(&mut world, 20);
    let clients: Vec<_> = (0..100)
        .map(|number| running(&mut world, 100 + 3 * number, &[entry(server, 0)]))
        .collect();
    let kept = capability_page(&mut world, 30);
    for (number, client) in clients.iter().enumerate() {
        world
            .communicate(*client, Manner::Call, 8, &words(number as u64))
            .unwrap();
        // While it serves this one, the next has to wait, and nothing happens to it.
        if let Some(next) = clients.get(number + 1) {
            let error = world.communicate(*next, Manner::Call, 8, &words(0));
            assert_eq!(error, Err(Error::NotReady(server.object)));
            assert_eq!(state(&world, *next), State::Running);
        }
        let resume = register(&mut world, server, 3);
        store(&mut world, kept, number, resume);
        world.listen(server).unwrap();
    }
    for number in (0..100).rev() {
        let resume = fetch(&mut world, kept, number).unwrap();
        let helper = running(&mut world, 1_000 + 3 * number as u64, &[resume]);
        world
            .communicate(helper, Manner::Send, 8, &words(number as u64 * 2))
            .unwrap();
        assert_eq!(word(&mut world, clients[number], 0), number as u64 * 2);
        assert_eq!(state(&world, clients[number]), State::Running);
    }
}

#[test]
fn an_exchange_by_resume_capabilities_lets_nobody_in_between() {
    let mut world = World::new();
    let (client, server, _) = called(&mut world);
    let other = running(&mut world, 40, &[entry(server, 0), entry(client, 0)]);
    for round in 0..50 {
        // Each side answers the other with a call of its own.
        let (sender, receiver) = if round % 2 == 0 {
            (server, client)
        } else {
            (client, server)
        };
        world
            .communicate(sender, Manner::Call, 3, &words(round))
            .unwrap();
        assert_eq!(register(&mut world, receiver, 3).object, sender.object);
        for register in [8, 9] {
            let error = world.communicate(other, Manner::Send, register, &words(0));
            assert!(matches!(error, Err(Error::NotReady(_))), "{error:?}");
        }
    }
}

#[test]
fn a_call_count_at_the_limit_retires_the_process() {
    let mut world = World::new();
    let server = process(&mut world, 20);
    let client = running(&mut world, 10, &[entry(server, 0)]);
    let mut root = world.object(client.object).cloned().unwrap();
    root.calls = CallCount(COUNTER_LIMIT - 1);
    world.put(client.object, root);
    world
        .communicate(client, Manner::Call, 8, &words(1))
        .unwrap();
    let last = register(&mut world, server, 3);
    world
        .communicate(server, Manner::Return, 3, &words(2))
        .unwrap();
    assert_eq!(
        world.object(client.object).unwrap().calls,
        CallCount(COUNTER_LIMIT)
    );
    assert!(!world.is_live(last));
    let before = world.objects().clone();
    assert_eq!(
        world.communicate(client, Manner::Call, 8, &words(3)),
        Err(Error::Retired(client.object))
    );
    assert_eq!(*world.objects(), before);
    // It can still do what needs no answer; its root is never used for anything else.
    world
        .communicate(client, Manner::Send, 8, &words(4))
        .unwrap();
    world.destroy(client.object).unwrap();
    let again = world.create(client.object, pebble_store_object::ObjectKind::Node);
    assert_eq!(again, Err(Error::Retired(client.object)));
}

#[test]
fn a_thousand_sends_and_returns_leave_as_many_running() {
    let mut world = World::new();
    let workers: Vec<_> = (0..1_000)
        .map(|number| process(&mut world, 1_000 + 3 * number))
        .collect();
    let client = running(&mut world, 10, &[]);
    let count = |world: &World| {
        workers
            .iter()
            .filter(|worker| state(world, **worker) == State::Running)
            .count()
    };
    let sink = process(&mut world, 20);
    for (number, worker) in workers.iter().enumerate() {
        world
            .invoke(*worker, Operation::StoreRegister(8, entry(sink, 0)))
            .unwrap();
        world
            .invoke(client, Operation::StoreRegister(8, entry(*worker, 0)))
            .unwrap();
        world
            .communicate(client, Manner::Send, 8, &words(1))
            .unwrap();
        assert_eq!(count(&world), number + 1);
    }
    for worker in &workers {
        world
            .communicate(*worker, Manner::Return, 8, &words(0))
            .unwrap();
        world.listen(sink).unwrap();
    }
    assert_eq!(count(&world), 0);
    assert_eq!(state(&world, client), State::Running);
}

#[test]
fn a_message_is_at_most_a_page_and_refused_before_anything_happens() {
    let mut world = World::new();
    let server = process(&mut world, 20);
    let client = running(&mut world, 10, &[entry(server, 0)]);
    let before = world.objects().clone();
    let with_bytes = |length| Message {
        bytes: vec![1; length],
        ..Message::default()
    };
    let refused = world.communicate(client, Manner::Call, 8, &with_bytes(4097));
    assert_eq!(
        refused,
        Err(Error::OutOfPage {
            offset: 0,
            length: 4097
        })
    );
    assert_eq!(*world.objects(), before);
    assert!(world
        .communicate(client, Manner::Call, 8, &with_bytes(4096))
        .is_ok());
}

#[test]
fn a_fault_capability_restarts_without_a_change() {
    let mut world = World::new();
    let keeper = process(&mut world, 20);
    let client = running(&mut world, 10, &[]);
    set_part(&mut world, client, Part::Keeper, entry(keeper, 2));
    for number in 0..32 {
        world
            .invoke(
                client,
                Operation::WriteRegister(number, 100 + number as u64),
            )
            .unwrap();
    }
    let registers = [11, 12].map(|id| world.object(pebble_store_object::ObjectId(id)).cloned());
    let touched = world.touch(client, 0x5000, Access::Write).unwrap();
    assert!(matches!(touched, Touch::Fault(delivery) if delivery.to == keeper.object));
    assert_eq!(
        [0, 1, 2].map(|number| word(&mut world, keeper, number)),
        [FAULT_ACCESS, 0x5000, 1]
    );
    assert_eq!(
        register(&mut world, keeper, 0),
        client,
        "the keeper gets power over the process"
    );
    let fault = register(&mut world, keeper, 3);
    assert_eq!(
        (fault.kind, state(&world, client)),
        (Kind::Fault, State::Waiting)
    );
    // It is no resume capability.
    let as_resume = world.communicate(keeper, Manner::Send, 3, &words(1));
    assert_eq!(as_resume, Err(Error::NotUnderstood(Kind::Fault)));

    assert_eq!(world.invoke(fault, Operation::Restart), Ok(Reply::Done));
    assert_eq!(state(&world, client), State::Running);
    let after = [11, 12].map(|id| world.object(pebble_store_object::ObjectId(id)).cloned());
    assert_eq!(registers, after);
    for again in [Operation::Restart, Operation::PassOn] {
        assert_eq!(world.invoke(fault, again), Err(Error::Void));
    }
}

#[test]
fn a_process_that_may_not_invoke_faults_instead() {
    let mut world = World::new();
    let (keeper, server) = (process(&mut world, 20), process(&mut world, 30));
    let client = running(&mut world, 10, &[entry(server, 0)]);
    set_part(&mut world, client, Part::Keeper, entry(keeper, 0));
    let mut root = world.object(client.object).cloned().unwrap();
    root.contents.as_mut().unwrap().slots_mut()[NO_INVOCATION] = Capability::number(1);
    world.put(client.object, root);
    for _ in 0..5 {
        let delivery = world
            .communicate(client, Manner::Call, 8, &words(1))
            .unwrap();
        assert_eq!(delivery.to, keeper.object);
        assert_eq!(
            word(&mut world, keeper, 0),
            pebble_store_model::process::FAULT_INVOCATION
        );
        assert_eq!(state(&world, server), State::Available);
        let fault = register(&mut world, keeper, 3);
        world.invoke(fault, Operation::Restart).unwrap();
        world.listen(keeper).unwrap();
    }
}

/// Which state a process is in after each thing that can be done to it, and what is refused.
#[test]
fn states_and_what_changes_them() {
    let states = [State::Available, State::Running, State::Waiting];
    for from in states {
        let mut world = World::new();
        let keeper = process(&mut world, 40);
        let process = process(&mut world, 10);
        set_part(&mut world, process, Part::Keeper, entry(keeper, 0));
        let root = world.object(process.object).cloned().unwrap();
        let caller = running(&mut world, 20, &[entry(process, 0)]);
        world
            .invoke(process, Operation::StoreRegister(8, entry(caller, 0)))
            .unwrap();
        let mut root_now = root.clone();
        root_now.contents.as_mut().unwrap().slots_mut()[pebble_store_model::process::STATE] =
            Capability::number(from as u64);
        world.put(process.object, root_now);
        let after = |change: &dyn Fn(&mut World) -> bool| {
            let mut world = world.clone();
            change(&mut world).then(|| state(&world, process))
        };
        let started = after(&|world| world.invoke(process, Operation::Start).is_ok());
        assert_eq!(started, (from != State::Running).then_some(State::Running));
        let stopped = after(&|world| world.invoke(process, Operation::Stop).is_ok());
        assert_eq!(stopped, (from == State::Running).then_some(State::Waiting));
        let called = after(&|world| {
            world
                .communicate(caller, Manner::Call, 8, &words(0))
                .is_ok()
        });
        assert_eq!(called, (from == State::Available).then_some(State::Running));
        let touched = after(&|world| world.touch(process, 0, Access::Read).is_ok());
        assert_eq!(touched, (from == State::Running).then_some(State::Waiting));
    }
}

#[test]
fn to_start_a_process_ends_what_it_waited_for() {
    let mut world = World::new();
    let (client, server, resume) = called(&mut world);
    world.invoke(client, Operation::Start).unwrap();
    assert!(!world.is_live(resume));
    assert_eq!(
        world.communicate(server, Manner::Return, 3, &words(1)),
        Err(Error::Void)
    );
}
