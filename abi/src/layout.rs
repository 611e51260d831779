//! Where things are: address spaces of components and of the nucleus (RISC-V, Sv39).

/// Bytes in a page.
pub const PAGE: u64 = 4096;
/// `log2(PAGE)`.
pub const PAGE_SHIFT: u32 = 12;

// Why what every program has begins at 16 MiB: the root tables of all domains, their first entries, and the portal
// tables' first slots share one set of a virtually indexed cache with 4 KiB ways. The level-1 entries of lower addresses
// would be in that set too, which on a four-way cache cost 100 cycles per call and return (Rocket, bench/rtl).

/// Code that every domain shares (see `portal/codegen` for its contents): the return from a portal.
pub const GATE: u64 = 0x101_0000;
/// Offset in the gate page of `li a7, RETURN; ecall`.
pub const GATE_RETURN: u64 = 0;
/// Offset in the gate page of `li a7, scheduler::SWITCH; ecall`.
pub const GATE_SWITCH: u64 = 16;
/// Offset in the gate page of `li a7, THREAD_EXIT; ecall`.
pub const GATE_THREAD_EXIT: u64 = 32;
/// Offset in the gate page where a thread continues whose domain died: it returns `-EOWNERDEAD` to its invoker,
/// or ends when it has none.
pub const GATE_DEAD: u64 = 64;
/// Where a core component finds its [`crate::object::BootInfo`] (read-only).
pub const BOOT_INFO: u64 = 0x101_1000;
/// Where every loaded component finds its [`crate::object::StartInfo`] and arguments.
pub const START_INFO: u64 = 0x101_2000;
/// Where a component's image begins.
pub const IMAGE: u64 = 0x110_0000;
/// End of image and heap: `sbrk` fails beyond.
pub const HEAP_LIMIT: u64 = 0x1000_0000;
/// Regions made by `vm_map` lie between here and [`MAP_LIMIT`].
pub const MAP: u64 = 0x1000_0000;
/// End of the `vm_map` area.
pub const MAP_LIMIT: u64 = 0x4000_0000;
/// Where pages that portals give appear (specification letters `W`, `G`, `T`): the last level-0 table of the
/// `vm_map` area, which `vm_map` itself leaves alone.
pub const GIFT: u64 = MAP_LIMIT - GIFT_PAGES * PAGE;
/// Pages in the area at [`GIFT`]: one level-0 table.
pub const GIFT_PAGES: u64 = 512;
/// A device register at physical address `p` appears at `DEVICE + p` in its driver.
pub const DEVICE: u64 = 0x4_0000_0000;

/// Stack areas: domain `d`'s threads have their stacks at `STACKS + d * STACK_AREA`, so that a stack can
/// be shared with a callee at the same address. Like everything else that a program sees, they lie below 2 GiB,
/// so that a C `int` can carry an address (the appendix program of the USENIX paper passes them so).
pub const STACKS: u64 = 0x4000_0000;
/// Bytes of address space for one domain's stacks.
pub const STACK_AREA: u64 = 8 << 20;
/// Bytes of address space for one stack slot: window pages, a guard page, the stack.
pub const STACK_SLOT: u64 = 256 << 10;
/// Stack slots in a domain.
pub const STACK_SLOTS: u64 = STACK_AREA / STACK_SLOT;
/// Window pages at the start of a stack slot.
pub const WINDOW_PAGES: u64 = 16;
/// First byte of the stack proper, relative to its slot: after the windows and one guard page.
pub const STACK_BOTTOM: u64 = (WINDOW_PAGES + 1) * PAGE;

/// In the VM server: physical address `p` of RAM appears at `PHYSICAL + (p - RAM)`.
pub const PHYSICAL: u64 = 0x30_0000_0000;
/// In the portal manager: the nucleus objects ([`crate::object`]), writable.
pub const OBJECTS: u64 = 0x38_0000_0000;
/// In the loader and init: the bundle, read-only.
pub const BUNDLE: u64 = 0x3c_0000_0000;
/// First address that is not a component's.
pub const USER_LIMIT: u64 = 0x40_0000_0000;

/// Start of RAM on the `virt` machine.
pub const RAM: u64 = 0x8000_0000;
/// Privileged view of physical memory: address `p` is at `PHYSMAP + p`; never executable.
pub const PHYSMAP: u64 = 0xffff_ffc0_0000_0000;
/// Privileged code of the nucleus is linked here; physical `p` is at `NUCLEUS + (p - RAM)`.
pub const NUCLEUS: u64 = 0xffff_ffff_8000_0000;
/// Portal code, executable and read-only in privileged mode.
pub const PORTAL_CODE: u64 = 0xffff_ffff_c000_0000;

/// Protection domains at one time; a domain's number is its ASID, 0 is never used.
pub const MAX_DOMAINS: usize = 128;
/// Threads at one time.
pub const MAX_THREADS: usize = 256;
/// Stacks known to the portal manager at one time.
pub const MAX_STACKS: usize = 1024;
/// Semaphores at one time.
pub const MAX_SEMAPHORES: usize = 1024;
/// Thread priorities: 0 (idle only) to 63 (highest).
pub const PRIORITIES: usize = 64;

/// The address of stack slot `slot` of the stack area that starts at `area`.
pub const fn stack_slot(area: u64, slot: u64) -> u64 {
    area + slot * STACK_SLOT
}

/// The top (first address beyond) of the stack in slot `slot` of the area at `area`.
pub const fn stack_top(area: u64, slot: u64) -> u64 {
    area + (slot + 1) * STACK_SLOT
}
