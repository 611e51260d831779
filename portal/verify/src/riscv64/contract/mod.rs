//! What each kind of portal must have done when a path leaves it: exactly that, and nothing else.
//!
//! A contract is written with terms over the state at entry. It names every word of memory that must have
//! changed; a store that no contract names is an offence, and so is a register or control register that differs
//! from what it was without being named.

mod back;
mod begin;
mod call;
mod capability;
mod float;
mod gift;
mod scheduler;
mod settle;
mod short;
mod trap;
mod window;

use core::ops::Range;
use pebble_abi::errno::Errno;
use pebble_abi::object::{self, Domain, Frame, Thread};
use pebble_portal_spec::portal::Kind;

use crate::machine::{top, Machine};
use crate::offence::Reason;
use crate::parameter::Parameter;
use crate::record::{field, Record, RETURN_LITERAL};
use crate::state::{csr, register, Event, FloatUnit, State, Test};
use crate::term::{Term, BLOCK, FRAME, JUNK, LINK, PUSHED, SAVED, THREAD, ZERO};
use core::mem::offset_of;

pub(crate) use begin::{begin, frame_bytes, frame_name};
pub(crate) use settle::{begins, settle};
pub(crate) use window::{is_sound, names_pages, Pages};

/// How a path leaves the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// `sret`.
    User,
    /// A jump to an address.
    Jump(Term),
}

/// Which code of the block the path runs through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Entered from the portal table or by a jump from another block.
    Call,
    /// Entered from slot 0 or the switch, with the block's own frame on top.
    Back,
}

/// Checks the state of a path that leaves; `before` is the state in which its part began.
pub(crate) fn leave(
    machine: &mut Machine<'_>,
    state: &State,
    (part, before): (Part, &State),
    way: Way,
) -> Result<(), Reason> {
    let kind = machine.policy.kind;
    let exit = Exit::new(machine, state, (part, before), way);
    match (kind, part) {
        (Kind::Call { specification, .. }, Part::Call) => call::leave(exit, specification),
        (Kind::Call { specification, .. }, Part::Back) => back::leave(exit, specification),
        (Kind::Scheduler { entry }, Part::Call) => scheduler::enter(exit, entry, None),
        (Kind::SemaphoreWait { .. }, Part::Call) => scheduler::semaphore(exit, false),
        (Kind::SemaphorePost { .. }, Part::Call) => scheduler::semaphore(exit, true),
        (Kind::StackFree, Part::Call) => scheduler::stack_free(exit),
        (
            Kind::Scheduler { .. }
            | Kind::SemaphoreWait { .. }
            | Kind::SemaphorePost { .. }
            | Kind::StackFree,
            Part::Back,
        ) => scheduler::resume(exit),
        (Kind::SchedulerTail { entry }, Part::Call) => scheduler::tail(exit, entry),
        (Kind::Switch, Part::Call) => scheduler::switch(exit),
        (Kind::Interrupt, Part::Call) => trap::interrupt(exit),
        (Kind::Fault, Part::Call) => trap::fault(exit, true),
        (Kind::WindowFault, Part::Call) => trap::fault(exit, false),
        (Kind::StackWait, Part::Call) => trap::stack_wait(exit),
        (Kind::Interrupt | Kind::StackWait, Part::Back) => trap::restore(exit),
        (Kind::Fault, Part::Back) => trap::fault_back(exit, false),
        (Kind::WindowFault, Part::Back) => trap::fault_back(exit, true),
        (Kind::FloatPush, Part::Call) => float::push(exit),
        (Kind::FloatPush, Part::Back) => float::drop_frame(exit),
        (Kind::Illegal, Part::Call) => float::illegal(exit),
        (_, Part::Call) => short::leave(exit, &kind),
        (_, Part::Back) => Err(Reason::Exit),
    }
}

/// A path at its exit, and what it is expected to have done. Unless a contract says otherwise, nothing.
pub(crate) struct Exit<'m, 'a> {
    machine: &'m mut Machine<'a>,
    state: &'m State,
    way: Way,
    /// `None`: whatever it is.
    registers: [Option<Term>; 32],
    sscratch: Term,
    sepc: Term,
    satp: Term,
    sie: Term,
    stval: Term,
    stimecmp: Term,
    unit: FloatUnit,
    fcsr: Option<Term>,
    floats: Option<[Term; 32]>,
    /// Words of memory that a contract named.
    words: usize,
    /// Flushes and other effects that a contract named.
    effects: usize,
    /// Offsets from the top frame that may be written without being named.
    scratch: Range<i32>,
    /// Base of the top frame at entry.
    top: Term,
}

impl<'m, 'a> Exit<'m, 'a> {
    fn new(
        machine: &'m mut Machine<'a>,
        state: &'m State,
        (part, before): (Part, &State),
        way: Way,
    ) -> Self {
        let mut registers = before.registers.map(Some);
        for temporary in [0, 5, 6, 7, 28, 29, 30, 31] {
            registers[temporary] = None;
        }
        let mut sscratch = before.sscratch;
        if way == Way::User {
            registers[register::TP as usize] = Some(sscratch);
            sscratch = THREAD;
        }
        let top = top(state, machine.terms, part == Part::Back);
        Exit {
            machine,
            state,
            way,
            registers,
            sscratch,
            sepc: before.sepc,
            satp: before.satp,
            sie: before.sie,
            stval: before.stval,
            stimecmp: before.stimecmp,
            unit: FloatUnit::Unchanged,
            fcsr: Some(before.fcsr),
            floats: Some(before.floats),
            words: 0,
            effects: 0,
            scratch: 0..0,
            top,
        }
    }

    /// A word of memory at entry.
    fn load(&mut self, base: Term, offset: i32) -> Term {
        self.machine.terms.load(base, offset)
    }

    fn number(&mut self, value: u64) -> Term {
        self.machine.terms.number(value)
    }

    fn wished(&mut self, parameter: Parameter) -> Term {
        self.machine.wished(parameter)
    }

    fn input(&mut self, register: u8) -> Term {
        self.machine.terms.register(register)
    }

    fn csr(&mut self, csr: u16) -> Term {
        self.machine.terms.csr(csr)
    }

    /// Expects `term` in `register`.
    fn set(&mut self, register: u8, term: Term) {
        self.registers[register as usize] = Some(term);
    }

    fn set_number(&mut self, register: u8, value: u64) {
        let term = self.number(value);
        self.set(register, term);
    }

    /// The word at `offset` from `base` must have become `value`; answers when that happened.
    fn memory(
        &mut self,
        base: Term,
        offset: i32,
        value: Term,
        what: &'static str,
    ) -> Result<usize, Reason> {
        let events = self.machine.log.events();
        let last = events.iter().rposition(
            |event| matches!(event, Event::Store { base: b, offset: o, .. } if *b == base && *o == offset),
        );
        match last.map(|index| (index, events[index])) {
            Some((index, Event::Store { value: stored, .. })) if stored == value => {
                self.words += 1;
                Ok(index)
            }
            _ => Err(Reason::Memory(what)),
        }
    }

    /// The outcome of a comparison that the path must have made.
    fn fact(
        &self,
        test: Test,
        left: Term,
        right: Term,
        truth: bool,
        what: &'static str,
    ) -> Result<(), Reason> {
        if self.machine.holds(test, left, right, truth) {
            Ok(())
        } else {
            Err(Reason::Check(what))
        }
    }

    /// `term` was found to be zero (`truth`) or not.
    fn zero(&self, term: Term, truth: bool, what: &'static str) -> Result<(), Reason> {
        self.fact(Test::Equal, term, ZERO, truth, what)
    }

    /// An effect that the path must have had after event `after`.
    fn effect(&mut self, effect: Event, after: usize, reason: Reason) -> Result<(), Reason> {
        let events = self.machine.log.events();
        if events
            .get(after..)
            .is_some_and(|later| later.contains(&effect))
        {
            self.effects += 1;
            Ok(())
        } else {
            Err(reason)
        }
    }

    /// The thread has made `domain` its current one.
    fn enter_domain(&mut self, domain: Term) -> Result<(), Reason> {
        self.memory(THREAD, field!(Thread.domain), domain, "the thread's domain")?;
        let table = self.load(domain, field!(Domain.table));
        self.memory(
            THREAD,
            field!(Thread.table),
            table,
            "the thread's portal table",
        )?;
        self.satp = self.load(domain, field!(Domain.satp));
        if !self.machine.policy.system.asid {
            let switched = self
                .machine
                .log
                .events()
                .iter()
                .rposition(|event| *event == Event::Space);
            // All translations that are not global; a processor without ASIDs has one address space, number 0.
            let local = Event::Flush {
                address: None,
                asid: Some(ZERO),
            };
            self.effect(local, switched.unwrap_or(usize::MAX), Reason::Flush)?;
        }
        Ok(())
    }

    /// The header of the block's own frame, pushed at `offset` from the top; `pc`, `sp` and `stack` are named by the caller.
    fn frame(&mut self, offset: i32) -> Result<(), Reason> {
        let top = self.top;
        let name = self.wished(Parameter::Name);
        let domain = self.load(THREAD, field!(Thread.domain));
        self.memory(
            top,
            offset + field!(Frame.portal),
            BLOCK,
            "the frame's portal",
        )?;
        self.memory(top, offset + field!(Frame.name), name, "the frame's name")?;
        self.memory(
            top,
            offset + field!(Frame.domain),
            domain,
            "the frame's domain",
        )?;
        Ok(())
    }

    /// The thread's invocation stack now ends at `offset` from the top at entry.
    fn invocation(&mut self, offset: i32) -> Result<(), Reason> {
        let top = self.machine.terms.add_number(self.top, offset as i64);
        self.memory(
            THREAD,
            field!(Thread.invocation),
            top,
            "the top of the invocation stack",
        )?;
        Ok(())
    }

    fn thread_becomes_parked(&mut self) -> Result<(), Reason> {
        let parked = self.number(object::PARKED);
        self.memory(THREAD, field!(Thread.state), parked, "the thread's state")?;
        Ok(())
    }

    /// The path continues with the return code of the frame `top`; answers nothing else than that.
    fn continue_frame(&mut self, top: Term) -> Result<(), Reason> {
        let portal = self.load(top, field!(Frame.portal));
        let target = self.load(portal, RETURN_LITERAL);
        self.set(register::T0, portal);
        self.set(register::T1, top);
        if self.way == Way::Jump(target) {
            Ok(())
        } else {
            Err(Reason::Exit)
        }
    }

    /// The path jumps to the shared block at `address`.
    fn jump_to(&mut self, address: u64) -> Result<(), Reason> {
        let target = self.number(address);
        self.set(register::T0, target);
        if self.way == Way::Jump(target) {
            Ok(())
        } else {
            Err(Reason::Exit)
        }
    }

    fn to_user(&self) -> Result<(), Reason> {
        if self.way == Way::User {
            Ok(())
        } else {
            Err(Reason::Exit)
        }
    }

    /// The invoker gets its result and what is kept for it; every other register is zero.
    fn clear_for_invoker(&mut self) {
        for number in 5..32u8 {
            if number != register::A0 && !object::PARTIAL_REGISTERS.contains(&number) {
                self.set(number, ZERO);
            }
        }
    }

    /// An error for the program, which has changed nothing.
    fn answer(mut self, error: Errno) -> Result<(), Reason> {
        self.to_user()?;
        self.set_number(register::A0, error.negated() as u64);
        self.sepc = self.input(register::RA);
        self.finish()
    }

    /// Compares everything with what is expected.
    fn finish(self) -> Result<(), Reason> {
        let state = self.state;
        for (number, expected) in self.registers.iter().enumerate() {
            if expected.is_some_and(|term| term != state.registers[number]) {
                return Err(Reason::Register(number as u8));
            }
        }
        let control = [
            ("sscratch", self.sscratch, state.sscratch),
            ("return address (sepc)", self.sepc, state.sepc),
            ("address space (satp)", self.satp, state.satp),
            ("interrupt enable (sie)", self.sie, state.sie),
            ("fault address (stval)", self.stval, state.stval),
            ("timer (stimecmp)", self.stimecmp, state.stimecmp),
            (
                "floating-point status (fcsr)",
                self.fcsr.unwrap_or(state.fcsr),
                state.fcsr,
            ),
        ];
        for (name, expected, actual) in control {
            if expected != actual {
                return Err(Reason::State(name));
            }
        }
        if self.unit != state.unit {
            return Err(Reason::State("floating-point unit"));
        }
        if self.floats.is_some_and(|floats| floats != state.floats) {
            return Err(Reason::State("floating-point registers"));
        }
        let events = self.machine.log.events();
        let mut effects = 0;
        let mut words = 0;
        for event in events {
            match *event {
                Event::Space => {}
                Event::Store {
                    record: Record::Frame,
                    base,
                    offset,
                    ..
                } if base == self.top && self.scratch.contains(&offset) => {}
                Event::Store { again, .. } => words += usize::from(!again),
                _ => effects += 1,
            }
        }
        if words != self.words {
            return Err(Reason::ExtraStore);
        }
        if effects != self.effects {
            return Err(Reason::Flush);
        }
        Ok(())
    }
}
