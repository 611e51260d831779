//! Nucleus objects: the records in privileged memory that portal code reads and writes, and the pages
//! through which boot code and loader tell a component where it is.
//!
//! Portal code uses the byte offsets of these `repr(C)` structures; only the portal manager sees the
//! objects from user level (at [`crate::layout::OBJECTS`]), and only boot code made the first ones.

pub use crate::frame::*;

/// Bytes of the object region: portal code, then the tables below, then a pool of pages.
pub const REGION: u64 = 8 << 20;
/// Offset of portal code; [`CODE_BYTES`] long.
pub const CODE: u64 = 0;
/// Bytes for portal code.
pub const CODE_BYTES: u64 = 2 << 20;
/// Offset of the thread table: privileged address of each thread's [`Thread`], 0 when free.
///
/// What every switch touches lies apart in a virtually indexed cache with 4 KiB ways: not at the start of a page, where
/// root tables and portal tables have their busiest lines (`bench/rtl/README.md`).
pub const THREADS: u64 = CODE_BYTES + 0x600;
/// Offset of the per-hart block ([`Hart`]).
pub const HART: u64 = CODE_BYTES + 0x1a00;
/// Offset of the array of [`Domain`].
pub const DOMAINS: u64 = CODE_BYTES + 0x2000;
/// Offset of the array of [`Stack`].
pub const STACKS: u64 = DOMAINS + (crate::layout::MAX_DOMAINS as u64) * DOMAIN_BYTES;
/// Offset of the page pool: portal tables (one page) and threads (two pages).
pub const POOL: u64 = STACKS + (crate::layout::MAX_STACKS as u64) * STACK_BYTES;
/// Bytes of one [`Domain`] record.
pub const DOMAIN_BYTES: u64 = 128;
/// Bytes of one [`Stack`] record.
pub const STACK_BYTES: u64 = 64;
/// Bytes of a thread object: [`Thread`] at the bottom, the invocation stack down from the top.
pub const THREAD_BYTES: u64 = THREAD_PAGES * crate::layout::PAGE - 4 * THREAD_COLOUR;
/// Pages that a thread object has for itself.
pub const THREAD_PAGES: u64 = 2;
/// Bytes between the places of two threads' objects within their pages: both busy lines of a [`Thread`].
const THREAD_COLOUR: u64 = 128;
/// Offset of a thread's object from the start of its pages: threads that take turns do not evict each other's lines from a
/// virtually indexed cache, nor those at the start of a page.
pub const fn thread_offset(number: u64) -> u64 {
    THREAD_COLOUR * (1 + number % 4)
}
/// Room below [`Thread::system_limit`] that a portal uses without a check of its own: a floating-point
/// frame, a full frame and the largest call frame with its scratch words.
pub const INVOCATION_RESERVE: u64 = 904;
/// Room between [`Thread::invocation_limit`] and [`Thread::system_limit`], for the calls that servers make
/// on behalf of a thread that faulted.
pub const SYSTEM_RESERVE: u64 = 2560;
/// State of a thread: everything about it is on its invocation stack (design invariant I4).
pub const PARKED: u64 = 0;
/// State of a thread: it runs on a hart. So does a thread with any other state that is not [`PARKED`]: the switch stores
/// the address of the thread's record.
pub const RUNNING: u64 = 1;

/// A thread as portal code knows it (USENIX paper, "Nucleus Data Structures").
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Thread {
    /// `t0` and `t1` of the trapping program, for the trampoline.
    pub scratch: [u64; 2],
    /// Portal table of the domain that the thread is executing in.
    pub table: u64,
    /// Top frame of the invocation stack.
    pub invocation: u64,
    /// Lowest value of `invocation` at which a portal of an ordinary component may still push a frame.
    pub invocation_limit: u64,
    /// The same for portals in the tables of core servers: what they do for a fault always fits.
    pub system_limit: u64,
    /// [`Domain`] that the thread is executing in.
    pub domain: u64,
    /// [`Stack`] that the thread is executing on.
    pub stack: u64,
    /// Index in the thread table.
    pub number: u32,
    /// Number of the domain that the thread was created in.
    pub home: u32,
    /// [`RUNNING`] or [`PARKED`].
    pub state: u64,
    /// Where the current context's floating-point registers are while they are not in the processor: 0, it has none;
    /// the address of [`Thread::fp`], in the processor if [`Hart::fp_owner`] is this thread, there if not; the
    /// address of the words of a [`FrameKind::Floating`] frame of this thread, saved in that frame.
    pub fp_live: u64,
    /// Per-hart block of the hart that ran the thread last.
    pub hart: u64,
    /// Times the thread was created anew under this number.
    pub generation: u64,
    /// Room for registers while a floating-point trap is handled.
    pub float_scratch: [u64; 2],
    /// Spare word.
    pub reserved: u64,
    /// `f0` to `f31` and `fcsr`, while `fp_live` names them and another thread, or none, owns the registers.
    pub fp: [u64; 33],
}

/// A protection domain as portal code knows it: page table and portal table.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Domain {
    /// Value of `satp`: mode, ASID, root page.
    pub satp: u64,
    /// Privileged address of the portal table.
    pub table: u64,
    /// First free [`Stack`] of the stack queue, 0 when empty.
    pub stacks: u64,
    /// Threads that wait for a stack.
    pub stack_waiters: u64,
    /// The domain's number, its ASID.
    pub asid: u64,
    /// Privileged address of the root page table.
    pub root: u64,
    /// Times this number was used; part of a frame's name for its portal.
    pub generation: u64,
    /// Non-zero once the domain is dead.
    pub dead: u64,
    /// Next page-table entry for given pages, and the end of that array (specification letters `W`, `G`, `T`).
    pub gift: [u64; 2],
    /// Address of the page that `gift[0]` maps.
    pub gift_address: u64,
    /// Which 2 MiB of the domain's addresses the next word is about: their number, or [`NO_SPAN`].
    pub leaf_span: u64,
    /// Where the entries of that span are: the privileged address of its page-table page, less 4096 times the span's
    /// number, so that the entry of an address is at `leaf_bias + (address >> 12) * 8`. Portal code fills both words
    /// when it has walked the tables for a window; `FLUSH_DOMAIN` empties them before a table gets another use.
    pub leaf_bias: u64,
    /// Spare words.
    pub reserved: [u64; 3],
}

/// [`Domain::leaf_span`] when nothing is remembered: the number of no span.
pub const NO_SPAN: u64 = !0;

/// A stack in a stack queue, or the stack of a thread.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Stack {
    /// Next free stack in the queue.
    pub next: u64,
    /// Stack pointer on entry.
    pub top: u64,
    /// Thread pointer (`tp`) for code that runs on this stack.
    pub tp: u64,
    /// Where the page-table entries of this stack's window pages are: the one for address `a` is at the privileged
    /// address `window_bias + (a >> 9)`.
    pub window_bias: u64,
    /// Address of the first window page that is not in use.
    pub window_next: u64,
    /// Address behind the last window page.
    pub window_end: u64,
    /// Number of the domain that owns the stack.
    pub domain: u64,
    /// Non-zero while the record is in use.
    pub in_use: u64,
}

impl Stack {
    /// The record of a stack whose first window page is at `window`, with its page-table entry at `entry`: no window is
    /// open, no thread pointer, in no queue.
    pub const fn new(domain: u64, top: u64, window: u64, entry: u64) -> Stack {
        Stack {
            next: 0,
            top,
            tp: 0,
            window_bias: entry.wrapping_sub(window >> 9),
            window_next: window,
            window_end: window + crate::layout::WINDOW_PAGES * crate::layout::PAGE,
            domain,
            in_use: 1,
        }
    }

    /// Address of the first window page.
    pub const fn window(&self) -> u64 {
        self.window_end - crate::layout::WINDOW_PAGES * crate::layout::PAGE
    }
}

/// Per-hart state, reached through the thread that runs on the hart.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Hart {
    /// Thread whose floating-point registers are in the processor, 0 when none.
    pub fp_owner: u64,
    /// Scratch word: portal code stores here to end a load reservation.
    pub reservation: u64,
    /// Interrupt stack pointer (in the interrupt dispatcher).
    pub interrupt_stack: u64,
    /// Scheduler stack pointer.
    pub scheduler_stack: u64,
}

/// Roles of the components that boot code places.
pub mod role {
    /// An ordinary component.
    pub const ORDINARY: u32 = 0;
    /// The VM server.
    pub const VM: u32 = 1;
    /// The portal manager.
    pub const PORTAL_MANAGER: u32 = 2;
    /// The scheduler.
    pub const SCHEDULER: u32 = 3;
    /// The interrupt dispatcher.
    pub const DISPATCHER: u32 = 4;
    /// The idle component.
    pub const IDLE: u32 = 5;
    /// Init: owns the system description and decides what runs.
    pub const INIT: u32 = 6;
    /// The loader: makes domains of images.
    pub const LOADER: u32 = 7;
    /// The first of the loaded components with a special place: the name server.
    pub const NAME_SERVER: u32 = 8;
    /// Number of roles that boot code places (1 to this, exclusive).
    pub const CORE_END: u32 = 8;
}

/// A range of physical memory.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Range {
    /// First byte.
    pub start: u64,
    /// First byte beyond.
    pub end: u64,
}

/// A domain that boot code made.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct CoreDomain {
    /// Its role ([`role`]); its number is the same.
    pub role: u32,
    /// Scheduling priority of its first thread.
    pub priority: u32,
    /// Physical address of the root page table.
    pub root: u64,
    /// End of its image.
    pub image_end: u64,
    /// Its portal entries (addresses), in the order of [`crate::entry`].
    pub entries: [u64; 32],
    /// Index of its image in the bundle.
    pub image: u64,
}

/// What boot code tells the core components, at [`crate::layout::BOOT_INFO`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct BootInfo {
    /// [`BOOT_MAGIC`].
    pub magic: u64,
    /// Start and end of RAM.
    pub ram: Range,
    /// Physical memory that is free for the VM server, boot code's own pages among it.
    pub free: [Range; 8],
    /// Pages of discarded boot code and data that are within `free`.
    pub boot_discarded: u64,
    /// Bytes of resident privileged code in the nucleus image (generated portals apart).
    pub resident_code: u64,
    /// Physical address of the object region.
    pub objects: u64,
    /// Bytes of portal code in use.
    pub code_used: u64,
    /// Pages of the object pool in use.
    pub pool_used: u64,
    /// Stack records in use.
    pub stacks_used: u64,
    /// Threads in use.
    pub threads_used: u64,
    /// Physical address and length of the bundle.
    pub bundle: Range,
    /// Timebase frequency in Hz.
    pub timebase: u64,
    /// Processor features, see [`feature`].
    pub features: u64,
    /// Address (in the scheduler) and physical address of the semaphore counters.
    pub semaphores: [u64; 2],
    /// Address of generated code shared by all domains: see [`shared_code`].
    pub shared_code: [u64; 8],
    /// One more: a thread waits for a stack.
    pub stack_wait_code: u64,
    /// Stack pointers of the scheduler and of the interrupt dispatcher.
    pub fixed_stacks: [u64; 2],
    /// Core domains by role.
    pub core: [CoreDomain; 8],
}

/// `"PEBBLEbi"`, little endian.
pub const BOOT_MAGIC: u64 = u64::from_le_bytes(*b"PEBBLEbi");

/// Bits of [`BootInfo::features`].
pub mod feature {
    /// ASIDs are implemented: a domain switch needs no flush.
    pub const ASID: u64 = 1;
    /// Sstc: `stimecmp` can be written in S-mode.
    pub const SSTC: u64 = 2;
    /// F and D are implemented.
    pub const FLOAT: u64 = 4;
}

/// Indices of code that every portal table shares, in [`BootInfo::shared_code`].
pub mod shared_code {
    /// Slot 0.
    pub const RETURN: usize = 0;
    /// An empty slot.
    pub const EMPTY: usize = 1;
    /// Page faults and other exceptions that the VM server handles.
    pub const FAULT: usize = 2;
    /// Illegal instruction: floating point first, then as `FAULT`.
    pub const ILLEGAL: usize = 3;
    /// Interrupts, to the dispatcher.
    pub const INTERRUPT: usize = 4;
    /// A window's buffer is not present.
    pub const WINDOW_FAULT: usize = 5;
    /// Live floating-point registers to the invocation stack.
    pub const FLOAT_PUSH: usize = 6;
    /// A stack came back and threads wait for one.
    pub const STACK_FREE: usize = 7;
}

/// What the loader tells a component about itself, at [`crate::layout::START_INFO`]; the argument strings
/// follow in the same page.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct StartInfo {
    /// [`START_MAGIC`].
    pub magic: u64,
    /// Number of the domain.
    pub asid: u64,
    /// Start of the domain's stack area.
    pub stack_area: u64,
    /// Bit 0: interactive system; bit 1: this is the program of `pebble run`.
    pub flags: u64,
    /// Number of arguments.
    pub argc: u64,
    /// Offset, from the start of this page, of the arguments: NUL-terminated strings one after the other.
    pub argv_offset: u64,
    /// First byte after the image: the initial break.
    pub image_end: u64,
    /// The component's name, NUL-terminated.
    pub name: [u8; 32],
    /// The device registers and interrupts that the system description gives it, in its order.
    pub devices: [crate::bundle::Device; 4],
}

/// `"PEBBLEsi"`, little endian.
pub const START_MAGIC: u64 = u64::from_le_bytes(*b"PEBBLEsi");

/// What init tells the portal manager about a component that is to become a domain.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DomainDescription {
    /// Name, NUL-terminated.
    pub name: [u8; 32],
    /// Role ([`role`]).
    pub role: u32,
    /// Priority of its threads.
    pub priority: u32,
    /// Most pages of memory.
    pub memory_pages: u32,
    /// Round-robin quantum or period in microseconds.
    pub quantum: u32,
    /// Budget in each period in microseconds (deadline scheduler).
    pub budget: u32,
    /// Flags of [`crate::bundle`].
    pub flags: u32,
    /// Interrupts that it may attach to, 0 for none.
    pub interrupts: [u32; 4],
    /// Most threads.
    pub threads: u32,
    /// Spare.
    pub reserved: u32,
}

/// A death, as init learns of it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Death {
    /// The component's name.
    pub name: [u8; 32],
    /// Its domain.
    pub asid: u32,
    /// [`DEATH_EXIT`], [`DEATH_FAULT`], [`DEATH_KILLED`] or [`REFUSED_SPECIFICATION`].
    pub kind: u32,
    /// Exit status, for an exit.
    pub status: i64,
    /// Cause (`scause`), address and program counter, for a fault.
    pub cause: u64,
    /// See `cause`.
    pub address: u64,
    /// See `cause`.
    pub pc: u64,
    /// Flags of [`crate::bundle`] that the component had.
    pub flags: u64,
}

/// The component called exit.
pub const DEATH_EXIT: u32 = 1;
/// A fault that nothing answered.
pub const DEATH_FAULT: u32 = 2;
/// Added to the cause of a fault: the page would be the domain's, but memory has run out.
pub const OUT_OF_MEMORY: u64 = 1 << 8;
/// Another component ended it.
pub const DEATH_KILLED: u32 = 3;
/// No death: a specification of the component was refused; `address` and `pc` hold its first 16 characters.
pub const REFUSED_SPECIFICATION: u32 = 4;

/// One answer of the `info` portal: numbers whose meaning depends on the kind asked for ([`info`]).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct InfoRecord {
    /// A name, NUL-terminated.
    pub name: [u8; 32],
    /// Numbers.
    pub values: [u64; 8],
}

/// Kinds of the `info` portal. An index without a record answers `-ENOENT`, one past the last `-EINVAL`, so a caller
/// counts up until then.
pub mod info {
    /// Domain `index`: asid, parent, threads, portals (the standard ones not counted), pages, limit, state
    /// ([`ALIVE`] and what follows it), generation.
    pub const DOMAIN: usize = 0;
    /// Bit of a domain's state: it is alive, not only a number that threads still have to leave.
    pub const ALIVE: u64 = 1;
    /// First of 8 bits of a domain's state: the flags of [`crate::bundle`] that it was described with.
    pub const FLAGS_SHIFT: u32 = 8;
    /// First of 8 bits of a domain's state: the highest priority of its threads.
    pub const PRIORITY_SHIFT: u32 = 16;
    /// First of 8 bits of a domain's state: its [`super::role`].
    pub const ROLE_SHIFT: u32 = 24;
    /// Thread `index`: number, home, domain it executes in, priority, state, depth of its invocation stack in bytes,
    /// what it waits for, pc of its top frame.
    pub const THREAD: usize = 1;
    /// Portal in slot `index % NPORTALS` of domain `index / NPORTALS`: domain, slot, callee or semaphore, bytes of
    /// code, what it does ([`CALL`] to [`DEAD`]), most instructions of call and return together as the verifier proved;
    /// name = specification. Standard portals have no record.
    pub const PORTAL: usize = 2;
    /// A portal that calls into a domain.
    pub const CALL: u64 = 0;
    /// A portal that is P on a semaphore.
    pub const SEMAPHORE_WAIT: u64 = 1;
    /// A portal that is V on a semaphore.
    pub const SEMAPHORE_POST: u64 = 2;
    /// A portal whose callee died.
    pub const DEAD: u64 = 3;
    /// Memory: free pages, all pages, bytes of portal code in use, pool pages in use, resident nucleus bytes,
    /// discarded boot pages, portals (the standard ones not counted).
    pub const MEMORY: usize = 3;
    /// Registered service `index`: index, owner; name = specification. What it is called, the name server knows.
    pub const SERVICE: usize = 4;
    /// The system (index 0): nanoseconds that the time of day adds to the counter, which is 0 when the machine starts;
    /// timebase in Hz; processor features ([`super::feature`]).
    pub const SYSTEM: usize = 5;
}
