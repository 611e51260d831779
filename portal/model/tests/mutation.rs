//! Every bit of the code of a sample of portals, changed alone: the verifier refuses the block, or the block still does
//! what the model says.
//!
//! `PORTAL_MUTANTS=200` takes that many portals instead of the usual number; `PORTAL_SHOW=1` prints what was accepted.

mod support;

use pebble_portal_spec::portal::{Kind, Name, Target};
use pebble_portal_spec::Specification;
use pebble_portal_verify::{Policy, Workspace};

use support::comparison::Comparison;
use support::emulator::Emulator;
use support::portals::{make, Shared};
use support::random::Random;
use support::{arena, scenario};

/// Machines that each accepted mutant is tried on.
const TRIALS: u64 = 6;

/// An instruction as text.
fn shown(word: u32) -> String {
    pebble_portal_verify::decode::decode(word)
        .map_or_else(|| format!("{word:#010x}"), |i| i.to_string())
}

#[test]
fn every_changed_bit_is_refused_or_harmless() {
    let portals = std::env::var("PORTAL_MUTANTS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(20);
    let mut random = Random::new(7);
    let shared = Shared::new(true, true);
    let emulator = Emulator::new(&shared.words);
    let mut comparison = Comparison::new(&emulator);
    let mut workspace = Workspace::new();
    let (mut refused, mut accepted) = (0, 0);
    for number in 0..portals {
        let text = match number {
            0 => "smcwi".into(),
            1 => "npciii".into(),
            2 => "nmckik".into(),
            _ => scenario::specification(&mut random),
        };
        let specification =
            Specification::parse(text.as_bytes()).expect("a specification of known letters");
        let target = Target {
            domain: arena::domain(arena::CALLEE),
            entry: 0x9_0010_0040,
            stack: 0,
        };
        let kind = Kind::Call {
            specification: &specification,
            target,
            constant: random.word(),
        };
        let name = Name {
            domain: 7,
            generation: 9,
            slot: 70,
            system: false,
        };
        let portal = make(&kind, name, &shared.system, arena::CODE_ADDRESS)
            .unwrap_or_else(|o| panic!("{text}: {o}"));
        let policy = Policy {
            kind,
            name,
            system: &shared.system,
        };
        let mut world = shared.world.clone();
        world.add(portal.entry(), kind, name);
        for index in portal.block.entry..portal.words.len() {
            for bit in 0..32 {
                let mut words = portal.words.clone();
                words[index] ^= 1 << bit;
                if workspace
                    .verify(&words, portal.block.entry, portal.address, &policy)
                    .is_err()
                {
                    refused += 1;
                    continue;
                }
                accepted += 1;
                if std::env::var_os("PORTAL_SHOW").is_some() {
                    println!(
                        "{text}: {} became {}",
                        shown(portal.words[index]),
                        shown(words[index])
                    );
                }
                let label = format!("{text}, word {}, bit {bit}", index - portal.block.entry);
                for trial in 0..TRIALS {
                    let back = trial % 2 == 1;
                    let domain = if back { arena::CALLEE } else { arena::INVOKER };
                    let mut before = scenario::machine(&mut random, &shared, domain);
                    let entry = if back {
                        scenario::returning(
                            &mut before,
                            &mut random,
                            portal.entry(),
                            &specification,
                        );
                        shared.entry("return")
                    } else {
                        scenario::arguments(&mut before, &mut random, &specification);
                        portal.entry()
                    };
                    comparison.add(label.clone(), &world, before, &words, entry);
                }
            }
        }
    }
    comparison.run();
    println!("{portals} portals, {refused} mutants refused, {accepted} accepted and harmless");
    // What is accepted: above all registers cleared by way of others that are zero already.
    assert!(
        refused > 30 * accepted,
        "{refused} refused, {accepted} accepted"
    );
}
