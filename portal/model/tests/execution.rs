//! Generated portals are accepted by the verifier and do, in an emulator, exactly what the model says: every register,
//! control register and word of memory is compared, for calls, returns and every way in which they can fail.
//!
//! `PORTAL_CASES=100000` runs that many random specifications instead of the usual number.

mod support;

use pebble_portal_model::{Machine, World};
use pebble_portal_spec::portal::{Kind, Name, Target};
use pebble_portal_spec::Specification;

use support::emulator::{differences, Case, Emulator, BATCH};
use support::portals::{make, Shared};
use support::random::Random;
use support::{arena, scenario};

/// A random specification that the generator supports.
fn specification(random: &mut Random) -> String {
    let mut text = String::from(random.pick(&["sm", "sp", "nm", "np"]));
    let mut pages = 0;
    for _ in 0..random.below(7) {
        let letter = random.pick(&['i', 'c', '=', 't', 'd', 'h', 'w', 'r', 'w', 'r']);
        let window = matches!(letter, 'w' | 'r');
        let count = if random.once_in(3) {
            1 + random.below(4)
        } else {
            1
        };
        if window && pages + count > 8 {
            continue;
        }
        text.push(letter);
        if window {
            pages += count;
            if count > 1 || random.once_in(4) {
                text.push(char::from_digit(count as u32, 10).expect("a digit"));
            }
        }
    }
    text
}

/// Cases with what the model says about each, run in batches.
struct Comparison<'a> {
    emulator: &'a Emulator,
    cases: Vec<(String, Case, Machine)>,
    compared: usize,
}

impl<'a> Comparison<'a> {
    fn new(emulator: &'a Emulator) -> Self {
        Comparison {
            emulator,
            cases: Vec::new(),
            compared: 0,
        }
    }

    /// The thread of `before` traps into the portal at `entry`.
    fn add(&mut self, label: String, world: &World<'_>, before: Machine, code: &[u32], entry: u64) {
        let mut after = before.clone();
        world.enter(&mut after, entry);
        self.cases.push((
            label,
            Case {
                before,
                code: code.to_vec(),
                entry,
            },
            after,
        ));
        if self.cases.len() == BATCH {
            self.run();
        }
    }

    fn run(&mut self) {
        let taken = std::mem::take(&mut self.cases);
        let (labels, cases): (Vec<_>, Vec<_>) = taken
            .into_iter()
            .map(|(label, case, after)| ((label, after), case))
            .unzip();
        for ((label, after), outcome) in labels.iter().zip(self.emulator.run(&cases)) {
            let found = differences(after, &outcome);
            assert!(found.is_empty(), "{label}:\n  {}", found.join("\n  "));
            self.compared += 1;
        }
    }
}

fn cases(usual: u64) -> u64 {
    std::env::var("PORTAL_CASES")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(usual)
}

#[test]
fn calls_and_returns_do_what_the_model_says() {
    for (seed, asid) in [(1, true), (2, false)] {
        let mut random = Random::new(seed);
        let shared = Shared::new(asid, asid);
        let emulator = Emulator::new(&shared.words);
        let mut comparison = Comparison::new(&emulator);
        for number in 0..cases(2000) / 2 {
            let text = specification(&mut random);
            let specification =
                Specification::parse(text.as_bytes()).expect("a specification of known letters");
            let callee = if random.once_in(8) {
                arena::INVOKER
            } else {
                arena::CALLEE
            };
            let target = Target {
                domain: arena::domain(callee),
                entry: 0x10_0000 + 4 * random.below(1000),
                stack: 0,
            };
            let kind = Kind::Call {
                specification: &specification,
                target,
                constant: random.word(),
            };
            let name = Name {
                domain: 1 + random.below(100),
                generation: random.below(1 << 24),
                slot: 32 + random.below(480),
                system: random.once_in(4),
            };
            let portal = make(&kind, name, &shared.system, arena::CODE_ADDRESS)
                .unwrap_or_else(|offence| panic!("{text}: {offence}"));
            let mut world = shared.world.clone();
            world.add(portal.entry(), kind, name);

            let mut before = scenario::machine(&mut random, &shared, arena::INVOKER);
            scenario::arguments(&mut before, &mut random, &specification);
            comparison.add(
                format!("call {number} {text}"),
                &world,
                before,
                &portal.words,
                portal.entry(),
            );

            let mut before = scenario::machine(&mut random, &shared, callee);
            scenario::returning(&mut before, &mut random, portal.entry(), &specification);
            comparison.add(
                format!("return {number} {text}"),
                &world,
                before,
                &portal.words,
                shared.entry("return"),
            );
        }
        comparison.run();
        assert!(comparison.compared >= 1000);
    }
}
