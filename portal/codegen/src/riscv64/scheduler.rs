//! Portals into and out of the scheduler, the only place where a thread blocks.
//!
//! A thread that enters has everything about it on its invocation stack and is parked (design invariant I4). The
//! scheduler runs on its own stack with interrupts off, decides, and leaves through [`switch`], which resumes
//! the chosen thread as if it returned from its own portal.

use super::asm::{csr, registers::*, Assembler, Label};
use super::*;
use pebble_abi::errno::Errno;
use pebble_abi::object::{self, FrameKind, FrameName};
use pebble_abi::{layout, semaphore};

use crate::{Name, System};

const _: () = assert!(semaphore::LATER_WHICH == semaphore::LATER + 1);

/// The register that holds [`object::PARKED`].
const PARKED: Register = ZERO;
const _: () = assert!(object::PARKED == 0 && layout::MAX_THREADS == 256);

const HEADER: i32 = object::FRAME_HEADER as i32;

/// Pushes a scheduler frame and marks the thread parked. Uses `t1` to `t3`.
fn park(a: &mut Assembler<'_>, name: Name) {
    let frame = object::PARTIAL_FRAME as i32;
    let frame_name = FrameName::new(
        name.generation,
        name.domain,
        name.slot,
        FrameKind::Scheduler,
        frame as u64,
    );
    a.addi(T1, T1, -frame);
    a.load_literal(T3, frame_name.0);
    a.ld(T2, DOMAIN, TP);
    a.sd(T0, FRAME_PORTAL, T1);
    a.sd(T3, FRAME_NAME, T1);
    a.sd(T2, FRAME_DOMAIN, T1);
    a.sd(RA, FRAME_PC, T1);
    a.sd(SP, FRAME_SP, T1);
    a.csrr(T3, csr::SSCRATCH);
    a.sd(T3, HEADER, T1);
    for (index, register) in object::PARTIAL_REGISTERS.iter().enumerate().skip(1) {
        a.sd(Register(*register as u32), HEADER + 8 * index as i32, T1);
    }
    a.sd(T1, INVOCATION, TP);
    a.sd(PARKED, STATE, TP);
}

/// Jumps to `entry` in the scheduler with the thread's number in `a0`.
pub(super) fn enter_scheduler(a: &mut Assembler<'_>, entry: u64, system: &System) {
    a.load_literal(T6, system.scheduler.domain);
    enter_domain(a, T6, system);
    // Interrupts stay off at user level: `sstatus.SIE` has no effect there, `sie` does.
    a.csrw(csr::SIE, ZERO);
    a.load_literal(SP, system.scheduler.stack);
    a.load_literal(T3, entry);
    a.csrw(csr::SEPC, T3);
    a.load_literal(RA, layout::GATE + layout::GATE_SWITCH);
    a.lw(A0, NUMBER, TP);
    leave(a);
}

/// Return code of a parked thread: entered from [`switch`] with `t1` = frame, `a0` = the call's result.
fn resume(a: &mut Assembler<'_>, system: &System) {
    a.mark_return();
    a.ld(T6, FRAME_DOMAIN, T1);
    enter_domain(a, T6, system);
    a.ld(RA, FRAME_PC, T1);
    a.ld(SP, FRAME_SP, T1);
    for (index, register) in object::PARTIAL_REGISTERS.iter().enumerate().skip(1) {
        a.ld(Register(*register as u32), HEADER + 8 * index as i32, T1);
    }
    a.addi(T1, T1, object::PARTIAL_FRAME as i32);
    a.sd(T1, INVOCATION, TP);
    a.csrw(csr::SEPC, RA);
    a.csrw(csr::SSCRATCH, TP);
    a.ld(TP, HEADER - object::PARTIAL_FRAME as i32, T1);
    // The thread that left last, and the scheduler, had numbers of their own in the other registers.
    clear_for_invoker(a);
    a.sret();
}

/// An entry of the scheduler. It needs no look at the depth of the invocation stack: its frame is shorter than an
/// interrupt's, for which there always is room, and gone before the program goes on.
pub(super) fn entry(a: &mut Assembler<'_>, entry: u64, name: Name, system: &System) {
    a.ld(T1, INVOCATION, TP);
    park(a, name);
    enter_scheduler(a, entry, system);
    resume(a, system);
}

const _: () = assert!(object::PARTIAL_FRAME <= object::FULL_FRAME);

/// P: the paper planned it as a hybrid portal; inline while the counter is positive.
pub(super) fn wait(a: &mut Assembler<'_>, index: u64, name: Name, system: &System) {
    let mut blocks = Label::new();
    a.load_literal(T3, system.semaphores + 4 * index);
    a.lw(T2, 0, T3);
    a.addiw(T2, T2, -1);
    a.blt(T2, ZERO, &mut blocks);
    a.sw(T2, 0, T3);
    a.li(A0, 0);
    a.csrw(csr::SEPC, RA);
    leave(a);
    a.bind(&blocks);
    blocking(a, index, system.scheduler.p, name, system);
}

/// V: inline while nobody waits, and left for the scheduler's next entry while the one who waits would not run before
/// that anyway. A counter that would overflow goes to the scheduler, which refuses.
pub(super) fn post(a: &mut Assembler<'_>, index: u64, name: Name, system: &System) {
    let mut wakes = Label::new();
    a.load_literal(T3, system.semaphores + 4 * index);
    a.lw(T2, 0, T3);
    a.addiw(T2, T2, 1);
    a.bge(ZERO, T2, &mut wakes);
    a.sw(T2, 0, T3);
    a.li(A0, 0);
    a.csrw(csr::SEPC, RA);
    leave(a);
    a.bind(&wakes);
    let mut now = Label::new();
    a.load_literal(T3, system.semaphores + 4 * semaphore::LATER as u64);
    a.lw(T4, 0, T3);
    a.blt(T2, T4, &mut now);
    a.sw(ZERO, 0, T3);
    a.li(T4, index as i32);
    a.sw(T4, 4, T3);
    a.li(A0, 0);
    a.csrw(csr::SEPC, RA);
    leave(a);
    a.bind(&now);
    blocking(a, index, system.scheduler.v, name, system);
}

fn blocking(a: &mut Assembler<'_>, index: u64, entry: u64, name: Name, system: &System) {
    a.ld(T1, INVOCATION, TP);
    park(a, name);
    a.li(A1, index as i32);
    enter_scheduler(a, entry, system);
    resume(a, system);
}

/// A call has returned its stack and threads wait for one (`t5` = that domain): the returning thread is complete in
/// its own domain again, its result in `a0`; it enters the scheduler from there, which keeps the result.
pub(super) fn stack_free(a: &mut Assembler<'_>, name: Name, system: &System) {
    a.ld(T3, DOMAIN_WAITERS, T5);
    a.addi(T3, T3, -1);
    a.sd(T3, DOMAIN_WAITERS, T5);
    park(a, name);
    a.mv(A2, A0);
    a.ld(A1, DOMAIN_ASID, T5);
    enter_scheduler(a, system.scheduler.stack_free, system);
    resume(a, system);
}

/// Tail call of the interrupt dispatcher: the interrupted thread is parked already.
pub(super) fn tail(a: &mut Assembler<'_>, entry: u64, system: &System) {
    enter_scheduler(a, entry, system);
}

/// Resumes the parked thread `a1` (its low byte), whose call gets the result `a0`. Any number is safe: a thread that is
/// not there or not parked is refused (docs/soundness).
pub(super) fn switch(a: &mut Assembler<'_>, system: &System) {
    let mut refused = Label::new();
    a.andi(T4, A1, layout::MAX_THREADS as i32 - 1);
    a.load_literal(T3, system.threads);
    a.slli(T4, T4, 3);
    a.add(T3, T3, T4);
    a.ld(T3, 0, T3);
    a.beq(T3, ZERO, &mut refused);
    a.ld(T4, STATE, T3);
    a.bne(T4, PARKED, &mut refused);
    a.mv(TP, T3);
    a.sd(TP, STATE, TP);
    float::disable(a);
    a.li(T3, INTERRUPTS);
    a.csrw(csr::SIE, T3);
    a.ld(T1, INVOCATION, TP);
    a.ld(T0, FRAME_PORTAL, T1);
    a.ld(T2, asm::RETURN_LITERAL, T0);
    a.jr(T2);
    a.bind(&refused);
    a.li(A0, Errno::NoSuchProcess.negated() as i32);
    a.csrw(csr::SEPC, RA);
    leave(a);
}
