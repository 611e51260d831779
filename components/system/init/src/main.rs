//! Init: starts the core servers, loads the components of the system description, hears of deaths.
//!
//! One thread of init at a time touches its state: the first thread until it starts to serve, and afterwards either
//! that thread (deaths) or a client's thread in `/init/*`; both take [`LOCK`].
#![no_std]
#![no_main]

mod report;
mod services;

use core::sync::atomic::{AtomicUsize, Ordering};

use pebble_abi::bundle::{
    Component, CRITICAL, INTERACTIVE, PROGRAM, RUN_PROGRAM, SHELL, START, VERBOSE,
};
use pebble_abi::entry::{loader, portal_manager, vm};
use pebble_abi::errno::Errno;
use pebble_abi::loader::explain;
use pebble_abi::log::message;
use pebble_abi::object::{self, role, Death};
use pebble_abi::slot::{self, init as own, NAMELEN};
use pebble_interfaces::{console, name_server, power};
use pebble_portal_spec::Specification;
use pebble_server::{entries, invoke};

use bundle::{boot_info, name_of, Bundle};
use report::message as say;

entries! { [main] }

/// Boot code's second thread.
const IDLE_THREAD: usize = 1;
/// How often init looks whether a server that it needs has registered: 20,000 times, 20 us apart.
const PATIENCE: usize = 20_000;
/// Slot of P of init's lock; V is the next one.
static LOCK: AtomicUsize = AtomicUsize::new(0);
/// Slot of the power driver's `off`.
static POWER: AtomicUsize = AtomicUsize::new(0);
/// Slot of the name server's `allow`.
static ALLOW: AtomicUsize = AtomicUsize::new(0);

/// Exit status of a system that ends because a critical component died.
const CRITICAL_STATUS: usize = 70;

fn call(slot: usize, a1: usize, a2: usize) -> isize {
    invoke(slot, a1, a2, 0, 0, 0)
}

/// A name as a window shows it.
#[repr(align(64))]
struct Name([u8; NAMELEN]);

impl Name {
    fn new(text: &[u8]) -> Name {
        let mut name = Name([0; NAMELEN]);
        let length = text.len().min(NAMELEN - 1);
        name.0[..length].copy_from_slice(&text[..length]);
        name
    }
    fn address(&self) -> usize {
        self.0.as_ptr() as usize
    }
}

extern "C" fn main() -> ! {
    call(
        own::SCHEDULER_START,
        IDLE_THREAD,
        boot_info().timebase as usize,
    );
    let mut answer = call(own::VM + vm::START, 0, 0);
    if answer >= 0 {
        answer = call(own::PORTAL_MANAGER + portal_manager::START, 0, 0);
    }
    if answer < 0 {
        fail("a core server does not start", answer);
    }
    say(format_args!(
        "{} {:x}",
        message::OBJECTS,
        boot_info().objects
    ));
    let lock = call(slot::SEM_CREATE, 1, 0);
    if lock < 0 {
        fail("no semaphore for init", lock);
    }
    LOCK.store(lock as usize, Ordering::Relaxed);

    let bundle = Bundle::new();
    let first = |flags: u32| {
        move |c: &Component| c.flags & START != 0 && c.flags & (PROGRAM | SHELL) == flags
    };
    start_all(&bundle, |c| first(0)(c) && c.role == role::NAME_SERVER);
    ALLOW.store(await_name(name_server::ALLOW.name), Ordering::Relaxed);
    start_all(&bundle, |c| first(0)(c) && c.role != role::NAME_SERVER);
    report::use_log(await_name(console::LOG.name));
    POWER.store(await_name(power::OFF.name), Ordering::Relaxed);
    services::offer();
    locked(|| start_all(&bundle, first(PROGRAM)));
    if bundle.flags() & INTERACTIVE != 0 {
        locked(|| start_all(&bundle, first(SHELL)));
    }
    deaths(&bundle)
}

/// Starts every component that `wanted` picks.
fn start_all(bundle: &Bundle, wanted: impl Fn(&Component) -> bool) {
    for index in 0..bundle.count() {
        let component = bundle.component(index);
        let is_core = component.role < role::CORE_END && component.role != role::ORDINARY;
        if !is_core && wanted(&component) {
            let _ = start(bundle, index);
        }
    }
}

/// Loads and starts component `index`; says why when it cannot.
fn start(bundle: &Bundle, index: usize) -> Result<usize, isize> {
    let component = bundle.component(index);
    let name = core::str::from_utf8(name_of(&component.name)).unwrap_or("?");
    let mut answer = call(own::LOADER + loader::LOAD, index, 0);
    if answer >= 0 {
        let asid = answer as usize;
        say(format_args!("{} {asid} {name}", message::DOMAIN));
        allow(bundle, &component, asid);
        answer = call(own::LOADER + loader::START, asid, 0);
        if answer >= 0 {
            return Ok(asid);
        }
    }
    let (why, error) = explain(answer);
    say(format_args!(
        "error: component {name} does not start: {why} ({error})"
    ));
    if component.flags & PROGRAM != 0 && bundle.flags() & RUN_PROGRAM != 0 {
        power_off(126);
    }
    Err(error)
}

/// Gives the name server the component's rules.
fn allow(bundle: &Bundle, component: &Component, asid: usize) {
    #[repr(align(4096))]
    struct Rules([u8; 4096]);
    let slot = ALLOW.load(Ordering::Relaxed);
    if slot == 0 {
        return;
    }
    let rules = bundle.rules(component);
    let mut page = Rules([0; 4096]);
    let length = rules.len().min(page.0.len() - 1);
    page.0[..length].copy_from_slice(&rules[..length]);
    let name = Name::new(name_of(&component.name));
    let answer = invoke(slot, asid, name.address(), page.0.as_ptr() as usize, 0, 0);
    if answer < 0 {
        say(format_args!(
            "error: the name server refuses the rules of domain {asid} ({answer})"
        ));
    }
}

/// Opens `name`, waiting for the server that registers it.
fn await_name(name: &str) -> usize {
    let text = Name::new(name.as_bytes());
    for _ in 0..PATIENCE {
        let slot = call(slot::PORTAL_OPEN, text.address(), 0);
        if slot >= 0 {
            return slot as usize;
        }
        let until = pebble_server::cycles() / 2 + 10_000;
        call(slot::HRSLEEP, until as usize, 0);
    }
    say(format_args!(
        "error: nobody offers {name}; does the system description start its server?"
    ));
    fail(
        "a service that init needs is missing",
        Errno::TimedOut.negated(),
    )
}

/// Runs `work` while no other thread of init does.
fn locked<R>(work: impl FnOnce() -> R) -> R {
    let lock = LOCK.load(Ordering::Relaxed);
    call(lock, 0, 0);
    let result = work();
    call(lock + 1, 0, 0);
    result
}

/// Waits for deaths, tells of them, and ends the system when it is time.
fn deaths(bundle: &Bundle) -> ! {
    #[repr(align(128))]
    struct Shown(core::mem::MaybeUninit<Death>);
    loop {
        call(own::DEATH_P, 0, 0);
        let mut shown = Shown(core::mem::MaybeUninit::zeroed());
        let address = shown.0.as_mut_ptr() as usize;
        if call(own::PORTAL_MANAGER + portal_manager::DEATH, address, 0) != 1 {
            continue;
        }
        // SAFETY: the portal manager filled the record, and all its bits are valid numbers.
        let death = unsafe { shown.0.assume_init() };
        locked(|| mourn(bundle, &death));
    }
}

fn mourn(bundle: &Bundle, death: &Death) {
    let name = core::str::from_utf8(name_of(&death.name)).unwrap_or("?");
    let asid = death.asid;
    if death.kind == object::REFUSED_SPECIFICATION {
        return explain_specification(name, asid, death);
    }
    let status = match death.kind {
        object::DEATH_EXIT => {
            say(format_args!(
                "{} {name} {asid} {}",
                message::EXIT,
                death.status
            ));
            death.status as usize & 0xff
        }
        object::DEATH_FAULT => {
            say(format_args!(
                "{} {name} {asid:x} {:x} {:x} {:x}",
                message::FAULT,
                death.cause,
                death.address,
                death.pc
            ));
            139
        }
        _ => {
            if bundle.flags() & VERBOSE != 0 {
                say(format_args!("killed {name} {asid}"));
            }
            137
        }
    };
    let flags = death.flags as u32;
    if flags & PROGRAM != 0 && bundle.flags() & RUN_PROGRAM != 0 {
        power_off(status);
    }
    if flags & SHELL != 0 && bundle.flags() & INTERACTIVE != 0 {
        power_off(status);
    }
    if flags & CRITICAL != 0 {
        end_without(name);
    }
}

/// Says where a component's specification is wrong.
fn explain_specification(name: &str, asid: u32, note: &Death) {
    let mut text = [0; 16];
    text[..8].copy_from_slice(&note.address.to_le_bytes());
    text[8..].copy_from_slice(&note.pc.to_le_bytes());
    let text = name_of(&text);
    if let Err(refusal) = Specification::parse(text) {
        say(format_args!(
            "error: {name} (domain {asid}): specification \"{}\" is refused at {refusal}",
            text.escape_ascii()
        ));
    }
}

/// Ends the system because a critical component is gone, or about to be.
fn end_without(name: &str) {
    say(format_args!(
        "error: the system cannot go on without {name}"
    ));
    power_off(CRITICAL_STATUS);
}

fn power_off(status: usize) {
    call(POWER.load(Ordering::Relaxed), status, 0);
}

fn fail(what: &str, answer: isize) -> ! {
    say(format_args!("error: init: {what} ({answer})"));
    power_off(CRITICAL_STATUS);
    panic!("init cannot go on")
}
