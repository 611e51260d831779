//! The state in which each part of a block begins, and the frame that a block of each kind pushes.

use core::mem::offset_of;
use pebble_abi::object::{self, FrameKind, FrameName, Thread};
use pebble_portal_spec::portal::{Kind, Name};
use pebble_portal_spec::{Stack, State as Kept};

use super::{capability, gift, Part};
use crate::machine::Machine;
use crate::record::field;
use crate::state::{csr, register, FloatUnit, State};
use crate::term::{BLOCK, FRAME, JUNK, LINK, THREAD, ZERO};

/// Bytes of the frame that a portal of this kind pushes, 0 when it pushes none.
pub(crate) fn frame_bytes(kind: &Kind<'_>) -> i32 {
    let bytes = match kind {
        Kind::Call { specification, .. } => {
            let words = gift::takes(specification).count() + capability::words(specification);
            gift::saved_bytes(specification) + 8 * words as u64
        }
        Kind::Scheduler { .. }
        | Kind::SemaphoreWait { .. }
        | Kind::SemaphorePost { .. }
        | Kind::StackFree => object::PARTIAL_FRAME,
        Kind::Interrupt | Kind::Fault | Kind::WindowFault | Kind::StackWait => object::FULL_FRAME,
        Kind::FloatPush => object::FLOATING_FRAME,
        _ => 0,
    };
    bytes as i32
}

/// Kind of that frame.
fn frame_kind(kind: &Kind<'_>) -> FrameKind {
    match kind {
        Kind::Call { specification, .. } => match (specification.state, specification.stack) {
            (Kept::Minimal, Stack::Shared) => FrameKind::Minimal,
            _ => FrameKind::Partial,
        },
        Kind::FloatPush => FrameKind::Floating,
        Kind::Interrupt | Kind::Fault | Kind::WindowFault | Kind::StackWait => FrameKind::Full,
        _ => FrameKind::Scheduler,
    }
}

/// What that frame is named.
pub(crate) fn frame_name(kind: &Kind<'_>, name: Name) -> u64 {
    let bytes = frame_bytes(kind) as u64;
    let kind_of_frame = frame_kind(kind);
    let mut frame = FrameName::new(
        name.generation,
        name.domain,
        name.slot,
        kind_of_frame,
        bytes,
    );
    if let Kind::Call { specification, .. } = kind {
        if capability::words(specification) > 0 {
            frame = frame.passing();
        }
    }
    frame.0
}

/// The state in which a part begins.
pub(crate) fn begin(machine: &mut Machine<'_>, part: Part) -> State {
    let terms = &mut machine.terms;
    let mut registers = [ZERO; 32];
    let mut floats = [ZERO; 32];
    for number in 1..32u8 {
        registers[number as usize] = terms.register(number);
    }
    for number in 0..32u8 {
        floats[number as usize] = terms.float(number);
    }
    registers[register::TP as usize] = THREAD;
    registers[register::T0 as usize] = BLOCK;
    match (part, machine.policy.kind) {
        (Part::Call, Kind::FloatPush) => {
            registers[register::T0 as usize] = terms.register(register::T0);
            registers[register::T1 as usize] = terms.load(THREAD, field!(Thread.invocation));
            registers[register::T2 as usize] = JUNK;
            registers[register::T3 as usize] = LINK;
            registers[register::T4 as usize] = BLOCK;
        }
        (Part::Call, Kind::StackFree) => {
            registers[register::T1 as usize] = terms.load(THREAD, field!(Thread.invocation));
        }
        (Part::Call, _) => registers[register::T1 as usize] = JUNK,
        (Part::Back, _) => {
            registers[register::T1 as usize] = FRAME;
            registers[register::T2 as usize] = JUNK;
        }
    }
    let own = frame_bytes(&machine.policy.kind);
    State {
        registers,
        floats,
        fcsr: terms.csr(csr::FCSR),
        unit: FloatUnit::Unchanged,
        sscratch: terms.csr(csr::SSCRATCH),
        sepc: terms.csr(csr::SEPC),
        satp: terms.csr(csr::SATP),
        sie: terms.csr(csr::SIE),
        stval: terms.csr(csr::STVAL),
        stimecmp: terms.csr(csr::STIMECMP),
        pushed: false,
        settled: false,
        settles_at: 0,
        settled_from: 0,
        frame_bytes: if part == Part::Back { own } else { 0 },
        floating_checked: false,
    }
}
