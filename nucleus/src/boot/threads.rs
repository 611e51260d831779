//! The first threads: init, idle, and the portal manager's stack warden. Each is parked on a full frame.

use core::mem::{offset_of, size_of};
use pebble_abi::entry;
use pebble_abi::layout::{self, PHYSMAP};
use pebble_abi::object::{self, full_offset, role, BootInfo, Frame, FrameKind, FrameName, Thread};

use super::domains::Builder;
use super::memory::pointer;
use super::portals::Code;

/// Makes the threads in this order: 0 init, 1 idle, 2 warden. Answers init's thread.
pub(super) fn create(builder: &mut Builder, info: &mut BootInfo, code: &Code) -> u64 {
    let mut first = 0;
    let plan = [
        (role::INIT, entry::thread::MAIN, 8),
        (role::IDLE, entry::thread::MAIN, 1),
        (role::PORTAL_MANAGER, entry::portal_manager::STACK_WARDEN, 4),
    ];
    for (number, (role, entry, pages)) in plan.into_iter().enumerate() {
        let stack = builder.stack(role, 0, pages);
        let start = info.core[role as usize].entries[entry];
        let thread = thread(builder, number as u32, role, stack, start, code);
        let table = builder.objects + object::THREADS;
        // SAFETY: the thread table of the object region.
        unsafe { pointer::<u64>(table).add(number).write(thread) };
        if number == 0 {
            first = thread;
        }
    }
    info.threads_used = 3;
    first
}

/// A thread that will start at `entry` in the domain of `role`.
fn thread(
    builder: &mut Builder,
    number: u32,
    role: u32,
    stack: u64,
    entry: u64,
    code: &Code,
) -> u64 {
    let thread = builder.pool(object::THREAD_PAGES) + object::thread_offset(number as u64);
    let domain = builder.domain_record(role as u64);
    let sentinel = thread + object::THREAD_BYTES - object::FRAME_HEADER;
    let frame = sentinel - object::FULL_FRAME;
    let system_limit = thread + size_of::<Thread>() as u64 + object::INVOCATION_RESERVE;
    // SAFETY: records that only boot code knows: a fresh thread object, its domain, its stack.
    unsafe {
        let top = (*(stack as *const object::Stack)).top;
        (thread as *mut Thread).write(Thread {
            scratch: [0; 2],
            table: (*domain).table,
            invocation: frame,
            invocation_limit: system_limit + object::SYSTEM_RESERVE,
            system_limit,
            domain: domain as u64,
            stack,
            number,
            home: role,
            state: object::PARKED,
            fp_live: 0,
            hart: PHYSMAP + builder.objects + object::HART,
            generation: 1,
            float_scratch: [0; 2],
            reserved: 0,
            fp: [0; 33],
        });
        // Beneath everything: a frame whose return answers an error, for a thread that returns once too often.
        (sentinel as *mut Frame).write(Frame {
            portal: code.empty,
            name: FrameName::new(0, 0, 0, FrameKind::Minimal, object::FRAME_HEADER).0,
            domain: domain as u64,
            pc: 0,
            sp: 0,
            stack: 0,
        });
        (frame as *mut Frame).write(Frame {
            portal: code.interrupt,
            name: FrameName::new(0, 0, 0, FrameKind::Full, object::FULL_FRAME).0,
            domain: domain as u64,
            pc: entry,
            sp: top,
            stack,
        });
        // The first function returns into the end of its thread.
        *((frame + full_offset(1)) as *mut u64) = layout::GATE + layout::GATE_THREAD_EXIT;
    }
    thread
}

/// Leaves boot code for good: sets the processor up for user level and resumes `thread` as the scheduler's
/// switch would.
pub(super) fn resume(thread: u64, sstc: bool) -> ! {
    // SAFETY: the thread is parked on a complete frame; nothing of boot code is used afterwards.
    unsafe {
        *((thread + offset_of!(Thread, state) as u64) as *mut u64) = object::RUNNING;
        core::arch::asm!(
            "mv tp, t3",
            "la t1, trampoline",
            "csrw stvec, t1",           // privileged: all traps go to the trampoline
            "li t1, -1",
            "csrw scounteren, t1",      // privileged: components may read cycle, time and instret
            "li t1, 0x6122",            // SPP, SPIE, FS: off, previous mode user, floating point off
            "csrc sstatus, t1",         // privileged: as above
            "csrw sip, zero",           // privileged: no stale software interrupt
            "li t1, 0x222",
            "csrw sie, t1",             // privileged: software, timer and external interrupts at user level
            "li t1, -1",
            "beqz t2, 1f",
            "csrw 0x14d, t1",           // privileged: no timer interrupt until the scheduler wants one
            "1:",
            "ld t1, {invocation}(tp)",
            "ld t0, 0(t1)",
            "ld t2, -8(t0)",
            "jr t2",
            invocation = const offset_of!(Thread, invocation),
            in("t2") sstc as u64,
            in("t3") thread,
            options(noreturn),
        )
    }
}
