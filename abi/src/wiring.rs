//! The portals between core domains, which boot code makes before any component runs.
//!
//! This is the whole of what a core server can do besides computing on its own memory: boot code puts nothing else
//! into its table but the processor's traps and the way back. Every later connection is made by name.

use crate::entry::{dispatcher, loader, portal_manager, scheduler, vm};
use crate::object::role;
use crate::{semaphore, slot};

/// A portal between two core domains, made by boot code.
#[derive(Clone, Copy, Debug)]
pub struct Core {
    /// The client ([`role`]).
    pub client: u32,
    /// Slot in the client's table.
    pub slot: usize,
    /// The server.
    pub server: u32,
    /// Entry of the server.
    pub entry: usize,
    /// Specification.
    pub specification: &'static str,
}

const fn core(
    client: u32,
    slot: usize,
    server: u32,
    entry: usize,
    specification: &'static str,
) -> Core {
    Core {
        client,
        slot,
        server,
        entry,
        specification,
    }
}

/// All portals between core domains that are calls.
pub const CORE: &[Core] = &[
    core(
        role::LOADER,
        slot::loader::PORTAL_MANAGER + portal_manager::DOMAIN_KILL,
        role::PORTAL_MANAGER,
        portal_manager::DOMAIN_KILL,
        "nmcidt",
    ),
    core(
        role::INIT,
        slot::init::LOADER + loader::LOAD,
        role::LOADER,
        loader::LOAD,
        "nmci",
    ),
    core(
        role::INIT,
        slot::init::LOADER + loader::START,
        role::LOADER,
        loader::START,
        "nmci",
    ),
    core(
        role::VM,
        slot::vm::TEMPLATE,
        role::PORTAL_MANAGER,
        portal_manager::TEMPLATE,
        "nmcr",
    ),
    core(
        role::VM,
        slot::vm::FAULT_REPORT,
        role::PORTAL_MANAGER,
        portal_manager::FAULT_REPORT,
        "nmciiiii",
    ),
    core(
        role::VM,
        slot::PORTAL_OPEN,
        role::PORTAL_MANAGER,
        portal_manager::PORTAL_OPEN_AS,
        "nmtrrd",
    ),
    core(
        role::PORTAL_MANAGER,
        slot::portal_manager::VM + vm::SPACE_CREATE,
        role::VM,
        vm::SPACE_CREATE,
        "nmcii",
    ),
    core(
        role::PORTAL_MANAGER,
        slot::portal_manager::VM + vm::SPACE_CLONE,
        role::VM,
        vm::SPACE_CLONE,
        "nmcii",
    ),
    core(
        role::PORTAL_MANAGER,
        slot::portal_manager::VM + vm::SPACE_DESTROY,
        role::VM,
        vm::SPACE_DESTROY,
        "nmci",
    ),
    core(
        role::PORTAL_MANAGER,
        slot::portal_manager::VM + vm::STACK_PREPARE,
        role::VM,
        vm::STACK_PREPARE,
        "nmciii",
    ),
    core(
        role::PORTAL_MANAGER,
        slot::portal_manager::VM + vm::STACK_SHARE,
        role::VM,
        vm::STACK_SHARE,
        "nmcii",
    ),
    core(
        role::PORTAL_MANAGER,
        slot::portal_manager::VM + vm::MEMORY_INFO,
        role::VM,
        vm::MEMORY_INFO,
        "nmci",
    ),
    core(
        role::PORTAL_MANAGER,
        slot::portal_manager::VM + vm::GIFT_PREPARE,
        role::VM,
        vm::GIFT_PREPARE,
        "nmci",
    ),
    core(
        role::PORTAL_MANAGER,
        slot::portal_manager::DISPATCHER + dispatcher::ATTACH,
        role::DISPATCHER,
        dispatcher::ATTACH,
        "nmcii",
    ),
    core(
        role::INIT,
        slot::init::PORTAL_MANAGER + portal_manager::START,
        role::PORTAL_MANAGER,
        portal_manager::START,
        "nmc",
    ),
    core(
        role::LOADER,
        slot::loader::PORTAL_MANAGER + portal_manager::DOMAIN_CREATE,
        role::PORTAL_MANAGER,
        portal_manager::DOMAIN_CREATE,
        "nmcr",
    ),
    core(
        role::LOADER,
        slot::loader::PORTAL_MANAGER + portal_manager::DOMAIN_START,
        role::PORTAL_MANAGER,
        portal_manager::DOMAIN_START,
        "nmciiii",
    ),
    core(
        role::INIT,
        slot::init::PORTAL_MANAGER + portal_manager::DEATH,
        role::PORTAL_MANAGER,
        portal_manager::DEATH,
        "nmcw",
    ),
    core(
        role::INIT,
        slot::init::VM + vm::START,
        role::VM,
        vm::START,
        "nmc",
    ),
    core(
        role::LOADER,
        slot::loader::VM + vm::IMAGE_MAP,
        role::VM,
        vm::IMAGE_MAP,
        "nmciiiii",
    ),
    core(
        role::LOADER,
        slot::loader::VM + vm::START_INFO,
        role::VM,
        vm::START_INFO,
        "nmcir",
    ),
    core(
        role::LOADER,
        slot::loader::VM + vm::DEVICE_MAP,
        role::VM,
        vm::DEVICE_MAP,
        "nmciii",
    ),
    core(
        role::LOADER,
        slot::loader::VM + vm::IMAGE_END,
        role::VM,
        vm::IMAGE_END,
        "nmcii",
    ),
];

/// What a portal of a core server does that is no call: a short circuit, a lock, or a way into the scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    /// Short circuit: one byte to the firmware's console, for last words.
    PutByte,
    /// Short circuit: switch to a parked thread.
    Switch,
    /// Short circuit: set the timer.
    SetTimer,
    /// Short circuit: wait for an interrupt.
    WaitForInterrupt,
    /// Short circuit: forget a domain's translations.
    FlushDomain,
    /// Short circuit: forget one translation.
    FlushPage,
    /// Short circuit: make new portal code visible.
    FlushInstructions,
    /// Short circuit: end the machine's run.
    Reset,
    /// P on a fixed semaphore.
    Wait(usize),
    /// V on a fixed semaphore.
    Post(usize),
    /// Enter the scheduler ([`crate::entry::scheduler`]).
    Scheduler(usize),
    /// Enter the scheduler for good: the dispatcher's tail calls.
    Tail(usize),
}

use Special::*;

const PM: u32 = role::PORTAL_MANAGER;
const PM_SCHEDULER: usize = slot::portal_manager::SCHEDULER;

/// These portals: client, slot, what it does. Beside them every core server may write last words ([`slot::PUTC`]).
pub const SPECIAL: &[(u32, usize, Special)] = &[
    (role::SCHEDULER, slot::scheduler::SWITCH, Switch),
    (role::SCHEDULER, slot::scheduler::SET_TIMER, SetTimer),
    (
        role::DISPATCHER,
        slot::dispatcher::TIMER,
        Tail(scheduler::TIMER),
    ),
    (
        role::DISPATCHER,
        slot::dispatcher::DEVICE,
        Tail(scheduler::DEVICE),
    ),
    (
        role::DISPATCHER,
        slot::dispatcher::SPURIOUS,
        Tail(scheduler::SPURIOUS),
    ),
    (role::IDLE, slot::idle::WAIT_FOR_INTERRUPT, WaitForInterrupt),
    (role::VM, slot::lock::P, Wait(semaphore::VM_LOCK)),
    (role::VM, slot::lock::V, Post(semaphore::VM_LOCK)),
    (role::VM, slot::vm::FLUSH_DOMAIN, FlushDomain),
    (role::VM, slot::vm::FLUSH_PAGE, FlushPage),
    (PM, slot::lock::P, Wait(semaphore::PORTAL_MANAGER_LOCK)),
    (PM, slot::lock::V, Post(semaphore::PORTAL_MANAGER_LOCK)),
    (PM, slot::portal_manager::DEATH_V, Post(semaphore::DEATH)),
    (PM, slot::portal_manager::WARDEN_P, Wait(semaphore::WARDEN)),
    (PM, slot::portal_manager::WARDEN_V, Post(semaphore::WARDEN)),
    (
        PM,
        slot::portal_manager::FLUSH_INSTRUCTIONS,
        FlushInstructions,
    ),
    (PM, slot::portal_manager::RESET, Reset),
    (
        PM,
        PM_SCHEDULER + scheduler::SLEEP,
        Scheduler(scheduler::SLEEP),
    ),
    (
        PM,
        PM_SCHEDULER + scheduler::SEM_ALLOC,
        Scheduler(scheduler::SEM_ALLOC),
    ),
    (
        PM,
        PM_SCHEDULER + scheduler::SEM_FREE,
        Scheduler(scheduler::SEM_FREE),
    ),
    (
        PM,
        PM_SCHEDULER + scheduler::THREAD_ADD,
        Scheduler(scheduler::THREAD_ADD),
    ),
    (
        PM,
        PM_SCHEDULER + scheduler::THREAD_EXIT,
        Scheduler(scheduler::THREAD_EXIT),
    ),
    (
        PM,
        PM_SCHEDULER + scheduler::THREAD_STOP,
        Scheduler(scheduler::THREAD_STOP),
    ),
    (
        PM,
        PM_SCHEDULER + scheduler::THREAD_CONTINUE,
        Scheduler(scheduler::THREAD_CONTINUE),
    ),
    (
        PM,
        PM_SCHEDULER + scheduler::THREAD_REMOVE,
        Scheduler(scheduler::THREAD_REMOVE),
    ),
    (
        PM,
        PM_SCHEDULER + scheduler::STACK_FREE,
        Scheduler(scheduler::STACK_FREE),
    ),
    (
        PM,
        PM_SCHEDULER + scheduler::THREAD_INFO,
        Scheduler(scheduler::THREAD_INFO),
    ),
    (
        PM,
        PM_SCHEDULER + scheduler::THREAD_FORCE,
        Scheduler(scheduler::THREAD_FORCE),
    ),
    (
        role::INIT,
        slot::init::SCHEDULER_START,
        Scheduler(scheduler::START),
    ),
    (role::INIT, slot::init::DEATH_P, Wait(semaphore::DEATH)),
];

/// The standard portals that init has, as every component has them; no other core server has any.
pub const INIT_STANDARD: &[usize] = &[
    slot::HRSLEEP,
    slot::SEM_CREATE,
    slot::PORTAL_REGISTER,
    slot::PORTAL_OPEN,
    slot::STACK_ADD,
    slot::INFO,
    slot::DOMAIN_KILL,
    slot::THREAD_EXIT,
];
