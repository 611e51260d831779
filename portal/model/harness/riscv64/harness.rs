//! The program around `harness.S`; built by the tests with the compiler that builds them, for the emulator.
#![no_std]
#![no_main]

use core::arch::global_asm;

mod layout;

use layout::{ARENA, ARENA_BYTES, CASES, CONTROL, HEADER, STRIDE};

global_asm!(
    include_str!("harness.S"),
    CONTROL = const CONTROL,
    CASES = const CASES,
    HEADER = const HEADER,
    STRIDE = const STRIDE,
    ARENA = const ARENA,
    ARENA_BYTES = const ARENA_BYTES,
);

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
