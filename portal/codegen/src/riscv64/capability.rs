//! Portals passed as arguments (letter `k`): the call records which slots of the invoker's table it passes.
//!
//! The record is the last word of the call's own frame, where nobody but portal code writes, and it goes with the
//! frame: the portal manager finds in it what the callee may take over while the call lasts.

use super::asm::{registers::*, Assembler, Label, Register};
use pebble_abi::object::PASSED_BITS;
use pebble_abi::slot::{FIRST_PORTAL, NPORTALS};
use pebble_portal_spec::{Argument, Specification};

/// Branches to `refused` unless the argument is the slot of an ordinary portal. Uses `t3`, `t4`.
pub(super) fn check(a: &mut Assembler<'_>, argument: Register, refused: &mut Label) {
    a.addi(T3, argument, -(FIRST_PORTAL as i32));
    a.li(T4, (NPORTALS - FIRST_PORTAL) as i32);
    a.bgeu(T3, T4, refused);
}

/// Writes the slots that the call passes to `place` in the frame at `t1`: the arguments' bits side by side, which sums
/// can do because each was checked. Uses `t3`.
pub(super) fn record(a: &mut Assembler<'_>, specification: &Specification, place: i32) {
    let mut below = None;
    let arguments = specification.arguments().iter().enumerate().rev();
    for (index, _) in arguments.filter(|(_, argument)| **argument == Argument::Capability) {
        let register = Register(A0.0 + index as u32);
        match below {
            None => a.mv(T3, register),
            Some(before) => {
                a.slli(T3, T3, PASSED_BITS * (before - index) as u32);
                a.add(T3, T3, register);
            }
        }
        below = Some(index);
    }
    if let Some(lowest) = below {
        if lowest > 0 {
            a.slli(T3, T3, PASSED_BITS * lowest as u32);
        }
        a.sd(T3, place, T1);
    }
}
