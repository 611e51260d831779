//! Every bit of the two blocks that move floating-point registers, changed alone: the verifier refuses the block, or
//! it still does what the model says. (`mutation` does this for calls; these two are entered in their own ways.)

mod support;

use pebble_portal_model::World;
use pebble_portal_spec::portal::{Kind, Name, System, Target};
use pebble_portal_spec::Specification;
use pebble_portal_verify::{Policy, Workspace};

use support::comparison::Comparison;
use support::emulator::Emulator;
use support::portals::{make, Portal, Shared};
use support::random::Random;
use support::{arena, scenario};

/// Machines that each accepted mutant is tried on, in each way that the block is entered.
const TRIALS: u64 = 4;

const NAME: Name = Name {
    domain: 7,
    generation: 9,
    slot: 70,
    system: false,
};

/// Hands each mutant of `portal` that the verifier accepts to `try_it`; answers how many were refused and accepted.
fn each_mutant(
    portal: &Portal,
    kind: Kind<'_>,
    system: &System,
    mut try_it: impl FnMut(String, Vec<u32>),
) -> (u32, u32) {
    let mut workspace = Workspace::new();
    let policy = Policy {
        kind,
        name: NAME,
        system,
    };
    let (mut refused, mut accepted) = (0, 0);
    for index in portal.block.entry..portal.words.len() {
        for bit in 0..32 {
            let mut words = portal.words.clone();
            words[index] ^= 1 << bit;
            let answer = workspace.verify(&words, portal.block.entry, portal.address, &policy);
            if answer.is_err() {
                refused += 1;
            } else {
                accepted += 1;
                let label = format!("word {}, bit {bit}", index - portal.block.entry);
                try_it(label, words);
            }
        }
    }
    (refused, accepted)
}

#[test]
fn a_changed_illegal_block_is_refused_or_harmless() {
    let mut random = Random::new(8);
    let shared = Shared::new(true, true);
    let emulator = Emulator::new(&shared.words);
    let mut comparison = Comparison::new(&emulator);
    let address = arena::CODE_ADDRESS;
    let portal = make(&Kind::Illegal, NAME, &shared.system, address).expect("accepted");
    let mut world = shared.world.clone();
    world.add(portal.entry(), Kind::Illegal, NAME);
    let (refused, accepted) =
        each_mutant(&portal, Kind::Illegal, &shared.system, |label, words| {
            for _ in 0..TRIALS {
                let mut before = scenario::machine(&mut random, &shared, arena::INVOKER);
                before.scause = random.pick(&[2, 2, 2, 8]);
                comparison.add(label.clone(), &world, before, &words, portal.entry());
            }
        });
    comparison.run();
    assert!(
        refused > 30 * accepted,
        "{refused} refused, {accepted} accepted"
    );
}

#[test]
fn a_changed_float_push_block_is_refused_or_harmless() {
    let mut random = Random::new(9);
    let shared = Shared::new(true, true);
    let emulator = Emulator::new(&shared.words);
    let mut comparison = Comparison::new(&emulator);
    let address = arena::CODE_ADDRESS;
    let push = make(&Kind::FloatPush, NAME, &shared.system, address).expect("accepted");
    // A call that uses the block under test, behind it.
    let system = System {
        float_push: push.entry(),
        ..shared.system
    };
    let specification = Specification::parse(b"spci").expect("a valid specification");
    let kind = Kind::Call {
        specification: &specification,
        target: Target {
            domain: arena::domain(arena::CALLEE),
            entry: 0x9_0010_0040,
            stack: 0,
        },
        constant: 5,
    };
    let room = push.words.len().next_multiple_of(16);
    let call = make(&kind, NAME, &system, address + 4 * room as u64).expect("accepted");
    let mut world = World {
        system,
        ..shared.world.clone()
    };
    world.add(push.entry(), Kind::FloatPush, NAME);
    world.add(call.entry(), kind, NAME);
    let (refused, accepted) = each_mutant(&push, Kind::FloatPush, &system, |label, mut words| {
        words.resize(room, 0);
        words.extend(&call.words);
        for _ in 0..TRIALS {
            let before = scenario::machine(&mut random, &shared, arena::INVOKER);
            comparison.add(
                format!("call, {label}"),
                &world,
                before,
                &words,
                call.entry(),
            );
            let mut before = scenario::machine(&mut random, &shared, arena::CALLEE);
            let (block, float) = ("stack_free", Some(push.entry()));
            let below = shared.entry(block);
            scenario::returning_to(&mut before, &mut random, below, block, float);
            let entry = shared.entry("return");
            comparison.add(format!("return, {label}"), &world, before, &words, entry);
        }
    });
    comparison.run();
    assert!(
        refused > 30 * accepted,
        "{refused} refused, {accepted} accepted"
    );
}
