//! Driver of the Goldfish real-time clock: the time of day.
//!
//! Reading the time of day is a short-circuit portal: counter plus offset. This driver only says what the offset is,
//! at its start and when somebody asks to synchronize.
#![cfg_attr(target_os = "none", no_std, no_main)]

use pebble::abi::layout::DEVICE;
use pebble::abi::object::{info, InfoRecord};
use pebble::abi::slot::driver;
use pebble::interfaces::clock;
use pebble::{answer, code, invoke_portal, Entry, Error, Mutex};

pebble::main!(run);

const BASE: usize = DEVICE as usize + 0x10_1000;
/// Low half of the time in nanoseconds since 1970. Reading it latches the high half.
const TIME_LOW: usize = 0;
const TIME_HIGH: usize = 4;

/// The offset in force, and the right to read the device: the latch is one.
static OFFSET: Mutex<u64> = Mutex::new(0);

fn run() -> Result<(), Error> {
    *OFFSET.lock() = offset_in_force()?;
    synchronize()?;
    let service = clock::SYNCHRONIZE;
    pebble::portal_register(
        service.name,
        service.specification,
        0,
        entry as *const () as Entry,
    )?;
    pebble::serve()
}

extern "C" fn entry(_constant: usize) -> isize {
    code(synchronize().map(|now| now as usize))
}

fn synchronize() -> Result<u64, Error> {
    let mut offset = OFFSET.lock();
    let now = device_time();
    let corrected = correction(now, pebble::time_of_day(), *offset);
    answer(invoke_portal(
        driver::TIME_OFFSET,
        corrected as usize,
        0,
        0,
        0,
        0,
    ))?;
    *offset = corrected;
    Ok(now)
}

/// What the time of day adds already: not 0 when another clock driver ran before this one.
fn offset_in_force() -> Result<u64, Error> {
    #[repr(align(128))]
    struct Shown([u8; size_of::<InfoRecord>()]);
    let mut shown = Shown([0; size_of::<InfoRecord>()]);
    pebble::system_info(info::SYSTEM, 0, &mut shown.0)?;
    let first = core::mem::offset_of!(InfoRecord, values);
    let word = shown.0[first..].first_chunk().copied();
    Ok(u64::from_le_bytes(word.unwrap_or_default()))
}

/// The offset that makes the time of day `now`, when it is `shown` with `offset`.
fn correction(now: u64, shown: u64, offset: u64) -> u64 {
    let counter = shown.wrapping_sub(offset);
    now.wrapping_sub(counter)
}

fn register(offset: usize) -> u64 {
    // SAFETY: the system description gives this component the device's page.
    unsafe { ((BASE + offset) as *const u32).read_volatile() }.into()
}

fn device_time() -> u64 {
    let low = register(TIME_LOW);
    register(TIME_HIGH) << 32 | low
}

#[cfg(test)]
mod tests {
    use super::correction;

    #[test]
    fn the_correction_makes_the_clocks_agree() {
        let (counter, now) = (5_000, 1_800_000_000_000_000_000);
        let first = correction(now, counter, 0);
        assert_eq!(counter + first, now);
        // A millisecond later the device is 3 ns ahead.
        let shown = counter + 1_000_000 + first;
        let second = correction(shown + 3, shown, first);
        assert_eq!(second, first + 3);
        // A clock that is behind the counter works as well.
        assert_eq!(correction(10, 50, 0).wrapping_add(50), 10);
    }
}
