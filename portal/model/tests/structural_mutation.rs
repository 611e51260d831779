//! Blocks that are wrong in their structure, though each instruction is one that portals have: branches that lead
//! elsewhere, instructions left out, exchanged, or in another's place. Where paths come together, a block can be right on
//! each of them alone; a verifier that puts them together wrongly would let it pass.
//!
//! `PORTAL_MUTANTS=10000` takes that many changes of each kind and portal instead of the usual number.

mod support;

use pebble_portal_spec::portal::{Kind, Name, Target};
use pebble_portal_spec::Specification;

use support::comparison::Comparison;
use support::emulator::Emulator;
use support::mutants::{Count, Judge};
use support::portals::{make, Portal, Shared};
use support::random::Random;
use support::{arena, scenario};

/// Machines that each accepted change is tried on.
const TRIALS: u64 = 8;
/// `mv t6, t6`: an instruction that does nothing.
const NOTHING: u32 = 0x000f_8f93;

/// A branch to `distance` bytes ahead, the comparison as in `word`.
fn retargeted(word: u32, distance: u32) -> u32 {
    let bits = (distance >> 12 & 1) << 31
        | (distance >> 5 & 0x3f) << 25
        | (distance >> 1 & 0xf) << 8
        | (distance >> 11 & 1) << 7;
    word & 0x01ff_f07f | bits
}

/// How far ahead the branch `word` leads, in bytes; 0 if it is none.
fn distance(word: u32) -> u32 {
    if word & 0x7f != 0x63 {
        return 0;
    }
    (word >> 31) << 12 | (word >> 25 & 0x3f) << 5 | (word >> 8 & 0xf) << 1 | (word >> 7 & 1) << 11
}

/// The portal's block with an instruction more that only some of the paths come to: mostly behind a branch that does not
/// lead far. It changes a register; literal 0 still leads to the return code.
fn inserted(portal: &Portal, random: &mut Random) -> (String, Vec<u32>) {
    let entry = portal.block.entry;
    let mut words = portal.words.clone();
    let short: Vec<_> = (entry..words.len())
        .filter(|&i| (8..40).contains(&distance(words[i])))
        .collect();
    let at = if short.is_empty() || random.once_in(3) {
        entry + random.below((words.len() - entry) as u64) as usize
    } else {
        let branch = random.pick(&short);
        branch + 1 + random.below(u64::from(distance(words[branch])) / 4) as usize
    };
    for (index, word) in words.iter_mut().enumerate().take(at).skip(entry) {
        let ahead = distance(*word);
        if ahead != 0 && index + ahead as usize / 4 >= at {
            *word = retargeted(*word, ahead + 4);
        }
    }
    let code = (words[entry - 1] as u64) << 32 | words[entry - 2] as u64;
    if code >= portal.address + 4 * at as u64 {
        let code = code + 4;
        (words[entry - 2], words[entry - 1]) = (code as u32, (code >> 32) as u32);
    }
    // li register, 0
    let register = 1 + random.below(31) as u32;
    words.insert(at, register << 7 | 0x13);
    (format!("x{register} is cleared at {}", at - entry), words)
}

/// One change to the code, and what it is.
fn changed(code: &mut [u32], random: &mut Random, way: u64) -> String {
    let length = code.len() as u64;
    let at = random.below(length) as usize;
    match way {
        0 => {
            let branches: Vec<_> = (0..code.len())
                .filter(|&i| code[i] & 0x7f == 0x63)
                .collect();
            let at = random.pick(&branches);
            let to = at as u64 + 2 + random.below((length - at as u64).max(3) - 2);
            code[at] = retargeted(code[at], 4 * (to - at as u64) as u32);
            format!("the branch at {at} leads to {to}")
        }
        1 => {
            code[at] = NOTHING;
            format!("{at} is left out")
        }
        2 => {
            let other = (at + 1 + random.below(6) as usize) % code.len();
            code.swap(at, other);
            format!("{at} and {other} are exchanged")
        }
        _ => {
            let other = random.below(length) as usize;
            code[at] = code[other];
            format!("{other} again in place of {at}")
        }
    }
}

#[test]
fn blocks_of_another_structure_are_refused_or_harmless() {
    let changes = std::env::var("PORTAL_MUTANTS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(400);
    let mut random = Random::new(15);
    let shared = Shared::new(true, true);
    let emulator = Emulator::new(&shared.words);
    let mut comparison = Comparison::new(&emulator);
    let mut count = Count::default();
    let name = Name {
        domain: 7,
        generation: 9,
        slot: 70,
        system: false,
    };
    for text in [
        "npcii", "sp=ii", "npcwi", "spr", "smcwi", "nmcG", "nmcW2", "npT", "npkik",
    ] {
        let specification = Specification::parse(text.as_bytes()).expect("a valid specification");
        let kind = Kind::Call {
            specification: &specification,
            target: Target {
                domain: arena::domain(arena::CALLEE),
                entry: 0x9_0010_0040,
                stack: 0,
            },
            constant: random.word(),
        };
        let portal = make(&kind, name, &shared.system, arena::CODE_ADDRESS)
            .unwrap_or_else(|offence| panic!("{text}: {offence}"));
        let mut world = shared.world.clone();
        world.add(portal.entry(), kind, name);
        let mut judge = Judge::new(&portal, kind, name, &shared.system);
        for way in 0..5 {
            for _ in 0..changes {
                let mut words = portal.words.clone();
                let change;
                if way < 4 {
                    change = changed(&mut words[portal.block.entry..], &mut random, way);
                } else {
                    (change, words) = inserted(&portal, &mut random);
                }
                if words == portal.words || !judge.accepts(&words) {
                    continue;
                }
                for trial in 0..TRIALS {
                    let back = trial % 2 == 1;
                    let domain = if back { arena::CALLEE } else { arena::INVOKER };
                    let mut before = scenario::machine(&mut random, &shared, domain);
                    let mut entry = portal.entry();
                    if back {
                        scenario::returning(&mut before, &mut random, entry, &specification);
                        entry = shared.entry("return");
                    } else {
                        scenario::arguments(&mut before, &mut random, &specification);
                    }
                    let label = format!("{text}: {change}, trial {trial}");
                    comparison.add(label, &world, before, &words, entry);
                }
            }
        }
        count.refused += judge.count.refused;
        count.accepted += judge.count.accepted;
    }
    comparison.run();
    let Count { refused, accepted } = count;
    println!("{refused} refused, {accepted} accepted and harmless");
    // Harmless: above all neighbours that do not depend on each other, exchanged.
    assert!(
        refused > accepted && accepted > 0,
        "{refused} refused, {accepted} accepted"
    );
}
