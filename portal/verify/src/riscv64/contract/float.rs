//! Floating-point registers: whose they are, and that nobody sees another's.

use pebble_abi::errno::Errno;
use pebble_abi::object::{Frame, Hart, Thread, FLOATING_FRAME, FRAME_HEADER};

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
        _ => exit.machine.terms.float(word as u8),
    }
}

/// Registers of the thread that are not in a frame go to the one on top of its invocation stack, a new one if that has
/// another kind.
pub(super) fn push(mut exit: Exit<'_, '_>) -> Result<(), Reason> {
    let live = exit.load(THREAD, field!(Thread.fp_live));
    let place = exit.machine.terms.subtract(live, THREAD);
    let place = exit.machine.terms.add_number(place, -FLOATS as i64);
    if exit.machine.is_not_zero(place) {
        let top = exit.top;
        return pushed(exit, top);
    }
    exit.zero(place, true, "the place of the floating-point registers")?;
    let difference = exit.machine.floating_difference();
    let present = exit.machine.is_zero(difference);
    exit.zero(difference, present, "the kind of the top frame")?;
    let (top, frame) = (exit.top, if present { 0 } else { -BYTES });
    if !present {
        exit.frame(frame)?;
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
        exit.memory(top, frame + field!(Frame.stack), ZERO, "the frame's stack")?;
    }
    let words = exit.machine.terms.add_number(top, (frame + HEADER) as i64);
    exit.memory(
        THREAD,
        field!(Thread.fp_live),
        words,
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
    let top = exit.machine.terms.add_number(top, frame as i64);
    pushed(exit, top)
}

/// The block goes back to the call that it is part of, with the top of the invocation stack.
fn pushed(mut exit: Exit<'_, '_>, top: Term) -> Result<(), Reason> {
    exit.set(register::T1, top);
    for number in [register::T0, register::T5, register::T6] {
        let value = exit.input(number);
        exit.set(number, value);
    }
    if exit.way != Way::Jump(LINK) {
        return Err(Reason::Exit);
    }
    exit.finish()
}

/// The return goes past a floating-point frame to the one above; registers that are only there go to the record.
pub(super) fn drop_frame(mut exit: Exit<'_, '_>) -> Result<(), Reason> {
    let live = exit.load(THREAD, field!(Thread.fp_live));
    let words = exit.machine.terms.add_number(FRAME, HEADER as i64);
    let here = exit.machine.holds(Test::Equal, live, words, true);
    let what = "the place of the floating-point registers";
    exit.fact(Test::Equal, live, words, here, what)?;
    if here {
        for word in 0..WORDS {
            let value = exit.load(FRAME, HEADER + 8 * word);
            let register = "a floating-point register of the thread";
            exit.memory(THREAD, FLOATS + 8 * word, value, register)?;
        }
        own(&mut exit)?;
    }
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
        // Once each: what is loaded after them is what they left (`Node::Late`).
        let floats = FLOATS..FLOATS + 8 * WORDS;
        let events = exit.machine.log.events().iter();
        let stores = events.filter(|event| {
            matches!(event, Event::Store { record: Record::Thread, offset, .. } if floats.contains(offset))
        });
        if stores.count() != WORDS as usize {
            return Err(Reason::ExtraStore);
        }
    }
    exit.memory(
        hart,
        field!(Hart.fp_owner),
        THREAD,
        "the owner of the floating-point registers",
    )?;
    own(&mut exit)?;
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

/// The registers are in the processor or in the thread's record.
fn own(exit: &mut Exit<'_, '_>) -> Result<(), Reason> {
    let floats = exit.machine.terms.add_number(THREAD, FLOATS as i64);
    let what = "live floating-point registers";
    exit.memory(THREAD, field!(Thread.fp_live), floats, what)?;
    Ok(())
}

/// The thread's own registers are in the processor: from where `fp_live` said, or zeros.
fn take(exit: &mut Exit<'_, '_>, saved: bool) -> Result<(), Reason> {
    let live = exit.load(THREAD, field!(Thread.fp_live));
    let mut floats = [ZERO; 32];
    let mut fcsr = ZERO;
    if exit.machine.is_not_zero(live) {
        for word in 0..WORDS {
            let offset = 8 * word;
            // The owner may have been this thread: then these are the words just saved.
            let value = match saved {
                true => exit.machine.terms.term(Node::Late { base: live, offset }),
                false => exit.load(live, offset),
            };
            match floats.get_mut(word as usize) {
                Some(float) => *float = value,
                None => fcsr = value,
            }
        }
    } else {
        exit.zero(live, true, "live floating-point registers")?;
    }
    exit.floats = Some(floats);
    exit.fcsr = Some(fcsr);
    Ok(())
}
