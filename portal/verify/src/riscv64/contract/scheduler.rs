//! Into the scheduler and out of it.

use pebble_abi::errno::Errno;
use pebble_abi::layout::{GATE, GATE_SWITCH, MAX_THREADS};
use pebble_abi::object::{
    self, Domain, Frame, Thread, FRAME_HEADER, PARTIAL_FRAME, PARTIAL_REGISTERS,
};

use pebble_abi::semaphore::LATER;

use super::*;
use crate::decode::Width;
use crate::state::INTERRUPTS;
use crate::term::Node;

const HEADER: i32 = FRAME_HEADER as i32;

/// An entry by a running thread, with `argument` in `a1` or what the program has there.
pub(super) fn enter(
    mut exit: Exit<'_, '_>,
    entry: u64,
    argument: Option<Parameter>,
) -> Result<(), Reason> {
    park(&mut exit)?;
    if let Some(argument) = argument {
        let argument = exit.wished(argument);
        exit.set(register::A1, argument);
    }
    in_scheduler(&mut exit, entry)?;
    exit.finish()
}

/// P or V: inline, or as an entry.
pub(super) fn semaphore(mut exit: Exit<'_, '_>, post: bool) -> Result<(), Reason> {
    let counter = exit.wished(Parameter::Counter);
    let terms = &mut exit.machine.terms;
    let value = terms.term(Node::Load {
        base: counter,
        offset: 0,
        width: Width::Word,
    });
    let next = terms.add_word(value, if post { 1 } else { -1 });
    // P may go on while the result is not negative, V while it is positive.
    let (left, right, inline) = if post {
        (ZERO, next, true)
    } else {
        (next, ZERO, false)
    };
    if exit.machine.holds(Test::Less, left, right, inline) {
        exit.to_user()?;
        exit.memory(counter, 0, next, "the semaphore's counter")?;
        exit.set(register::A0, ZERO);
        exit.sepc = exit.input(register::RA);
        return exit.finish();
    }
    exit.fact(Test::Less, left, right, !inline, "the semaphore's counter")?;
    if post {
        let later = exit.machine.policy.system.semaphores + 4 * LATER as u64;
        let later = exit.number(later);
        let allowed = exit.machine.terms.term(Node::Load {
            base: later,
            offset: 0,
            width: Width::Word,
        });
        if exit.machine.holds(Test::Less, next, allowed, false) {
            exit.to_user()?;
            let which = exit.machine.terms.add_number(later, 4);
            let index = exit.wished(Parameter::Index);
            exit.memory(later, 0, ZERO, "the word that says which V may be left")?;
            exit.memory(which, 0, index, "the semaphore of the V that is left")?;
            exit.set(register::A0, ZERO);
            exit.sepc = exit.input(register::RA);
            return exit.finish();
        }
        let what = "whether the V may be left";
        exit.fact(Test::Less, next, allowed, true, what)?;
    }
    let scheduler = exit.machine.policy.system.scheduler;
    enter(
        exit,
        if post { scheduler.v } else { scheduler.p },
        Some(Parameter::Index),
    )
}

/// A stack came back while threads wait for one of domain `t5`.
pub(super) fn stack_free(mut exit: Exit<'_, '_>) -> Result<(), Reason> {
    let domain = exit.input(register::T5);
    let waiters = exit.load(domain, field!(Domain.stack_waiters));
    let fewer = exit.machine.terms.add_number(waiters, -1);
    exit.memory(
        domain,
        field!(Domain.stack_waiters),
        fewer,
        "threads that wait for a stack",
    )?;
    park(&mut exit)?;
    let result = exit.input(register::A0);
    exit.set(register::A2, result);
    let asid = exit.load(domain, field!(Domain.asid));
    exit.set(register::A1, asid);
    let entry = exit.machine.policy.system.scheduler.stack_free;
    in_scheduler(&mut exit, entry)?;
    exit.finish()
}

/// The interrupt dispatcher continues in the scheduler; the interrupted thread is parked already.
pub(super) fn tail(mut exit: Exit<'_, '_>, entry: u64) -> Result<(), Reason> {
    in_scheduler(&mut exit, entry)?;
    exit.finish()
}

/// Everything about the thread is on its invocation stack, and it is marked parked.
fn park(exit: &mut Exit<'_, '_>) -> Result<(), Reason> {
    let bytes = PARTIAL_FRAME as i32;
    let top = exit.top;
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
    exit.memory(top, -bytes + HEADER, tp, "the frame's thread pointer")?;
    for (index, number) in PARTIAL_REGISTERS.into_iter().enumerate().skip(1) {
        let value = exit.input(number);
        exit.memory(
            top,
            -bytes + HEADER + 8 * index as i32,
            value,
            "a register saved in the frame",
        )?;
    }
    exit.invocation(-bytes)?;
    exit.thread_becomes_parked()
}

/// At user level in the scheduler, with interrupts off.
pub(super) fn in_scheduler(exit: &mut Exit<'_, '_>, entry: u64) -> Result<(), Reason> {
    let scheduler = exit.machine.policy.system.scheduler;
    exit.to_user()?;
    let domain = exit.number(scheduler.domain);
    exit.enter_domain(domain)?;
    exit.sie = ZERO;
    exit.sepc = exit.number(entry);
    exit.set_number(register::SP, scheduler.stack);
    exit.set_number(register::RA, GATE + GATE_SWITCH);
    let number = short::number(exit);
    exit.set(register::A0, number);
    Ok(())
}

/// A thread goes on behind its entry into the scheduler.
pub(super) fn resume(mut exit: Exit<'_, '_>) -> Result<(), Reason> {
    exit.to_user()?;
    let domain = exit.load(FRAME, field!(Frame.domain));
    exit.enter_domain(domain)?;
    let pc = exit.load(FRAME, field!(Frame.pc));
    let sp = exit.load(FRAME, field!(Frame.sp));
    exit.sepc = pc;
    exit.set(register::RA, pc);
    exit.set(register::SP, sp);
    for (index, number) in PARTIAL_REGISTERS.into_iter().enumerate() {
        let value = exit.load(FRAME, HEADER + 8 * index as i32);
        exit.set(number, value);
    }
    exit.invocation(PARTIAL_FRAME as i32)?;
    exit.clear_for_invoker();
    exit.finish()
}

const _: () = assert!(object::PARKED == 0);

/// The switch: the parked thread `a1` goes on with the return code of its top frame, its result is `a0`.
pub(super) fn switch(mut exit: Exit<'_, '_>) -> Result<(), Reason> {
    let number = exit.input(register::A1);
    let terms = &mut exit.machine.terms;
    let index = terms.and(number, MAX_THREADS as i16 - 1);
    let offset = terms.left(index, 3);
    let slot = terms.add_number(offset, exit.machine.policy.system.threads as i64);
    let thread = exit.load(slot, 0);
    let state = exit.load(thread, field!(Thread.state));
    if exit.way == Way::User {
        if !exit.machine.is_zero(thread) && !exit.machine.is_not_zero(state) {
            return Err(Reason::Check("the thread cannot be resumed"));
        }
        return exit.answer(Errno::NoSuchProcess);
    }
    exit.zero(thread, false, "the thread exists")?;
    exit.zero(state, true, "the thread is parked")?;
    exit.memory(thread, field!(Thread.state), thread, "the thread's state")?;
    exit.set(register::TP, thread);
    exit.unit = FloatUnit::Off;
    exit.sie = exit.number(INTERRUPTS);
    let top = exit.load(thread, field!(Thread.invocation));
    exit.continue_frame(top)?;
    exit.finish()
}
