//! The oracle for the store: sound histories pass, and every kind of damage is found.

use std::collections::BTreeMap;

use pebble_store_model::oracle::{check, Layout, Operation, Violation, Workload, IS_BANK};
use pebble_store_model::random::Random;
use pebble_store_model::{Contents, Object};
use pebble_store_object::{Capability, Kind, ObjectId, Rights, COUNTER_LIMIT};

type Objects = BTreeMap<ObjectId, Object>;

/// The objects after some steps, with at least one bank below the prime bank.
fn some_objects(seed: u64) -> Objects {
    let mut workload = Workload::new(seed, Layout::SMALL).unwrap();
    for _ in 0..200 {
        workload.step();
    }
    workload.objects().clone()
}

fn slots_of(objects: &mut Objects, id: ObjectId) -> &mut [Capability] {
    objects
        .get_mut(&id)
        .unwrap()
        .contents
        .as_mut()
        .unwrap()
        .slots_mut()
}

/// A node that is no bank, where one can write.
fn plain_node(objects: &Objects) -> ObjectId {
    let banks = banks_of(objects);
    let nodes = objects
        .iter()
        .filter(|(_, object)| matches!(object.contents, Some(Contents::Node(_))));
    let mut plain = nodes.map(|(id, _)| *id).filter(|id| !banks.contains(id));
    plain.next().expect("a node that is no bank")
}

/// The owner table's first page, as words.
fn table(objects: &Objects) -> Vec<u64> {
    match &objects[&Layout::SMALL.first_page].contents {
        Some(Contents::DataPage(bytes)) => bytes
            .chunks(8)
            .map(|word| u64::from_le_bytes(word.try_into().unwrap()))
            .collect(),
        other => panic!("{other:?}"),
    }
}

fn set_owner(objects: &mut Objects, id: ObjectId, owner: u64) {
    let at = Layout::SMALL.place(id).unwrap() as usize * 8;
    match &mut objects.get_mut(&Layout::SMALL.first_page).unwrap().contents {
        Some(Contents::DataPage(bytes)) => bytes[at..at + 8].copy_from_slice(&owner.to_le_bytes()),
        other => panic!("{other:?}"),
    }
}

fn banks_of(objects: &Objects) -> Vec<ObjectId> {
    let entries = table(objects).into_iter().enumerate();
    let banks = entries.filter(|(_, owner)| owner & IS_BANK != 0);
    banks
        .map(|(place, _)| Layout::SMALL.identity(place as u64))
        .collect()
}

#[test]
fn sound_histories_pass_after_every_step() {
    let mut seen = [0; 8];
    let (mut good, mut stale, mut retired) = (0, 0, 0);
    for seed in 0..20 {
        let mut workload = Workload::new(seed, Layout::SMALL).unwrap();
        for number in 0..2_000 {
            let before = workload.objects().clone();
            let step = workload.step();
            let census = check(&Layout::SMALL, workload.objects()).unwrap_or_else(|violation| {
                panic!(
                    "seed {seed} step {number} ({}): {violation}",
                    step.operation
                )
            });
            good += census.good;
            stale += census.stale;
            let differing = workload
                .objects()
                .iter()
                .filter(|(id, object)| before.get(id) != Some(object));
            let differing: Vec<_> = differing.map(|(id, _)| *id).collect();
            let named: Vec<_> = step.changed.iter().copied().collect();
            assert_eq!(
                differing, named,
                "seed {seed} step {number} ({})",
                step.operation
            );
            seen[match step.operation {
                Operation::Allocate { .. } => 0,
                Operation::Deallocate { .. } => 1,
                Operation::MakeBank { .. } => 2,
                Operation::DestroyBank { .. } => 3,
                Operation::WriteSlot { .. } => 4,
                Operation::WritePage { .. } => 5,
                Operation::SetHeight { .. } => 6,
                Operation::Answer { .. } => 7,
            }] += 1;
        }
        retired += workload
            .objects()
            .values()
            .filter(|object| object.is_retired())
            .count();
    }
    assert!(seen.iter().all(|times| *times > 300), "{seen:?}");
    assert!(
        good > 10_000 && stale > 10_000,
        "{good} good, {stale} stale"
    );
    assert!(retired > 50, "{retired}");
}

#[test]
fn same_seed_same_history() {
    let run = |seed| {
        let mut workload = Workload::new(seed, Layout::SMALL).unwrap();
        let steps: Vec<_> = (0..100).map(|_| workload.step()).collect();
        (steps, workload.objects().clone())
    };
    assert_eq!(run(5), run(5));
    assert_ne!(run(5), run(6));
}

#[test]
fn an_object_that_comes_back_old_is_found() {
    // A store that loses one write of a step: the change of one object is there and the other is not.
    let (mut tried, mut found) = (0, 0);
    for seed in 0..200 {
        let mut workload = Workload::new(seed, Layout::SMALL).unwrap();
        for _ in 0..100 {
            let before = workload.objects().clone();
            let step = workload.step();
            if matches!(
                step.operation,
                Operation::DestroyBank { .. } | Operation::Deallocate { .. }
            ) {
                for lost in &step.changed {
                    let mut torn = workload.objects().clone();
                    torn.insert(*lost, before.get(lost).cloned().unwrap_or_default());
                    tried += 1;
                    found += u64::from(check(&Layout::SMALL, &torn).is_err());
                }
            }
        }
    }
    assert!(tried > 1_000, "{tried}");
    assert_eq!(tried, found, "every one of these is against the books");
}

#[test]
fn damage_to_capabilities_is_found() {
    let mut random = Random::new(11);
    for seed in 0..50 {
        let objects = some_objects(seed);
        let node = plain_node(&objects);
        let slot = 4 + random.below(28);
        let good = Capability {
            kind: Kind::Node,
            object: node,
            version: objects[&node].version,
            ..Capability::VOID
        };
        let put = |capability| {
            let mut damaged = objects.clone();
            slots_of(&mut damaged, node)[slot] = capability;
            check(&Layout::SMALL, &damaged).map(drop)
        };
        assert_eq!(put(good), Ok(()), "the slot is not what is found");

        let mut newer = good;
        newer.version.0 += 1;
        let kind_of = |violation: Violation| core::mem::discriminant(&violation);
        let future = Violation::FromTheFuture {
            holder: node,
            slot,
            capability: newer,
        };
        assert_eq!(put(newer), Err(future));

        let calls = objects[&node].calls.0;
        let resume = Capability {
            kind: Kind::Resume,
            data: calls + 1,
            ..good
        };
        assert_eq!(put(resume).map_err(kind_of), Err(kind_of(future)));

        let page = Capability {
            kind: Kind::DataPage,
            ..good
        };
        let none = Violation::NoCapability {
            holder: node,
            slot,
            capability: page,
        };
        assert_eq!(put(page), Err(none));
        let elsewhere = Capability {
            object: ObjectId(0x7777),
            ..good
        };
        assert_eq!(put(elsewhere).map_err(kind_of), Err(kind_of(none)));
        let named_number = Capability {
            object: node,
            ..Capability::number(1)
        };
        assert_eq!(put(named_number).map_err(kind_of), Err(kind_of(none)));
        let weak_call = Capability {
            kind: Kind::Entry,
            rights: Rights::WEAK,
            ..good
        };
        assert_eq!(put(weak_call).map_err(kind_of), Err(kind_of(none)));
        let range = Capability {
            kind: Kind::Range,
            object: Layout::SMALL.first_node,
            data: Layout::SMALL.nodes + 1,
            ..Capability::VOID
        };
        assert_eq!(put(range).map_err(kind_of), Err(kind_of(none)));
        assert_eq!(
            put(Capability {
                data: Layout::SMALL.nodes,
                ..range
            }),
            Ok(())
        );
    }
}

#[test]
fn a_page_of_the_other_kind_is_found() {
    for seed in 0..50 {
        let mut objects = some_objects(seed);
        let node = plain_node(&objects);
        let page = Layout::SMALL.first_page;
        let wrong = Capability {
            kind: Kind::CapabilityPage,
            object: page,
            version: objects[&page].version,
            ..Capability::VOID
        };
        slots_of(&mut objects, node)[9] = wrong;
        let violation = Violation::WrongKind {
            holder: node,
            slot: 9,
            capability: wrong,
        };
        assert_eq!(check(&Layout::SMALL, &objects), Err(violation));
    }
}

#[test]
fn damage_to_counters_and_kinds_is_found() {
    let objects = some_objects(1);
    let node = plain_node(&objects);
    let damage = |change: &dyn Fn(&mut Objects)| {
        let mut damaged = objects.clone();
        change(&mut damaged);
        check(&Layout::SMALL, &damaged).map(drop)
    };
    assert_eq!(damage(&|_| ()), Ok(()));
    let counter = Err(Violation::Counter(node));
    assert_eq!(
        damage(&|all| all.get_mut(&node).unwrap().version.0 = COUNTER_LIMIT),
        counter
    );
    assert_eq!(
        damage(&|all| all.get_mut(&node).unwrap().calls.0 = COUNTER_LIMIT + 1),
        counter
    );
    let stranger = ObjectId(0x9999);
    let moved = damage(&|all| drop(all.insert(stranger, Object::default())));
    assert_eq!(moved, Err(Violation::Stranger(stranger)));
    let height = damage(&|all| match &mut all.get_mut(&node).unwrap().contents {
        Some(Contents::Node(node)) => node.height = 18,
        other => panic!("{other:?}"),
    });
    assert_eq!(height, Err(Violation::Height(node, 18)));
    let kind = damage(&|all| {
        let page = all[&Layout::SMALL.first_page].contents.clone();
        all.get_mut(&node).unwrap().contents = page;
    });
    assert!(
        matches!(kind, Err(Violation::WrongRange(id, _)) if id == node),
        "{kind:?}"
    );
}

#[test]
fn damage_to_the_books_is_found() {
    let prime = Layout::SMALL.first_node;
    let mut cases = 0;
    for seed in 0..50 {
        let objects = some_objects(seed);
        let node = plain_node(&objects);
        let place = Layout::SMALL.place(node).unwrap() as usize;
        let owner = table(&objects)[place];
        let damage = |change: &dyn Fn(&mut Objects)| {
            let mut damaged = objects.clone();
            change(&mut damaged);
            check(&Layout::SMALL, &damaged).map(drop)
        };
        assert_eq!(
            damage(&|all| set_owner(all, node, 0)),
            Err(Violation::Leak(node))
        );
        let gone = damage(&|all| all.get_mut(&node).unwrap().contents = None);
        assert!(
            matches!(
                gone,
                Err(Violation::Ghost(_) | Violation::FromTheFuture { .. })
            ),
            "{gone:?}"
        );
        let nobody = damage(&|all| set_owner(all, node, node.0));
        assert_eq!(nobody, Err(Violation::NoOwner(node, node.0)));
        let not_laid_out = damage(&|all| {
            slots_of(all, node)[0] = Capability::VOID;
            set_owner(all, node, owner | IS_BANK);
        });
        assert_eq!(not_laid_out, Err(Violation::NoBank(node)));
        for bank in banks_of(&objects).into_iter().filter(|bank| *bank != prime) {
            cases += 1;
            for slot in [2, 3] {
                let miscounted = damage(&|all| slots_of(all, bank)[slot].data += 1);
                assert!(
                    matches!(miscounted, Err(Violation::Count { .. })),
                    "{miscounted:?}"
                );
            }
            let own_parent = damage(&|all| {
                let version = all[&bank].version;
                let above = &mut slots_of(all, bank)[0];
                (above.object, above.version) = (bank, version);
                set_owner(all, bank, bank.0 | IS_BANK);
            });
            assert!(
                matches!(
                    own_parent,
                    Err(Violation::Cycle(_) | Violation::Count { .. })
                ),
                "{own_parent:?}"
            );
            let other_owner = damage(&|all| {
                let version = all[&bank].version;
                let above = &mut slots_of(all, bank)[0];
                (above.object, above.version) = (bank, version);
            });
            assert_eq!(other_owner, Err(Violation::WrongParent(bank)));
        }
    }
    assert!(cases > 20, "{cases}");
}
