//! Portals passed as arguments: only slots of ordinary portals pass, and the frame says which did.

use pebble_abi::object::PASSED_BITS;
use pebble_abi::slot::{FIRST_PORTAL, NPORTALS};
use pebble_portal_spec::{Argument, Specification};

use super::*;

/// Words of a call's frame for the slots that it passes.
pub(super) fn words(specification: &Specification) -> usize {
    usize::from(registers(specification).next().is_some())
}

/// Index of each argument that passes a slot.
fn registers(specification: &Specification) -> impl DoubleEndedIterator<Item = u8> + '_ {
    let arguments = specification.arguments().iter().enumerate();
    arguments
        .filter(|(_, letter)| **letter == Argument::Capability)
        .map(|(index, _)| index as u8)
}

/// The comparison that says whether argument `index` is the slot of an ordinary portal.
fn in_range(exit: &mut Exit<'_, '_>, index: u8) -> (Term, Term) {
    let slot = exit.input(register::A0 + index);
    let from_first = exit.machine.terms.add_number(slot, -(FIRST_PORTAL as i64));
    (from_first, exit.number((NPORTALS - FIRST_PORTAL) as u64))
}

/// An argument is no slot of an ordinary portal: the path says so.
pub(super) fn refused(exit: &mut Exit<'_, '_>, specification: &Specification) -> bool {
    registers(specification).any(|index| {
        let (slot, end) = in_range(exit, index);
        exit.machine.holds(Test::LessUnsigned, slot, end, false)
    })
}

/// Every slot was checked, and the word at `offset` from the top at entry holds them all: argument `n` in the bits from
/// `PASSED_BITS * n` on.
pub(super) fn recorded(
    exit: &mut Exit<'_, '_>,
    specification: &Specification,
    offset: i32,
) -> Result<(), Reason> {
    let mut word = ZERO;
    let mut at = 0;
    for index in registers(specification).rev() {
        let (slot, end) = in_range(exit, index);
        let what = "a passed slot is an ordinary portal's";
        exit.fact(Test::LessUnsigned, slot, end, true, what)?;
        let value = exit.input(register::A0 + index);
        let by = PASSED_BITS as u8 * at.max(index).abs_diff(index);
        let terms = &mut exit.machine.terms;
        let shifted = terms.left(word, by);
        word = terms.add(shifted, value);
        at = index;
    }
    if words(specification) == 0 {
        return Ok(());
    }
    if at > 0 {
        word = exit.machine.terms.left(word, PASSED_BITS as u8 * at);
    }
    let top = exit.top;
    exit.memory(top, offset, word, "the slots that the call passes")?;
    Ok(())
}
