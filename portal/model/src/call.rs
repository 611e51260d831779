//! The ordinary portal: a call into another domain, and the return from it.

use core::mem::offset_of;
use pebble_abi::errno::Errno;
use pebble_abi::layout::{GATE, GATE_RETURN, PAGE};
use pebble_abi::object::{
    self, Domain, Frame, FrameKind, FrameName, Stack as StackRecord, Thread, FRAME_HEADER,
    PARTIAL_REGISTERS, PASSED_BITS,
};
use pebble_abi::slot;
use pebble_portal_spec::portal::{Name, Target};
use pebble_portal_spec::{Argument, Specification, Stack, State};

use crate::machine::register::*;
use crate::machine::{field, Machine, Stamp};
use crate::window::{buffers, Buffer, Obstacle};
use crate::{Portal, World};

/// Bytes of a call's frame before the words of the letter `T`.
fn saved_bytes(specification: &Specification) -> u64 {
    match (specification.state, specification.stack) {
        (State::Partial, _) => object::CALL_FRAME,
        (State::Minimal, Stack::New) => FRAME_HEADER + 8,
        (State::Minimal, Stack::Shared) => FRAME_HEADER,
    }
}

/// The buffer whose pages are exchanged on return.
fn take(specification: &Specification) -> Option<Buffer> {
    buffers(specification)
        .into_iter()
        .find(|buffer| matches!(buffer.letter, Argument::Take(_)))
}

/// Whether the invoker passes slots of its table.
fn passes(specification: &Specification) -> bool {
    specification.arguments().contains(&Argument::Capability)
}

/// Bytes of the frame that a call pushes.
fn frame_bytes(specification: &Specification) -> u64 {
    saved_bytes(specification)
        + take(specification).map_or(0, |_| 8)
        + 8 * u64::from(passes(specification))
}

impl Machine {
    /// Pushes a frame's header; the caller fills the rest.
    pub(crate) fn push(&mut self, portal: u64, name: Name, kind: FrameKind, bytes: u64) -> u64 {
        let frame = self.frame() - bytes;
        let name = FrameName::new(name.generation, name.domain, name.slot, kind, bytes);
        self.set(frame + field!(Frame.portal), portal);
        self.set(frame + field!(Frame.name), name.0);
        self.set(frame + field!(Frame.domain), self.domain());
        self.set(frame + field!(Frame.sp), self.x[SP]);
        self.set(self.thread + field!(Thread.invocation), frame);
        frame
    }

    /// Saves the registers that a C function must preserve, with `tp`.
    pub(crate) fn save_partial(&mut self, frame: u64) {
        for (index, number) in PARTIAL_REGISTERS.into_iter().enumerate() {
            self.set(
                frame + FRAME_HEADER + 8 * index as u64,
                self.x[number as usize],
            );
        }
    }

    /// The invoker finds its result and what is kept for it, and nothing of whoever ran last.
    pub(crate) fn clear_for_invoker(&mut self) {
        for number in 5..32 {
            if !PARTIAL_REGISTERS.contains(&(number as u8)) && number != A0 {
                self.x[number] = 0;
            }
        }
        self.open_registers.clear();
        self.temporaries = true;
    }

    /// Loads them again.
    pub(crate) fn load_partial(&mut self, frame: u64) {
        for (index, number) in PARTIAL_REGISTERS.into_iter().enumerate() {
            self.x[number as usize] = self.get(frame + FRAME_HEADER + 8 * index as u64);
        }
    }
}

impl World<'_> {
    pub(crate) fn call(
        &self,
        m: &mut Machine,
        portal: &Portal<'_>,
        specification: &Specification,
        target: Target,
        constant: u64,
    ) {
        let bytes = frame_bytes(specification);
        let partial = specification.state == State::Partial;
        if m.is_too_deep(portal.name.system) {
            return m.fail(Errno::TooDeep);
        }
        if partial {
            self.push_floats(m);
        }
        for (index, argument) in specification.arguments().iter().enumerate() {
            let slots = slot::FIRST_PORTAL as u64..slot::NPORTALS as u64;
            if *argument == Argument::Capability && !slots.contains(&m.x[A0 + index]) {
                return m.fail(Errno::BadDescriptor);
            }
        }
        // Entries wait beneath the new frame while the rest is checked.
        let buffers = buffers(specification);
        let gifts: u64 = buffers
            .iter()
            .filter(|buffer| buffer.is_gift())
            .map(|buffer| buffer.pages)
            .sum();
        for word in 0..specification.window_pages() as u64 + 2 * gifts {
            m.forget(m.frame() - bytes - 8 * (word + 1));
        }
        if specification.window_pages() == 1 && buffers.len() == 1 {
            // One entry waits in a register: where the program returns to is in the frame already.
            m.forget(m.frame() - bytes + field!(Frame.pc));
        }
        let invoker = m.domain();
        let mut found = Vec::new();
        // Only when no letter before looks at pages on the way in.
        let first = buffers
            .iter()
            .position(|buffer| !matches!(buffer.letter, Argument::Take(_)))
            .filter(|&index| buffers[index].letter.window().is_some());
        for (index, buffer) in buffers.iter().enumerate() {
            if first == Some(index) {
                m.remember_leaf(invoker, m.x[buffer.register]);
            }
            for number in 0..buffer.pages {
                match m.page(invoker, m.x[buffer.register], number, buffer) {
                    Ok(page) => found.push(page),
                    Err(Obstacle::Stays) => return m.fail(Errno::Fault),
                    Err(Obstacle::Absent(address)) => {
                        m.stval = address;
                        let table = m.get(m.thread + field!(Thread.table));
                        return self.enter(m, m.get(table + 8 * slot::WINDOW_FAULT as u64));
                    }
                }
            }
        }
        let stack = match specification.stack {
            Stack::New => m.get(target.domain + field!(Domain.stacks)),
            Stack::Shared => m.stack(),
        };
        if stack == 0 {
            return self.wait_for_stack(m, target.domain);
        }
        let pages = specification.window_pages() as u64;
        if pages > 0
            && m.get(stack + field!(StackRecord.window_end))
                - m.get(stack + field!(StackRecord.window_next))
                < pages * PAGE
        {
            return m.fail(Errno::NoMemory);
        }
        if gifts > 0 && m.has_no_room_for_gifts(target.domain, gifts) {
            return m.fail(Errno::NoMemory);
        }

        // Nothing can fail any more.
        let kind = match saved_bytes(specification) {
            FRAME_HEADER => FrameKind::Minimal,
            _ => FrameKind::Partial,
        };
        let frame = m.push(portal.entry, portal.name, kind, bytes);
        m.set(frame + field!(Frame.pc), m.x[RA]);
        let previous = m.stack();
        match (specification.stack, partial) {
            (Stack::New, _) => m.set(frame + field!(Frame.stack), previous),
            (Stack::Shared, true) => m.set(frame + field!(Frame.stack), 0),
            // The word is not used: what was there stays.
            (Stack::Shared, false) => {}
        }
        if partial {
            m.save_partial(frame);
            self.new_float_user(m, frame);
        } else if specification.stack == Stack::New {
            m.set(frame + FRAME_HEADER, m.x[TP]);
        }
        if let Some(buffer) = take(specification) {
            m.set(frame + saved_bytes(specification), m.x[buffer.register]);
        }
        if passes(specification) {
            let mut word = 0;
            for (index, argument) in specification.arguments().iter().enumerate() {
                if *argument == Argument::Capability {
                    word |= m.x[A0 + index] << (PASSED_BITS as usize * index);
                }
            }
            m.set(frame + bytes - 8, word);
            let name = FrameName(m.get(frame + field!(Frame.name)));
            m.set(frame + field!(Frame.name), name.passing().0);
        }
        if specification.stack == Stack::New {
            m.take_stack(target.domain, stack);
        } else if partial {
            m.x[TP] = 0;
        }
        self.arguments(m, specification, portal, constant, invoker);
        let mut found = found.as_slice();
        for buffer in &buffers {
            let (pages, rest) = found.split_at(buffer.pages as usize);
            found = rest;
            let within = m.x[buffer.register] % PAGE;
            let there = match buffer.letter {
                Argument::OpenWindow(_) => m.give(target.domain, pages, false),
                Argument::Give(_) => m.give(target.domain, pages, true),
                Argument::Take(_) => continue,
                _ => m.open_window(stack, pages, buffer.needs_write()),
            };
            m.x[buffer.register] = there.wrapping_add(within);
        }
        m.enter_domain(target.domain);
        m.x[RA] = GATE + GATE_RETURN;
        m.pc = target.entry;
        if partial {
            let arguments = A0..A0 + specification.arguments().len();
            for number in 0..32 {
                if ![RA, SP, TP].contains(&number) && !arguments.contains(&number) {
                    m.x[number] = 0;
                }
            }
            m.temporaries = true;
        }
    }

    /// What the letters put into argument registers.
    fn arguments(
        &self,
        m: &mut Machine,
        specification: &Specification,
        portal: &Portal<'_>,
        constant: u64,
        invoker: u64,
    ) {
        for (index, argument) in specification.arguments().iter().enumerate() {
            let register = A0 + index;
            match argument {
                Argument::Constant => m.x[register] = constant,
                Argument::Slot => m.x[register] = portal.name.slot,
                Argument::Thread => m.x[register] = m.get(m.thread + field!(Thread.number)),
                Argument::Domain => m.x[register] = m.get(invoker + field!(Domain.asid)),
                Argument::Time => m.stamps.push(Stamp::HalfCycles { register }),
                // Pages come later.
                _ => {}
            }
        }
    }

    pub(crate) fn call_returns(&self, m: &mut Machine, specification: &Specification) {
        let frame = m.frame();
        let partial = specification.state == State::Partial;
        if partial {
            self.drop_live_floats(m, frame);
        }
        let callee = m.domain();
        if let Some(buffer) = take(specification) {
            // Dead for the invoker, as every argument register is.
            m.open_registers.insert(A2);
            let invoker = m.get(frame + field!(Frame.domain));
            let ours = m.get(frame + saved_bytes(specification));
            if m.x[A0] as i64 >= 0 {
                for word in 0..4 * buffer.pages {
                    m.forget(frame - 8 * (word + 1));
                }
                if !m.exchange([(callee, m.x[A1]), (invoker, ours)], &buffer) {
                    m.x[A0] = Errno::Fault.negated() as u64;
                }
            }
        }
        m.close_windows_if_any(specification);
        if specification.stack == Stack::New {
            m.give_stack_back(frame);
        }
        m.enter_domain(m.get(frame + field!(Frame.domain)));
        m.x[RA] = m.get(frame + field!(Frame.pc));
        m.x[SP] = m.get(frame + field!(Frame.sp));
        if partial {
            m.load_partial(frame);
        } else if specification.stack == Stack::New {
            m.x[TP] = m.get(frame + FRAME_HEADER);
        }
        m.set(
            m.thread + field!(Thread.invocation),
            frame + frame_bytes(specification),
        );
        if specification.stack == Stack::New && m.waiters(callee) != 0 {
            return self.stack_came_back(m, callee);
        }
        m.pc = m.x[RA];
        if partial {
            m.clear_for_invoker();
        }
    }
}

impl Machine {
    fn close_windows_if_any(&mut self, specification: &Specification) {
        let pages = specification.window_pages() as u64;
        if pages > 0 {
            self.close_windows(pages);
        }
    }
}
