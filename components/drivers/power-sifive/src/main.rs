//! Driver of the SiFive test device: power off and reset.
#![cfg_attr(target_os = "none", no_std, no_main)]

use pebble::abi::layout::DEVICE;
use pebble::interfaces::power;
use pebble::{Entry, Errno, Error};

pebble::main!(run);

/// The device's only register.
const FINISHER: *mut u32 = (DEVICE as usize + 0x10_0000) as *mut u32;
/// End with status 0.
const PASS: u32 = 0x5555;
/// End with the status in the upper half.
const FAIL: u32 = 0x3333;
const RESET: u32 = 0x7777;

fn run() -> Result<(), Error> {
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
    // SAFETY: the system description gives this component the device's page.
    unsafe { FINISHER.write_volatile(value) };
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
