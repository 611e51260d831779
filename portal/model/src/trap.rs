//! Interrupts and exceptions: the program did not ask, so everything of it is kept.

use core::mem::offset_of;
use pebble_abi::errno::Errno;
use pebble_abi::layout::{GATE, GATE_RETURN};
use pebble_abi::object::{
    self, full_offset, Domain, Frame, FrameKind, Thread, FULL_FRAME, FULL_REGISTERS,
};

use crate::machine::register::*;
use crate::machine::{field, Machine};
use crate::{Portal, World};

/// `scause` of an environment call.
const ENVIRONMENT_CALL: u64 = 8;

impl World<'_> {
    /// Everything about the program goes to a full frame. The trampoline has put its `t0` and `t1` into the
    /// thread's record.
    fn push_full(&self, m: &mut Machine, portal: &Portal<'_>) -> u64 {
        let frame = m.push(portal.entry, portal.name, FrameKind::Full, FULL_FRAME);
        m.set(frame + field!(Frame.pc), m.pc);
        m.set(frame + field!(Frame.stack), m.stack());
        for number in FULL_REGISTERS {
            let value = match number as usize {
                T0 => m.get(m.thread + field!(Thread.scratch)),
                T1 => m.get(m.thread + field!(Thread.scratch) + 8),
                number => m.x[number],
            };
            m.set(frame + full_offset(number), value);
        }
        frame
    }

    /// Everything as the full frame on top says.
    pub(crate) fn restore(&self, m: &mut Machine) {
        let frame = m.frame();
        m.enter_domain(m.get(frame + field!(Frame.domain)));
        m.set(
            m.thread + field!(Thread.stack),
            m.get(frame + field!(Frame.stack)),
        );
        m.set(m.thread + field!(Thread.invocation), frame + FULL_FRAME);
        m.pc = m.get(frame + field!(Frame.pc));
        m.x[SP] = m.get(frame + field!(Frame.sp));
        for number in FULL_REGISTERS {
            m.x[number as usize] = m.get(frame + full_offset(number));
        }
        m.temporaries = true;
    }

    pub(crate) fn interrupt(&self, m: &mut Machine, portal: &Portal<'_>) {
        if m.scause >> 63 == 0 {
            return m.fail(Errno::NoSys);
        }
        self.push_full(m, portal);
        m.set(m.thread + field!(Thread.state), object::PARKED);
        m.enter_domain(self.system.dispatcher.domain);
        m.sie = 0;
        m.x[SP] = self.system.dispatcher.stack;
        m.x[A0] = m.scause & (u64::MAX >> 1);
        m.pc = self.system.dispatcher.entry;
    }

    pub(crate) fn fault(&self, m: &mut Machine, portal: &Portal<'_>) {
        if m.scause == ENVIRONMENT_CALL {
            return m.fail(Errno::NoSys);
        }
        self.push_full(m, portal);
        self.call_vm(m);
    }

    pub(crate) fn window_fault(&self, m: &mut Machine, portal: &Portal<'_>) {
        if m.scause != ENVIRONMENT_CALL {
            return m.fail(Errno::NoSys);
        }
        let frame = self.push_full(m, portal);
        self.clear_temporaries(m, frame);
        self.call_vm(m);
    }

    /// Temporaries are dead at a call, and the call's portal has used them: zeros are kept.
    fn clear_temporaries(&self, m: &mut Machine, frame: u64) {
        for temporary in [5, 6, 7, 28, 29, 30, 31] {
            m.set(frame + full_offset(temporary), 0);
        }
    }

    /// The VM server gets thread, domain, cause, address and program counter.
    fn call_vm(&self, m: &mut Machine) {
        let vm = self.system.vm.domain;
        let stack = m.get(vm + field!(Domain.stacks));
        if stack == 0 {
            // Until one is free the frame is that of a thread which holds none.
            m.set(m.frame() + field!(Frame.portal), self.system.stack_wait);
            return self.park_for_stack(m, vm);
        }
        m.x[A0] = m.get(m.thread + field!(Thread.number));
        m.x[A1] = m.get(m.domain() + field!(Domain.asid));
        m.x[A2] = m.scause;
        m.x[A3] = m.stval;
        m.x[A4] = m.pc;
        m.take_stack(vm, stack);
        m.enter_domain(vm);
        m.x[RA] = GATE + GATE_RETURN;
        m.pc = self.system.vm.entry;
    }

    /// The VM server has answered; an answer other than 0 is that of the call whose window could not be opened.
    pub(crate) fn fault_returns(&self, m: &mut Machine, window: bool) {
        let frame = m.frame();
        if window && m.x[A0] != 0 {
            m.set(frame + full_offset(A0 as u8), m.x[A0]);
            m.set(
                frame + field!(Frame.pc),
                m.get(frame + full_offset(RA as u8)),
            );
        }
        let vm = m.domain();
        m.give_stack_back(frame);
        if m.waiters(vm) == 0 {
            return self.restore(m);
        }
        // The thread wakes the first of those who wait, and goes on from its full frame later.
        m.change_waiters(vm, -1);
        m.set(frame + field!(Frame.portal), self.system.stack_wait);
        m.set(m.thread + field!(Thread.state), object::PARKED);
        m.x[A1] = m.get(vm + field!(Domain.asid));
        self.enter_scheduler(m, self.system.scheduler.stack_free);
    }

    /// A call found no stack in `domain`: it is made again when there is one.
    pub(crate) fn wait_for_stack(&self, m: &mut Machine, domain: u64) {
        let portal = self.portal(self.system.stack_wait);
        let frame = self.push_full(m, &portal);
        self.clear_temporaries(m, frame);
        self.park_for_stack(m, domain);
    }

    fn park_for_stack(&self, m: &mut Machine, domain: u64) {
        m.change_waiters(domain, 1);
        m.set(m.thread + field!(Thread.state), object::PARKED);
        m.x[A1] = m.get(domain + field!(Domain.asid));
        self.enter_scheduler(m, self.system.scheduler.stack_wait);
    }
}
