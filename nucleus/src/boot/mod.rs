//! Boot code: runs once in privileged mode, then its memory belongs to the VM server.

mod bundle;
mod console;
mod domains;
mod machine;
mod memory;
mod pages;
mod portals;
mod threads;

use core::mem::size_of;
use pebble_abi::object::{self, role, BootInfo, CoreDomain, Range};
use pebble_abi::{layout, log};

use bundle::Bundle;
use memory::Memory;

/// A condition without which there is no system: say so and stop.
pub(crate) fn fail(what: &str) -> ! {
    use core::fmt::Write;
    let _ = writeln!(
        console::Console,
        "\x10{}error: boot: {what}",
        log::SYSTEM as char
    );
    console::stop()
}

#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    use core::fmt::Write;
    let _ = writeln!(
        console::Console,
        "\x10{}error: boot: {info}",
        log::SYSTEM as char
    );
    console::stop()
}

extern "C" {
    static __resident_start: u8;
    static __resident_end: u8;
    static __boot_start: u8;
    static __boot_end: u8;
}

/// Physical address of a symbol of the boot image.
fn physical(symbol: *const u8) -> u64 {
    symbol as u64 - layout::NUCLEUS + layout::RAM
}

/// Called by `start.S` with translation on. Never returns: the last step resumes init's thread.
#[no_mangle]
extern "C" fn boot_main(_hart: usize, device_tree: u64) -> ! {
    // SAFETY: start.S mapped all of RAM at PHYSMAP, and the firmware put the device tree there.
    let machine = unsafe { machine::Machine::read(device_tree) };
    let bundle = Bundle::read(machine.bundle);
    let image_end = physical(&raw const __boot_end);
    let mut memory = Memory::new(image_end, &machine);
    let objects = memory.objects();

    let upper = pages::upper_half(&mut memory, objects, physical(&raw const __resident_start));
    let info_page = memory.page();
    let gate = pages::gate_page(&mut memory);
    let mut info = BootInfo {
        magic: object::BOOT_MAGIC,
        ram: machine.ram,
        free: [Range::default(); 8],
        boot_discarded: 0,
        resident_code: (&raw const __resident_end) as u64 - (&raw const __resident_start) as u64,
        objects,
        code_used: 0,
        pool_used: 0,
        stacks_used: 0,
        threads_used: 0,
        bundle: machine.bundle,
        timebase: machine.timebase,
        features: machine.features,
        semaphores: [0; 2],
        shared_code: [0; 8],
        stack_wait_code: 0,
        fixed_stacks: [0; 2],
        core: [CoreDomain::default(); 8],
    };

    let mut builder = domains::Builder::new(memory, objects, upper, gate, info_page);
    for role in role::VM..role::CORE_END {
        let component = bundle.core(role).unwrap_or_else(|| {
            fail("the bundle lacks a core component; the system description must name each role once")
        });
        builder.domain(role, &component, &bundle, &machine, &mut info);
    }
    let stacks = builder.stacks(&info);
    info.fixed_stacks = [stacks.scheduler, stacks.interrupt];
    let code = portals::generate(&mut builder, &mut info, &stacks, &machine);
    let first = threads::create(&mut builder, &mut info, &code);

    builder.finish(
        &mut info,
        &machine,
        physical(&raw const __boot_start),
        image_end,
    );
    assert!(size_of::<BootInfo>() <= layout::PAGE as usize);
    // SAFETY: the page was allocated for this and nothing else refers to it yet.
    unsafe { memory::pointer::<BootInfo>(info_page).write(info) };
    threads::resume(first, machine.features & object::feature::SSTC != 0)
}
