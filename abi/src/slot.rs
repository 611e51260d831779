//! Portal table slots: the numbers that travel in `a7`.
//!
//! Slot 0 returns from a portal. Slots 1 to 15 are the processor's exceptions by cause, 16 to 31 its
//! interrupts by cause; a thread that names one of them in `a7` gets `-ENOSYS`, because the portal
//! there compares the cause. Cause 8 (environment call) never arrives as an exception, so its slot
//! serves the portals themselves: "the buffer for this window is not present". A thread that names it asks for
//! the page at address 0, where nothing ever is, and gets `-EFAULT`.
//! Every other slot up to [`FIRST_DYNAMIC`] has one meaning in every component; the rest is given out
//! by the portal manager, lowest first.

/// Slots in a portal table. A power of two, so that indexing needs no branch.
pub const NPORTALS: usize = 512;
/// Longest portal name or specification, in bytes, the closing NUL included.
pub const NAMELEN: usize = 64;

/// Return to the invoking domain.
pub const RETURN: usize = 0;
/// First exception slot; add the cause (1 to 15).
pub const EXCEPTION: usize = 0;
/// Raised by portal code, not by the processor: a window's buffer is not present.
pub const WINDOW_FAULT: usize = 8;
/// First interrupt slot; add the cause (0 to 15).
pub const INTERRUPT: usize = 16;
/// Supervisor timer interrupt.
pub const TIMER_INTERRUPT: usize = INTERRUPT + 5;
/// Supervisor external interrupt (the platform's interrupt controller).
pub const EXTERNAL_INTERRUPT: usize = INTERRUPT + 9;

/// First slot of an ordinary portal: those before it are the way back, exceptions and interrupts.
pub const FIRST_PORTAL: usize = INTERRUPT + 16;

/// End the invoking domain: `exit(status)`. Does not return.
pub const EXIT: usize = 32;
/// Short circuit: number of the invoking domain (its ASID).
pub const GET_ASID: usize = 33;
/// Short circuit: number of the calling thread.
pub const GET_THREAD: usize = 34;
/// Short circuit: cycle counter, in units of two cycles (USENIX paper, appendix).
pub const HRTIME: usize = 35;
/// Short circuit: nanoseconds since 1970-01-01 UTC.
pub const TIME_OF_DAY: usize = 36;
/// Scheduler: let the next thread of this priority run.
pub const YIELD: usize = 37;
/// Scheduler: wait until `hrtime()` reaches `a1`.
pub const HRSLEEP: usize = 38;
/// Scheduler: end the calling thread.
pub const THREAD_EXIT: usize = 39;
/// Portal manager: `sem_create(a1 = value)`; answers the slot of P; V is the next slot.
pub const SEM_CREATE: usize = 40;
/// Portal manager: `sem_destroy(a1 = slot of P)`.
pub const SEM_DESTROY: usize = 41;
/// VM server: `sbrk(a1 = bytes)`; answers the old break.
pub const SBRK: usize = 42;
/// Portal manager: `thread_create(a1 = entry, a2 = stack pointer, a3 = argument, a4 = thread pointer)`.
pub const THREAD_CREATE: usize = 43;
/// Portal manager: `domain_fork(a1 = intercept)`; answers the child's ASID, 0 in the child.
pub const DOMAIN_FORK: usize = 44;
/// Portal manager: `portal_register(a1 = name, a2 = specification, a3 = constant, a4 = entry)`.
pub const PORTAL_REGISTER: usize = 45;
/// Portal manager: `portal_open(a1 = name)`; answers the slot.
pub const PORTAL_OPEN: usize = 46;
/// Portal manager: `portal_create_child(a1 = asid, a2 = slot, a3 = specification, a4 = constant, a5 = entry)`.
pub const PORTAL_CREATE_CHILD: usize = 47;
/// Portal manager: `portal_notify(a1 = function)`.
pub const PORTAL_NOTIFY: usize = 48;
/// Portal manager: `stack_add(a1 = stack slot, a2 = thread pointer)`: put a stack into the domain's stack queue.
/// The stack's thread-local block lies between the thread pointer and the top of the slot, so the stack pointer
/// on entry is the thread pointer rounded down to 16; with a thread pointer of 0 it is the top of the slot.
pub const STACK_ADD: usize = 49;
/// Portal manager: `portal_close(a1 = slot)`.
pub const PORTAL_CLOSE: usize = 50;
/// VM server: `vm_map(a1 = bytes)`: demand-zero pages; answers the address.
pub const VM_MAP: usize = 51;
/// VM server: `vm_unmap(a1 = address)`: give back one region that `vm_map` made.
pub const VM_UNMAP: usize = 52;
/// Scheduler: `thread_priority(a1 = priority)`: change the calling thread's priority, up to its component's limit.
pub const THREAD_PRIORITY: usize = 53;
/// Portal manager: `info(a1 = kind, a2 = index, a3 = buffer)`: one record about a domain, thread, portal or memory.
pub const INFO: usize = 54;
/// VM server: `vm_pager(a1 = bytes, a2 = pager portal name, a3 = cookie)`: a region whose faults a user-level pager answers.
pub const VM_PAGER: usize = 55;
/// VM server: `vm_supply(a1 = asid, a2 = address, a3 = page, a4 = flags)`: a pager gives a page to a faulting domain.
pub const VM_SUPPLY: usize = 56;
/// Portal manager: `domain_kill(a1 = asid)`: end a child, or any domain for the init component.
pub const DOMAIN_KILL: usize = 57;
/// Portal manager: `portal_accept(a1 = slot that a call passed, a2 = specification)`; answers the slot here.
pub const PORTAL_ACCEPT: usize = 58;

/// First slot that the portal manager gives out.
pub const FIRST_DYNAMIC: usize = 64;

/// Scheduler's own portals (present in its table only, at the slots that are empty elsewhere).
pub mod scheduler {
    /// Short circuit: give the processor to the parked thread `a0` and `a1` as its call's result.
    pub const SWITCH: usize = 58;
    /// Short circuit: next timer interrupt at `a0` (timebase ticks).
    pub const SET_TIMER: usize = 59;
}
/// The idle component's own portal.
pub mod idle {
    /// Short circuit: wait for an interrupt.
    pub const WAIT_FOR_INTERRUPT: usize = 58;
}
/// The interrupt dispatcher's own portals.
pub mod dispatcher {
    /// Tail call: `timer()` in the scheduler; does not return.
    pub const TIMER: usize = 58;
    /// Tail call: V on semaphore index `a0`, then resume a thread; does not return.
    pub const DEVICE: usize = 59;
    /// Tail call: nothing happened, resume the interrupted thread; does not return.
    pub const SPURIOUS: usize = 60;
}
/// The VM server's own portals.
pub mod vm {
    /// Short circuit: forget cached translations of domain `a0` (its ASID).
    pub const FLUSH_DOMAIN: usize = 58;
    /// Short circuit: forget the cached translation of address `a1` in domain `a0`.
    pub const FLUSH_PAGE: usize = 59;
    /// Portal manager: a fault that nothing answers: `fault(a1 = thread, a2 = domain, a3 = cause, a4 = address, a5 = pc)`.
    pub const FAULT_REPORT: usize = 60;
    /// Portal manager: `template(a1 = page template)`.
    pub const TEMPLATE: usize = 57;
}

/// The standard slots, for the C header and the reference: C name, number, meaning.
pub const STANDARD: &[(&str, usize, &str)] = &[
    ("SYS_RETURN", RETURN, "return to the invoking domain"),
    ("SYS_EXIT", EXIT, "end the invoking domain"),
    ("SYS_GET_ASID", GET_ASID, "number of the invoking domain"),
    ("SYS_GET_THREAD", GET_THREAD, "number of the calling thread"),
    (
        "SYS_HRTIME",
        HRTIME,
        "cycle counter, in units of two cycles",
    ),
    ("SYS_TIME_OF_DAY", TIME_OF_DAY, "nanoseconds since 1970"),
    (
        "SYS_YIELD",
        YIELD,
        "let the next thread of this priority run",
    ),
    ("SYS_HRSLEEP", HRSLEEP, "wait until a point in time"),
    ("SYS_THREAD_EXIT", THREAD_EXIT, "end the calling thread"),
    ("SYS_SEM_CREATE", SEM_CREATE, "make a semaphore"),
    ("SYS_SEM_DESTROY", SEM_DESTROY, "end a semaphore"),
    ("SYS_SBRK", SBRK, "grow or shrink the heap"),
    ("SYS_THREAD_CREATE", THREAD_CREATE, "make a thread"),
    (
        "SYS_DOMAIN_FORK",
        DOMAIN_FORK,
        "make an interposed copy of the domain",
    ),
    (
        "SYS_PORTAL_REGISTER",
        PORTAL_REGISTER,
        "offer a service under a name",
    ),
    ("SYS_PORTAL_OPEN", PORTAL_OPEN, "open a service by name"),
    (
        "SYS_PORTAL_CREATE_CHILD",
        PORTAL_CREATE_CHILD,
        "put a portal into a child's table",
    ),
    ("SYS_PORTAL_NOTIFY", PORTAL_NOTIFY, "be told of new portals"),
    (
        "SYS_STACK_ADD",
        STACK_ADD,
        "put a stack into the stack queue",
    ),
    ("SYS_PORTAL_CLOSE", PORTAL_CLOSE, "close a portal"),
    ("SYS_VM_MAP", VM_MAP, "map demand-zero pages"),
    ("SYS_VM_UNMAP", VM_UNMAP, "give a mapped region back"),
    (
        "SYS_THREAD_PRIORITY",
        THREAD_PRIORITY,
        "change the calling thread's priority",
    ),
    ("SYS_INFO", INFO, "read a record about the system"),
    (
        "SYS_VM_PAGER",
        VM_PAGER,
        "map a region with a user-level pager",
    ),
    ("SYS_VM_SUPPLY", VM_SUPPLY, "supply a page as a pager"),
    ("SYS_DOMAIN_KILL", DOMAIN_KILL, "end another domain"),
    (
        "SYS_PORTAL_ACCEPT",
        PORTAL_ACCEPT,
        "take over a portal that a call passed",
    ),
];

/// Slots in the tables of the portal manager and the VM server: P and V of their own lock.
pub mod lock {
    /// P.
    pub const P: usize = 61;
    /// V.
    pub const V: usize = 62;
}
/// Short circuit in every core server's table: one byte (`a1`) to the firmware's console.
pub const PUTC: usize = 63;
/// Drivers' portals.
pub mod driver {
    /// `interrupt_semaphore(a1 = interrupt)`; answers the slot of P. The clock driver has `time_offset` here.
    pub const INTERRUPT_SEMAPHORE: usize = 61;
    /// `acknowledge(a1 = interrupt)`.
    pub const ACKNOWLEDGE: usize = 62;
    /// `time_offset(a1 = nanoseconds)`: what time of day adds to the counter (clock driver only).
    pub const TIME_OFFSET: usize = 60;
}
/// The portal manager's own portals: entries of the other core servers, by index from these bases.
pub mod portal_manager {
    /// V on the semaphore that tells init of a death.
    pub const DEATH_V: usize = 58;
    /// P on the stack warden's semaphore.
    pub const WARDEN_P: usize = 59;
    /// Short circuit: make new portal code visible to instruction fetch.
    pub const FLUSH_INSTRUCTIONS: usize = 60;
    /// Scheduler entry `n` is at `SCHEDULER + n`.
    pub const SCHEDULER: usize = 64;
    /// VM server entry `n` is at `VM + n`.
    pub const VM: usize = 96;
    /// Dispatcher entry `n` is at `DISPATCHER + n`.
    pub const DISPATCHER: usize = 128;
    /// Short circuit: end the machine's run through the firmware.
    pub const RESET: usize = 136;
    /// V on the stack warden's semaphore.
    pub const WARDEN_V: usize = 137;
    /// First slot of the portals that the portal manager makes for itself.
    pub const OWN: usize = 144;
}
/// The loader's own portals.
pub mod loader {
    /// Portal manager entry `n` is at `PORTAL_MANAGER + n`.
    pub const PORTAL_MANAGER: usize = 64;
    /// VM server entry `n` is at `VM + n`.
    pub const VM: usize = 96;
}
/// Init's own portals.
pub mod init {
    /// Portal manager entry `n` is at `PORTAL_MANAGER + n`.
    pub const PORTAL_MANAGER: usize = 64;
    /// VM server entry `n` is at `VM + n`.
    pub const VM: usize = 96;
    /// Scheduler's `start`.
    pub const SCHEDULER_START: usize = 128;
    /// P on the semaphore that tells of a death.
    pub const DEATH_P: usize = 129;
    /// Loader entry `n` is at `LOADER + n`.
    pub const LOADER: usize = 130;
    /// First slot that the portal manager gives out to init.
    pub const FIRST_DYNAMIC: usize = 144;
}
