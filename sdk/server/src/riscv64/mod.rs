//! Portal calls on RISC-V: the slot in `a7`, arguments in `a0` to `a5`, the answer in `a0`.

/// Slot of the short circuit that hands one byte to the firmware's console (core servers only).
const PUTC: usize = 63;

#[cfg(target_arch = "riscv64")]
core::arch::global_asm!(
    ".globl pebble_invoke",
    // A portal returns to `ra`, not to the instruction after the trap (docs/decisions): a tail call.
    "pebble_invoke: mv a7, a0",
    "ecall",
);

#[cfg(target_arch = "riscv64")]
extern "C" {
    fn pebble_invoke(slot: usize, a1: usize, a2: usize, a3: usize, a4: usize, a5: usize) -> isize;
}

/// Invokes the portal in `slot`. Five arguments, as the specification of that portal wants them.
pub fn invoke(slot: usize, a1: usize, a2: usize, a3: usize, a4: usize, a5: usize) -> isize {
    #[cfg(target_arch = "riscv64")]
    // SAFETY: a portal call obeys the C calling convention; what it may do to memory is what its
    // specification grants, which the caller opened the portal for.
    unsafe {
        pebble_invoke(slot, a1, a2, a3, a4, a5)
    }
    #[cfg(not(target_arch = "riscv64"))]
    {
        let _ = (slot, a1, a2, a3, a4, a5);
        unimplemented_on_host()
    }
}

#[cfg(not(target_arch = "riscv64"))]
fn unimplemented_on_host() -> isize {
    panic!("portal calls exist only in a running system; host tests replace them")
}

/// One byte to the firmware's console.
pub fn putc(byte: u8) {
    invoke(PUTC, byte as usize, 0, 0, 0, 0);
}

/// Ends the server by an illegal instruction, which its fault portal reports.
#[cfg(target_os = "none")]
pub fn stop() -> ! {
    loop {
        // SAFETY: traps; nothing after it runs in this thread.
        unsafe { core::arch::asm!("unimp") }
    }
}

/// The cycle counter.
pub fn cycles() -> u64 {
    #[cfg(target_arch = "riscv64")]
    {
        let cycles;
        // SAFETY: reads a counter that boot code opened to user level.
        unsafe { core::arch::asm!("rdcycle {}", out(reg) cycles) };
        cycles
    }
    #[cfg(not(target_arch = "riscv64"))]
    0
}
