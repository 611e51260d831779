//! The return of an ordinary portal: the invoker gets back what the frame holds, and the callee keeps nothing.

use pebble_abi::object::{
    Domain, Frame, Hart, Stack as StackRecord, Thread, FRAME_HEADER, PARTIAL_FRAME,
    PARTIAL_REGISTERS,
};
use pebble_portal_spec::{Specification, Stack, State as Kept};

use super::*;

/// Checks a path of a return that leaves.
pub(super) fn leave(mut exit: Exit<'_, '_>, specification: &Specification) -> Result<(), Reason> {
    let new = specification.stack == Stack::New;
    let partial = specification.state == Kept::Partial;
    let bytes = frame_bytes(&exit.machine.policy.kind);
    let header = FRAME_HEADER as i32;
    if partial {
        drop_live(&mut exit)?;
    }
    gift::taken(&mut exit, specification)?;
    window::closed(&mut exit, specification.window_pages())?;

    // The stack goes back to the queue of the domain that the thread is in: the callee.
    let callee = exit.load(THREAD, field!(Thread.domain));
    let mut wakes = false;
    if new {
        let stack = exit.load(THREAD, field!(Thread.stack));
        let first = exit.load(callee, field!(Domain.stacks));
        exit.memory(
            stack,
            field!(StackRecord.next),
            first,
            "the next stack in the queue",
        )?;
        exit.memory(
            callee,
            field!(Domain.stacks),
            stack,
            "the callee's stack queue",
        )?;
        let previous = exit.load(FRAME, field!(Frame.stack));
        exit.memory(THREAD, field!(Thread.stack), previous, "the thread's stack")?;
        let waiters = exit.load(callee, field!(Domain.stack_waiters));
        wakes = exit.machine.is_not_zero(waiters);
        exit.zero(waiters, !wakes, "threads that wait for a stack")?;
    }

    let invoker = exit.load(FRAME, field!(Frame.domain));
    exit.enter_domain(invoker)?;
    let (pc, sp) = (
        exit.load(FRAME, field!(Frame.pc)),
        exit.load(FRAME, field!(Frame.sp)),
    );
    exit.set(register::RA, pc);
    exit.set(register::SP, sp);
    if partial {
        for (index, number) in PARTIAL_REGISTERS.into_iter().enumerate().skip(1) {
            let value = exit.load(FRAME, header + 8 * index as i32);
            exit.set(number, value);
        }
    }
    exit.invocation(bytes)?;
    let tp = match new || partial {
        true => exit.load(FRAME, header),
        false => exit.csr(csr::SSCRATCH),
    };
    if wakes {
        // Complete in its own domain, the thread enters the scheduler from there.
        exit.sscratch = tp;
        exit.jump_to(exit.machine.policy.system.stack_free)?;
        let top = exit.machine.terms.add_number(FRAME, bytes as i64);
        exit.set(register::T1, top);
        exit.set(register::T5, callee);
        return exit.finish();
    }
    exit.to_user()?;
    exit.set(register::TP, tp);
    exit.sepc = pc;
    if partial {
        exit.clear_for_invoker();
    }
    exit.finish()
}

/// Floating-point registers that the callee used are nobody's; the invoker's are where the frame says.
fn drop_live(exit: &mut Exit<'_, '_>) -> Result<(), Reason> {
    let live = exit.load(THREAD, field!(Thread.fp_live));
    let saved = exit.load(FRAME, PARTIAL_FRAME as i32);
    exit.memory(
        THREAD,
        field!(Thread.fp_live),
        saved,
        "live floating-point registers",
    )?;
    if exit.state.settled {
        exit.unit = FloatUnit::Settled;
        Ok(())
    } else if exit.machine.is_not_zero(live) {
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
        }
        exit.unit = FloatUnit::Off;
        Ok(())
    } else {
        exit.zero(live, true, "live floating-point registers")
    }
}
