//! Death is a return (design invariant I8): whatever a domain was doing when it ends, the threads of others in it
//! come back to their invokers with `-EOWNERDEAD`.
//!
//! The dead domain's number keeps an address space with nothing but the gate page and a table with nothing but the
//! way back, and every thread that would continue in it continues at the gate's `GATE_DEAD` instead: it returns
//! the error to its invoker, or ends when it has none. No frame is removed and no server asked.

use pebble_abi::bundle;
use pebble_abi::errno::Errno;
use pebble_abi::layout::{self, MAX_DOMAINS, MAX_THREADS};
use pebble_abi::object::{self, shared_code, Death, Domain, Frame, FrameKind, FrameName, Thread};
use pebble_abi::thread_state;

use crate::calls;
use crate::code::Placed;
use crate::domains::{satp, Life};
use crate::names;
use crate::objects::boot_info;
use crate::state::{State, STATE};
use crate::tables::Portal;

/// Why a domain ends.
#[derive(Clone, Copy, Debug)]
pub enum Reason {
    /// It asked to.
    Exit(i64),
    /// A fault that nothing answered: cause, address, program counter.
    Fault(u64, u64, u64),
    /// Another component wanted it.
    Killed,
}

/// Ends `asid` and everything that it made by `domain_fork`, youngest first.
pub fn kill(asid: usize, reason: Reason) -> Result<isize, Errno> {
    loop {
        let child = STATE.with(|state| {
            state.alive(asid)?;
            Ok((1..MAX_DOMAINS).rev().find(|&other| {
                state.domains[other].life == Life::Alive && state.is_ancestor(asid, other)
            }))
        })?;
        match child {
            Some(child) => end(child, Reason::Killed)?,
            None => break,
        }
    }
    end(asid, reason)?;
    Ok(0)
}

fn end(asid: usize, reason: Reason) -> Result<(), Errno> {
    STATE.with(|state| {
        state.alive(asid)?;
        state.undisturbed(|state| state.bury(asid));
        state.record_death(asid, reason);
        Ok(())
    })?;
    names::forget(asid);
    calls::warden_post();
    calls::death_post();
    Ok(())
}

/// Refused specifications of one domain that init tells of.
const REFUSALS_REPORTED: u8 = 8;

impl State {
    /// Turns `asid` into a place that can only be left. Nothing else runs meanwhile.
    fn bury(&mut self, asid: usize) {
        let objects = self.objects();
        self.domains[asid].life = Life::Dead;
        let notify = core::mem::take(&mut self.domains[asid].notify);
        let (manager, empty) = (object::role::PORTAL_MANAGER as usize, self.empty());
        if let Some(portal) = self.tables.remove(objects, manager, notify, empty) {
            self.retire(portal.code);
        }
        let record = objects.domain(asid);
        let mut domain: Domain = objects.read(record);
        let waiters = domain.stack_waiters;
        domain.satp = satp(asid, self.limbo);
        domain.root = layout::PHYSMAP + self.limbo;
        domain.leaf_span = pebble_abi::object::NO_SPAN;
        domain.stacks = 0;
        domain.dead = 1;
        // A shared table is the parent's, which outlives its children. Portals are taken out before the table is
        // exchanged: otherwise it would be the limbo's that lost them, and with them the way to end a thread.
        let own_table = self.domains[asid].table_of == asid;
        if own_table {
            self.remove_portals(asid);
        }
        let table = core::mem::replace(&mut domain.table, self.limbo_table);
        objects.write(record, domain);
        if own_table {
            self.give_pages(table, 1);
        }
        // Portals into it answer with the error; their code stays while a frame may still return through it.
        let dead = self.dead;
        let doomed = |portal: &Portal| portal.action.depends_on() == Some(asid);
        while let Some(code) = self.tables.bury_next(objects, asid, doomed, dead) {
            self.retire(code);
        }
        for number in 0..MAX_THREADS {
            self.divert(number, asid, record);
            self.end_inside(number, asid, record);
        }
        // Threads that wait for one of its stacks call again and get the error.
        for _ in 0..waiters {
            calls::stack_free(asid);
        }
        objects.write(
            record,
            Domain {
                stack_waiters: 0,
                ..objects.read(record)
            },
        );
    }

    /// Every frame of `number` that would continue in `asid` continues at the gate.
    fn divert(&mut self, number: usize, asid: usize, domain: u64) {
        let objects = self.objects();
        let thread_record = objects.thread(number);
        if thread_record == 0 {
            return;
        }
        let thread: Thread = objects.read(thread_record);
        let mut top = true;
        self.each_frame(thread_record, |place, frame| {
            if frame.domain == domain {
                let kind = FrameName(frame.name).kind();
                if kind != FrameKind::Floating as u64 {
                    objects.write(
                        place,
                        Frame {
                            pc: layout::GATE + layout::GATE_DEAD,
                            sp: 0,
                            ..frame
                        },
                    );
                }
                // It waits for a stack to call somebody with: it is not to wait on.
                if top && calls::thread_state(number) == Some(thread_state::STACK) {
                    self.leave_stack_queue(number);
                }
                // It waits in the scheduler on behalf of the dead domain: nobody will wake it.
                if top && thread.state == object::PARKED && kind == FrameKind::Scheduler as u64 {
                    calls::thread_stop(number);
                    calls::thread_continue(number, Errno::OwnerDead.negated());
                }
            }
            top = false;
        });
        let _ = asid;
    }

    /// Ends a thread of `asid` that is nowhere else: it need not run to leave, which one of low priority might never do.
    fn end_inside(&mut self, number: usize, asid: usize, domain: u64) {
        let objects = self.objects();
        let record = objects.thread(number);
        if record == 0 || self.threads[number].dying {
            return;
        }
        let thread: Thread = objects.read(record);
        let mut inside = thread.home as usize == asid && thread.state == object::PARKED;
        self.each_frame(record, |_, frame| inside &= frame.domain == domain);
        if inside && calls::thread_stop(number) >= 0 {
            calls::thread_remove(number);
            self.threads[number].dying = true;
        }
    }

    /// Takes a thread out of the queue for a stack; it goes on with its full frame.
    pub fn leave_stack_queue(&self, number: usize) {
        let objects = self.objects();
        let waits_for = (calls::thread_info(number) >> 16) as usize;
        calls::thread_stop(number);
        let record = objects.domain(waits_for);
        let domain: Domain = objects.read(record);
        objects.write(
            record,
            Domain {
                stack_waiters: domain.stack_waiters.saturating_sub(1),
                ..domain
            },
        );
        calls::thread_continue(number, 0);
    }

    /// Calls `visit` with each frame of a thread, from the top to the sentinel.
    pub fn each_frame(&self, thread: u64, mut visit: impl FnMut(u64, Frame)) {
        let objects = self.objects();
        let end = thread + object::THREAD_BYTES - object::FRAME_HEADER;
        let mut place = objects.read::<Thread>(thread).invocation;
        // Bounded by the object's size, even if a length were wrong.
        while place < end && place > thread {
            let frame: Frame = objects.read(place);
            visit(place, frame);
            place += FrameName(frame.name).bytes().max(object::FRAME_HEADER);
        }
    }

    /// Gives code back that no table leads to any more, unless a frame still returns through it: then later.
    pub fn retire(&mut self, code: Placed) {
        if code.units != 0 {
            self.retire_all(&[code]);
        }
    }

    /// The same with at most 64 at once: looking at all frames is what it costs.
    pub fn retire_all(&mut self, codes: &[Placed]) {
        let objects = self.objects();
        let mut referenced = 0u64;
        let low = codes.iter().map(|code| code.address).min();
        let high = codes.iter().map(|code| code.address).max();
        let (Some(low), Some(high)) = (low, high) else {
            return;
        };
        for number in 0..MAX_THREADS {
            let thread = objects.thread(number);
            if thread != 0 {
                self.each_frame(thread, |_, frame| {
                    if (low..=high).contains(&frame.portal) {
                        for (index, code) in codes.iter().enumerate() {
                            referenced |= u64::from(code.address == frame.portal) << index;
                        }
                    }
                });
            }
        }
        for (index, &code) in codes.iter().enumerate().filter(|(_, code)| code.units != 0) {
            if referenced >> index & 1 == 0 {
                self.code.free(code);
            } else if let Some(place) = self.retired.iter_mut().find(|place| place.units == 0) {
                // A full list loses the space, never the safety.
                *place = code;
            }
        }
    }

    /// Frees what had to wait: dead numbers that all threads have left, code that no frame returns through.
    pub fn collect_dead(&mut self) {
        let mut left = [false; MAX_DOMAINS];
        self.undisturbed(|state| {
            for index in 0..state.retired.len() {
                let code = core::mem::take(&mut state.retired[index]);
                state.retire(code);
            }
            for (asid, left) in left.iter_mut().enumerate().skip(1) {
                let domain = &state.domains[asid];
                *left =
                    domain.life == Life::Dead && domain.threads == 0 && !state.is_anyone_in(asid);
            }
        });
        for (asid, _) in left.iter().enumerate().filter(|(_, &left)| left) {
            // Only now: until the last call out of it returned, a callee may have windows on its pages.
            calls::space_destroy(asid);
            self.give_stacks(asid);
            self.domains[asid].life = Life::Free;
        }
    }

    /// Whether a thread executes in `asid`, or will return into it.
    fn is_anyone_in(&self, asid: usize) -> bool {
        let objects = self.objects();
        let record = objects.domain(asid);
        (0..MAX_THREADS)
            .map(|number| objects.thread(number))
            .any(|thread| {
                let mut inside = false;
                if thread != 0 {
                    inside = objects.read::<Thread>(thread).domain == record;
                    self.each_frame(thread, |_, frame| inside |= frame.domain == record);
                }
                inside
            })
    }

    /// Notes a refused specification for init.
    pub fn report_specification(&mut self, asid: usize, text: &[u8]) {
        let Some(domain) = self.domains.get_mut(asid) else {
            return;
        };
        domain.refusals = domain.refusals.saturating_add(1);
        if domain.refusals > REFUSALS_REPORTED {
            return;
        }
        let mut words = [0; 16];
        let length = text.len().min(words.len());
        words[..length].copy_from_slice(&text[..length]);
        let [address, pc] = [0, 8].map(|start| {
            let mut word = [0; 8];
            word.copy_from_slice(&words[start..start + 8]);
            u64::from_le_bytes(word)
        });
        let note = Death {
            name: domain.description.name,
            asid: asid as u32,
            kind: object::REFUSED_SPECIFICATION,
            status: 0,
            cause: 0,
            address,
            pc,
            flags: 0,
        };
        // Deaths keep the room that they need.
        if let Some(place) = self
            .deaths
            .iter_mut()
            .take(16)
            .find(|place| place.is_none())
        {
            *place = Some(note);
        }
    }

    fn record_death(&mut self, asid: usize, reason: Reason) {
        let domain = &self.domains[asid];
        let mut death = Death {
            name: domain.description.name,
            asid: asid as u32,
            kind: object::DEATH_KILLED,
            status: 0,
            cause: 0,
            address: 0,
            pc: 0,
            flags: if domain.parent == 0 {
                domain.description.flags as u64
            } else {
                0
            },
        };
        match reason {
            Reason::Exit(status) => {
                death.kind = object::DEATH_EXIT;
                death.status = status;
            }
            Reason::Fault(cause, address, pc) => {
                death.kind = object::DEATH_FAULT;
                (death.cause, death.address, death.pc) = (cause, address, pc);
            }
            Reason::Killed => {}
        }
        if let Some(place) = self.deaths.iter_mut().find(|place| place.is_none()) {
            *place = Some(death);
        }
    }
}

/// `fault_report`: nothing answers a fault of `asid`. A core server's ends the system.
pub fn fault(asid: usize, cause: u64, address: u64, pc: u64) -> Result<isize, Errno> {
    use core::fmt::Write;
    let name = STATE.with(|state| {
        state
            .domains
            .get(asid)
            .map(|domain| (domain.description, domain.name().len()))
    });
    let Some((description, length)) = name else {
        return Err(Errno::NoSuchProcess);
    };
    if description.flags & bundle::CRITICAL != 0 && asid < object::role::CORE_END as usize {
        let name = core::str::from_utf8(&description.name[..length]).unwrap_or("?");
        let _ = writeln!(
            pebble_server::LastWords,
            "\x100error: core server {name} faulted: cause {cause:#x} address {address:#x} pc {pc:#x}\nfault {name} {asid:x} {cause:x} {address:x} {pc:x}"
        );
        calls::reset();
    }
    kill(asid, Reason::Fault(cause, address, pc))
}

/// `thread_exit`: the calling thread's end. Does not return when it works; the warden gives its records back.
pub fn thread_exit(invoker: usize, thread: usize, home: usize) -> Result<isize, Errno> {
    STATE.with(|state| {
        if state.subject(invoker, home) != home {
            return Err(Errno::PermissionDenied);
        }
        state.threads[thread].dying = true;
        // Its own stack is of no more use: a new thread may start there at once.
        let stack = core::mem::take(&mut state.threads[thread].stack);
        if stack != 0 {
            state.give_stack(stack);
        }
        Ok(())
    })?;
    calls::warden_post();
    Ok(calls::thread_exit())
}

/// Gives back what threads hold that have ended: stacks along their frames, then the records. Answers whether
/// all of them had left the processor for good.
pub fn reap() -> bool {
    STATE.with(|state| {
        let mut all = true;
        for number in 0..MAX_THREADS {
            if state.threads[number].used && state.threads[number].dying {
                all &= state.undisturbed(|state| state.reap_thread(number));
            }
        }
        state.collect_dead();
        all
    })
}

impl State {
    fn reap_thread(&mut self, number: usize) -> bool {
        let objects = self.objects();
        let record = objects.thread(number);
        let thread: Thread = objects.read(record);
        // It may still be on its way into the scheduler, which answers with an error once it has forgotten it.
        if calls::thread_state(number).is_some_and(|state| state != thread_state::FREE) {
            return false;
        }
        let mut current = thread.stack;
        let fault = boot_info().shared_code[shared_code::FAULT];
        let window_fault = boot_info().shared_code[shared_code::WINDOW_FAULT];
        let mut give = [0u64; 64];
        let mut count = 0;
        self.each_frame(record, |_, frame| {
            let kind = FrameName(frame.name).kind();
            let held = (kind == FrameKind::Partial as u64 && frame.stack != 0)
                || frame.portal == fault
                || frame.portal == window_fault;
            if held {
                if count < give.len() {
                    give[count] = current;
                    count += 1;
                }
                current = frame.stack;
            }
        });
        for &stack in &give[..count] {
            self.return_stack(stack);
        }
        self.drop_thread(number);
        true
    }

    /// Puts a stack back into its domain's queue, and wakes a thread that waits for one.
    fn return_stack(&mut self, address: u64) {
        let objects = self.objects();
        let mut stack = objects.read_stack(address);
        let asid = stack.domain as usize;
        let mut domain = objects.read_domain(asid);
        if domain.dead != 0 {
            return;
        }
        stack.next = domain.stacks;
        stack.window_next = stack.window();
        objects.write(address, stack);
        domain.stacks = address;
        let waiting = domain.stack_waiters > 0;
        domain.stack_waiters -= waiting as u64;
        objects.write(objects.domain(asid), domain);
        if waiting {
            calls::stack_free(asid);
        }
    }
}

/// `death`: the oldest death that init has not heard of.
pub fn next(buffer: usize) -> Result<isize, Errno> {
    let death = STATE.with(|state| {
        let death = state.deaths[0].take();
        state.deaths.rotate_left(1);
        death
    });
    match death {
        Some(death) if crate::objects::window_write(buffer, death) => Ok(1),
        Some(_) => Err(Errno::Fault),
        None => Ok(0),
    }
}
