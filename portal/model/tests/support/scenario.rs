//! Random machines: a thread that traps, with everything around it such that each check of a portal fails sometimes.

use core::mem::offset_of;
use pebble_abi::layout::{PAGE, WINDOW_PAGES};
use pebble_abi::object::{self, Domain, Frame, FrameKind, FrameName, Hart, Stack, Thread};
use pebble_portal_model::Machine;
use pebble_portal_spec::portal::Name;
use pebble_portal_spec::{Argument, Specification, Stack as StackLetter, State};

use super::arena::*;
use super::portals::Shared;
use super::random::Random;

const VALID: u64 = 1;
/// `scause` of an environment call.
const ENVIRONMENT_CALL: u64 = 8;

macro_rules! field {
    ($record:ident . $name:ident) => {
        offset_of!($record, $name) as u64
    };
}

/// A random specification that the generator supports.
pub fn specification(random: &mut Random) -> String {
    let mut text = String::from(random.pick(&["sm", "sp", "nm", "np"]));
    let mut pages = 0;
    for _ in 0..random.below(7) {
        let letter = random.pick(&[
            'i', 'c', '=', 't', 'd', 'h', 'w', 'r', 'w', 'r', 'W', 'G', 'T', 'k',
        ]);
        let window = matches!(letter, 'w' | 'r' | 'W' | 'G' | 'T');
        if matches!(letter, 'G' | 'T') && text.contains(letter) {
            continue;
        }
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

/// An address with two of its page-table levels present; `low` as those from which pages can move.
fn buffer(random: &mut Random, low: bool) -> u64 {
    let middle = random.pick(&[0, 0, 0, 3, 3, 4, 5]);
    // Pages at the edges of the tables, so that windows straddle them.
    let page = random.pick(&[0, 1, 2, 3, 5, 254, 507, 510, 511]);
    let root: u64 = if low != random.once_in(12) { 0 } else { 7 };
    let address = root << 30 | middle << 21 | page << 12 | random.below(PAGE);
    match random.below(40) {
        0 => random.word(),
        1 => address | 1 << 38,
        2 => address | 1 << 63,
        3 => address ^ 1 << 30,
        _ => address,
    }
}

/// What the invoker's record says of one of its leaf tables: the number of 2 MiB, and where their entries are.
fn leaf(random: &mut Random) -> (u64, u64) {
    let (middle, leaf) = random.pick(&[(0, LEAVES[0]), (1, LEAVES[1]), (3, LEAVES[1])]);
    let span = random.pick(&[0, 7]) * 512 + middle;
    (span, leaf.wrapping_sub(span * PAGE))
}

fn page_tables(m: &mut Machine, random: &mut Random) {
    for root in [ROOT, OTHER_ROOT] {
        for index in 0..512 {
            m.set(root + 8 * index, 0);
        }
        // Privileged memory as it is in every domain: RAM, and the same RAM as code.
        let ram = physical(BASE) >> 30 << 28;
        m.set(root + 8 * 258, ram | 0xe7);
        m.set(root + 8 * 511, ram | 0xeb);
    }
    let table = |address: u64| physical(address) >> 12 << 10 | VALID;
    for index in [0, 7] {
        m.set(ROOT + 8 * index, table(MIDDLE));
        m.set(OTHER_ROOT + 8 * index, table(OTHER_MIDDLE));
    }
    for index in 0..512 {
        m.set(MIDDLE + 8 * index, 0);
        m.set(OTHER_MIDDLE + 8 * index, 0);
    }
    for index in [0, 1, 3] {
        m.set(OTHER_MIDDLE + 8 * index, table(OTHER_LEAF));
    }
    m.set(MIDDLE, table(LEAVES[0]));
    m.set(MIDDLE + 8, table(LEAVES[1]));
    m.set(MIDDLE + 8 * 3, table(LEAVES[1]));
    // A large page, and one whose bits but V are a table's.
    m.set(MIDDLE + 8 * 4, table(LEAVES[0]) | 0x16);
    m.set(MIDDLE + 8 * 5, table(LEAVES[0]) & !VALID);
    for leaf in [LEAVES[0], LEAVES[1], OTHER_LEAF] {
        for index in 0..512 {
            let flags = match random.below(16) {
                0 => random.below(1024),
                1 => 0xd3,
                2 => 0,
                3 => random.pick(&[0xdf, 0x117, 0x2d7]),
                _ => 0xd7,
            };
            // Page number, and now and then one of the bits above it.
            let entry = random.below(1 << 44) << 10 | flags;
            m.set(leaf + 8 * index, entry);
        }
    }
}

/// A machine whose thread traps in `domain`.
pub fn machine(random: &mut Random, shared: &Shared, current: u64) -> Machine {
    let mut m = Machine {
        base: BASE,
        memory: (0..WORDS).map(|_| random.word()).collect(),
        ..Machine::default()
    };
    for number in 1..32 {
        m.x[number] = random.word();
    }
    for number in 0..32 {
        m.f[number] = random.word();
    }
    m.x[1] &= !1;
    m.fcsr = random.below(32);
    m.thread = THREAD;
    m.pc = random.word() & !1;
    m.sie = 0x222;
    m.scause = ENVIRONMENT_CALL;
    m.stval = random.word();
    m.stimecmp = random.word() | 1 << 63;
    page_tables(&mut m, random);
    for number in 0..DOMAIN_COUNT {
        let record = domain(number);
        let root = if number == INVOKER { ROOT } else { OTHER_ROOT };
        m.set(
            record + field!(Domain.satp),
            8 << 60 | (number + 1) << 44 | physical(root) >> 12,
        );
        m.set(record + field!(Domain.root), root);
        m.set(record + field!(Domain.asid), number + 1);
        // What was remembered of the last window: nothing, or one of the invoker's two leaf tables.
        let (span, bias) = if number != INVOKER || random.once_in(3) {
            (object::NO_SPAN, random.word())
        } else {
            leaf(random)
        };
        m.set(record + field!(Domain.leaf_span), span);
        m.set(record + field!(Domain.leaf_bias), bias);
        // Room for given pages, sometimes for too few.
        let gifts = WINDOWS + 2048 + 128 * number;
        m.set(
            record + field!(Domain.gift),
            gifts + 8 * random.below(9 + 3),
        );
        m.set(record + field!(Domain.gift) + 8, gifts + 8 * 15);
        let free = if random.once_in(8) {
            0
        } else {
            stack(2 * number + 1)
        };
        m.set(record + field!(Domain.stacks), free);
        m.set(
            record + field!(Domain.stack_waiters),
            if random.once_in(4) {
                1 + random.below(3)
            } else {
                0
            },
        );
    }
    m.set(domain(INVOKER) + field!(Domain.table), TABLE);
    m.set(
        TABLE + 8 * pebble_abi::slot::WINDOW_FAULT as u64,
        shared.entry("window_fault"),
    );
    for number in 0..STACK_COUNT {
        let used = if random.once_in(6) {
            WINDOW_PAGES - random.below(9)
        } else {
            random.below(9)
        };
        let window = random.below(1 << 19) * PAGE;
        let entry = WINDOWS + 8 * 16 * number;
        let record = Stack::new(0, 0, window, entry);
        m.set(
            stack(number) + field!(Stack.window_bias),
            record.window_bias,
        );
        m.set(stack(number) + field!(Stack.window_end), record.window_end);
        m.set(
            stack(number) + field!(Stack.window_next),
            window + used * PAGE,
        );
    }
    let record = domain(current);
    m.satp = m.get(record + field!(Domain.satp));
    // The invocation stack: in the upper half of the thread's two pages.
    let top = THREAD + 4096 + 8 * random.below(256);
    m.set(
        THREAD + field!(Thread.table),
        m.get(record + field!(Domain.table)),
    );
    m.set(THREAD + field!(Thread.invocation), top);
    let limits = if random.once_in(12) {
        [top + 8, top - 8]
    } else {
        [top - 8 * random.below(2), top - 2560]
    };
    m.set(THREAD + field!(Thread.invocation_limit), limits[0]);
    m.set(
        THREAD + field!(Thread.system_limit),
        if random.once_in(12) {
            top + 8
        } else {
            limits[1]
        },
    );
    m.set(THREAD + field!(Thread.domain), record);
    m.set(THREAD + field!(Thread.stack), stack(2 * current));
    m.set(
        THREAD + field!(Thread.number),
        random.below(256) | (current + 1) << 32,
    );
    m.set(THREAD + field!(Thread.state), object::RUNNING);
    let own = THREAD + field!(Thread.fp);
    let frames = [top, top + 1024].map(|frame| frame + object::FRAME_HEADER);
    let live = random.pick(&[0, 0, own, own, frames[0], frames[1]]);
    m.set(THREAD + field!(Thread.fp_live), live);
    m.set(THREAD + field!(Thread.hart), HART);
    m.set(
        HART + field!(Hart.fp_owner),
        random.pick(&[0, THREAD, OTHER]),
    );
    m.float_on = random.once_in(2);
    let kind = random.pick(&[FrameKind::Floating, FrameKind::Partial, FrameKind::Minimal]);
    let name = FrameName::new(0, 0, 0, kind, object::FRAME_HEADER);
    m.set(top + field!(Frame.name), name.0);
    m
}

/// Arguments for a call: buffers where the specification wants windows.
pub fn arguments(m: &mut Machine, random: &mut Random, specification: &Specification) {
    for (index, argument) in specification.arguments().iter().enumerate() {
        match argument {
            Argument::Window(_) | Argument::ReadWindow(_) | Argument::OpenWindow(_) => {
                m.x[10 + index] = buffer(random, false);
            }
            Argument::Give(_) | Argument::Take(_) => m.x[10 + index] = buffer(random, true),
            // The edges, and what is none only if more than the low bits are looked at.
            Argument::Capability => {
                m.x[10 + index] = match random.below(12) {
                    0 => random.pick(&[0, 31, 512, 1 << 32 | 64, 1 << 63 | 64, u64::MAX]),
                    1 => random.pick(&[32, 511]),
                    _ => 32 + random.below(480),
                }
            }
            _ => {}
        }
    }
}

/// Makes `frame` of `bytes` the top frame, pushed by the portal at `entry`: other words of it are random.
pub fn frame(m: &mut Machine, random: &mut Random, entry: u64, kind: FrameKind, bytes: u64) -> u64 {
    let top = m.get(THREAD + field!(Thread.invocation)) - bytes;
    m.set(THREAD + field!(Thread.invocation), top);
    m.set(top + field!(Frame.portal), entry);
    let name = Name {
        domain: 1,
        generation: 1,
        slot: 64,
        system: false,
    };
    m.set(
        top + field!(Frame.name),
        FrameName::new(name.generation, name.domain, name.slot, kind, bytes).0,
    );
    m.set(
        top + field!(Frame.domain),
        domain(random.below(DOMAIN_COUNT)),
    );
    m.set(top + field!(Frame.pc), random.word() & !1);
    m.set(top + field!(Frame.stack), stack(random.below(STACK_COUNT)));
    top
}

/// A thread in the callee that returns: the frame of its call is on top, its windows are open.
pub fn returning(m: &mut Machine, random: &mut Random, entry: u64, specification: &Specification) {
    let takes = specification
        .arguments()
        .iter()
        .any(|argument| matches!(argument, Argument::Take(_)));
    let passes = specification.passes();
    let saved = match (specification.state, specification.stack) {
        (State::Partial, _) => object::CALL_FRAME,
        (State::Minimal, StackLetter::New) => object::FRAME_HEADER + 8,
        (State::Minimal, StackLetter::Shared) => object::FRAME_HEADER,
    };
    let top = frame(
        m,
        random,
        entry,
        FrameKind::Partial,
        saved + 8 * takes as u64 + 8 * passes as u64,
    );
    if takes {
        // Mostly for an invoker whose page tables are its own.
        if !random.once_in(4) {
            m.set(top + field!(Frame.domain), domain(INVOKER));
        }
        m.set(top + saved, buffer(random, true));
        m.x[11] = buffer(random, true);
        m.x[10] = if random.once_in(8) {
            random.word() | 1 << 63
        } else {
            random.word() >> 1
        };
    }
    let current = m.get(THREAD + field!(Thread.stack));
    let pages = specification.window_pages() as u64;
    let used = pages + random.below(WINDOW_PAGES - pages + 1);
    let end = m.get(current + field!(Stack.window_end));
    let next = end - (WINDOW_PAGES - used) * PAGE;
    m.set(current + field!(Stack.window_next), next);
}

/// A thread that returns to the block at `entry`, known as `block`; with `float`, through a floating-point frame.
pub fn returning_to(
    m: &mut Machine,
    random: &mut Random,
    entry: u64,
    block: &str,
    float: Option<u64>,
) {
    match block {
        "stack_free" => frame(
            m,
            random,
            entry,
            FrameKind::Scheduler,
            object::PARTIAL_FRAME,
        ),
        _ => frame(m, random, entry, FrameKind::Full, object::FULL_FRAME),
    };
    if let Some(push) = float {
        let top = frame(m, random, push, FrameKind::Floating, object::FLOATING_FRAME);
        if random.once_in(2) {
            m.set(THREAD + field!(Thread.fp_live), top + object::FRAME_HEADER);
        }
    }
}

/// The thread table has the other thread in it, mostly parked, on a frame of one of the shared blocks that
/// park; `a0` mostly names it.
pub fn parked(m: &mut Machine, random: &mut Random, shared: &Shared) {
    for number in 0..256 {
        m.set(THREADS + 8 * number, 0);
    }
    let number = random.below(256);
    m.set(
        THREADS + 8 * number,
        random.pick(&[OTHER, OTHER, OTHER, THREAD, 0]),
    );
    m.x[11] = match random.below(8) {
        0 => random.word(),
        1 => random.below(300),
        _ => number,
    };
    let blocks = [
        (shared.entry("interrupt"), FrameKind::Full),
        (shared.entry("stack_wait"), FrameKind::Full),
        (shared.entry("stack_free"), FrameKind::Scheduler),
    ];
    for thread in [THREAD, OTHER] {
        let (portal, kind) = random.pick(&blocks);
        let top = if thread == OTHER {
            OTHER + 2048
        } else {
            THREAD + 4096
        };
        let name = FrameName::new(0, 0, 0, kind, object::FULL_FRAME);
        m.set(thread + field!(Thread.invocation), top);
        m.set(
            thread + field!(Thread.state),
            random.pick(&[object::PARKED, object::PARKED, object::PARKED, 1, thread]),
        );
        m.set(thread + field!(Thread.hart), HART);
        m.set(top + field!(Frame.portal), portal);
        m.set(top + field!(Frame.name), name.0);
        m.set(
            top + field!(Frame.domain),
            domain(random.below(DOMAIN_COUNT)),
        );
        m.set(top + field!(Frame.pc), random.word() & !1);
    }
}
