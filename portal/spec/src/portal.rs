//! Which portal is wanted: the kind, its name, and the system around it. Generator, verifier and model each read
//! the same wish and share nothing else.

use pebble_abi::page_table::PageTemplate;

use crate::Specification;

/// What all portals of one running system share: privileged addresses and processor features.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct System {
    /// Table of threads (`pebble_abi::object::THREADS`).
    pub threads: u64,
    /// Array of domains (`pebble_abi::object::DOMAINS`).
    pub domains: u64,
    /// Per-hart block.
    pub hart: u64,
    /// Semaphore counters.
    pub semaphores: u64,
    /// The processor has ASIDs: no flush at a domain switch.
    pub asid: bool,
    /// The processor has `stimecmp`.
    pub sstc: bool,
    /// What the VM server registered for the window letters.
    pub pages: PageTemplate,
    /// Scheduler: its domain, stack, and the entries that generated code calls by itself.
    pub scheduler: SchedulerEntries,
    /// Interrupt dispatcher: domain, interrupt stack, entry.
    pub dispatcher: Target,
    /// VM server: domain and fault entry.
    pub vm: Target,
    /// Shared block that moves live floating-point registers to the invocation stack.
    pub float_push: u64,
    /// Shared block that enters the scheduler because a stack came back and threads wait for one.
    pub stack_free: u64,
    /// Shared block that parks the thread until a stack is free.
    pub stack_wait: u64,
    /// Shared block of ordinary exceptions, for illegal instructions that are not floating point.
    pub fault: u64,
}

impl System {
    /// No system yet: no addresses, a processor without features.
    pub const NONE: System = System {
        threads: 0,
        domains: 0,
        hart: 0,
        semaphores: 0,
        asid: false,
        sstc: false,
        pages: pebble_abi::page_table::TEMPLATE,
        scheduler: SchedulerEntries {
            domain: 0,
            stack: 0,
            p: 0,
            v: 0,
            stack_wait: 0,
            stack_free: 0,
        },
        dispatcher: Target::NONE,
        vm: Target::NONE,
        float_push: 0,
        stack_free: 0,
        stack_wait: 0,
        fault: 0,
    };
}

impl Target {
    /// Nowhere.
    pub const NONE: Target = Target {
        domain: 0,
        entry: 0,
        stack: 0,
    };
}

/// A callee: domain and entry address; `stack` only for those that have one of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// Privileged address of the `pebble_abi::object::Domain`.
    pub domain: u64,
    /// Address of the entry in that domain.
    pub entry: u64,
    /// Stack pointer on entry.
    pub stack: u64,
}

/// The scheduler as generated code needs it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SchedulerEntries {
    /// Privileged address of its domain.
    pub domain: u64,
    /// Its stack pointer on entry.
    pub stack: u64,
    /// Entry `p`.
    pub p: u64,
    /// Entry `v`.
    pub v: u64,
    /// Entry `stack_wait`.
    pub stack_wait: u64,
    /// Entry `stack_free`.
    pub stack_free: u64,
}

/// Which portal a block is: what its frames are named after.
#[derive(Clone, Copy, Debug, Default)]
pub struct Name {
    /// Number of the domain whose table the portal is in; 0 for blocks that all tables share.
    pub domain: u64,
    /// Generation of that domain number.
    pub generation: u64,
    /// Slot.
    pub slot: u64,
    /// The table belongs to a core server, whose portals may use the system's part of the invocation stack.
    pub system: bool,
}

/// What the portal does.
#[derive(Clone, Copy, Debug)]
pub enum Kind<'a> {
    /// A call and its return.
    Call {
        /// The specification.
        specification: &'a Specification,
        /// Callee's domain and entry.
        target: Target,
        /// Value for the letter `c`.
        constant: u64,
    },
    /// Entry into the scheduler by a running thread; `arguments` counts words passed on in `a1`...
    Scheduler {
        /// Address of the entry.
        entry: u64,
    },
    /// P (hybrid): inline when the counter is positive.
    SemaphoreWait {
        /// Index of the semaphore.
        index: u64,
    },
    /// V (hybrid): inline when nobody waits.
    SemaphorePost {
        /// Index of the semaphore.
        index: u64,
    },
    /// Slot 0.
    Return,
    /// A slot without a portal.
    Empty,
    /// A portal whose callee died: answers `-EOWNERDEAD`.
    Dead,
    /// Interrupts, to the dispatcher.
    Interrupt,
    /// Exceptions, to the VM server.
    Fault,
    /// A window's buffer is not present: to the VM server, with an answer for the caller.
    WindowFault,
    /// Illegal instruction: first use of floating point, otherwise an exception.
    Illegal,
    /// Shared code: see [`System::float_push`].
    FloatPush,
    /// Shared code: see [`System::stack_free`].
    StackFree,
    /// Shared code: see [`System::stack_wait`].
    StackWait,
    /// Tail call from the interrupt dispatcher into the scheduler.
    SchedulerTail {
        /// Address of the scheduler's entry.
        entry: u64,
    },
    /// The scheduler's switch to a parked thread (the papers' "portal 3").
    Switch,
    /// Short circuit: the invoking domain's number.
    GetAsid,
    /// Short circuit: the thread's number.
    GetThread,
    /// Short circuit: cycle counter divided by two.
    HighResolutionTime,
    /// Short circuit: nanoseconds since 1970.
    TimeOfDay {
        /// Nanoseconds per tick of the timebase.
        scale: u64,
        /// Nanoseconds at counter zero.
        offset: u64,
    },
    /// Short circuit: next timer interrupt at tick `a1`.
    SetTimer,
    /// Short circuit: wait for an interrupt.
    WaitForInterrupt,
    /// Short circuit: flush translations of domain `a0`.
    FlushDomain,
    /// Short circuit: flush the translation of address `a1` in domain `a0`.
    FlushPage,
    /// Short circuit: byte `a1` to the firmware's console.
    PutByte,
    /// Short circuit: make new portal code visible to instruction fetch.
    FlushInstructions,
    /// Short circuit: end the machine's run through the firmware.
    Reset,
}
