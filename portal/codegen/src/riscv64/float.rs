//! Floating-point registers: kept per thread, moved only when a second user appears.
//!
//! `sstatus.FS` is Off unless the running thread owns the registers, so the first use traps as an illegal
//! instruction. A thread that never uses them pays two instructions at a thread switch, and five at the call and
//! four at the return of a `p` portal. A `p` portal makes the callee a user of its own: live registers go to a
//! frame on the invocation stack, which `Thread.fp_live` names from then on; the first use loads them from where
//! that word says (docs/decisions/0014).

use super::asm::{csr, registers::*, Assembler, Label};
use super::*;
use pebble_abi::object::{self, FrameKind, FrameName, Hart};

use crate::{Name, System};

const SCRATCH: i32 = offset_of!(Thread, scratch) as i32;
const FLOAT_SCRATCH: i32 = offset_of!(Thread, float_scratch) as i32;
const FLOATS: i32 = offset_of!(Thread, fp) as i32;
const HART: i32 = offset_of!(Thread, hart) as i32;
const OWNER: i32 = offset_of!(Hart, fp_owner) as i32;
const FRAME_FLOATS: i32 = object::FRAME_HEADER as i32;
/// `sstatus.FS`.
const FS: u32 = 0x6000;

/// Turns floating point off for the current thread. Uses `t3`.
pub(super) fn disable(a: &mut Assembler<'_>) {
    a.lui(T3, FS);
    a.csrc(csr::SSTATUS, T3);
}

fn save(a: &mut Assembler<'_>, base: Register, offset: i32) {
    for f in 0..32 {
        a.fsd(f, offset + 8 * f as i32, base);
    }
    a.csrr(T3, csr::FCSR);
    a.sd(T3, offset + 256, base);
}

fn load(a: &mut Assembler<'_>, words: Register) {
    for f in 0..32 {
        a.fld(f, 8 * f as i32, words);
    }
    a.ld(T3, 256, words);
    a.csrw(csr::FCSR, T3);
}

/// A `p` portal returns, `t1` = its frame: what the callee left in the registers is nobody's, the invoker's are where
/// the word at `saved` of the frame says. Uses `t2`, `t3`.
pub(super) fn drop_live(a: &mut Assembler<'_>, saved: i32) {
    let mut none = Label::new();
    let mut not_owner = Label::new();
    a.ld(T3, FLOAT_LIVE, TP);
    a.beq(T3, ZERO, &mut none);
    a.ld(T2, HART, TP);
    a.ld(T3, OWNER, T2);
    a.bne(T3, TP, &mut not_owner);
    a.sd(ZERO, OWNER, T2);
    a.bind(&not_owner);
    disable(a);
    a.bind(&none);
    a.ld(T3, saved, T1);
    a.sd(T3, FLOAT_LIVE, TP);
}

/// Shared block, called by `p` portals with the link in `t3` when `fp_live` is not 0: unless the registers are in a
/// frame already, pushes a floating-point frame beneath the call's frame and makes `fp_live` name its words. Its own
/// return code drops the frame when the invoker itself returns.
/// A floating-point frame that is on top already is used again, so that a thread which calls in a loop does not
/// fill its invocation stack: whoever named it before has the registers in the processor now, or in the record.
/// `t1` = top of the invocation stack, also on return; `t0`, `t5`, `t6` survive.
pub(super) fn push(a: &mut Assembler<'_>, name: Name) {
    let frame = object::FLOATING_FRAME as i32;
    let mut elsewhere = Label::new();
    let mut present = Label::new();
    let mut safe = Label::new();
    a.ld(T2, FLOAT_LIVE, TP);
    a.sub(T2, T2, TP);
    a.addi(T2, T2, -FLOATS);
    a.bne(T2, ZERO, &mut safe);
    a.sd(T3, FLOAT_SCRATCH + 8, TP);
    a.ld(T2, FRAME_NAME, T1);
    a.srli(T2, T2, 8);
    a.andi(T2, T2, 15);
    a.addi(T2, T2, -(FrameKind::Floating as i32));
    a.beq(T2, ZERO, &mut present);
    a.addi(T1, T1, -frame);
    // `t4` = this block's entry, as the caller jumped through it.
    a.sd(T4, FRAME_PORTAL, T1);
    let frame_name = FrameName::new(
        name.generation,
        name.domain,
        name.slot,
        FrameKind::Floating,
        frame as u64,
    );
    let literal = a.literal(frame_name.0);
    a.ld(T3, literal, T4);
    a.sd(T3, FRAME_NAME, T1);
    a.ld(T3, DOMAIN, TP);
    a.sd(T3, FRAME_DOMAIN, T1);
    a.sd(ZERO, FRAME_PC, T1);
    a.sd(ZERO, FRAME_SP, T1);
    a.sd(ZERO, FRAME_STACK, T1);
    a.bind(&present);
    a.addi(T3, T1, FRAME_FLOATS);
    a.sd(T3, FLOAT_LIVE, TP);
    a.ld(T2, HART, TP);
    a.ld(T3, OWNER, T2);
    a.bne(T3, TP, &mut elsewhere);
    a.sd(ZERO, OWNER, T2);
    a.lui(T3, FS);
    a.csrs(csr::SSTATUS, T3);
    save(a, T1, FRAME_FLOATS);
    disable(a);
    finish_push(a);
    // Another thread owns the registers: ours are in the thread record.
    a.bind(&elsewhere);
    for word in 0..33 {
        a.ld(T3, FLOATS + 8 * word, TP);
        a.sd(T3, FRAME_FLOATS + 8 * word, T1);
    }
    finish_push(a);
    a.bind(&safe);
    a.jr(T3);

    // The invoker itself returns with the frame still there: drop it and go on with the next one. Registers that are
    // only there go to the record first: with `m` they are those of the context that goes on.
    let mut stale = Label::new();
    a.mark_return();
    a.ld(T2, FLOAT_LIVE, TP);
    a.addi(T3, T1, FRAME_FLOATS);
    a.bne(T2, T3, &mut stale);
    for word in 0..33 {
        a.ld(T3, FRAME_FLOATS + 8 * word, T1);
        a.sd(T3, FLOATS + 8 * word, TP);
    }
    a.addi(T3, TP, FLOATS);
    a.sd(T3, FLOAT_LIVE, TP);
    a.bind(&stale);
    a.addi(T1, T1, frame);
    a.sd(T1, INVOCATION, TP);
    a.ld(T0, FRAME_PORTAL, T1);
    a.ld(T2, asm::RETURN_LITERAL, T0);
    a.jr(T2);
}

fn finish_push(a: &mut Assembler<'_>) {
    a.sd(T1, INVOCATION, TP);
    a.ld(T3, FLOAT_SCRATCH + 8, TP);
    a.jr(T3);
}

/// Illegal instruction. With floating point on it is what it says; otherwise it may be the first use of a
/// floating-point register, so give the thread the registers and let it try again.
pub(super) fn illegal(a: &mut Assembler<'_>, system: &System) {
    let mut really = Label::new();
    let mut misuse = Label::new();
    let mut nobody = Label::new();
    let mut live = Label::new();
    a.csrr(T1, csr::SCAUSE);
    a.addi(T1, T1, -2);
    a.bne(T1, ZERO, &mut misuse);
    a.csrr(T1, csr::SSTATUS);
    a.srli(T1, T1, 13);
    a.andi(T1, T1, 3);
    a.bne(T1, ZERO, &mut really);
    a.sd(T2, FLOAT_SCRATCH, TP);
    a.sd(T3, FLOAT_SCRATCH + 8, TP);
    a.lui(T1, FS);
    a.csrs(csr::SSTATUS, T1);
    a.ld(T2, HART, TP);
    a.ld(T1, OWNER, T2);
    a.beq(T1, ZERO, &mut nobody);
    // If the owner is this thread, its registers are written, and read back below: rare, and right.
    save(a, T1, FLOATS);
    a.bind(&nobody);
    a.sd(TP, OWNER, T2);
    a.ld(T1, FLOAT_LIVE, TP);
    a.addi(T3, TP, FLOATS);
    a.sd(T3, FLOAT_LIVE, TP);
    a.bne(T1, ZERO, &mut live);
    for f in 0..32 {
        a.clear_float(f);
    }
    a.csrw(csr::FCSR, ZERO);
    retry(a);
    // They are where `fp_live` said: in this thread's record, or in a frame.
    a.bind(&live);
    load(a, T1);
    retry(a);
    a.bind(&really);
    a.load_literal(T0, system.fault);
    a.jr(T0);
    a.bind(&misuse);
    answer(a, pebble_abi::errno::Errno::NoSys.negated() as i32);
}

fn retry(a: &mut Assembler<'_>) {
    a.ld(T2, FLOAT_SCRATCH, TP);
    a.ld(T3, FLOAT_SCRATCH + 8, TP);
    a.ld(T0, SCRATCH, TP);
    a.ld(T1, SCRATCH + 8, TP);
    leave(a);
}
