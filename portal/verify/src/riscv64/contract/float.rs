//! Floating-point registers: whose they are, and that nobody sees another's.

use pebble_abi::errno::Errno;
use pebble_abi::object::{Frame, FrameKind, Hart, Thread, FLOATING_FRAME, FRAME_HEADER};

use super::*;
use crate::state::FLOAT_STATUS;
use crate::term::Node;

const BYTES: i32 = FLOATING_FRAME as i32;
const HEADER: i32 = FRAME_HEADER as i32;
const FLOATS: i32 = field!(Thread.fp);
const SCRATCH: i32 = field!(Thread.float_scratch);
/// Words of a set of floating-point registers: f0 to f31, fcsr.
const WORDS: i32 = 33;
/// `scause` of an illegal instruction.
const ILLEGAL: i64 = 2;

/// Float register `word`, or `fcsr` for the last.
fn float(exit: &mut Exit<'_, '_>, word: i32) -> Term {
    match word {
        32 => exit.csr(csr::FCSR),
        _ => exit.machine.terms.term(Node::Float(word as u8)),
    }
}

/// Live registers of the thread go to the frame on top of its invocation stack, a new one if it has another kind.
pub(super) fn push(mut exit: Exit<'_, '_>) -> Result<(), Reason> {
    let difference = exit.machine.floating_difference();
    let present = exit.machine.is_zero(difference);
    exit.zero(difference, present, "the kind of the top frame")?;
    let (top, frame) = (exit.top, if present { 0 } else { -BYTES });
    if !present {
        exit.frame(frame, FrameKind::Floating, BYTES)?;
        exit.memory(
            top,
            frame + field!(Frame.pc),
            ZERO,
            "the frame's return address",
        )?;
        exit.memory(
            top,
            frame + field!(Frame.sp),
            ZERO,
            "the frame's stack pointer",
        )?;
    }
    let valid = exit.number(1);
    exit.memory(
        top,
        frame + field!(Frame.stack),
        valid,
        "the frame's mark that it is valid",
    )?;
    exit.memory(
        THREAD,
        field!(Thread.fp_live),
        ZERO,
        "live floating-point registers",
    )?;
    let hart = exit.load(THREAD, field!(Thread.hart));
    let owner = exit.load(hart, field!(Hart.fp_owner));
    let owned = exit.machine.holds(Test::Equal, owner, THREAD, true);
    exit.fact(
        Test::Equal,
        owner,
        THREAD,
        owned,
        "the owner of the floating-point registers",
    )?;
    if owned {
        exit.memory(
            hart,
            field!(Hart.fp_owner),
            ZERO,
            "the owner of the floating-point registers",
        )?;
        exit.unit = FloatUnit::Off;
    }
    for word in 0..WORDS {
        let value = match owned {
            true => float(&mut exit, word),
            false => exit.load(THREAD, FLOATS + 8 * word),
        };
        exit.memory(
            top,
            frame + HEADER + 8 * word,
            value,
            "a floating-point register in the frame",
        )?;
    }
    exit.invocation(frame)?;
    exit.memory(THREAD, SCRATCH + 8, LINK, "the link")?;
    let pushed = exit.machine.terms.add_number(top, frame as i64);
    exit.set(register::T1, pushed);
    for number in [register::T0, register::T5, register::T6] {
        let value = exit.input(number);
        exit.set(number, value);
    }
    if exit.way != Way::Jump(LINK) {
        return Err(Reason::Exit);
    }
    exit.finish()
}

/// The return goes past a floating-point frame to the one above.
pub(super) fn drop_frame(mut exit: Exit<'_, '_>) -> Result<(), Reason> {
    exit.invocation(BYTES)?;
    let portal = exit.load(FRAME, BYTES + field!(Frame.portal));
    let target = exit.load(portal, RETURN_LITERAL);
    let next = exit.machine.terms.add_number(FRAME, BYTES as i64);
    exit.set(register::T0, portal);
    exit.set(register::T1, next);
    if exit.way != Way::Jump(target) {
        return Err(Reason::Exit);
    }
    exit.finish()
}

/// An illegal instruction: the first use of a floating-point register, or what it says.
pub(super) fn illegal(mut exit: Exit<'_, '_>) -> Result<(), Reason> {
    let cause = exit.csr(csr::SCAUSE);
    let difference = exit.machine.terms.add_number(cause, -ILLEGAL);
    if exit.machine.is_not_zero(difference) {
        return exit.answer(Errno::NoSys);
    }
    exit.zero(difference, true, "the cause")?;
    let status = exit.csr(csr::SSTATUS);
    let unit = exit
        .machine
        .terms
        .right(status, FLOAT_STATUS.trailing_zeros() as u8);
    let unit = exit.machine.terms.and(unit, 3);
    if exit.machine.is_not_zero(unit) {
        exit.jump_to(exit.machine.policy.system.fault)?;
        return exit.finish();
    }
    exit.zero(unit, true, "floating point is off")?;
    exit.to_user()?;
    exit.unit = FloatUnit::On;
    let (t2, t3) = (exit.input(register::T2), exit.input(register::T3));
    exit.memory(THREAD, SCRATCH, t2, "t2")?;
    exit.memory(THREAD, SCRATCH + 8, t3, "t3")?;

    // What is in the registers goes to its owner.
    let hart = exit.load(THREAD, field!(Thread.hart));
    let owner = exit.load(hart, field!(Hart.fp_owner));
    let owned = exit.machine.is_not_zero(owner);
    exit.zero(owner, !owned, "the owner of the floating-point registers")?;
    if owned {
        for word in 0..WORDS {
            let value = float(&mut exit, word);
            exit.memory(
                owner,
                FLOATS + 8 * word,
                value,
                "a floating-point register of its owner",
            )?;
        }
    }
    exit.memory(
        hart,
        field!(Hart.fp_owner),
        THREAD,
        "the owner of the floating-point registers",
    )?;
    let one = exit.number(1);
    exit.memory(
        THREAD,
        field!(Thread.fp_live),
        one,
        "live floating-point registers",
    )?;
    take(&mut exit, owned)?;

    let saved = [
        (register::T0, field!(Thread.scratch)),
        (register::T1, field!(Thread.scratch) + 8),
    ];
    for (number, offset) in saved {
        let value = exit.load(THREAD, offset);
        exit.set(number, value);
    }
    exit.set(register::T2, t2);
    exit.set(register::T3, t3);
    for number in [register::T4, register::T5, register::T6] {
        let value = exit.input(number);
        exit.set(number, value);
    }
    exit.finish()
}

/// The thread's own registers are in the processor: from its record, from a frame, or zeros.
fn take(exit: &mut Exit<'_, '_>, saved: bool) -> Result<(), Reason> {
    let live = exit.load(THREAD, field!(Thread.fp_live));
    let mut floats = [ZERO; 32];
    let mut fcsr = ZERO;
    if exit.machine.is_not_zero(live) {
        for word in 0..WORDS {
            let offset = FLOATS + 8 * word;
            // The owner may have been this thread: then these are the words just saved.
            let value = match saved {
                true => exit.machine.terms.term(Node::Late {
                    base: THREAD,
                    offset,
                }),
                false => exit.load(THREAD, offset),
            };
            match floats.get_mut(word as usize) {
                Some(float) => *float = value,
                None => fcsr = value,
            }
        }
    } else {
        exit.zero(live, true, "live floating-point registers")?;
        let difference = exit.machine.floating_difference();
        let top = exit.top;
        let valid = exit.load(top, field!(Frame.stack));
        if exit.machine.is_zero(difference) && exit.machine.is_not_zero(valid) {
            exit.memory(
                top,
                field!(Frame.stack),
                ZERO,
                "the frame's mark that it is valid",
            )?;
            for word in 0..WORDS {
                let value = exit.load(top, HEADER + 8 * word);
                match floats.get_mut(word as usize) {
                    Some(float) => *float = value,
                    None => fcsr = value,
                }
            }
        } else if !exit.machine.is_not_zero(difference) {
            exit.zero(valid, true, "the frame's mark that it is valid")?;
        }
    }
    exit.floats = Some(floats);
    exit.fcsr = Some(fcsr);
    Ok(())
}
