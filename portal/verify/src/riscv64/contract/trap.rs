//! Interrupts and exceptions: everything of the interrupted program is kept, and comes back.

use pebble_abi::errno::Errno;
use pebble_abi::layout::{GATE, GATE_RETURN};
use pebble_abi::object::{
    full_offset, Domain, Frame, Hart, Stack, Thread, FULL_FRAME, FULL_REGISTERS,
};

use super::*;

const BYTES: i32 = FULL_FRAME as i32;
const SCRATCH: i32 = field!(Thread.scratch);
/// `scause` of an environment call.
const ENVIRONMENT_CALL: i64 = 8;

/// A full frame was pushed; with `portal` in place of this block when that is given. At a call (`call`) the
/// temporaries are dead, and hold words of portal code that the program must not get: zeros are saved.
fn pushed(exit: &mut Exit<'_, '_>, portal: Option<u64>, call: bool) -> Result<(), Reason> {
    let top = exit.top;
    let portal = portal.map_or(BLOCK, |portal| exit.number(portal));
    let name = exit.wished(Parameter::Name);
    let header = [
        (field!(Frame.portal), portal, "the frame's portal"),
        (field!(Frame.name), name, "the frame's name"),
        (
            field!(Frame.domain),
            exit.load(THREAD, field!(Thread.domain)),
            "the frame's domain",
        ),
        (
            field!(Frame.pc),
            exit.csr(csr::SEPC),
            "the frame's program counter",
        ),
        (
            field!(Frame.sp),
            exit.input(register::SP),
            "the frame's stack pointer",
        ),
        (
            field!(Frame.stack),
            exit.load(THREAD, field!(Thread.stack)),
            "the frame's stack",
        ),
    ];
    for (offset, value, what) in header {
        exit.memory(top, -BYTES + offset, value, what)?;
    }
    for number in FULL_REGISTERS {
        let value = match number {
            register::T0 | register::T1 | register::T2 | 28.. if call => ZERO,
            register::TP => exit.csr(csr::SSCRATCH),
            register::T0 => exit.load(THREAD, SCRATCH),
            register::T1 => exit.load(THREAD, SCRATCH + 8),
            _ => exit.input(number),
        };
        exit.memory(
            top,
            -BYTES + full_offset(number) as i32,
            value,
            "a register saved in the frame",
        )?;
    }
    exit.invocation(-BYTES)
}

/// Everything is as the frame says.
pub(super) fn restore(mut exit: Exit<'_, '_>) -> Result<(), Reason> {
    let pc = exit.load(FRAME, field!(Frame.pc));
    let result = exit.load(FRAME, full_offset(register::A0) as i32);
    if matches!(exit.machine.policy.kind, Kind::Interrupt) {
        let reservation = exit.machine.policy.system.hart + field!(Hart.reservation) as u64;
        let reservation = exit.number(reservation);
        exit.effect(Event::EndReservation(reservation), 0, Reason::Privilege)?;
    }
    restored(exit, pc, result)
}

fn restored(mut exit: Exit<'_, '_>, pc: Term, result: Term) -> Result<(), Reason> {
    exit.to_user()?;
    let domain = exit.load(FRAME, field!(Frame.domain));
    exit.enter_domain(domain)?;
    let stack = exit.load(FRAME, field!(Frame.stack));
    exit.memory(THREAD, field!(Thread.stack), stack, "the thread's stack")?;
    exit.invocation(BYTES)?;
    exit.sepc = pc;
    let sp = exit.load(FRAME, field!(Frame.sp));
    exit.set(register::SP, sp);
    for number in FULL_REGISTERS {
        let value = exit.load(FRAME, full_offset(number) as i32);
        exit.set(number, value);
    }
    exit.set(register::A0, result);
    exit.finish()
}

/// An interrupt, to the dispatcher on the interrupt stack.
pub(super) fn interrupt(mut exit: Exit<'_, '_>) -> Result<(), Reason> {
    let cause = exit.csr(csr::SCAUSE);
    if exit.machine.holds(Test::Less, cause, ZERO, false) {
        return exit.answer(Errno::NoSys);
    }
    exit.fact(Test::Less, cause, ZERO, true, "the cause is an interrupt")?;
    exit.to_user()?;
    pushed(&mut exit, None, false)?;
    exit.thread_becomes_parked()?;
    let dispatcher = exit.machine.policy.system.dispatcher;
    let domain = exit.number(dispatcher.domain);
    exit.enter_domain(domain)?;
    exit.sie = ZERO;
    exit.sepc = exit.number(dispatcher.entry);
    exit.set_number(register::SP, dispatcher.stack);
    let number = exit.machine.terms.left(cause, 1);
    let number = exit.machine.terms.right(number, 1);
    exit.set(register::A0, number);
    exit.finish()
}

/// An exception (`exception`), or the absent page of a window: to the VM server.
pub(super) fn fault(mut exit: Exit<'_, '_>, exception: bool) -> Result<(), Reason> {
    let cause = exit.csr(csr::SCAUSE);
    let difference = exit.machine.terms.add_number(cause, -ENVIRONMENT_CALL);
    if exit.machine.holds(Test::Equal, difference, ZERO, exception) {
        return exit.answer(Errno::NoSys);
    }
    exit.zero(difference, !exception, "the cause")?;
    exit.to_user()?;
    let vm = exit.machine.policy.system.vm;
    let domain = exit.number(vm.domain);
    let stack = exit.load(domain, field!(Domain.stacks));
    if exit.machine.is_zero(stack) {
        // Until a stack is free the frame is that of a thread which holds none of the VM server.
        let wait = exit.machine.policy.system.stack_wait;
        pushed(&mut exit, Some(wait), !exception)?;
        return wait_for_stack(exit, domain);
    }
    exit.zero(stack, false, "the VM server has a free stack")?;
    pushed(&mut exit, None, !exception)?;
    let next = exit.load(stack, field!(Stack.next));
    exit.memory(
        domain,
        field!(Domain.stacks),
        next,
        "the VM server's stack queue",
    )?;
    exit.memory(THREAD, field!(Thread.stack), stack, "the thread's stack")?;
    let invoker = exit.load(THREAD, field!(Thread.domain));
    let values = [
        (register::SP, exit.load(stack, field!(Stack.top))),
        (register::TP, exit.load(stack, field!(Stack.tp))),
        (register::A0, exit.load(THREAD, field!(Thread.number))),
        (register::A1, exit.load(invoker, field!(Domain.asid))),
        (register::A2, cause),
        (register::A3, exit.csr(csr::STVAL)),
        (register::A4, exit.csr(csr::SEPC)),
    ];
    for (number, value) in values {
        exit.set(number, value);
    }
    exit.set_number(register::RA, GATE + GATE_RETURN);
    exit.enter_domain(domain)?;
    exit.sepc = exit.number(vm.entry);
    exit.finish()
}

/// The VM server has answered.
pub(super) fn fault_back(mut exit: Exit<'_, '_>, window: bool) -> Result<(), Reason> {
    let stack = exit.load(THREAD, field!(Thread.stack));
    let domain = exit.load(THREAD, field!(Thread.domain));
    let answer = exit.input(register::A0);
    let mut pc = exit.load(FRAME, field!(Frame.pc));
    let mut result = exit.load(FRAME, full_offset(register::A0) as i32);
    // The answer of a window's call: zero says that the call is made again.
    if window {
        let failed = exit.machine.is_not_zero(answer);
        exit.zero(answer, !failed, "the VM server's answer")?;
        if failed {
            pc = exit.load(FRAME, full_offset(register::RA) as i32);
            result = answer;
            exit.memory(FRAME, field!(Frame.pc), pc, "the frame's program counter")?;
            exit.memory(
                FRAME,
                full_offset(register::A0) as i32,
                result,
                "the call's result",
            )?;
        }
    }
    let first = exit.load(domain, field!(Domain.stacks));
    exit.memory(
        stack,
        field!(Stack.next),
        first,
        "the next stack in the queue",
    )?;
    exit.memory(
        domain,
        field!(Domain.stacks),
        stack,
        "the VM server's stack queue",
    )?;
    let waiters = exit.load(domain, field!(Domain.stack_waiters));
    if exit.machine.is_zero(waiters) {
        return restored(exit, pc, result);
    }
    exit.zero(waiters, false, "threads that wait for a stack")?;
    let fewer = exit.machine.terms.add_number(waiters, -1);
    exit.memory(
        domain,
        field!(Domain.stack_waiters),
        fewer,
        "threads that wait for a stack",
    )?;
    let wait = exit.number(exit.machine.policy.system.stack_wait);
    exit.memory(FRAME, field!(Frame.portal), wait, "the frame's portal")?;
    let previous = exit.load(FRAME, field!(Frame.stack));
    exit.memory(THREAD, field!(Thread.stack), previous, "the thread's stack")?;
    exit.thread_becomes_parked()?;
    let asid = exit.load(domain, field!(Domain.asid));
    exit.set(register::A1, asid);
    let entry = exit.machine.policy.system.scheduler.stack_free;
    scheduler::in_scheduler(&mut exit, entry)?;
    exit.finish()
}

/// A call found no free stack in domain `t6`: the thread is parked and repeats its call.
pub(super) fn stack_wait(mut exit: Exit<'_, '_>) -> Result<(), Reason> {
    let domain = exit.input(register::T6);
    pushed(&mut exit, None, true)?;
    wait_for_stack(exit, domain)
}

fn wait_for_stack(mut exit: Exit<'_, '_>, domain: Term) -> Result<(), Reason> {
    let waiters = exit.load(domain, field!(Domain.stack_waiters));
    let more = exit.machine.terms.add_number(waiters, 1);
    exit.memory(
        domain,
        field!(Domain.stack_waiters),
        more,
        "threads that wait for a stack",
    )?;
    exit.thread_becomes_parked()?;
    let asid = exit.load(domain, field!(Domain.asid));
    exit.set(register::A1, asid);
    let entry = exit.machine.policy.system.scheduler.stack_wait;
    scheduler::in_scheduler(&mut exit, entry)?;
    exit.finish()
}
