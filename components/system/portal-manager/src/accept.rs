//! Accept: a portal that a call passed (specification letter `k`) appears in the table of the domain that was called.
//!
//! Possession is the authority: the invoker holds the portal and passes it, so the name server is not asked. The call's
//! frame says what was passed, where no component can write; it goes when the call returns.

use pebble_abi::errno::Errno;
use pebble_abi::object::{passed_slot, FrameKind, FrameName};
use pebble_abi::semaphore::{ACCEPT_BOTH, ACCEPT_POST};
use pebble_abi::slot::{FIRST_PORTAL, PORTAL_ACCEPT};
use pebble_portal_spec::{Argument, Specification, MAX_ARGUMENTS};

use crate::fork::announce;
use crate::names::{check_specification, string};
use crate::state::{State, STATE};
use crate::tables::{Action, Portal};

/// What the callee says that it was passed.
enum Wanted {
    /// A call: with which trust in its callee, and what its arguments are.
    Call(Specification),
    /// A semaphore: P, and V behind it.
    Semaphore,
    /// The right to V alone.
    Post,
}

/// `portal_accept`: the portal that the call which `thread` serves passed as `slot`, now in the table of `domain`;
/// answers the first of its slots there.
pub fn accept(domain: usize, thread: usize, slot: usize, text: usize) -> Result<isize, Errno> {
    let (text, length) = string(text)?;
    let text = &text[..length];
    let wanted = if text == ACCEPT_BOTH.as_bytes() {
        Wanted::Semaphore
    } else if text == ACCEPT_POST.as_bytes() {
        Wanted::Post
    } else {
        check_specification(domain, text)?;
        Wanted::Call(Specification::parse(text).map_err(|_| Errno::Invalid)?)
    };
    let (first, count) = STATE.with(|state| {
        let portal = state.passed(domain, thread, slot)?;
        state.take_over(domain, &portal, &wanted, text)
    })?;
    announce(domain, first, count);
    Ok(first as isize)
}

impl State {
    /// The portal in slot `slot` of the domain that passed it to `presenter`, in the call that `thread` serves there.
    fn passed(&self, presenter: usize, thread: usize, slot: usize) -> Result<Portal, Errno> {
        let passer = self
            .passer(presenter, thread, slot)
            .ok_or(Errno::PermissionDenied)?;
        let table = self.alive(passer).map_err(|_| Errno::OwnerDead)?.table_of;
        self.tables
            .get(table, slot)
            .copied()
            .ok_or(Errno::BadDescriptor)
    }

    /// Who invoked the call that `thread` serves in `presenter`, if that call passed `slot`.
    ///
    /// That is the frame beneath the presenter's own call, and no other: a call further down was not this one's to
    /// use, even if it led to the same domain. Only where the presenter is an interposer that passes on what its
    /// child presents is it the call that the child serves.
    fn passer(&self, presenter: usize, thread: usize, slot: usize) -> Option<usize> {
        if slot < FIRST_PORTAL {
            return None;
        }
        let objects = self.objects();
        let mut at = presenter;
        let mut own_call = true;
        let mut ended = false;
        let mut passer = None;
        self.each_frame(objects.thread(thread), |place, frame| {
            let name = FrameName(frame.name);
            if ended || name.kind() == FrameKind::Floating as u64 {
                return;
            }
            if core::mem::take(&mut own_call) {
                return;
            }
            let caller = objects.domain_number(frame.domain).unwrap_or(0);
            if name.passes() {
                let word: u64 = objects.read(place + name.bytes() - 8);
                if (0..MAX_ARGUMENTS).any(|argument| passed_slot(word, argument) == slot) {
                    passer = Some(caller);
                }
            }
            let passed_on =
                name.slot() == PORTAL_ACCEPT as u64 && self.domains[caller].parent == at;
            ended = passer.is_some() || !passed_on;
            at = caller;
        });
        passer
    }

    /// Puts a copy of `portal` into the table of `domain`; answers its first slot, and how many there are.
    fn take_over(
        &mut self,
        domain: usize,
        portal: &Portal,
        wanted: &Wanted,
        text: &[u8],
    ) -> Result<(usize, usize), Errno> {
        match (portal.action, wanted) {
            (Action::Dead, _) => Err(Errno::OwnerDead),
            (Action::SemaphoreWait { index, owner }, Wanted::Semaphore) => {
                let slot = self.free_slots(domain, 2)?;
                self.put_semaphore(domain, slot, index, owner)?;
                Ok((slot, 2))
            }
            (post @ Action::SemaphorePost { .. }, Wanted::Post) => {
                let slot = self.free_slots(domain, 1)?;
                self.put(domain, slot, b"nmc", post)?;
                Ok((slot, 1))
            }
            (
                Action::Call {
                    target,
                    entry,
                    constant,
                },
                Wanted::Call(wanted),
            ) => {
                let known =
                    Specification::parse(portal.text.as_bytes()).map_err(|_| Errno::Invalid)?;
                let (length, number) = (text.len(), portal.slot as u64);
                let mut text = {
                    let mut copy = [0; 15];
                    copy.get_mut(..length)
                        .ok_or(Errno::Invalid)?
                        .copy_from_slice(text);
                    copy
                };
                if !same_arguments(&known, wanted) {
                    return Err(Errno::Invalid);
                }
                // Whoever is called knows the portal by its first slot, which is no longer the portal's own.
                let constant = if known.arguments().contains(&Argument::Slot) {
                    for letter in text.iter_mut().filter(|letter| **letter == b'=') {
                        *letter = b'c';
                    }
                    number
                } else {
                    constant
                };
                let action = Action::Call {
                    target,
                    entry,
                    constant,
                };
                let slot = self.free_slots(domain, 1)?;
                self.put(domain, slot, &text[..length], action)?;
                Ok((slot, 1))
            }
            _ => Err(Errno::Invalid),
        }
    }
}

/// Whether both mean the same for the invoker's arguments. `c` and `=` are both an embedded number; a portal that has
/// both would need two.
fn same_arguments(known: &Specification, wanted: &Specification) -> bool {
    let embedded = |letter: &Argument| match letter {
        Argument::Slot => Argument::Constant,
        other => *other,
    };
    let has = |letter| known.arguments().contains(&letter);
    !(has(Argument::Slot) && has(Argument::Constant))
        && known
            .arguments()
            .iter()
            .map(embedded)
            .eq(wanted.arguments().iter().map(embedded))
}
