//! The scheduler: the only place where a thread waits.

use core::mem::offset_of;
use pebble_abi::errno::Errno;
use pebble_abi::layout::{GATE, GATE_SWITCH, MAX_THREADS};
use pebble_abi::object::{self, Domain, Frame, FrameKind, Thread, PARTIAL_FRAME};
use pebble_abi::semaphore;

use crate::machine::register::*;
use crate::machine::{field, Machine};
use crate::{Portal, World};

/// Interrupts that user level takes: software, timer, external.
pub(crate) const INTERRUPTS: u64 = 0x222;

impl World<'_> {
    /// The thread leaves everything on its invocation stack.
    fn park(&self, m: &mut Machine, portal: &Portal<'_>) {
        let frame = m.push(
            portal.entry,
            portal.name,
            FrameKind::Scheduler,
            PARTIAL_FRAME,
        );
        m.set(frame + field!(Frame.pc), m.x[RA]);
        m.save_partial(frame);
        m.set(m.thread + field!(Thread.state), object::PARKED);
    }

    /// The processor is the scheduler's, with interrupts off.
    pub(crate) fn enter_scheduler(&self, m: &mut Machine, entry: u64) {
        m.enter_domain(self.system.scheduler.domain);
        m.sie = 0;
        m.x[SP] = self.system.scheduler.stack;
        m.x[RA] = GATE + GATE_SWITCH;
        m.x[A0] = m.thread_number();
        m.pc = entry;
    }

    pub(crate) fn scheduler_entry(&self, m: &mut Machine, portal: &Portal<'_>, entry: u64) {
        self.park(m, portal);
        self.enter_scheduler(m, entry);
    }

    pub(crate) fn semaphore_wait(&self, m: &mut Machine, portal: &Portal<'_>, index: u64) {
        let counter = Machine::counter(&self.system, index);
        let value = m.get_half(counter).wrapping_sub(1);
        if value >= 0 {
            m.set_half(counter, value);
            return m.answer(0);
        }
        self.semaphore_in_scheduler(m, portal, index, self.system.scheduler.p);
    }

    pub(crate) fn semaphore_post(&self, m: &mut Machine, portal: &Portal<'_>, index: u64) {
        let counter = Machine::counter(&self.system, index);
        let value = m.get_half(counter).wrapping_add(1);
        if value > 0 {
            m.set_half(counter, value);
            return m.answer(0);
        }
        let later = Machine::counter(&self.system, semaphore::LATER as u64);
        if value >= m.get_half(later) {
            m.set_half(later, 0);
            m.set_half(later + 4, index as i32);
            return m.answer(0);
        }
        self.semaphore_in_scheduler(m, portal, index, self.system.scheduler.v);
    }

    fn semaphore_in_scheduler(&self, m: &mut Machine, portal: &Portal<'_>, index: u64, entry: u64) {
        self.park(m, portal);
        m.x[A1] = index;
        self.enter_scheduler(m, entry);
    }

    /// The parked thread `a1` goes on, its call's result is `a0`.
    pub(crate) fn switch(&self, m: &mut Machine) {
        let number = m.x[A1] % MAX_THREADS as u64;
        let thread = m.get(self.system.threads + 8 * number);
        if thread == 0 || m.get(thread + field!(Thread.state)) != object::PARKED {
            return m.fail(Errno::NoSuchProcess);
        }
        m.thread = thread;
        m.set(thread + field!(Thread.state), thread);
        m.float_on = false;
        m.sie = INTERRUPTS;
        self.return_from_portal(m);
    }

    pub(crate) fn scheduler_returns(&self, m: &mut Machine) {
        let frame = m.frame();
        m.enter_domain(m.get(frame + field!(Frame.domain)));
        m.x[RA] = m.get(frame + field!(Frame.pc));
        m.x[SP] = m.get(frame + field!(Frame.sp));
        m.load_partial(frame);
        m.set(m.thread + field!(Thread.invocation), frame + PARTIAL_FRAME);
        m.pc = m.x[RA];
        m.clear_for_invoker();
    }

    /// A call has given a stack of `domain` back while threads wait for one.
    pub(crate) fn stack_came_back(&self, m: &mut Machine, domain: u64) {
        m.change_waiters(domain, -1);
        let portal = self.portal(self.system.stack_free);
        self.park(m, &portal);
        m.x[A1] = m.get(domain + field!(Domain.asid));
        m.x[A2] = m.x[A0];
        m.open_registers.remove(&A2);
        self.enter_scheduler(m, self.system.scheduler.stack_free);
    }
}
