//! Every bit of the blocks that are no calls, changed alone: the verifier refuses the block, or it still does what the
//! model says. Semaphores, entries of the scheduler, the switch, short circuits, and what traps lead to.

mod support;

use pebble_portal_spec::portal::{Kind, Name};

use support::comparison::Comparison;
use support::emulator::Emulator;
use support::kinds::{asking, other_kinds};
use support::mutants::{Count, Judge};
use support::portals::{make, Shared};
use support::random::Random;
use support::{arena, scenario};

/// Machines that each accepted mutant is tried on, in each way that the block is entered.
const TRIALS: u64 = 6;

const NAME: Name = Name {
    domain: 1,
    generation: 1,
    slot: 64,
    system: false,
};

/// Tries every mutant of the portal `kind`; entered by a call, and by a return when it pushes a frame of `frame`.
fn try_mutants(seed: u64, text: &str, kind: Kind<'_>, frame: Option<&str>) -> Count {
    let mut random = Random::new(seed);
    let shared = Shared::new(true, true);
    let emulator = Emulator::new(&shared.words);
    let mut comparison = Comparison::new(&emulator);
    let portal = make(&kind, NAME, &shared.system, arena::CODE_ADDRESS)
        .unwrap_or_else(|offence| panic!("{text}: {offence}"));
    let mut world = shared.world.clone();
    world.add(portal.entry(), kind, NAME);
    let mut judge = Judge::new(&portal, kind, NAME, &shared.system);
    judge.each_bit(|change, words| {
        for trial in 0..TRIALS {
            let label = format!("{text}, {change}, trial {trial}");
            let mut before = asking(&mut random, &shared, &kind);
            if matches!(kind, Kind::Fault | Kind::Interrupt) {
                before.scause = random.pick(&[2, 8, 12, 13, 15, 1 << 63 | 5, 1 << 63 | 9]);
            }
            comparison.add(label.clone(), &world, before, &words, portal.entry());
            if let Some(block) = frame {
                let current = random.pick(&[arena::VM, arena::CALLEE, arena::SCHEDULER]);
                let mut before = scenario::machine(&mut random, &shared, current);
                scenario::returning_to(&mut before, &mut random, portal.entry(), block, None);
                if random.once_in(2) {
                    before.x[10] = 0;
                }
                let entry = shared.entry("return");
                comparison.add(format!("{label}, return"), &world, before, &words, entry);
            }
        }
    });
    comparison.run();
    judge.count
}

#[test]
fn changed_scheduler_blocks_and_short_circuits_are_refused_or_harmless() {
    let mut count = Count::default();
    for (text, kind) in other_kinds(&mut Random::new(12)) {
        let frame = match kind {
            Kind::Scheduler { .. } | Kind::SemaphoreWait { .. } | Kind::SemaphorePost { .. } => {
                Some("stack_free")
            }
            _ => None,
        };
        let one = try_mutants(13, text, kind, frame);
        assert!(one.refused > 0, "{text}");
        count.refused += one.refused;
        count.accepted += one.accepted;
    }
    let Count { refused, accepted } = count;
    println!("{refused} refused, {accepted} accepted and harmless");
    assert!(
        refused > 20 * accepted,
        "{refused} refused, {accepted} accepted"
    );
}

#[test]
fn changed_trap_blocks_are_refused_or_harmless() {
    let kinds = [
        ("fault", Kind::Fault),
        ("window_fault", Kind::WindowFault),
        ("interrupt", Kind::Interrupt),
    ];
    for (text, kind) in kinds {
        let Count { refused, accepted } = try_mutants(14, text, kind, Some(text));
        println!("{text}: {refused} refused, {accepted} accepted and harmless");
        assert!(
            refused > 20 * accepted,
            "{text}: {refused} refused, {accepted} accepted"
        );
    }
}
