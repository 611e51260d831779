//! Entries of the core servers, and the portals that every component starts with.
//!
//! A core server's image begins with an [`EntryTable`]; boot code and the portal manager make the standard
//! portals from it and from [`STANDARD`]. All other connections are made by name.

use crate::object::role;
use crate::slot;

/// `"PEBBLEen"`, little endian.
pub const MAGIC: u64 = u64::from_le_bytes(*b"PEBBLEen");
/// Most entries of a core server.
pub const MAX: usize = 32;

/// At the start of a core server's image (section `.pebble.entries`).
#[repr(C)]
pub struct EntryTable {
    /// [`MAGIC`].
    pub magic: u64,
    /// Number of entries.
    pub count: u64,
    /// Address of a page-aligned data object that portal code may use (the scheduler's semaphore
    /// counters), or 0.
    pub data: u64,
    /// Address of each entry.
    pub entries: [Option<unsafe extern "C" fn()>; MAX],
}

/// Entries of the scheduler. All run with interrupts off, get the calling thread in `a0`, and return the
/// result for the thread to resume in `a0` and that thread in `a1`.
pub mod scheduler {
    /// `start(current, idle, timebase)`: first call, by init.
    pub const START: usize = 0;
    /// `yield(current)`.
    pub const YIELD: usize = 1;
    /// `p(current, semaphore)`: the counter was zero or less.
    pub const P: usize = 2;
    /// `v(current, semaphore)`: threads wait.
    pub const V: usize = 3;
    /// `sleep(current, until)` in `hrtime` units.
    pub const SLEEP: usize = 4;
    /// `timer(current)`: the timer interrupt.
    pub const TIMER: usize = 5;
    /// `device(current, semaphore)`: V by the interrupt dispatcher.
    pub const DEVICE: usize = 6;
    /// `spurious(current)`: an interrupt that meant nothing.
    pub const SPURIOUS: usize = 7;
    /// `sem_alloc(current, value, owner domain)`: answers the index.
    pub const SEM_ALLOC: usize = 8;
    /// `sem_free(current, semaphore)`: waiting threads get `-EINVAL`, a few at each call so that the time with
    /// interrupts off is bounded; answers 0 when done, 1 when it must be called again.
    pub const SEM_FREE: usize = 9;
    /// `thread_add(current, thread, priority, home domain, quantum and budget in microseconds (high and low 32 bits))`:
    /// the thread is ready. A quantum of 0 is the scheduler's own choice. With a budget, which only the
    /// deadline scheduler knows, the high half is the period.
    pub const THREAD_ADD: usize = 10;
    /// `thread_exit(current)`.
    pub const THREAD_EXIT: usize = 11;
    /// `thread_stop(current, thread)`: take a thread other than the caller off every queue and keep it off;
    /// answers 1 if it was waiting (its call is to be answered with an error), 0 if it was ready.
    pub const THREAD_STOP: usize = 12;
    /// `thread_continue(current, thread, result)`: undo a stop; the thread is ready and its call answers `result`,
    /// or what it was to answer before the stop if that is [`KEEP_RESULT`].
    pub const THREAD_CONTINUE: usize = 13;
    /// Result that leaves a stopped thread's own result as it is: for one that `thread_stop` found ready.
    pub const KEEP_RESULT: i64 = i64::MIN;
    /// `thread_remove(current, thread)`: forget a stopped thread.
    pub const THREAD_REMOVE: usize = 14;
    /// `stack_wait(current, domain)`: the domain's stack queue is empty.
    pub const STACK_WAIT: usize = 15;
    /// `stack_free(current, domain, result)`: a stack came back and threads wait; the caller goes on with `result`.
    pub const STACK_FREE: usize = 16;
    /// `thread_priority(current, priority)`.
    pub const THREAD_PRIORITY: usize = 17;
    /// `thread_info(current, thread)`: answers priority in bits 7..0, state
    /// ([`crate::thread_state`]) in bits 15..8, what it waits for (semaphore or domain) above.
    pub const THREAD_INFO: usize = 18;
    /// `thread_force(current, priority)`: portal manager only: as `thread_priority`, whatever the thread's maximum is;
    /// answers the priority before.
    pub const THREAD_FORCE: usize = 19;
}

/// Entries of the portal manager. The letter `d` puts the invoking domain, `t` the thread.
pub mod portal_manager {
    /// `start()`: first call, by init.
    pub const START: usize = 0;
    /// [`crate::slot::EXIT`].
    pub const EXIT: usize = 1;
    /// [`crate::slot::SEM_CREATE`].
    pub const SEM_CREATE: usize = 2;
    /// [`crate::slot::SEM_DESTROY`].
    pub const SEM_DESTROY: usize = 3;
    /// [`crate::slot::THREAD_CREATE`].
    pub const THREAD_CREATE: usize = 4;
    /// [`crate::slot::DOMAIN_FORK`].
    pub const DOMAIN_FORK: usize = 5;
    /// [`crate::slot::PORTAL_REGISTER`].
    pub const PORTAL_REGISTER: usize = 6;
    /// [`crate::slot::PORTAL_OPEN`].
    pub const PORTAL_OPEN: usize = 7;
    /// [`crate::slot::PORTAL_CREATE_CHILD`].
    pub const PORTAL_CREATE_CHILD: usize = 8;
    /// [`crate::slot::PORTAL_NOTIFY`].
    pub const PORTAL_NOTIFY: usize = 9;
    /// [`crate::slot::STACK_ADD`].
    pub const STACK_ADD: usize = 10;
    /// [`crate::slot::PORTAL_CLOSE`].
    pub const PORTAL_CLOSE: usize = 11;
    /// [`crate::slot::INFO`].
    pub const INFO: usize = 12;
    /// [`crate::slot::DOMAIN_KILL`].
    pub const DOMAIN_KILL: usize = 13;
    /// [`crate::slot::vm::FAULT_REPORT`].
    pub const FAULT_REPORT: usize = 14;
    /// `domain_create(a1 = record)`: init only; see `interfaces/`.
    pub const DOMAIN_CREATE: usize = 15;
    /// `domain_start(a1 = asid, a2 = entry, a3 = priority, a4 = quantum and budget)`: init only.
    pub const DOMAIN_START: usize = 16;
    /// `death(a1 = buffer)`: init only: waits for the next death and describes it.
    pub const DEATH: usize = 17;
    /// The thread that looks for threads waiting for a stack they hold themselves.
    pub const STACK_WARDEN: usize = 18;
    /// `scheduler idle`: spare.
    pub const SPARE: usize = 19;
    /// [`crate::slot::THREAD_EXIT`].
    pub const THREAD_EXIT: usize = 20;
    /// `interrupt_semaphore(a1 = interrupt)`: makes a device semaphore; answers the slot of P.
    pub const INTERRUPT_SEMAPHORE: usize = 21;
    /// `template(a1 = page template)`: the VM server registers how portals deal with its page tables
    /// ([`crate::page_table::PageTemplate`]), before `start`.
    pub const TEMPLATE: usize = 23;
    /// `time_offset(a1 = nanoseconds)`: the clock driver sets what time of day adds to the counter.
    pub const TIME_OFFSET: usize = 22;
    /// [`crate::slot::PORTAL_ACCEPT`].
    pub const PORTAL_ACCEPT: usize = 24;
    /// VM server only: `portal_open_as(a1 = name, a2 = specification)`: as `portal_open`, but only a portal with these
    /// argument letters, and with this trust in its callee.
    pub const PORTAL_OPEN_AS: usize = 25;
}

/// Entries of the VM server.
pub mod vm {
    /// `start()`: first call, by init.
    pub const START: usize = 0;
    /// A fault: `fault(a0 = thread, a1 = domain, a2 = cause, a3 = address, a4 = pc)`; answers 0 to retry.
    pub const FAULT: usize = 1;
    /// [`crate::slot::SBRK`].
    pub const SBRK: usize = 2;
    /// [`crate::slot::VM_MAP`].
    pub const VM_MAP: usize = 3;
    /// [`crate::slot::VM_UNMAP`].
    pub const VM_UNMAP: usize = 4;
    /// [`crate::slot::VM_PAGER`].
    pub const VM_PAGER: usize = 5;
    /// [`crate::slot::VM_SUPPLY`].
    pub const VM_SUPPLY: usize = 6;
    /// Portal manager only: `space_create(a1 = asid, a2 = memory pages)`; answers the root page's physical address.
    pub const SPACE_CREATE: usize = 7;
    /// Portal manager only: `space_clone(a1 = parent, a2 = child)`; answers the root page's physical address.
    pub const SPACE_CLONE: usize = 8;
    /// Portal manager only: `space_destroy(a1 = asid)`.
    pub const SPACE_DESTROY: usize = 9;
    /// Portal manager only: `stack_prepare(a1 = asid, a2 = slot address, a3 = pages to fill now)`; answers the
    /// physical address of the page-table entry of the slot's first page.
    pub const STACK_PREPARE: usize = 10;
    /// Portal manager only: `stack_share(a1 = caller, a2 = callee)`: the caller's stack area appears in the callee.
    pub const STACK_SHARE: usize = 11;
    /// Init only: `image_map(a1 = asid, a2 = address, a3 = bytes in memory, a4 = offset in the bundle, a5 = bytes
    /// in the file | protection << 56)`.
    pub const IMAGE_MAP: usize = 12;
    /// Init only: `start_info(a1 = asid, a2 = page)`: fill the start-information page.
    pub const START_INFO: usize = 13;
    /// Init only: `device_map(a1 = asid, a2 = physical address, a3 = bytes)`.
    pub const DEVICE_MAP: usize = 14;
    /// Init only: `image_end(a1 = asid, a2 = address)`: where the heap starts.
    pub const IMAGE_END: usize = 15;
    /// Portal manager only: `memory_info(a1 = asid)`: answers pages in use (low 32 bits) and the limit; asid 0: free and all pages.
    pub const MEMORY_INFO: usize = 16;
    /// Portal manager only: `gift_prepare(a1 = asid)`: page-table page for given pages; answers the physical address of
    /// the first entry behind those in use, whose place in its page tells which page from `layout::GIFT` on it maps.
    pub const GIFT_PREPARE: usize = 17;

    /// Protection, and access in a call to a pager, as in ELF's `p_flags`: instructions may be fetched.
    pub const EXECUTE: u64 = 1;
    /// Protection and access: stores. Never together with [`EXECUTE`].
    pub const WRITE: u64 = 2;
    /// Protection and access: loads.
    pub const READ: u64 = 4;
    /// Flag of [`crate::slot::VM_SUPPLY`]: the pager loses the page; otherwise both have it.
    pub const SUPPLY_MOVE: u64 = 1;
    /// Flag of [`crate::slot::VM_SUPPLY`]: the receiver may write to the page.
    pub const SUPPLY_WRITE: u64 = 2;
}

/// Entries of the interrupt dispatcher.
pub mod dispatcher {
    /// `interrupt(a0 = cause)`: does not return.
    pub const INTERRUPT: usize = 0;
    /// Portal manager only: `attach(a1 = interrupt, a2 = semaphore)`.
    pub const ATTACH: usize = 1;
    /// Driver: `acknowledge(a1 = interrupt)`: the device was served, let it interrupt again.
    pub const ACKNOWLEDGE: usize = 2;
}

/// Entries of the loader.
pub mod loader {
    /// Init only: `load(a1 = index in the bundle)`; answers the new domain, or a refusal ([`crate::loader`]).
    pub const LOAD: usize = 0;
    /// Init only: `start(a1 = domain)`: its first thread runs from the image's entry point.
    pub const START: usize = 1;
}

/// Entries of init and the idle component.
pub mod thread {
    /// The first thread starts here.
    pub const MAIN: usize = 0;
}

/// A portal that every component has from the start.
#[derive(Clone, Copy, Debug)]
pub struct Standard {
    /// Slot.
    pub slot: usize,
    /// The server ([`role`]); `ORDINARY` for a short circuit.
    pub server: u32,
    /// Entry of the server, unused for a short circuit.
    pub entry: usize,
    /// Specification (see `docs/reference/portals.md`).
    pub specification: &'static str,
}

const fn standard(slot: usize, server: u32, entry: usize, specification: &'static str) -> Standard {
    Standard {
        slot,
        server,
        entry,
        specification,
    }
}

/// The portals that every component starts with. Short circuits and scheduler entries are written as
/// specifications whose first letter is not a stack letter: `x` names a short circuit, `b` an entry into the
/// scheduler (the thread may block there). Only trusted code can ask for those.
pub const STANDARD: &[Standard] = &[
    standard(
        slot::EXIT,
        role::PORTAL_MANAGER,
        portal_manager::EXIT,
        "nmcidt",
    ),
    standard(slot::GET_ASID, role::ORDINARY, 0, "x"),
    standard(slot::GET_THREAD, role::ORDINARY, 0, "x"),
    standard(slot::HRTIME, role::ORDINARY, 0, "x"),
    standard(slot::TIME_OF_DAY, role::ORDINARY, 0, "x"),
    standard(slot::YIELD, role::SCHEDULER, scheduler::YIELD, "bpt"),
    standard(slot::HRSLEEP, role::SCHEDULER, scheduler::SLEEP, "bpti"),
    standard(
        slot::THREAD_EXIT,
        role::PORTAL_MANAGER,
        portal_manager::THREAD_EXIT,
        "nmcdt",
    ),
    standard(
        slot::SEM_CREATE,
        role::PORTAL_MANAGER,
        portal_manager::SEM_CREATE,
        "nmcidt",
    ),
    standard(
        slot::SEM_DESTROY,
        role::PORTAL_MANAGER,
        portal_manager::SEM_DESTROY,
        "nmcidt",
    ),
    standard(slot::SBRK, role::VM, vm::SBRK, "nmcidt"),
    standard(
        slot::THREAD_CREATE,
        role::PORTAL_MANAGER,
        portal_manager::THREAD_CREATE,
        "nmtiiii",
    ),
    standard(
        slot::DOMAIN_FORK,
        role::PORTAL_MANAGER,
        portal_manager::DOMAIN_FORK,
        "npcidt",
    ),
    standard(
        slot::PORTAL_REGISTER,
        role::PORTAL_MANAGER,
        portal_manager::PORTAL_REGISTER,
        "nmtrrii",
    ),
    standard(
        slot::PORTAL_OPEN,
        role::PORTAL_MANAGER,
        portal_manager::PORTAL_OPEN,
        "nmtrd",
    ),
    standard(
        slot::PORTAL_CREATE_CHILD,
        role::PORTAL_MANAGER,
        portal_manager::PORTAL_CREATE_CHILD,
        "nmtiirii",
    ),
    standard(
        slot::PORTAL_NOTIFY,
        role::PORTAL_MANAGER,
        portal_manager::PORTAL_NOTIFY,
        "nmcidt",
    ),
    standard(
        slot::STACK_ADD,
        role::PORTAL_MANAGER,
        portal_manager::STACK_ADD,
        "nmtiid",
    ),
    standard(
        slot::PORTAL_CLOSE,
        role::PORTAL_MANAGER,
        portal_manager::PORTAL_CLOSE,
        "nmcidt",
    ),
    standard(slot::VM_MAP, role::VM, vm::VM_MAP, "nmcidt"),
    standard(slot::VM_UNMAP, role::VM, vm::VM_UNMAP, "nmcidt"),
    standard(
        slot::THREAD_PRIORITY,
        role::SCHEDULER,
        scheduler::THREAD_PRIORITY,
        "bpti",
    ),
    standard(
        slot::INFO,
        role::PORTAL_MANAGER,
        portal_manager::INFO,
        "nmciiwd",
    ),
    standard(slot::VM_PAGER, role::VM, vm::VM_PAGER, "nmdirit"),
    standard(slot::VM_SUPPLY, role::VM, vm::VM_SUPPLY, "nmdiiiit"),
    standard(
        slot::DOMAIN_KILL,
        role::PORTAL_MANAGER,
        portal_manager::DOMAIN_KILL,
        "nmcidt",
    ),
    standard(
        slot::PORTAL_ACCEPT,
        role::PORTAL_MANAGER,
        portal_manager::PORTAL_ACCEPT,
        "nmtird",
    ),
];
