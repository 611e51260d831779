//! Driver of the SiFive test device: power off and reset.
#![cfg_attr(target_os = "none", no_std, no_main)]

use core::sync::atomic::{AtomicUsize, Ordering};

use pebble::abi::layout::DEVICE;
use pebble::interfaces::power;
use pebble::{Entry, Errno, Error};

pebble::main!(run);

/// Address of the device's only register, once `run` knows it.
static FINISHER: AtomicUsize = AtomicUsize::new(0);
/// End with status 0.
const PASS: u32 = 0x5555;
/// End with the status in the upper half.
const FAIL: u32 = 0x3333;
const RESET: u32 = 0x7777;

fn run() -> Result<(), Error> {
    let physical = pebble::device(0)?.base;
    FINISHER.store((DEVICE + physical) as usize, Ordering::Relaxed);
    for (service, entry) in [
        (power::OFF, off as *const () as Entry),
        (power::RESTART, restart as *const () as Entry),
    ] {
        pebble::portal_register(service.name, service.specification, 0, entry)?;
    }
    pebble::serve()
}

/// The register's value that ends the emulator with `status`: the device has no failure with status 0.
const fn ending(status: u32) -> u32 {
    match status & 0xff {
        0 => PASS,
        status => status << 16 | FAIL,
    }
}

/// The machine does not go on after a write; a machine without the device does, and the caller is told.
fn finish(value: u32) -> isize {
    // SAFETY: no entry is registered before `run` has stored the address, and the system description gives this component the device's page.
    unsafe { (FINISHER.load(Ordering::Relaxed) as *mut u32).write_volatile(value) };
    Errno::Io.negated()
}

extern "C" fn off(_constant: usize, status: usize) -> isize {
    finish(ending(status as u32))
}

extern "C" fn restart(_constant: usize) -> isize {
    finish(RESET)
}

#[cfg(test)]
mod tests {
    use super::ending;

    #[test]
    fn the_status_travels_in_the_upper_half() {
        assert_eq!(ending(0), 0x5555);
        assert_eq!(ending(3), 0x3_3333);
        assert_eq!(ending(139), 0x8b_3333);
        assert_eq!(ending(256), 0x5555);
    }
}
