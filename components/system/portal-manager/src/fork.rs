//! Interposition: children whose every portal leads to their parent (USENIX paper, "Portal Interposition").

use pebble_abi::entry::STANDARD;
use pebble_abi::errno::Errno;
use pebble_abi::layout::PAGE;
use pebble_abi::object::{self, role, Domain, Frame, FrameKind, FrameName, Thread};
use pebble_abi::slot::{self, portal_manager as own, NAMELEN, NPORTALS};
use pebble_server::invoke;

use crate::code::Placed;
use crate::names::string;
use crate::state::{State, STATE};
use crate::tables::Action;

/// First slot that a child's portals may occupy: everything but return, exceptions and interrupts.
const FIRST_PORTAL: usize = slot::FIRST_PORTAL;

/// Tells `owner` of `count` new portals from `first` on, before the call that made them returns.
pub fn announce(owner: usize, first: usize, count: usize) {
    let notify = STATE.with(|state| state.domains[owner].notify);
    if notify == 0 {
        return;
    }
    for slot in first..first + count {
        #[repr(align(64))]
        struct Text([u8; NAMELEN]);
        let mut text = Text([0; NAMELEN]);
        STATE.with(|state| {
            let table = state.domains[owner].table_of;
            if let Some(portal) = state.tables.get(table, slot) {
                let bytes = portal.text.as_bytes();
                text.0[..bytes.len()].copy_from_slice(bytes);
            }
        });
        invoke(notify, slot, text.0.as_ptr() as usize, 0, 0, 0);
    }
}

/// `portal_notify`: from now on `function(asid, slot, specification)` is called in `owner` for each new portal.
pub fn notify(owner: usize, function: u64) -> Result<isize, Errno> {
    STATE.with(|state| {
        state.alive(owner)?;
        let manager = role::PORTAL_MANAGER as usize;
        let (objects, empty) = (state.objects(), state.empty());
        let old = core::mem::take(&mut state.domains[owner].notify);
        if old != 0 {
            if let Some(portal) = state.tables.remove(objects, manager, old, empty) {
                state.retire(portal.code);
            }
        }
        if function != 0 {
            let slot = state.tables.free_slots(manager, own::OWN + 3, 1)?;
            let action = Action::Call {
                target: owner as u16,
                entry: function,
                constant: owner as u64,
            };
            state.put(manager, slot, b"npcir", action)?;
            state.domains[owner].notify = slot;
        }
        Ok(0)
    })
}

/// `portal_create_child`: puts a portal to the invoker into its child's table.
pub fn create_child(
    parent: usize,
    child: usize,
    slot: usize,
    text: usize,
    constant: u64,
    entry: u64,
) -> Result<isize, Errno> {
    let (text, length) = string(text)?;
    crate::names::check_specification(parent, &text[..length])?;
    if !(FIRST_PORTAL..NPORTALS).contains(&slot) {
        return Err(Errno::Invalid);
    }
    STATE.with(|state| {
        let known = state.alive(child)?;
        if known.parent != parent || known.table_of != child {
            return Err(Errno::PermissionDenied);
        }
        let (objects, empty) = (state.objects(), state.empty());
        if let Some(old) = state.tables.remove(objects, child, slot, empty) {
            state.retire(old.code);
        }
        let action = Action::Call {
            target: parent as u16,
            entry,
            constant,
        };
        state.put(child, slot, &text[..length], action)
    })?;
    // The child may itself interpose on somebody: it passes the portal on.
    announce(child, slot, 1);
    Ok(0)
}

/// The stub's specification for a portal of the parent: the same arguments, but the slot first.
fn stub_text(text: &[u8]) -> ([u8; 15], usize) {
    let mut stub = [0; 15];
    stub[..3].copy_from_slice(b"sm=");
    let rest = text.get(3..).unwrap_or(&[]);
    stub[3..3 + rest.len()].copy_from_slice(rest);
    (stub, 3 + rest.len())
}

/// `domain_fork`: a child with a copy of the invoker's memory, whose thread continues where the calling thread called,
/// with 0 as the answer. All of its portals lead to `intercept` in the invoker; without `intercept` it shares the
/// invoker's portal table instead (embedded paper, 4.1). Answers the child's ASID.
pub fn fork(parent: usize, thread: usize, intercept: u64) -> Result<isize, Errno> {
    let shares = intercept == 0;
    STATE.with(|state| {
        let mut description = state.alive(parent)?.description;
        description.role = role::ORDINARY;
        description.interrupts = [0; 4];
        state.may_fork(parent)?;
        if shares && state.shares_stacks(parent) {
            return Err(Errno::Busy);
        }
        let child = state.create(description, parent, shares)?;
        let filled = match shares {
            true => Ok(()),
            false => state.fill_child(parent, child, intercept),
        };
        match filled.and_then(|()| state.copy_thread(parent, child, thread)) {
            Ok(number) => {
                state.release(number, child)?;
                Ok(child as isize)
            }
            Err(error) => {
                state.discard(child);
                Err(error)
            }
        }
    })
}

impl State {
    fn fill_child(&mut self, parent: usize, child: usize, intercept: u64) -> Result<(), Errno> {
        let action = Action::Call {
            target: parent as u16,
            entry: intercept,
            constant: 0,
        };
        let mut room = self.room_for_portals(child);
        for slot in FIRST_PORTAL..NPORTALS {
            let text = match self.tables.get(self.domains[parent].table_of, slot) {
                Some(portal) => Some(stub_text(portal.text.as_bytes())),
                None if slot >= slot::FIRST_DYNAMIC => None,
                None => STANDARD
                    .iter()
                    .find(|standard| standard.slot == slot)
                    .map(|standard| {
                        // A fork's own child has no standard portals but those that its parent stubbed.
                        match standard.server {
                            role::PORTAL_MANAGER | role::VM => {
                                stub_text(standard.specification.as_bytes())
                            }
                            _ => stub_text(b"nm="),
                        }
                    }),
            };
            if let Some((mut text, length)) = text {
                if slot == slot::DOMAIN_FORK {
                    // The child may be copied in its turn: the stub's frame keeps the registers for the copy.
                    text[..2].copy_from_slice(b"np");
                }
                self.put_within(child, slot, &text[..length], action, &mut room)?;
            }
        }
        Ok(())
    }

    /// The domain whose request the portal manager's caller passes on: the invoker itself, or, along the calls that
    /// `thread` is in, the child that invoked it, that one's child, and so on.
    pub fn originator(&self, thread: usize) -> usize {
        let objects = self.objects();
        let mut at = 0;
        let mut ended = false;
        self.each_frame(objects.thread(thread), |_, frame| {
            let caller = objects.domain_number(frame.domain).unwrap_or(0);
            if ended || FrameName(frame.name).kind() == FrameKind::Floating as u64 {
                return;
            }
            if at == 0 || self.domains[caller].parent == at {
                at = caller;
            } else {
                ended = true;
            }
        });
        at
    }

    /// Whether a portal of the domain runs its callee on the caller's stack: a child with the same table would have
    /// another stack at that address.
    fn shares_stacks(&self, asid: usize) -> bool {
        let table = self.domains[asid].table_of;
        let mut portals = self
            .tables
            .all()
            .filter(|portal| portal.domain as usize == table);
        portals.any(|portal| portal.text.as_bytes().first() == Some(&b's'))
    }

    /// A thread of `child` that returns from the same call of `parent` as `thread`, with the answer 0. That call's frame
    /// holds all registers that a C function keeps (specification letter `p`), and names where those of floating point
    /// are, if the caller had any.
    fn copy_thread(&mut self, parent: usize, child: usize, thread: usize) -> Result<usize, Errno> {
        let objects = self.objects();
        let invoker = objects.domain(parent);
        let mut found: Option<(u64, Frame)> = None;
        self.each_frame(objects.thread(thread), |place, frame| {
            let floating = FrameName(frame.name).kind() == FrameKind::Floating as u64;
            if found.is_none() && frame.domain == invoker && !floating {
                found = Some((place, frame));
            }
        });
        let (top, frame) = found.ok_or(Errno::Invalid)?;
        if FrameName(frame.name).bytes() != object::CALL_FRAME {
            return Err(Errno::Invalid);
        }
        let floats: u64 = objects.read(top + object::PARTIAL_FRAME);
        let tp: u64 = objects.read(top + object::FRAME_HEADER);
        let start = crate::threads::Start {
            pc: frame.pc,
            sp: frame.sp,
            tp,
            argument: 0,
        };
        let area = self.domains[child].stack_area;
        let slot = crate::threads::slot_of(area, frame.sp).ok_or(Errno::Invalid)?;
        let stack = self.make_stack(child, slot, tp)?;
        let number = self
            .make_thread(child, stack, start)
            .inspect_err(|_| self.give_stack(stack))?;
        let record = objects.thread(number);
        let mut new: Thread = objects.read(record);
        if floats != 0 {
            new.fp = objects.read(floats);
            new.fp_live = record + core::mem::offset_of!(Thread, fp) as u64;
            objects.write(record, new);
        }
        for (index, register) in object::PARTIAL_REGISTERS.iter().enumerate().skip(1) {
            let value: u64 = objects.read(top + object::FRAME_HEADER + 8 * index as u64);
            objects.write(new.invocation + object::full_offset(*register), value);
        }
        Ok(number)
    }

    /// Takes back a domain that never ran.
    fn discard(&mut self, asid: usize) {
        let objects = self.objects();
        let table = objects.read::<Domain>(objects.domain(asid)).table;
        if self.domains[asid].table_of == asid {
            self.remove_portals(asid);
            self.give_pages(table, 1);
        }
        crate::calls::space_destroy(asid);
        self.give_stacks(asid);
        self.domains[asid].life = crate::domains::Life::Free;
        debug_assert!(NPORTALS as u64 * 8 == PAGE);
    }

    /// Empties a domain's table of everything but the standard portals.
    pub fn remove_portals(&mut self, asid: usize) {
        let (objects, empty) = (self.objects(), self.empty());
        // Looking through the frames of all threads is what costs: once for several portals.
        let mut codes = [Placed::default(); 32];
        let mut count = 0;
        for slot in 0..NPORTALS {
            if let Some(portal) = self.tables.remove(objects, asid, slot, empty) {
                codes[count] = portal.code;
                count += 1;
                if count == codes.len() {
                    self.retire_all(&codes);
                    count = 0;
                }
                match portal.action {
                    Action::SemaphoreWait { index, owner } if owner as usize == asid => {
                        crate::calls::sem_free(index as usize);
                    }
                    // Another's, who passed it.
                    _ => {}
                }
            }
        }
        self.retire_all(&codes[..count]);
    }
}
