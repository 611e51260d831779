//! Where paths with and without live floating-point registers come together: what the contract of a `p` call says about
//! these registers is checked there, so that the rest of the call, or of the return, is walked once for all of them.
//!
//! At that point each path is replaced by one that stands for all: it knows nothing of what has been checked, and the
//! registers in which the paths differ hold anything. Whatever holds for it holds for each of them.

use pebble_abi::object::{Hart, Thread};
use pebble_portal_spec::State as Kept;

use super::*;

/// Temporaries that the code about floating point uses: nothing is expected of them when it is through.
const TEMPORARIES: [u8; 4] = [register::T2, register::T3, register::T4, register::T5];

/// Whether a branch on `left` and `right` asks if there are live floating-point registers, in a block that cares.
pub(crate) fn begins(
    machine: &mut Machine<'_>,
    state: &State,
    (left, right): (Term, Term),
) -> bool {
    let partial = matches!(machine.policy.kind, Kind::Call { specification, .. }
        if specification.state == Kept::Partial);
    if !partial || right != ZERO || state.settled || !machine.log.events().is_empty() {
        return false;
    }
    left == machine.terms.load(THREAD, field!(Thread.fp_live))
}

/// Replaces `state`, and what its path knows since fact number `first`, by what stands for all paths that come here.
/// `false`, and nothing changes, if it is not known to be one of these.
pub(crate) fn settle(
    machine: &mut Machine<'_>,
    state: &mut State,
    part: Part,
    first: usize,
) -> bool {
    let live = machine.terms.load(THREAD, field!(Thread.fp_live));
    let none = machine.is_zero(live);
    if !none && !machine.is_not_zero(live) {
        return false;
    }
    let right = match part {
        Part::Call => saved(machine, state, none),
        Part::Back => dropped(machine, state, none),
    };
    if right {
        for number in TEMPORARIES {
            state.registers[number as usize] = JUNK;
        }
        state.settled = true;
        state.settles_at = 0;
        machine.log.hide(first);
    }
    right
}

/// In a call: either there are none, or the shared block has pushed them. The top of the invocation stack and
/// `fp_live` are what they are now, in both cases: the old top and 0, or what the block has left.
fn saved(machine: &mut Machine<'_>, state: &mut State, none: bool) -> bool {
    let top = machine.terms.load(THREAD, field!(Thread.invocation));
    let expected = if none { top } else { PUSHED };
    let right = state.pushed != none
        && state.registers[register::T1 as usize] == expected
        && machine.log.events().is_empty();
    if right {
        state.registers[register::T1 as usize] = PUSHED;
        state.pushed = true;
    }
    right
}

/// In a return: the callee has none, or they are nobody's now and the unit is off.
fn dropped(machine: &mut Machine<'_>, state: &mut State, none: bool) -> bool {
    let hart = machine.terms.load(THREAD, field!(Thread.hart));
    let owner = machine.terms.load(hart, field!(Hart.fp_owner));
    let is_owner = |truth| machine.holds(Test::Equal, owner, THREAD, truth);
    let events = machine.log.events();
    let right = if none {
        state.unit == FloatUnit::Unchanged && events.is_empty()
    } else if is_owner(true) {
        let disowned = matches!(*events, [Event::Store { base, offset, value, .. }]
            if base == hart && offset == field!(Hart.fp_owner) && value == ZERO);
        state.unit == FloatUnit::Off && disowned
    } else {
        state.unit == FloatUnit::Off && is_owner(false) && events.is_empty()
    };
    if right {
        state.unit = FloatUnit::Settled;
    }
    right
}
