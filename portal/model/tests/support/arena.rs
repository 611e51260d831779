//! The memory that a case runs in: one thread and another, domains, stacks, page tables, code.

use pebble_abi::layout::{PHYSMAP, PORTAL_CODE};
use pebble_portal_spec::portal::{SchedulerEntries, System, Target};

#[path = "../../harness/riscv64/layout.rs"]
pub mod layout;
use layout::*;

const PAGE: u64 = 4096;
/// First word of the arena as portal code sees it.
pub const BASE: u64 = PHYSMAP + ARENA;
/// The running thread: two pages.
pub const THREAD: u64 = BASE;
/// Another thread.
pub const OTHER: u64 = BASE + 2 * PAGE;
/// Hart, semaphores, domains, stacks.
pub const HART: u64 = BASE + 3 * PAGE;
pub const SEMAPHORES: u64 = HART + 0x80;
const DOMAINS: u64 = HART + 0x200;
const STACKS: u64 = HART + 0x600;
/// Table of threads, and the invoker's portal table.
pub const THREADS: u64 = BASE + 4 * PAGE;
pub const TABLE: u64 = THREADS + 0x800;
/// The invoker's page tables: a root, a table below, two below that.
pub const ROOT: u64 = BASE + 5 * PAGE;
pub const MIDDLE: u64 = BASE + 6 * PAGE;
pub const LEAVES: [u64; 2] = [BASE + 7 * PAGE, BASE + 8 * PAGE];
/// The root of all other domains, and the entries behind their window pages.
pub const OTHER_ROOT: u64 = BASE + 9 * PAGE;
pub const WINDOWS: u64 = BASE + 10 * PAGE;
/// Page tables of all other domains.
pub const OTHER_MIDDLE: u64 = BASE + 11 * PAGE;
pub const OTHER_LEAF: u64 = BASE + 12 * PAGE;
/// The portal under test, and where it is executed.
const CODE: u64 = 13 * PAGE;
pub const CODE_WORDS: usize = 2048;
pub const CODE_INDEX: usize = (CODE / 8) as usize;
pub const CODE_ADDRESS: u64 = PORTAL_CODE + (ARENA - RAM) + CODE;
/// Where shared code is executed.
pub const SHARED_ADDRESS: u64 = PORTAL_CODE + (SHARED - RAM);
/// Words of the arena.
pub const WORDS: usize = (ARENA_BYTES / 8) as usize;

/// Domains of a case.
pub const INVOKER: u64 = 0;
pub const CALLEE: u64 = 1;
pub const SCHEDULER: u64 = 2;
pub const DISPATCHER: u64 = 3;
pub const VM: u64 = 4;
pub const DOMAIN_COUNT: u64 = 5;
/// Stacks of a case.
pub const STACK_COUNT: u64 = 12;

/// Address of a domain's record.
pub const fn domain(number: u64) -> u64 {
    DOMAINS + 128 * number
}
/// Address of a stack's record.
pub const fn stack(number: u64) -> u64 {
    STACKS + 64 * number
}
/// Physical address behind an address of the arena.
pub const fn physical(address: u64) -> u64 {
    address - PHYSMAP
}

/// The system; addresses of shared blocks are filled in as they are generated. Entries are where no domain of a case
/// has anything mapped, so that the first fetch there ends the case.
pub fn system(asid: bool, sstc: bool) -> System {
    System {
        threads: THREADS,
        domains: domain(0),
        hart: HART,
        semaphores: SEMAPHORES,
        asid,
        sstc,
        scheduler: SchedulerEntries {
            domain: domain(SCHEDULER),
            stack: 0x4180_0000,
            p: 0x9_0010_0100,
            v: 0x9_0010_0200,
            stack_wait: 0x9_0010_0300,
            stack_free: 0x9_0010_0400,
        },
        dispatcher: Target {
            domain: domain(DISPATCHER),
            entry: 0x9_0010_0500,
            stack: 0x4200_0000,
        },
        vm: Target {
            domain: domain(VM),
            entry: 0x9_0010_0600,
            stack: 0,
        },
        ..System::default()
    }
}
