//! The nucleus: a trap trampoline that stays, and boot code that places the core domains and is discarded.
//!
//! Resident privileged code is `riscv64/trampoline.S` and generated portals, nothing else: no scheduling, no
//! device, no memory policy. Principles: whatever can run at user level does; no loop, panic, allocation or
//! floating point outside boot; the portal table decides what every trap means.
//!
//! Boot order: [`boot::machine`] reads the device tree; [`boot::bundle`] the bundle; [`boot::domains`] makes page tables,
//! portal tables and stacks of the core servers; [`boot::portals`] generates their portals; then the first thread
//! (init) is resumed like any parked thread and boot code is never reached again. Its pages are free memory.
#![no_std]
#![no_main]

mod boot;

use core::mem::offset_of;
use pebble_abi::object::Thread;

core::arch::global_asm!(
    include_str!("../riscv64/trampoline.S"),
    SCRATCH0 = const offset_of!(Thread, scratch),
    SCRATCH1 = const offset_of!(Thread, scratch) + 8,
    TABLE = const offset_of!(Thread, table),
    SLOT_UP = const 64 - pebble_abi::slot::NPORTALS.trailing_zeros(),
    SLOT_DOWN = const 64 - pebble_abi::slot::NPORTALS.trailing_zeros() - 3,
);
core::arch::global_asm!(include_str!("../riscv64/start.S"));
