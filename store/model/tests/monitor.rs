//! Compartments: nothing crosses but through what the monitor can take away (EROS, sections 2.3 and 3.4).

mod support;

use std::collections::BTreeSet;

use pebble_store_model::bank::Banks;
use pebble_store_model::invoke::{Operation, Reply};
use pebble_store_model::monitor::{Compartment, Mediation, Monitor};
use pebble_store_model::random::Random;
use pebble_store_model::{restrict, Error, World};
use pebble_store_object::{Capability, Kind, ObjectId, Rights};
use support::*;

const LOW: Compartment = Compartment(0);
const MIDDLE: Compartment = Compartment(1);
const HIGH: Compartment = Compartment(2);

/// Bell and LaPadula's: one may read what is below and write to what is above; capabilities by which one can do both
/// stay where they are.
fn levels(from: Compartment, to: Compartment, capability: Capability) -> Option<Capability> {
    let reads_only = restrict(capability, Rights::READ_ONLY.and(Rights::WEAK));
    match capability.kind {
        Kind::Node | Kind::DataPage | Kind::CapabilityPage if from <= to => Some(reads_only),
        _ => None,
    }
}

fn anything(_: Compartment, _: Compartment, capability: Capability) -> Option<Capability> {
    Some(capability)
}

fn nothing(_: Compartment, _: Compartment, _: Capability) -> Option<Capability> {
    None
}

struct Stage {
    world: World,
    banks: Banks,
    monitor: Monitor,
}

fn stage(policy: pebble_store_model::monitor::Policy) -> Stage {
    let mut world = World::new();
    let mut banks = Banks::new(
        &mut world,
        (ObjectId(0x1_0000), 10),
        (ObjectId(0x2_0000), 50_000),
    )
    .unwrap();
    let prime = banks.prime();
    let bank = banks.make_bank(&mut world, prime, None).unwrap();
    Stage {
        world,
        banks,
        monitor: Monitor::new(bank, policy),
    }
}

impl Stage {
    fn grant(
        &mut self,
        way: (Compartment, Compartment),
        what: Capability,
        how: Mediation,
    ) -> Result<Capability, Error> {
        self.monitor
            .grant(&mut self.world, &mut self.banks, way, what, how)
    }

    fn invoke(&mut self, handed: Capability, operation: Operation<'_>) -> Result<Reply, Error> {
        self.monitor
            .invoke(&mut self.world, &mut self.banks, handed, operation)
    }
}

/// The same questions get the same answers, with and without a monitor in between, of either kind.
#[test]
fn both_ways_of_mediation_answer_like_the_object() {
    let questions = [
        Operation::TypeOf,
        Operation::ReadBytes(0, 8),
        Operation::WriteBytes(3, b"word"),
        Operation::ReadBytes(0, 8),
        Operation::ReadBytes(4000, 100),
        Operation::Fetch(0),
        Operation::MakeProcess,
        Operation::Clear,
        Operation::ReadBytes(0, 8),
    ];
    let run = |how: Option<Mediation>, rights| {
        let mut stage = stage(anything);
        let page = with(data_page(&mut stage.world, 1), rights);
        let asked = how.map_or(page, |how| stage.grant((LOW, HIGH), page, how).unwrap());
        let answers = questions.map(|question| match how {
            Some(_) => stage.invoke(asked, question),
            None => stage.world.invoke(asked, question),
        });
        (answers, stage.world.object(ObjectId(1)).cloned())
    };
    for rights in all_rights() {
        let direct = run(None, rights);
        for how in [Mediation::Indirector, Mediation::Filter] {
            assert_eq!(run(Some(how), rights), direct, "{how:?}");
        }
    }
}

#[test]
fn one_of_a_hundred_is_revoked() {
    for how in [Mediation::Indirector, Mediation::Filter] {
        let mut stage = stage(anything);
        let page = data_page(&mut stage.world, 1);
        let handed: Vec<_> = (0..100)
            .map(|number| {
                stage
                    .grant((LOW, Compartment(10 + number)), page, how)
                    .unwrap()
            })
            .collect();
        // The one that is revoked has copied it to many places.
        let copies = capability_page(&mut stage.world, 2);
        for slot in 0..128 {
            store(&mut stage.world, copies, slot, handed[42]);
        }
        stage
            .monitor
            .revoke(&mut stage.world, &mut stage.banks, handed[42])
            .unwrap();
        for slot in 0..128 {
            assert_eq!(fetch(&mut stage.world, copies, slot), Ok(Capability::VOID));
        }
        for (number, holder) in handed.iter().enumerate() {
            let answer = stage.invoke(*holder, Operation::ReadBytes(0, 1));
            let expected = if number == 42 {
                Err(Error::Void)
            } else {
                Ok(Reply::Bytes(vec![0]))
            };
            assert_eq!(answer, expected, "{how:?} {number}");
        }
        assert!(stage.world.is_live(page));
        let again = stage
            .monitor
            .revoke(&mut stage.world, &mut stage.banks, handed[42]);
        assert_eq!(again, Err(Error::NotGenuine));
    }
}

#[test]
fn an_access_can_be_closed_and_opened() {
    for how in [Mediation::Indirector, Mediation::Filter] {
        let mut stage = stage(anything);
        let page = data_page(&mut stage.world, 1);
        let handed = stage.grant((LOW, HIGH), page, how).unwrap();
        for blocked in [true, false, true] {
            stage
                .monitor
                .set_blocked(&mut stage.world, handed, blocked)
                .unwrap();
            let answer = stage.invoke(handed, Operation::ReadBytes(0, 1));
            let expected = if blocked {
                Err(Error::Blocked(handed.object))
            } else {
                Ok(Reply::Bytes(vec![0]))
            };
            assert_eq!(answer, expected, "{how:?}");
        }
    }
}

#[test]
fn a_forwarder_is_not_for_what_carries_capabilities() {
    let mut stage = stage(anything);
    let carriers = [
        node(&mut stage.world, 1),
        capability_page(&mut stage.world, 2),
        process(&mut stage.world, 10),
    ];
    for carrier in carriers.into_iter().chain([entry(carriers[2], 0)]) {
        let refused = stage.grant((LOW, HIGH), carrier, Mediation::Indirector);
        assert_eq!(refused, Err(Error::NotUnderstood(carrier.kind)));
        assert!(stage.grant((LOW, HIGH), carrier, Mediation::Filter).is_ok());
    }
    assert_eq!(
        stage.grant((LOW, HIGH), Capability::VOID, Mediation::Filter),
        Err(Error::Void)
    );
    assert_eq!(
        stage.grant((LOW, HIGH), Capability::number(3), Mediation::Filter),
        Ok(Capability::number(3))
    );
}

/// What comes out of a filtered node is filtered; what one has put in oneself comes back as it was.
#[test]
fn capabilities_cross_in_their_turn() {
    let mut stage = stage(anything);
    let (shared, inside) = (node(&mut stage.world, 1), data_page(&mut stage.world, 2));
    let own = data_page(&mut stage.world, 3);
    store(&mut stage.world, shared, 0, inside);
    let handed = stage.grant((LOW, HIGH), shared, Mediation::Filter).unwrap();
    let got = capability(stage.invoke(handed, Operation::Fetch(0))).unwrap();
    assert!(got != inside && got.object != inside.object);
    assert_eq!(
        stage.invoke(got, Operation::ReadBytes(0, 1)),
        Ok(Reply::Bytes(vec![0]))
    );
    assert_eq!(
        stage.invoke(got, Operation::TypeOf),
        Ok(Reply::Kind(Kind::DataPage))
    );

    stage.invoke(handed, Operation::Store(1, own)).unwrap();
    let seen_below = fetch(&mut stage.world, shared, 1).unwrap();
    assert_ne!(seen_below.object, own.object);
    let back = capability(stage.invoke(handed, Operation::Fetch(1))).unwrap();
    assert_eq!(back, own);
    // Put back below, what was got from there is itself again.
    stage.invoke(handed, Operation::Store(2, got)).unwrap();
    assert_eq!(fetch(&mut stage.world, shared, 2), Ok(inside));
}

/// Everybody in three compartments does what he can; then no compartment has a capability to another's object.
fn random_crossings(
    seed: u64,
    policy: pebble_store_model::monitor::Policy,
) -> (Stage, [Vec<Capability>; 3], u64) {
    let mut random = Random::new(seed);
    let mut stage = stage(policy);
    let ways = [LOW, MIDDLE, HIGH];
    let mut held: [Vec<Capability>; 3] = Default::default();
    for (number, held) in held.iter_mut().enumerate() {
        let first = 1_000 * (number as u64 + 1);
        held.push(node(&mut stage.world, first));
        held.push(data_page(&mut stage.world, first + 1));
        held.push(capability_page(&mut stage.world, first + 2));
    }
    let mut crossed = 0;
    for _ in 0..300 {
        let me = random.below(3);
        let target = *random.pick(&held[me]).unwrap();
        let what = *random.pick(&held[me]).unwrap();
        let slot = random.below(3);
        if random.one_in(4) {
            let to = random.below(3);
            let how = if random.one_in(2) {
                Mediation::Filter
            } else {
                Mediation::Indirector
            };
            // Of what he was handed himself he passes on a filter's filter.
            if to != me {
                if let Ok(handed) = stage.grant((ways[me], ways[to]), target, how) {
                    held[to].push(handed);
                    crossed += 1;
                }
            }
            continue;
        }
        let operation = match random.below(4) {
            0 => Operation::Store(slot, what),
            1 => Operation::Swap(slot, what),
            2 => Operation::WriteBytes(0, b"data"),
            _ => Operation::Fetch(slot),
        };
        let reply = if target.object.0 < 0x2_0000 {
            stage.world.invoke(target, operation)
        } else {
            stage.invoke(target, operation)
        };
        if let Ok(Reply::Capability(got)) = reply {
            if got.kind != Kind::Void && !held[me].contains(&got) {
                held[me].push(got);
            }
        }
    }
    (stage, held, crossed)
}

#[test]
fn no_capability_crosses_as_it_is() {
    let mut crossed = 0;
    for seed in 0..200 {
        let (stage, held, grants) = random_crossings(seed, anything);
        crossed += grants;
        for (number, held) in held.iter().enumerate() {
            let own = 1_000 * (number as u64 + 1)..1_000 * (number as u64 + 2);
            for capability in held {
                let is_own = own.contains(&capability.object.0);
                let is_handed = stage
                    .monitor
                    .audit()
                    .any(|grant| grant.handed == *capability && grant.to.0 == number as u32);
                assert!(
                    is_own || is_handed,
                    "seed {seed}: compartment {number} holds {capability:?}"
                );
            }
            // Nor is one in what it owns.
            for id in own.clone().take(3) {
                let object = stage.world.object(ObjectId(id)).unwrap();
                for stored in object.contents.as_ref().unwrap().slots() {
                    let id = stored.object.0;
                    assert!(
                        id == 0 || own.contains(&id) || id >= 0x2_0000,
                        "seed {seed}: {stored:?}"
                    );
                }
            }
        }
    }
    assert!(crossed > 3_000, "{crossed}");
}

/// The list says what a walk through everybody's capabilities finds, and no more.
#[test]
fn the_audit_list_is_what_there_is() {
    for seed in 0..200 {
        let (mut stage, held, _) = random_crossings(seed, anything);
        let listed: BTreeSet<_> = stage.monitor.audit().map(|grant| grant.handed).collect();
        let nodes = stage.world.objects().iter();
        let alive: BTreeSet<_> = nodes
            .filter(|(id, object)| id.0 > 0x2_0001 && object.contents.is_some())
            .map(|(id, _)| *id)
            .collect();
        assert_eq!(
            listed
                .iter()
                .map(|handed| handed.object)
                .collect::<BTreeSet<_>>(),
            alive
        );
        for handed in held
            .iter()
            .flatten()
            .filter(|capability| capability.object.0 > 0x2_0001)
        {
            assert!(listed.contains(handed), "seed {seed}");
        }
        // Take away what one compartment has, by the list: nothing of it works, all else does.
        let of_high: Vec<_> = stage
            .monitor
            .audit()
            .filter(|grant| grant.to == HIGH)
            .map(|grant| grant.handed)
            .collect();
        for handed in &of_high {
            stage
                .monitor
                .revoke(&mut stage.world, &mut stage.banks, *handed)
                .unwrap();
        }
        for handed in held[2]
            .iter()
            .filter(|capability| capability.object.0 > 0x2_0001)
        {
            assert_eq!(stage.invoke(*handed, Operation::Clear), Err(Error::Void));
        }
        for handed in held[..2].iter().flatten() {
            assert!(stage.world.is_live(*handed), "seed {seed}");
        }
    }
}

/// Information goes up only: nothing that is low changes by what somebody high does.
#[test]
fn three_levels_read_down_and_never_write_down() {
    let mut crossed = 0;
    for seed in 0..200 {
        let (mut stage, held, grants) = random_crossings(seed, levels);
        crossed += grants;
        let low: Vec<_> = (1_000..1_003)
            .map(|id| stage.world.object(ObjectId(id)).cloned())
            .collect();
        for capability in held[1..]
            .iter()
            .flatten()
            .filter(|capability| capability.object.0 >= 0x2_0000)
        {
            for operation in [
                Operation::WriteBytes(0, b"secret"),
                Operation::Clear,
                Operation::Store(0, Capability::number(1)),
                Operation::Swap(0, Capability::number(1)),
                Operation::SetHeight(17),
            ] {
                assert!(stage.invoke(*capability, operation).is_err(), "seed {seed}");
            }
        }
        let after: Vec<_> = (1_000..1_003)
            .map(|id| stage.world.object(ObjectId(id)).cloned())
            .collect();
        assert_eq!(low, after, "seed {seed}");
        let down = stage.monitor.audit().any(|grant| grant.from > grant.to);
        assert!(!down, "seed {seed}: a grant from above to below");
    }
    assert!(crossed > 1_000, "{crossed}");
}

#[test]
fn the_policy_can_be_changed_while_everything_runs() {
    let mut stage = stage(anything);
    let page = data_page(&mut stage.world, 1);
    let down = stage.grant((HIGH, LOW), page, Mediation::Filter).unwrap();
    let up = stage
        .grant(
            (LOW, HIGH),
            with(page, Rights::READ_ONLY.and(Rights::WEAK)),
            Mediation::Filter,
        )
        .unwrap();
    stage.monitor.set_policy(levels);
    assert_eq!(
        stage.grant((HIGH, LOW), page, Mediation::Filter),
        Err(Error::Policy)
    );
    // What was granted stays until it is enforced.
    assert!(stage.invoke(down, Operation::ReadBytes(0, 1)).is_ok());
    assert_eq!(
        stage.monitor.enforce(&mut stage.world, &mut stage.banks),
        Ok(1)
    );
    assert_eq!(
        stage.invoke(down, Operation::ReadBytes(0, 1)),
        Err(Error::Void)
    );
    assert!(stage.invoke(up, Operation::ReadBytes(0, 1)).is_ok());
    stage.monitor.set_policy(nothing);
    assert_eq!(
        stage.monitor.enforce(&mut stage.world, &mut stage.banks),
        Ok(1)
    );
    assert_eq!(stage.monitor.audit().count(), 0);
}

#[test]
fn chains_of_forwarders_end() {
    let mut world = World::new();
    let page = data_page(&mut world, 1);
    let mut chain = vec![page];
    for number in 0..40u64 {
        let forwarder = node(&mut world, 100 + number);
        store(&mut world, forwarder, 0, chain[number as usize]);
        chain.push(capability(world.invoke(forwarder, Operation::MakeIndirector)).unwrap());
    }
    for (length, forwarder) in chain.iter().enumerate() {
        let answer = world.invoke(*forwarder, Operation::ReadBytes(0, 1));
        let expected = if length <= 32 {
            Ok(Reply::Bytes(vec![0]))
        } else {
            Err(Error::TooManyIndirectors)
        };
        assert_eq!(answer, expected, "{length} forwarders");
    }
    // Each of them can cut the chain.
    for cut in 0..32 {
        let mut world = world.clone();
        world.destroy(ObjectId(100 + cut)).unwrap();
        for (length, forwarder) in chain.iter().enumerate().take(33) {
            let answer = world.invoke(*forwarder, Operation::ReadBytes(0, 1));
            assert_eq!(
                answer.is_err(),
                length as u64 > cut,
                "{length} forwarders, {cut} destroyed"
            );
        }
    }
    // A ring.
    let first = world_node(100, &world);
    store(&mut world, first, 0, chain[3]);
    assert_eq!(
        world.invoke(chain[2], Operation::TypeOf),
        Err(Error::TooManyIndirectors)
    );
}

fn world_node(id: u64, world: &World) -> Capability {
    Capability {
        kind: Kind::Node,
        object: ObjectId(id),
        version: world.object(ObjectId(id)).unwrap().version,
        ..Capability::VOID
    }
}
