//! Assembly of the SDK on RISC-V: portal calls, the first instructions of a program, and of a thread.

#[cfg(target_arch = "riscv64")]
mod machine {
    use pebble_abi::{layout, slot};

    core::arch::global_asm!(
        include_str!("machine.S"),
        stack_slot = const layout::STACK_SLOT,
        thread_exit = const slot::THREAD_EXIT,
        float = const cfg!(target_feature = "d") as usize,
    );

    extern "C" {
        pub fn pebble_invoke_portal(
            slot: usize,
            a: usize,
            b: usize,
            c: usize,
            d: usize,
            e: usize,
        ) -> isize;
        pub fn pebble_fork_stack() -> isize;
        pub fn pebble_fork_child();
        pub fn pebble_thread_entry();
        pub fn pebble_leave(slots: *const core::sync::atomic::AtomicU32, mask: u32) -> !;
    }
}

#[cfg(target_arch = "riscv64")]
pub(crate) use machine::{pebble_fork_child, pebble_fork_stack, pebble_leave, pebble_thread_entry};

/// Invokes the portal in `slot` with all five arguments; what each means is in that portal's specification.
pub fn invoke_portal(slot: usize, p1: usize, p2: usize, p3: usize, p4: usize, p5: usize) -> isize {
    #[cfg(target_arch = "riscv64")]
    // SAFETY: a portal call obeys the C calling convention. What it may do to memory is what its specification
    // grants on the arguments, and functions of this crate that pass addresses pass such as they own.
    unsafe {
        machine::pebble_invoke_portal(slot, p1, p2, p3, p4, p5)
    }
    #[cfg(not(target_arch = "riscv64"))]
    {
        let _ = (slot, p1, p2, p3, p4, p5);
        pebble_abi::errno::Errno::NoSys.negated()
    }
}

/// Says that the program measures from now on: a simulated machine begins here (`bench/rtl`). On any other this does
/// nothing: it reads the time into no register.
pub fn measure_start() {
    #[cfg(target_arch = "riscv64")]
    // SAFETY: `rdtime` changes no register but the one it names, which is x0.
    unsafe {
        core::arch::asm!("csrr x0, time", options(nostack, preserves_flags))
    };
}

/// The thread pointer, which belongs to the stack: the start of the thread-local block.
#[cfg(target_arch = "riscv64")]
pub(crate) fn thread_pointer() -> usize {
    let pointer;
    // SAFETY: reads a register.
    unsafe {
        core::arch::asm!("mv {}, tp", out(reg) pointer, options(nomem, nostack, preserves_flags))
    };
    pointer
}
