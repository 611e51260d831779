//! The ordinary portal: a call into another domain, and the return.

use super::asm::{csr, registers::*, Assembler, Label, Register};
use super::*;
use pebble_abi::errno::Errno;
use pebble_abi::layout;
use pebble_abi::object::{self, FrameKind, FrameName};
use pebble_portal_spec::{Argument, Specification, Stack, State};

use crate::{Name, System, Target};

const STACK_NEXT: i32 = offset_of!(object::Stack, next) as i32;
const STACK_TOP: i32 = offset_of!(object::Stack, top) as i32;
const STACK_TP: i32 = offset_of!(object::Stack, tp) as i32;
const HEADER: i32 = object::FRAME_HEADER as i32;
/// Where the frame of a `p` call keeps the invoker's `fp_live`.
const SAVED_LIVE: i32 = object::PARTIAL_FRAME as i32;

// What a portal uses beneath the limit: the letters `W` and `G` need two scratch words for each page, all `k` together one
// word. A `T` needs one too, but leaves a page less to give.
const _: () = assert!(
    object::FLOATING_FRAME
        + object::FULL_FRAME
        + object::CALL_FRAME
        + 8
        + 16 * pebble_portal_spec::MAX_WINDOW_PAGES as u64
        <= object::INVOCATION_RESERVE
);

/// Generates call and return for `specification`.
pub(super) fn call(
    a: &mut Assembler<'_>,
    specification: &Specification,
    target: Target,
    constant: u64,
    name: Name,
    system: &System,
) {
    let new_stack = specification.stack == Stack::New;
    let partial = specification.state == State::Partial;
    let pages = specification.window_pages();
    let saved = match (partial, new_stack) {
        (true, _) => object::CALL_FRAME as i32,
        (false, true) => HEADER + 8,
        (false, false) => HEADER,
    };
    // Each letter `T` keeps the invoker's address in a word of its own behind that; all `k` share the last word.
    let frame = saved + 8 * takes(specification).count() as i32 + 8 * specification.passes() as i32;
    let mut too_deep = Label::new();
    let mut absent = window::Absent::default();
    let mut refused = Label::new();
    let mut no_stack = Label::new();
    let mut no_portal = Label::new();
    let mut windows_full = Label::new();
    let gifts: usize = specification
        .arguments()
        .iter()
        .map(|argument| gift_pages(*argument))
        .sum();
    // Nothing that looks at pages after the one window may leave the portal: `ra` is the program's no more.
    let place = match (pages, gifts, takes(specification).count()) {
        (1, 0, 0) => window::Place::Register,
        _ => window::Place::Scratch(frame),
    };
    let alone = place == window::Place::Register;

    // Checks first: until the commit below, nothing outside the unused part of the invocation stack changes.
    a.ld(T1, INVOCATION, TP);
    a.ld(T2, if name.system { SYSTEM_LIMIT } else { LIMIT }, TP);
    a.bltu(T1, T2, &mut too_deep);
    if partial {
        push_live_floats(a, system);
    }
    for (index, argument) in specification.arguments().iter().enumerate() {
        if *argument == Argument::Capability {
            capability::check(a, Register(A0.0 + index as u32), &mut no_portal);
        }
    }
    if alone {
        // Where the frame will have it: the register has another use until the commit.
        a.sd(RA, FRAME_PC - frame, T1);
    }
    a.ld(T2, DOMAIN, TP);
    let mut first = 0;
    for (index, argument) in specification.arguments().iter().enumerate() {
        let register = Register(A0.0 + index as u32);
        match *argument {
            Argument::Window(count) | Argument::ReadWindow(count) => {
                let writable = matches!(argument, Argument::Window(_));
                window::check(
                    a,
                    register,
                    count as usize,
                    writable,
                    (first, place),
                    &mut absent,
                );
            }
            Argument::OpenWindow(count) | Argument::Give(count) => {
                let moves = matches!(argument, Argument::Give(_));
                gift::check(
                    a,
                    register,
                    count as usize,
                    moves,
                    (first, frame),
                    &mut absent,
                    &mut refused,
                );
            }
            Argument::Take(count) => {
                gift::check_take(a, register, count as usize, &mut absent, &mut refused)
            }
            _ => {}
        }
        first += scratch_words(*argument);
    }
    a.load_literal(T6, target.domain);
    if new_stack {
        a.ld(T5, DOMAIN_STACKS, T6);
        a.beq(T5, ZERO, &mut no_stack);
    } else if pages > 0 {
        a.ld(T5, STACK, TP);
    }
    if pages > 0 {
        window::check_room(a, pages, &mut windows_full);
    }
    if gifts > 0 {
        gift::check_room(a, gifts, &mut windows_full);
    }

    // Commit: the frame.
    let kind = if partial || new_stack {
        FrameKind::Partial
    } else {
        FrameKind::Minimal
    };
    a.addi(T1, T1, -frame);
    let mut frame_name =
        FrameName::new(name.generation, name.domain, name.slot, kind, frame as u64);
    if specification.passes() {
        frame_name = frame_name.passing();
    }
    a.load_literal(T3, frame_name.0);
    a.sd(T0, FRAME_PORTAL, T1);
    a.sd(T3, FRAME_NAME, T1);
    a.sd(T2, FRAME_DOMAIN, T1);
    if !alone {
        a.sd(RA, FRAME_PC, T1);
    }
    a.sd(SP, FRAME_SP, T1);
    if new_stack {
        a.ld(T3, STACK, TP);
        a.sd(T3, FRAME_STACK, T1);
        a.ld(T3, STACK_NEXT, T5);
        a.sd(T3, DOMAIN_STACKS, T6);
        a.sd(T5, STACK, TP);
        a.ld(SP, STACK_TOP, T5);
    } else if partial {
        a.sd(ZERO, FRAME_STACK, T1);
    }
    if partial || new_stack {
        a.csrr(T3, csr::SSCRATCH);
        a.sd(T3, HEADER, T1);
    }
    if partial {
        for (index, register) in object::PARTIAL_REGISTERS.iter().enumerate().skip(1) {
            a.sd(Register(*register as u32), HEADER + 8 * index as i32, T1);
        }
        // The callee is a user of floating point of its own.
        a.ld(T3, FLOAT_LIVE, TP);
        a.sd(T3, SAVED_LIVE, T1);
        a.sd(ZERO, FLOAT_LIVE, TP);
    }
    for (order, (index, _)) in takes(specification).enumerate() {
        a.sd(Register(A0.0 + index as u32), saved + 8 * order as i32, T1);
    }
    capability::record(a, specification, frame - 8);
    a.sd(T1, INVOCATION, TP);
    arguments(a, specification, constant, name);
    let mut first = 0;
    for (index, argument) in specification.arguments().iter().enumerate() {
        let register = Register(A0.0 + index as u32);
        match *argument {
            Argument::Window(count) | Argument::ReadWindow(count) => {
                window::open(a, register, count as usize, first, gifts > 0, place);
            }
            Argument::OpenWindow(count) => {
                gift::hand_over(a, register, count as usize, false, first)
            }
            Argument::Give(count) => gift::hand_over(a, register, count as usize, true, first),
            _ => {}
        }
        first += scratch_words(*argument);
    }
    enter_domain(a, T6, system);
    a.load_literal(T3, target.entry);
    a.csrw(csr::SEPC, T3);
    a.lui(RA, (layout::GATE + layout::GATE_RETURN) as u32);
    if new_stack || partial {
        // The callee's thread pointer is that of its stack, or none.
        a.csrw(csr::SSCRATCH, TP);
        if new_stack {
            a.ld(TP, STACK_TP, T5);
        } else {
            a.li(TP, 0);
        }
        if partial {
            clear_for_callee(a, specification.arguments().len() as u32);
        }
        a.sret();
    } else {
        leave(a);
    }

    // What can go wrong, out of the way.
    window::absent(a, &absent);
    if Assembler::is_used(&refused) {
        a.bind(&refused);
        answer(a, Errno::Fault.negated() as i32);
    }
    if Assembler::is_used(&no_portal) {
        a.bind(&no_portal);
        answer(a, Errno::BadDescriptor.negated() as i32);
    }
    if new_stack {
        a.bind(&no_stack);
        if alone {
            a.ld(RA, FRAME_PC - frame, T1);
        }
        a.load_literal(T0, system.stack_wait);
        a.jr(T0);
    }
    if Assembler::is_used(&windows_full) {
        a.bind(&windows_full);
        if alone {
            a.ld(RA, FRAME_PC - frame, T1);
        }
        answer(a, Errno::NoMemory.negated() as i32);
    }
    a.bind(&too_deep);
    answer(a, Errno::TooDeep.negated() as i32);

    let shape = Shape {
        new_stack,
        partial,
        pages,
        saved,
        frame,
    };
    return_code(a, specification, &shape, system);
}

/// What call and return code agree on.
struct Shape {
    new_stack: bool,
    partial: bool,
    /// Window pages that close on return.
    pages: usize,
    /// Bytes of the frame before the words of the letters `T`.
    saved: i32,
    /// Bytes of the frame.
    frame: i32,
}

/// The letters `T`: argument index and pages.
fn takes(specification: &Specification) -> impl Iterator<Item = (usize, usize)> + '_ {
    let arguments = specification.arguments().iter().enumerate();
    arguments.filter_map(|(index, argument)| match argument {
        Argument::Take(pages) => Some((index, *pages as usize)),
        _ => None,
    })
}

/// Pages that an argument puts into the callee's gift area.
fn gift_pages(argument: Argument) -> usize {
    match argument {
        Argument::OpenWindow(pages) | Argument::Give(pages) => pages as usize,
        _ => 0,
    }
}

/// Scratch words that an argument needs between check and commit.
fn scratch_words(argument: Argument) -> usize {
    argument
        .window()
        .map_or(2 * gift_pages(argument), |(pages, _)| pages)
}

/// How many literals a call mostly has: return code, callee's domain and entry, frame's name, and what letters need.
pub(super) fn literals(specification: &Specification) -> usize {
    let mut count = 4;
    if specification.stack == Stack::New {
        count += 2;
    }
    if specification.state == State::Partial {
        count += 1;
    }
    let arguments = specification.arguments();
    count += usize::from(arguments.contains(&Argument::Constant));
    count += usize::from(arguments.iter().any(|letter| {
        letter.window().is_some() || gift_pages(*letter) > 0 || matches!(letter, Argument::Take(_))
    }));
    count
}

/// Values that the portal puts into argument registers. `t2` is the invoking domain.
fn arguments(a: &mut Assembler<'_>, specification: &Specification, constant: u64, name: Name) {
    for (index, argument) in specification.arguments().iter().enumerate() {
        let register = Register(A0.0 + index as u32);
        match argument {
            Argument::Constant => a.load_literal(register, constant),
            Argument::Slot => a.li(register, name.slot as i32),
            Argument::Thread => a.ld(register, NUMBER, TP),
            Argument::Domain => a.ld(register, DOMAIN_ASID, T2),
            Argument::Time => {
                a.csrr(register, csr::CYCLE);
                a.srli(register, register, 1);
            }
            _ => {}
        }
    }
}

/// Letter `p`: if the invoker has floating-point registers, they go to the invocation stack first. The block
/// answers with the top in `t1`, and `fp_live` names the words. This is no commit: the invoker finds its registers
/// there whatever follows.
fn push_live_floats(a: &mut Assembler<'_>, system: &System) {
    let mut none = Label::new();
    a.ld(T3, FLOAT_LIVE, TP);
    a.beq(T3, ZERO, &mut none);
    a.load_literal(T4, system.float_push);
    a.jalr(T3, T4);
    a.bind(&none);
}

/// Letter `p`: the callee sees nothing of the invoker's registers but the arguments.
fn clear_for_callee(a: &mut Assembler<'_>, arguments: u32) {
    for register in 0..32 {
        let passed = register >= A0.0 && register < A0.0 + arguments;
        let needed = [ZERO.0, RA.0, SP.0, TP.0].contains(&register);
        if !passed && !needed {
            a.li(Register(register), 0);
        }
    }
}

/// The return: entered from slot 0 with `t1` = frame.
fn return_code(
    a: &mut Assembler<'_>,
    specification: &Specification,
    shape: &Shape,
    system: &System,
) {
    let &Shape {
        new_stack,
        partial,
        pages,
        saved,
        frame,
    } = shape;
    let mut waiters = Label::new();
    a.mark_return();
    if partial {
        float::drop_live(a, SAVED_LIVE);
    }
    for (order, (_, count)) in takes(specification).enumerate() {
        gift::take(a, saved + 8 * order as i32, FRAME_DOMAIN, count);
    }
    if pages > 0 {
        window::close(a, pages);
    }
    if new_stack {
        if pages == 0 {
            a.ld(T6, STACK, TP);
        }
        a.ld(T5, DOMAIN, TP);
        a.ld(T3, DOMAIN_STACKS, T5);
        a.sd(T3, STACK_NEXT, T6);
        a.sd(T6, DOMAIN_STACKS, T5);
        a.ld(T3, FRAME_STACK, T1);
        a.sd(T3, STACK, TP);
        a.ld(T4, DOMAIN_WAITERS, T5);
    }
    a.ld(T6, FRAME_DOMAIN, T1);
    enter_domain(a, T6, system);
    a.ld(RA, FRAME_PC, T1);
    a.ld(SP, FRAME_SP, T1);
    if partial {
        for (index, register) in object::PARTIAL_REGISTERS.iter().enumerate().skip(1) {
            a.ld(Register(*register as u32), HEADER + 8 * index as i32, T1);
        }
    }
    a.addi(T1, T1, frame);
    a.sd(T1, INVOCATION, TP);
    if new_stack {
        a.bne(T4, ZERO, &mut waiters);
    }
    a.csrw(csr::SEPC, RA);
    if new_stack || partial {
        a.csrw(csr::SSCRATCH, TP);
        a.ld(TP, HEADER - frame, T1);
        if partial {
            clear_for_invoker(a);
        }
        a.sret();
    } else {
        leave(a);
    }
    if new_stack {
        // `t5` = the domain whose stack came back while threads wait for one.
        a.bind(&waiters);
        a.ld(T3, HEADER - frame, T1);
        a.csrw(csr::SSCRATCH, T3);
        a.load_literal(T0, system.stack_free);
        a.jr(T0);
    }
}
