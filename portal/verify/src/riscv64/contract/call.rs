//! The call of an ordinary portal: all of it, or nothing.

use pebble_abi::errno::Errno;
use pebble_abi::layout::{GATE, GATE_RETURN};
use pebble_abi::object::{
    Domain, Frame, Stack as StackRecord, Thread, FRAME_HEADER, PARTIAL_FRAME, PARTIAL_REGISTERS,
};
use pebble_portal_spec::{Argument, Specification, Stack, State as Kept};

use super::*;

/// Checks a path of a call that leaves.
pub(super) fn leave(mut exit: Exit<'_, '_>, specification: &Specification) -> Result<(), Reason> {
    let frame = frame_bytes(&exit.machine.policy.kind);
    // Entries of window pages wait there until the call commits.
    let words = 8 * gift::scratch_words(specification);
    // A call with one window page that does not happen may have begun with the frame: that is not the stack's top yet.
    let begun = window::is_alone(specification);
    exit.scratch = -frame - words..if begun { 0 } else { -frame };
    window::noted(&mut exit)?;
    let callee = exit.wished(Parameter::Domain);
    let stack = match specification.stack {
        Stack::New => exit.load(callee, field!(Domain.stacks)),
        Stack::Shared => exit.load(THREAD, field!(Thread.stack)),
    };
    if let Way::Jump(block) = exit.way {
        let wait = exit.number(exit.machine.policy.system.stack_wait);
        if block != wait {
            return window::absent(exit, specification);
        }
        if specification.stack != Stack::New {
            return Err(Reason::Exit);
        }
        exit.zero(stack, true, "the callee has no free stack")?;
        exit.jump_to(exit.machine.policy.system.stack_wait)?;
        exit.set(register::T6, callee);
        return exit.finish();
    }
    let (top, limit) = limit(&mut exit);
    if exit.machine.holds(Test::LessUnsigned, top, limit, true) {
        return exit.answer(Errno::TooDeep);
    }
    if capability::refused(&mut exit, specification) {
        return exit.answer(Errno::BadDescriptor);
    }
    if gift::refused(&mut exit, specification) {
        return exit.answer(Errno::Fault);
    }
    let windows = specification.window_pages() > 0;
    if windows && window::room(&mut exit, specification, stack, true).is_ok()
        || gift::room(&mut exit, specification, callee, true).is_ok()
    {
        return exit.answer(Errno::NoMemory);
    }
    commit(exit, specification, stack)
}

/// The top of the invocation stack at entry and the limit that it is compared with.
pub(super) fn limit(exit: &mut Exit<'_, '_>) -> (Term, Term) {
    let limit = if exit.machine.policy.name.system {
        field!(Thread.system_limit)
    } else {
        field!(Thread.invocation_limit)
    };
    let top = exit.load(THREAD, field!(Thread.invocation));
    (top, exit.load(THREAD, limit))
}

/// Room on the invocation stack was checked.
pub(super) fn depth(exit: &mut Exit<'_, '_>) -> Result<(), Reason> {
    let (top, limit) = limit(exit);
    exit.fact(
        Test::LessUnsigned,
        top,
        limit,
        false,
        "room on the invocation stack",
    )
}

fn commit(
    mut exit: Exit<'_, '_>,
    specification: &Specification,
    stack: Term,
) -> Result<(), Reason> {
    let new = specification.stack == Stack::New;
    let partial = specification.state == Kept::Partial;
    let bytes = frame_bytes(&exit.machine.policy.kind);
    let top = exit.top;
    exit.scratch.end = -bytes;
    let callee = exit.wished(Parameter::Domain);
    exit.to_user()?;
    depth(&mut exit)?;
    if partial {
        new_float_user(&mut exit, bytes)?;
    }

    // The frame.
    exit.frame(-bytes)?;
    let (ra, sp) = (exit.input(register::RA), exit.input(register::SP));
    let tp = exit.csr(csr::SSCRATCH);
    exit.memory(
        top,
        -bytes + field!(Frame.pc),
        ra,
        "the frame's return address",
    )?;
    exit.memory(
        top,
        -bytes + field!(Frame.sp),
        sp,
        "the frame's stack pointer",
    )?;
    let previous = exit.load(THREAD, field!(Thread.stack));
    let header = FRAME_HEADER as i32;
    if new {
        exit.memory(
            top,
            -bytes + field!(Frame.stack),
            previous,
            "the frame's stack",
        )?;
    } else if partial {
        exit.memory(top, -bytes + field!(Frame.stack), ZERO, "the frame's stack")?;
    }
    if new || partial {
        exit.memory(top, -bytes + header, tp, "the frame's thread pointer")?;
    }
    if partial {
        for (index, number) in PARTIAL_REGISTERS.into_iter().enumerate().skip(1) {
            let value = exit.input(number);
            exit.memory(
                top,
                -bytes + header + 8 * index as i32,
                value,
                "a register saved in the frame",
            )?;
        }
    }
    let saved = gift::saved_bytes(specification) as i32;
    for (order, buffer) in gift::takes(specification).enumerate() {
        let address = exit.input(buffer.register);
        exit.memory(
            top,
            -bytes + saved + 8 * order as i32,
            address,
            "the invoker's address for letter `T`",
        )?;
    }
    capability::recorded(&mut exit, specification, -8)?;
    exit.invocation(-bytes)?;

    // The stack.
    exit.set_number(register::RA, GATE + GATE_RETURN);
    if new {
        exit.zero(stack, false, "the callee has a free stack")?;
        let next = exit.load(stack, field!(StackRecord.next));
        exit.memory(
            callee,
            field!(Domain.stacks),
            next,
            "the callee's stack queue",
        )?;
        exit.memory(THREAD, field!(Thread.stack), stack, "the thread's stack")?;
        let (sp, tp) = (
            exit.load(stack, field!(StackRecord.top)),
            exit.load(stack, field!(StackRecord.tp)),
        );
        exit.set(register::SP, sp);
        exit.set(register::TP, tp);
    } else if partial {
        exit.set(register::TP, ZERO);
    }

    // Registers: the callee sees the arguments, with `p` nothing else.
    if partial {
        for number in 1..32u8 {
            if ![register::RA, register::SP, register::TP].contains(&number) {
                exit.set(number, ZERO);
            }
        }
    }
    for (index, argument) in specification.arguments().iter().enumerate() {
        let number = register::A0 + index as u8;
        let value = match argument {
            Argument::Word | Argument::Capability => exit.input(number),
            Argument::Constant => exit.wished(Parameter::Constant),
            Argument::Slot => exit.wished(Parameter::Slot),
            Argument::Thread => exit.load(THREAD, field!(Thread.number)),
            Argument::Domain => {
                let invoker = exit.load(THREAD, field!(Thread.domain));
                exit.load(invoker, field!(Domain.asid))
            }
            Argument::Time => {
                let cycles = exit.csr(csr::CYCLE);
                exit.machine.terms.right(cycles, 1)
            }
            // Set with the pages.
            Argument::Window(_)
            | Argument::ReadWindow(_)
            | Argument::OpenWindow(_)
            | Argument::Give(_) => continue,
            Argument::Take(_) => exit.input(number),
        };
        exit.set(number, value);
    }
    window::opened(&mut exit, specification, stack)?;
    gift::handed_over(&mut exit, specification, callee)?;

    exit.enter_domain(callee)?;
    exit.sepc = exit.wished(Parameter::Target);
    exit.finish()
}

/// The frame names where the invoker's floating-point registers are, if it has any; the callee has none.
fn new_float_user(exit: &mut Exit<'_, '_>, bytes: i32) -> Result<(), Reason> {
    let pushed = exit.state.pushed;
    let live = exit.load(THREAD, field!(Thread.fp_live));
    if !exit.state.settled {
        exit.zero(live, !pushed, "live floating-point registers")?;
    }
    exit.memory(
        exit.top,
        -bytes + PARTIAL_FRAME as i32,
        if pushed { SAVED } else { live },
        "the place of the invoker's floating-point registers",
    )?;
    exit.memory(
        THREAD,
        field!(Thread.fp_live),
        ZERO,
        "live floating-point registers",
    )?;
    Ok(())
}
