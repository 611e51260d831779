//! Kinds of portals that are no calls: those that a program asks for.

use pebble_abi::semaphore;
use pebble_portal_model::Machine;
use pebble_portal_spec::portal::Kind;

use super::portals::Shared;
use super::random::Random;
use super::{arena, scenario};

/// Every other kind of portal: its name, and how often it is tried.
pub fn other_kinds(random: &mut Random) -> Vec<(&'static str, Kind<'static>)> {
    vec![
        (
            "scheduler",
            Kind::Scheduler {
                entry: 0x9_0010_0800,
            },
        ),
        (
            "semaphore_wait",
            Kind::SemaphoreWait {
                index: random.below(16),
            },
        ),
        (
            "semaphore_post",
            Kind::SemaphorePost {
                index: random.below(16),
            },
        ),
        (
            "scheduler_tail",
            Kind::SchedulerTail {
                entry: 0x9_0010_0900,
            },
        ),
        ("switch", Kind::Switch),
        ("get_asid", Kind::GetAsid),
        ("get_thread", Kind::GetThread),
        ("high_resolution_time", Kind::HighResolutionTime),
        (
            "time_of_day",
            Kind::TimeOfDay {
                scale: 100,
                offset: random.word() >> 8,
            },
        ),
        ("set_timer", Kind::SetTimer),
        ("flush_domain", Kind::FlushDomain),
        ("flush_page", Kind::FlushPage),
        ("put_byte", Kind::PutByte),
        ("flush_instructions", Kind::FlushInstructions),
        ("reset", Kind::Reset),
    ]
}

/// A machine for a portal that was asked for: counters near zero, a thread to switch to.
pub fn asking(random: &mut Random, shared: &Shared, kind: &Kind<'_>) -> Machine {
    let current = random.below(arena::DOMAIN_COUNT);
    let mut m = scenario::machine(random, shared, current);
    match kind {
        Kind::SemaphoreWait { index } | Kind::SemaphorePost { index } => {
            let value = random.pick(&[-3, -2, 0, 1, 2, i32::MAX, i32::MIN, 1000]);
            let later = random.pick(&[0, -1, -2, -64]);
            m.set_half(arena::SEMAPHORES + 4 * semaphore::LATER as u64, later);
            m.set_half(arena::SEMAPHORES + 4 * index, value);
        }
        Kind::SetTimer => m.x[11] |= 1 << 63,
        Kind::Switch => scenario::parked(&mut m, random, shared),
        _ => {}
    }
    m
}
