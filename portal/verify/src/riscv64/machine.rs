//! The machine that portal code runs on, with terms for values: what each instruction does, and what it never may.

use pebble_abi::object::FLOATING_FRAME;
use pebble_portal_spec::portal::Kind;

use crate::contract::Pages;
use crate::decode::{Access, Condition, Immediate, Instruction, Operation, Width};
use crate::offence::Reason;
use crate::parameter::{Parameter, Parameters};
use crate::record::{field, Record};
use crate::state::{
    csr, register, Event, Fact, FloatUnit, Log, State, Test, FLOAT_STATUS, INTERRUPTS,
};
use crate::term::{Node, Term, Terms, BLOCK, FRAME, JUNK, PUSHED, THREAD, ZERO};
use crate::Policy;
use core::mem::offset_of;
use pebble_abi::object::{Domain, Thread};

/// Code under verification, and what happened on the current path.
pub(crate) struct Machine<'a> {
    pub policy: &'a Policy<'a>,
    pub words: &'a [u32],
    pub entry: usize,
    pub address: u64,
    pub terms: &'a mut Terms,
    pub log: &'a mut Log,
    pub pages: &'a mut Pages,
    pub parameters: Parameters,
}

impl Machine<'_> {
    /// A number of the wish: open, or the one that was wished for.
    pub(crate) fn wished(&mut self, parameter: Parameter) -> Term {
        match self.parameters.is_open(parameter) {
            true => parameter.term(),
            false => self.terms.number(self.parameters.value(parameter)),
        }
    }

    /// Whether the path has established this.
    pub(crate) fn holds(&self, test: Test, left: Term, right: Term, truth: bool) -> bool {
        self.log.has(Fact::new(test, left, right, truth))
    }

    /// Whether the path has found `term` to be zero.
    pub(crate) fn is_zero(&self, term: Term) -> bool {
        self.holds(Test::Equal, term, ZERO, true)
    }

    /// Whether the path has found `term` to be other than zero.
    pub(crate) fn is_not_zero(&self, term: Term) -> bool {
        self.holds(Test::Equal, term, ZERO, false)
    }

    /// Whether a branch is taken, if that is the same in every state: it compares numbers.
    pub(crate) fn outcome(&self, condition: Condition, pair: (Term, Term)) -> Option<bool> {
        let (Node::Number(left), Node::Number(right)) =
            (self.terms.node(pair.0), self.terms.node(pair.1))
        else {
            return None;
        };
        Some(match condition {
            Condition::Equal => left == right,
            Condition::NotEqual => left != right,
            Condition::Less => (left as i64) < right as i64,
            Condition::GreaterEqual => left as i64 >= right as i64,
            Condition::LessUnsigned => left < right,
            Condition::GreaterEqualUnsigned => left >= right,
        })
    }

    /// Notes the outcome of a branch.
    pub(crate) fn note(
        &mut self,
        state: &mut State,
        condition: Condition,
        pair: (Term, Term),
        taken: bool,
    ) -> Result<(), Reason> {
        let (test, truth) = match condition {
            Condition::Equal => (Test::Equal, taken),
            Condition::NotEqual => (Test::Equal, !taken),
            Condition::Less => (Test::Less, taken),
            Condition::GreaterEqual => (Test::Less, !taken),
            Condition::LessUnsigned => (Test::LessUnsigned, taken),
            Condition::GreaterEqualUnsigned => (Test::LessUnsigned, !taken),
        };
        let (mut left, mut right) = pair;
        // Zero is always on the right of an equality.
        if test == Test::Equal && left == ZERO {
            core::mem::swap(&mut left, &mut right);
        }
        self.log.note(Fact::new(test, left, right, truth))?;
        if truth && test == Test::Equal && matches!(self.policy.kind, Kind::FloatPush) {
            let difference = self.floating_difference();
            if left == difference && right == ZERO {
                state.floating_checked = true;
                state.frame_bytes = FLOATING_FRAME as i32;
            }
        }
        Ok(())
    }

    /// One instruction that is neither a branch nor a way out.
    pub(crate) fn step(
        &mut self,
        state: &mut State,
        instruction: Instruction,
    ) -> Result<(), Reason> {
        let get = |state: &State, register: u8| state.registers[register as usize];
        match instruction {
            Instruction::Load {
                width,
                to,
                base,
                offset,
            } => {
                let value = self.load(state, get(state, base), offset, width)?;
                state.registers[to as usize] = value;
            }
            Instruction::Store {
                width,
                from,
                base,
                offset,
            } => {
                self.store(state, get(state, base), offset, width, get(state, from))?;
            }
            Instruction::LoadFloat { to, base, offset } => {
                self.need_floats(state)?;
                state.floats[to as usize] =
                    self.load(state, get(state, base), offset, Width::Double)?;
            }
            Instruction::StoreFloat { from, base, offset } => {
                self.need_floats(state)?;
                let value = state.floats[from as usize];
                self.store(state, get(state, base), offset, Width::Double, value)?;
            }
            Instruction::ClearFloat { to } => {
                self.need_floats(state)?;
                state.floats[to as usize] = ZERO;
            }
            Instruction::Immediate {
                operation,
                to,
                from,
                value,
            } => {
                if let Some(parameter) = self.parameters.immediate(instruction) {
                    state.registers[to as usize] = parameter.term();
                    return Ok(());
                }
                let from = get(state, from);
                state.registers[to as usize] = match operation {
                    Immediate::Add => self.terms.add_number(from, value as i64),
                    Immediate::AddWord => self.terms.add_word(from, value as i16),
                    Immediate::And => self.terms.and(from, value as i16),
                    Immediate::Or => self.terms.or(from, value as i16),
                    Immediate::ShiftLeft => self.terms.left(from, value as u8),
                    Immediate::ShiftRight => self.terms.right(from, value as u8),
                };
            }
            Instruction::Operation {
                operation,
                to,
                left,
                right,
            } => {
                let (left, right) = (get(state, left), get(state, right));
                state.registers[to as usize] = match operation {
                    Operation::Add => self.terms.add(left, right),
                    Operation::Subtract => self.terms.subtract(left, right),
                    Operation::Multiply => self.terms.product(left, right),
                };
            }
            Instruction::Upper { to, value } => {
                state.registers[to as usize] = self.terms.number(value as i64 as u64);
            }
            Instruction::Csr {
                access,
                to,
                csr,
                from,
            } => self.access(state, access, to, csr, from)?,
            Instruction::Firmware => {
                if !matches!(
                    self.policy.kind,
                    Kind::SetTimer | Kind::PutByte | Kind::Reset
                ) {
                    return Err(Reason::Privilege);
                }
                let r = |register: u8| state.registers[register as usize];
                let call = [
                    r(register::A7),
                    r(register::A6),
                    r(register::A0),
                    r(register::A1),
                ];
                self.log.push(Event::Firmware(call))?;
                state.registers[register::A0 as usize] = JUNK;
                state.registers[register::A1 as usize] = JUNK;
            }
            Instruction::Wait => self.log.push(Event::Wait)?,
            Instruction::FenceInstructions => self.log.push(Event::FenceInstructions)?,
            Instruction::FlushTranslations { address, asid } => {
                let operand = |register: u8| (register != 0).then(|| get(state, register));
                self.log.push(Event::Flush {
                    address: operand(address),
                    asid: operand(asid),
                })?;
            }
            Instruction::EndReservation { base } => {
                self.log.push(Event::EndReservation(get(state, base)))?
            }
            Instruction::Branch { .. } | Instruction::Jump { .. } | Instruction::Return => {
                return Err(Reason::Exit)
            }
        }
        Ok(())
    }

    fn need_floats(&self, state: &State) -> Result<(), Reason> {
        if state.unit == FloatUnit::On {
            Ok(())
        } else {
            Err(Reason::FloatsOff)
        }
    }

    /// Access to a control and status register. Whatever is not listed is refused.
    fn access(
        &mut self,
        state: &mut State,
        access: Access,
        to: u8,
        csr: u16,
        from: u8,
    ) -> Result<(), Reason> {
        let source = state.registers[from as usize];
        match (access, to, from) {
            (Access::Write, _, _) if csr == csr::SSCRATCH => {
                let old = state.sscratch;
                state.sscratch = source;
                if to != 0 {
                    state.registers[to as usize] = old;
                }
            }
            (Access::Write, 0, _) => self.write(state, csr, source)?,
            (Access::Set, 1.., 0) => {
                let value = match csr {
                    csr::SSCRATCH => state.sscratch,
                    csr::SEPC => state.sepc,
                    csr::STVAL => state.stval,
                    csr::FCSR => {
                        self.need_floats(state)?;
                        state.fcsr
                    }
                    csr::SSTATUS if state.unit != FloatUnit::Unchanged => JUNK,
                    csr::SCAUSE | csr::SSTATUS | csr::CYCLE | csr::TIME => self.terms.csr(csr),
                    _ => return Err(Reason::Csr),
                };
                state.registers[to as usize] = value;
            }
            (Access::Set | Access::Clear, 0, 1..) if csr == csr::SSTATUS => {
                if self.terms.node(source) != Node::Number(FLOAT_STATUS) {
                    return Err(Reason::CsrValue("sstatus"));
                }
                state.unit = if access == Access::Set {
                    FloatUnit::On
                } else {
                    FloatUnit::Off
                };
            }
            _ => return Err(Reason::Csr),
        }
        Ok(())
    }

    fn write(&mut self, state: &mut State, csr: u16, source: Term) -> Result<(), Reason> {
        match csr {
            csr::SEPC => state.sepc = source,
            csr::STVAL => state.stval = source,
            csr::STIMECMP if self.policy.system.sstc => state.stimecmp = source,
            csr::SIE => {
                if ![ZERO, self.terms.number(INTERRUPTS)].contains(&source) {
                    return Err(Reason::CsrValue("sie"));
                }
                state.sie = source;
            }
            csr::FCSR => {
                self.need_floats(state)?;
                state.fcsr = source;
            }
            csr::SATP => {
                let Node::Load {
                    base,
                    offset,
                    width: Width::Double,
                } = self.terms.node(source)
                else {
                    return Err(Reason::CsrValue("satp"));
                };
                match self.locate(state, base, offset) {
                    Some((Record::Domain, _, o)) if o == field!(Domain.satp) => {}
                    _ => return Err(Reason::CsrValue("satp")),
                }
                state.satp = source;
                self.log.push(Event::Space)?;
            }
            _ => return Err(Reason::Csr),
        }
        Ok(())
    }

    /// Call of the shared block that moves live floating-point registers to the invocation stack.
    pub(crate) fn call_float_push(&mut self, state: &mut State, target: u8) -> Result<(), Reason> {
        let partial = matches!(self.policy.kind, Kind::Call { specification, .. }
            if specification.state == pebble_portal_spec::State::Partial);
        if !partial || state.pushed {
            return Err(Reason::Exit);
        }
        let invocation = self.terms.load(THREAD, field!(Thread.invocation));
        let live = self.terms.load(THREAD, field!(Thread.fp_live));
        let block = self.terms.number(self.policy.system.float_push);
        let stores = self
            .log
            .events()
            .iter()
            .any(|event| matches!(event, Event::Store { .. }));
        let expected = [
            (target, block),
            (register::T0, BLOCK),
            (register::T1, invocation),
            (register::T4, block),
            (register::TP, THREAD),
        ];
        if stores {
            return Err(Reason::State("memory before live registers are pushed"));
        }
        for (register, term) in expected {
            if state.registers[register as usize] != term {
                return Err(Reason::Register(register));
            }
        }
        if !self.is_not_zero(live) {
            return Err(Reason::Check(
                "the thread has live floating-point registers",
            ));
        }
        for register in [register::T2, register::T3, register::T4] {
            state.registers[register as usize] = JUNK;
        }
        state.registers[register::T1 as usize] = PUSHED;
        state.pushed = true;
        Ok(())
    }

    /// The top frame's kind, less that of a floating-point frame.
    pub(crate) fn floating_difference(&mut self) -> Term {
        let invocation = self.terms.load(THREAD, field!(Thread.invocation));
        let name = self.terms.load(
            invocation,
            core::mem::offset_of!(pebble_abi::object::Frame, name) as i32,
        );
        let shifted = self.terms.right(name, 8);
        let kind = self.terms.and(shifted, 15);
        self.terms
            .add_number(kind, -(pebble_abi::object::FrameKind::Floating as i64))
    }
}

/// The base of the top frame at entry, for contracts.
pub(crate) fn top(state: &State, terms: &mut Terms, returning: bool) -> Term {
    if returning {
        FRAME
    } else if state.pushed {
        PUSHED
    } else {
        terms.load(THREAD, field!(Thread.invocation))
    }
}
