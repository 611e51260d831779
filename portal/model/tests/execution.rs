//! Generated portals are accepted by the verifier and do, in an emulator, exactly what the model says: every register,
//! control register and word of memory is compared, for calls, returns and every way in which they can fail.
//!
//! `PORTAL_CASES=100000` runs that many random specifications instead of the usual number.

mod support;

use std::collections::BTreeMap;

use pebble_abi::errno::Errno;
use pebble_portal_model::Machine;
use pebble_portal_spec::portal::{Kind, Name, Target};
use pebble_portal_spec::Specification;

use support::comparison::Comparison;
use support::emulator::Emulator;
use support::kinds::{asking, other_kinds};
use support::portals::{make, Shared};
use support::random::Random;
use support::{arena, scenario};

/// How often each outcome was met: one that never is was not tested.
#[derive(Default)]
struct Outcomes(BTreeMap<&'static str, u64>);

impl Outcomes {
    fn note(&mut self, outcome: &'static str) {
        *self.0.entry(outcome).or_default() += 1;
    }
    fn expect(&self, names: &[&str]) {
        for name in names {
            assert!(
                self.0.contains_key(name),
                "no case had the outcome {name}: {:?}",
                self.0
            );
        }
    }
}

/// What became of a call.
fn call_outcome(after: &Machine, entry: u64, shared: &Shared) -> &'static str {
    let error = |errno: Errno| errno.negated() as u64;
    match after.pc {
        pc if pc == entry => "called",
        pc if pc == shared.system.vm.entry => "called again later",
        pc if pc == shared.system.scheduler.stack_wait => "waits for a stack",
        _ if after.x[10] == error(Errno::TooDeep) => "-ELOOP",
        _ if after.x[10] == error(Errno::Fault) => "-EFAULT",
        _ if after.x[10] == error(Errno::NoMemory) => "-ENOMEM",
        _ if after.x[10] == error(Errno::BadDescriptor) => "-EBADF",
        _ => "something else",
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
        let mut outcomes = Outcomes::default();
        for number in 0..cases(2000) / 2 {
            let text = scenario::specification(&mut random);
            let specification =
                Specification::parse(text.as_bytes()).expect("a specification of known letters");
            let callee = if random.once_in(8) {
                arena::INVOKER
            } else {
                arena::CALLEE
            };
            let target = Target {
                domain: arena::domain(callee),
                entry: 0x9_0010_0000 + 4 * random.below(1000),
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
            let label = format!("call {number} {text}");
            let after = comparison.add(label, &world, before, &portal.words, portal.entry());
            outcomes.note(call_outcome(&after, target.entry, &shared));

            let mut before = scenario::machine(&mut random, &shared, callee);
            scenario::returning(&mut before, &mut random, portal.entry(), &specification);
            let answer = before.x[10];
            let label = format!("return {number} {text}");
            let slot = shared.entry("return");
            let after = comparison.add(label, &world, before, &portal.words, slot);
            if text.contains('T')
                && answer as i64 >= 0
                && after.pc != shared.system.scheduler.stack_free
            {
                outcomes.note(if after.x[10] == answer {
                    "exchanged"
                } else {
                    "not exchanged"
                });
            }
        }
        comparison.run();
        assert!(comparison.compared >= 1000);
        outcomes.expect(&[
            "called",
            "called again later",
            "waits for a stack",
            "-ELOOP",
            "-EFAULT",
            "-ENOMEM",
            "-EBADF",
            "exchanged",
            "not exchanged",
        ]);
    }
}

#[test]
fn scheduler_and_short_circuits_do_what_the_model_says() {
    for (seed, asid) in [(3, true), (4, false)] {
        let mut random = Random::new(seed);
        let shared = Shared::new(asid, asid);
        let emulator = Emulator::new(&shared.words);
        let mut comparison = Comparison::new(&emulator);
        for number in 0..cases(2000) / 40 {
            for (text, kind) in other_kinds(&mut random) {
                let name = Name {
                    domain: 1,
                    generation: 1,
                    slot: 64,
                    system: random.once_in(4),
                };
                let portal = make(&kind, name, &shared.system, arena::CODE_ADDRESS)
                    .unwrap_or_else(|offence| panic!("{text}: {offence}"));
                let mut world = shared.world.clone();
                world.add(portal.entry(), kind, name);
                let before = asking(&mut random, &shared, &kind);
                comparison.add(
                    format!("{text} {number}"),
                    &world,
                    before,
                    &portal.words,
                    portal.entry(),
                );
            }
        }
        comparison.run();
        assert!(comparison.compared >= 700);
    }
}

#[test]
fn traps_do_what_the_model_says() {
    for (seed, asid) in [(5, true), (6, false)] {
        let mut random = Random::new(seed);
        let shared = Shared::new(asid, asid);
        let emulator = Emulator::new(&shared.words);
        let mut comparison = Comparison::new(&emulator);
        for number in 0..cases(2000) / 20 {
            for text in [
                "fault",
                "window_fault",
                "interrupt",
                "illegal",
                "empty",
                "dead",
            ] {
                let current = random.below(arena::DOMAIN_COUNT);
                let mut before = scenario::machine(&mut random, &shared, current);
                before.scause = random.pick(&[2, 2, 8, 8, 12, 13, 15, 1 << 63 | 5, 1 << 63 | 9]);
                comparison.add(
                    format!("{text} {number}"),
                    &shared.world,
                    before,
                    &[0],
                    shared.entry(text),
                );
            }
            // Returns from what the portals above pushed, and from floating-point frames on top of those.
            for (text, block) in [
                ("fault returns", "fault"),
                ("window fault returns", "window_fault"),
                ("a waiting thread goes on", "stack_wait"),
                ("an interrupted thread goes on", "interrupt"),
                ("a thread that gave a stack back goes on", "stack_free"),
            ] {
                let current = random.pick(&[arena::VM, arena::VM, arena::CALLEE]);
                let mut before = scenario::machine(&mut random, &shared, current);
                let float = random.once_in(4).then(|| shared.entry("float_push"));
                scenario::returning_to(&mut before, &mut random, shared.entry(block), block, float);
                if random.once_in(2) {
                    before.x[10] = 0;
                }
                comparison.add(
                    format!("{text} {number}"),
                    &shared.world,
                    before,
                    &[0],
                    shared.entry("return"),
                );
            }
        }
        comparison.run();
        assert!(comparison.compared >= 1000);
    }
}
