//! Interrupts and exceptions: portals that save everything (`f`), because the program did not ask for them.

use super::asm::{csr, registers::*, Assembler, Label};
use super::*;
use pebble_abi::errno::Errno;
use pebble_abi::layout;
use pebble_abi::object::{self, full_offset, FrameKind, FrameName, FULL_FRAME};

use crate::{Name, System};

const SCRATCH: i32 = offset_of!(Thread, scratch) as i32;
const STACK_NEXT: i32 = offset_of!(object::Stack, next) as i32;
const STACK_TOP: i32 = offset_of!(object::Stack, top) as i32;
const STACK_TP: i32 = offset_of!(object::Stack, tp) as i32;

fn offset(register: Register) -> i32 {
    full_offset(register.0 as u8) as i32
}

/// What stopped the program.
#[derive(Clone, Copy, PartialEq)]
enum Cause {
    /// Something that it did not ask for: every register is its own.
    Trap,
    /// A portal call that is to be repeated: the temporaries are dead, and hold words of portal code by now.
    Call,
}

/// Pushes a full frame; `t1` becomes the frame. There is always room: every other portal leaves
/// `INVOCATION_RESERVE`. Uses `t2` once it is saved.
fn push_full(a: &mut Assembler<'_>, name: Name, cause: Cause) {
    a.ld(T1, INVOCATION, TP);
    a.addi(T1, T1, -(FULL_FRAME as i32));
    for register in object::FULL_REGISTERS.map(|r| Register(r as u32)) {
        let dead = cause == Cause::Call && [T0, T1, T2, T3, T4, T5, T6].contains(&register);
        if dead {
            a.sd(ZERO, offset(register), T1);
        } else if ![TP, T0, T1].contains(&register) {
            a.sd(register, offset(register), T1);
        }
    }
    if cause == Cause::Trap {
        a.ld(T2, SCRATCH, TP);
        a.sd(T2, offset(T0), T1);
        a.ld(T2, SCRATCH + 8, TP);
        a.sd(T2, offset(T1), T1);
    }
    a.csrr(T2, csr::SSCRATCH);
    a.sd(T2, offset(TP), T1);
    a.sd(SP, FRAME_SP, T1);
    a.csrr(T2, csr::SEPC);
    a.sd(T2, FRAME_PC, T1);
    a.ld(T2, STACK, TP);
    a.sd(T2, FRAME_STACK, T1);
    let frame_name = FrameName::new(
        name.generation,
        name.domain,
        name.slot,
        FrameKind::Full,
        FULL_FRAME,
    );
    a.load_literal(T2, frame_name.0);
    a.sd(T0, FRAME_PORTAL, T1);
    a.sd(T2, FRAME_NAME, T1);
    a.ld(T2, DOMAIN, TP);
    a.sd(T2, FRAME_DOMAIN, T1);
    a.sd(T1, INVOCATION, TP);
}

/// Return code of a full frame: everything as it was, at `pc`.
fn restore_full(a: &mut Assembler<'_>, system: &System) {
    a.ld(T6, FRAME_DOMAIN, T1);
    enter_domain(a, T6, system);
    a.ld(T2, FRAME_STACK, T1);
    a.sd(T2, STACK, TP);
    a.ld(T2, FRAME_PC, T1);
    a.csrw(csr::SEPC, T2);
    a.ld(T2, offset(TP), T1);
    a.csrw(csr::SSCRATCH, T2);
    a.addi(T2, T1, FULL_FRAME as i32);
    a.sd(T2, INVOCATION, TP);
    a.ld(SP, FRAME_SP, T1);
    for register in object::FULL_REGISTERS.map(|r| Register(r as u32)) {
        if ![TP, T1].contains(&register) {
            a.ld(register, offset(register), T1);
        }
    }
    a.ld(T1, offset(T1), T1);
    leave(a);
}

/// Any interrupt: park the thread, call the dispatcher on the interrupt stack with the cause in `a0`.
pub(super) fn interrupt(a: &mut Assembler<'_>, name: Name, system: &System) {
    let mut misuse = Label::new();
    a.csrr(T1, csr::SCAUSE);
    a.bge(T1, ZERO, &mut misuse);
    push_full(a, name, Cause::Trap);
    a.sd(ZERO, STATE, TP);
    a.load_literal(T6, system.dispatcher.domain);
    enter_domain(a, T6, system);
    a.csrw(csr::SIE, ZERO);
    a.load_literal(SP, system.dispatcher.stack);
    a.load_literal(T3, system.dispatcher.entry);
    a.csrw(csr::SEPC, T3);
    a.csrr(A0, csr::SCAUSE);
    a.slli(A0, A0, 1);
    a.srli(A0, A0, 1);
    leave(a);
    a.bind(&misuse);
    answer(a, Errno::NoSys.negated() as i32);
    a.mark_return();
    // Another thread may have run: a store-conditional that the interrupt came before must fail.
    a.load_literal(
        T4,
        system.hart + offset_of!(object::Hart, reservation) as u64,
    );
    a.end_reservation(T4);
    restore_full(a, system);
}

/// An exception: call the VM server, on one of its stacks, with interrupts on.
pub(super) fn fault(a: &mut Assembler<'_>, name: Name, system: &System) {
    let mut misuse = Label::new();
    // An environment call that names this slot has cause 8.
    a.csrr(T1, csr::SCAUSE);
    a.addi(T1, T1, -8);
    a.beq(T1, ZERO, &mut misuse);
    push_full(a, name, Cause::Trap);
    call_vm(a, system);
    a.bind(&misuse);
    answer(a, Errno::NoSys.negated() as i32);
    a.mark_return();
    leave_vm(a, system);
    restore_full(a, system);
}

/// Portal code found a window's page absent. If the VM server cannot make it present, its answer becomes the
/// call's answer; otherwise the call is made again.
pub(super) fn window_fault(a: &mut Assembler<'_>, name: Name, system: &System) {
    let mut misuse = Label::new();
    a.csrr(T1, csr::SCAUSE);
    a.addi(T1, T1, -8);
    a.bne(T1, ZERO, &mut misuse);
    push_full(a, name, Cause::Call);
    call_vm(a, system);
    a.bind(&misuse);
    answer(a, Errno::NoSys.negated() as i32);
    a.mark_return();
    let mut again = Label::new();
    a.beq(A0, ZERO, &mut again);
    a.sd(A0, offset(A0), T1);
    a.ld(T2, offset(RA), T1);
    a.sd(T2, FRAME_PC, T1);
    a.bind(&again);
    leave_vm(a, system);
    restore_full(a, system);
}

/// Enters the VM server's fault entry: `a0` = thread, `a1` = domain, `a2` = cause, `a3` = address, `a4` = pc.
fn call_vm(a: &mut Assembler<'_>, system: &System) {
    let mut no_stack = Label::new();
    a.load_literal(T6, system.vm.domain);
    a.ld(T5, DOMAIN_STACKS, T6);
    a.beq(T5, ZERO, &mut no_stack);
    a.ld(T2, STACK_NEXT, T5);
    a.sd(T2, DOMAIN_STACKS, T6);
    a.sd(T5, STACK, TP);
    a.ld(SP, STACK_TOP, T5);
    a.ld(T2, STACK_TP, T5);
    a.csrw(csr::SSCRATCH, T2);
    a.ld(A0, NUMBER, TP);
    a.ld(T2, DOMAIN, TP);
    a.ld(A1, DOMAIN_ASID, T2);
    a.csrr(A2, csr::SCAUSE);
    a.csrr(A3, csr::STVAL);
    a.csrr(A4, csr::SEPC);
    enter_domain(a, T6, system);
    a.load_literal(T3, system.vm.entry);
    a.csrw(csr::SEPC, T3);
    a.lui(RA, (layout::GATE + layout::GATE_RETURN) as u32);
    leave(a);
    // The frame is there already: the thread waits for a stack and then repeats what it did. Until then the frame
    // is that of a thread which holds no stack of the VM server.
    a.bind(&no_stack);
    a.load_literal(T2, system.stack_wait);
    a.sd(T2, FRAME_PORTAL, T1);
    wait_for_stack(a, system);
}

/// Gives the VM server's stack back. If threads wait for one, this thread enters the scheduler from its full
/// frame to wake the first, and goes on from that frame later.
fn leave_vm(a: &mut Assembler<'_>, system: &System) {
    let mut nobody = Label::new();
    a.ld(T5, STACK, TP);
    a.ld(T6, DOMAIN, TP);
    a.ld(T3, DOMAIN_STACKS, T6);
    a.sd(T3, STACK_NEXT, T5);
    a.sd(T5, DOMAIN_STACKS, T6);
    a.ld(T3, DOMAIN_WAITERS, T6);
    a.beq(T3, ZERO, &mut nobody);
    a.addi(T3, T3, -1);
    a.sd(T3, DOMAIN_WAITERS, T6);
    a.load_literal(T2, system.stack_wait);
    a.sd(T2, FRAME_PORTAL, T1);
    a.ld(T2, FRAME_STACK, T1);
    a.sd(T2, STACK, TP);
    a.li(T3, object::PARKED as i32);
    a.sd(T3, STATE, TP);
    a.ld(A1, DOMAIN_ASID, T6);
    scheduler::enter_scheduler(a, system.scheduler.stack_free, system);
    a.bind(&nobody);
}

/// Parks the thread, whose full frame is pushed, until domain `t6` has a stack.
fn wait_for_stack(a: &mut Assembler<'_>, system: &System) {
    a.ld(T3, DOMAIN_WAITERS, T6);
    a.addi(T3, T3, 1);
    a.sd(T3, DOMAIN_WAITERS, T6);
    a.li(T3, object::PARKED as i32);
    a.sd(T3, STATE, TP);
    a.ld(A1, DOMAIN_ASID, T6);
    scheduler::enter_scheduler(a, system.scheduler.stack_wait, system);
}

/// Shared block: a call found no stack in the queue of domain `t6`. The thread repeats its call when one is free.
pub(super) fn stack_wait(a: &mut Assembler<'_>, name: Name, system: &System) {
    push_full(a, name, Cause::Call);
    wait_for_stack(a, system);
    a.mark_return();
    restore_full(a, system);
}
