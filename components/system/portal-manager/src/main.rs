//! Portal manager: the entries that threads come in by.
//!
//! Each entry finds out who invokes it (from the frame that the invoker's portal pushed, or from the letters `d` and
//! `t`), does its work under the lock, and answers a number or a negated POSIX error.
#![no_std]
#![no_main]

mod accept;
mod calls;
mod code;
mod death;
mod domains;
mod fork;
mod info;
mod names;
mod objects;
mod semaphores;
mod shares;
mod state;
mod tables;
mod threads;
mod warden;

use pebble_abi::errno::Errno;
use pebble_abi::layout::{self, MAX_DOMAINS};
use pebble_abi::object::{role, DomainDescription};
use pebble_abi::page_table::PageTemplate;
use pebble_portal_spec::Specification;
use pebble_server::entries;

use domains::Life;
use objects::{boot_info, Objects};
use state::STATE;
use threads::Start;

entries! { [
    start, exit, sem_create, sem_destroy, thread_create, domain_fork, portal_register, portal_open,
    portal_create_child, portal_notify, stack_add, portal_close, system_info, domain_kill, fault_report, domain_create,
    domain_start, death_next, stack_warden, spare, thread_exit, interrupt_semaphore, time_offset, template,
    portal_accept, portal_open_as,
] }

/// Number of boot code's third thread, the warden.
const WARDEN_THREAD: usize = 2;

fn number(result: Result<isize, Errno>) -> isize {
    result.unwrap_or_else(Errno::negated)
}

/// The thread's number and home domain, from the letter `t`.
fn thread_and_home(t: usize) -> (usize, usize) {
    (t & 0xffff_ffff, t >> 32)
}

/// The domain that invoked the portal manager, from the frame of the call.
fn invoker(t: usize) -> usize {
    let objects = Objects::new();
    let (_, frame) = objects.top_frame(objects.thread(t & 0xffff_ffff));
    objects.domain_number(frame.domain).unwrap_or(0)
}

extern "C" fn start(_: usize) -> isize {
    number(STATE.with(|state| {
        state.start()?;
        let priority = boot_info().core[role::PORTAL_MANAGER as usize].priority as usize;
        calls::thread_add(WARDEN_THREAD, priority, role::PORTAL_MANAGER as usize, 0);
        Ok(0)
    }))
}

extern "C" fn exit(_: usize, status: usize, domain: usize, _: usize) -> isize {
    number(death::kill(
        domain,
        death::Reason::Exit(status as i32 as i64),
    ))
}

extern "C" fn sem_create(_: usize, value: usize, domain: usize, _: usize) -> isize {
    number(semaphores::create(domain, value))
}

extern "C" fn sem_destroy(_: usize, slot: usize, domain: usize, _: usize) -> isize {
    number(semaphores::destroy(domain, slot))
}

extern "C" fn thread_create(t: usize, pc: usize, sp: usize, argument: usize, tp: usize) -> isize {
    let (_, home) = thread_and_home(t);
    let invoker = invoker(t);
    let start = Start {
        pc: pc as u64,
        sp: sp as u64,
        tp: tp as u64,
        argument: argument as u64,
    };
    number(STATE.with(|state| {
        let subject = state.subject(invoker, home);
        state
            .create_thread(subject, start)
            .map(|thread| thread as isize)
    }))
}

extern "C" fn domain_fork(_: usize, intercept: usize, domain: usize, t: usize) -> isize {
    let (thread, home) = thread_and_home(t);
    let parent = STATE.with(|state| state.originator(thread));
    if home != parent || domain != parent && intercept == 0 {
        // The copy continues on a stack of the domain that is copied: only its own threads have one. And a child
        // that is interposed on cannot share its table with anybody: the stubs in it are its own.
        return Errno::PermissionDenied.negated();
    }
    number(fork::fork(parent, thread, intercept as u64))
}

extern "C" fn portal_register(
    t: usize,
    name: usize,
    text: usize,
    constant: usize,
    entry: usize,
) -> isize {
    number(names::register(
        invoker(t),
        name,
        text,
        constant as u64,
        entry as u64,
    ))
}

extern "C" fn portal_open(t: usize, name: usize, domain: usize) -> isize {
    let _ = t;
    number(names::open(domain, name, None))
}

extern "C" fn portal_open_as(_: usize, name: usize, text: usize, domain: usize) -> isize {
    number(names::string(text).and_then(|(text, length)| {
        let wanted = Specification::parse(&text[..length]).map_err(|_| Errno::Invalid)?;
        names::open(domain, name, Some((&wanted, &text[..length])))
    }))
}

extern "C" fn portal_accept(t: usize, slot: usize, text: usize, domain: usize) -> isize {
    number(accept::accept(domain, thread_and_home(t).0, slot, text))
}

extern "C" fn portal_create_child(
    t: usize,
    child: usize,
    slot: usize,
    text: usize,
    constant: usize,
    entry: usize,
) -> isize {
    let parent = STATE.with(|state| state.originator(thread_and_home(t).0));
    number(fork::create_child(
        parent,
        child,
        slot,
        text,
        constant as u64,
        entry as u64,
    ))
}

extern "C" fn portal_notify(_: usize, function: usize, _: usize, t: usize) -> isize {
    let owner = STATE.with(|state| state.originator(thread_and_home(t).0));
    number(fork::notify(owner, function as u64))
}

extern "C" fn stack_add(t: usize, slot: usize, tp: usize, domain: usize) -> isize {
    let (_, home) = thread_and_home(t);
    number(STATE.with(|state| {
        let subject = state.subject(domain, home);
        state.add_stack(subject, slot, tp as u64).map(|()| 0)
    }))
}

extern "C" fn portal_close(_: usize, slot: usize, domain: usize, _: usize) -> isize {
    number(names::close(domain, slot))
}

extern "C" fn system_info(_: usize, kind: usize, index: usize, buffer: usize, _: usize) -> isize {
    number(info::answer(kind, index, buffer))
}

extern "C" fn domain_kill(_: usize, asid: usize, domain: usize, _: usize) -> isize {
    let allowed = asid < MAX_DOMAINS
        && asid >= role::CORE_END as usize
        && ([role::INIT, role::LOADER].contains(&(domain as u32))
            || STATE.with(|state| state.is_ancestor(domain, asid)));
    if !allowed {
        return Errno::PermissionDenied.negated();
    }
    number(death::kill(asid, death::Reason::Killed))
}

extern "C" fn fault_report(
    _: usize,
    _thread: usize,
    domain: usize,
    cause: usize,
    address: usize,
    pc: usize,
) -> isize {
    number(death::fault(
        domain,
        cause as u64,
        address as u64,
        pc as u64,
    ))
}

extern "C" fn domain_create(_: usize, description: usize) -> isize {
    let Some(description) = objects::window_read::<DomainDescription>(description) else {
        return Errno::Fault.negated();
    };
    // The highest priority is the portal manager's, for moments in which nothing may change.
    if description.priority as usize >= layout::PRIORITIES - 1 {
        return Errno::Invalid.negated();
    }
    number(STATE.with(|state| {
        let asid = state.create(description, 0, false)?;
        state.driver_portals(asid)?;
        Ok(asid as isize)
    }))
}

extern "C" fn domain_start(_: usize, asid: usize, pc: usize, tp: usize) -> isize {
    number(STATE.with(|state| {
        let area = state.alive(asid)?.stack_area;
        let top = layout::stack_top(area, 0);
        let start = Start {
            pc: pc as u64,
            sp: top,
            tp: tp as u64,
            argument: 0,
        };
        state
            .create_thread(asid, start)
            .map(|thread| thread as isize)
    }))
}

extern "C" fn death_next(_: usize, buffer: usize) -> isize {
    number(death::next(buffer))
}

extern "C" fn stack_warden() -> ! {
    warden::run()
}

extern "C" fn spare() -> isize {
    Errno::NoSys.negated()
}

extern "C" fn thread_exit(_: usize, domain: usize, t: usize) -> isize {
    let (thread, home) = thread_and_home(t);
    number(death::thread_exit(domain, thread, home))
}

extern "C" fn interrupt_semaphore(_: usize, interrupt: usize, domain: usize) -> isize {
    number(STATE.with(|state| {
        let description = state.alive(domain)?.description;
        if interrupt == 0 || !description.interrupts.contains(&(interrupt as u32)) {
            return Err(Errno::PermissionDenied);
        }
        let (slot, index) = state.semaphore(domain, 0, 0)?;
        match calls::attach(interrupt, index) {
            0.. => Ok(slot as isize),
            _ => Err(Errno::Busy),
        }
    }))
}

extern "C" fn time_offset(_: usize, nanoseconds: usize) -> isize {
    number(STATE.with(|state| {
        let scale = 1_000_000_000 / boot_info().timebase;
        let name = pebble_portal_codegen::Name {
            slot: pebble_abi::slot::TIME_OF_DAY as u64,
            ..Default::default()
        };
        let kind = pebble_portal_codegen::Kind::TimeOfDay {
            scale,
            offset: nanoseconds as u64,
        };
        let new = state.place(&kind, name)?;
        let old = core::mem::replace(&mut state.time_of_day, new);
        state.standard[pebble_abi::slot::TIME_OF_DAY] = new.address;
        state.time_offset = nanoseconds as u64;
        let objects = state.objects();
        for asid in 1..MAX_DOMAINS {
            if state.domains[asid].life == Life::Alive && state.domains[asid].parent == 0 {
                let place =
                    objects.read_domain(asid).table + 8 * pebble_abi::slot::TIME_OF_DAY as u64;
                if objects.read::<u64>(place) == old.address {
                    objects.write(place, new.address);
                }
            }
        }
        // A short circuit leaves no frame, and portals run to their end: nothing is inside the old code.
        state.code.free(old);
        Ok(0)
    }))
}

extern "C" fn template(_: usize, template: usize) -> isize {
    let Some(template) = objects::window_read::<PageTemplate>(template) else {
        return Errno::Fault.negated();
    };
    if !template.fits() {
        return Errno::Invalid.negated();
    }
    number(STATE.with(|state| match state.pages {
        // Portals that exist were made by the first one.
        Some(known) if known != template => Err(Errno::Busy),
        _ => {
            state.pages = Some(template);
            Ok(0)
        }
    }))
}
