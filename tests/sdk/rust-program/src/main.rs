//! Does what its first argument says: prints arguments, uses the heap, calls the system, or ends in some way.
#![cfg_attr(target_os = "none", no_std, no_main)]

extern crate alloc;

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use pebble::{Entry, Errno, Error};

pebble::main!(run);

fn run() -> Result<i32, String> {
    match pebble::args().next() {
        Some("arguments") => {
            for argument in pebble::args() {
                pebble::println!("[{argument}]");
            }
            pebble::print!("{} without an end", pebble::name());
            Ok(0)
        }
        Some("heap") => heap(),
        Some("system") => system().map_err(|error| format!("{error}")),
        Some("status") => Ok(77),
        Some("exit") => pebble::exit(78),
        Some("error") => Err(format!("{}", Error::from(Errno::NoEntry))),
        Some("panic") => {
            let nothing: Vec<u8> = Vec::new();
            // The index is not known to the compiler.
            Ok(nothing[pebble::get_asid()].into())
        }
        Some("overflow") => Ok(i32::MAX - pebble::args().count() as i32),
        other => Err(format!("what is {other:?}?")),
    }
}

/// Collections, and an allocation that there is no memory for.
fn heap() -> Result<i32, String> {
    let mut map = BTreeMap::new();
    for number in 0..5000u32 {
        map.insert(
            format!("{:05}", number.wrapping_mul(2_654_435_761) % 100_000),
            number,
        );
    }
    let keys: Vec<&String> = map.keys().collect();
    let sorted = keys.windows(2).all(|pair| pair[0] < pair[1]);
    let mut large: Vec<u64> = Vec::new();
    let refused = large.try_reserve_exact(1 << 37).is_err();
    large
        .try_reserve_exact(1 << 20)
        .map_err(|error| format!("{error}"))?;
    large.extend(0..1 << 20);
    let sum: u64 = large.iter().sum();
    pebble::println!(
        "{} sorted {sorted}, refused {refused}, sum {sum}",
        map.len()
    );
    Ok(0)
}

extern "C" fn multiply(constant: usize, a: usize, b: usize) -> isize {
    (constant + a * b) as isize
}

/// Takes over a portal and a semaphore that the call passes; uses both.
extern "C" fn taker(_constant: usize, portal: usize, semaphore: usize) -> isize {
    let used = || {
        let portal = pebble::portal_accept(portal, "npcii")?;
        let semaphore = pebble::sem_accept(semaphore)?;
        pebble::sem_post(semaphore)?;
        Ok(pebble::invoke_portal(portal, 8, 9, 0, 0, 0) as usize)
    };
    pebble::code(used())
}

/// Services, semaphores, memory and time.
fn system() -> Result<i32, Error> {
    pebble::portal_register(
        "/program/rust",
        "nmcii",
        100,
        multiply as *const () as Entry,
    )?;
    let portal = pebble::portal_open("/program/rust")?;
    pebble::println!(
        "portal answers {}",
        pebble::invoke_portal(portal, 6, 7, 0, 0, 0)
    );
    pebble::portal_register("/program/taker", "npckk", 0, taker as *const () as Entry)?;
    let passes = pebble::portal_open("/program/taker")?;
    let passed = pebble::sem_create(0)?;
    let answer = pebble::invoke_portal(passes, portal, passed, 0, 0, 0);
    pebble::sem_wait(passed)?;
    pebble::println!("passed portal answers {answer}");
    pebble::portal_close(portal)?;
    for (what, refused) in [
        ("closed", pebble::portal_close(portal).err()),
        ("unknown", pebble::portal_open("/program/nobody").err()),
        ("forbidden", pebble::portal_open("/power/off").err()),
        (
            "taken",
            pebble::portal_register("/program/rust", "nmc", 0, multiply as *const () as Entry)
                .err(),
        ),
        (
            "malformed",
            pebble::portal_register("/program/other", "q", 0, multiply as *const () as Entry).err(),
        ),
        ("too high", pebble::thread_priority(60).err()),
        ("negative", pebble::sem_create(-1).err()),
        ("not passed", pebble::portal_accept(passes, "npckk").err()),
        ("not a child", pebble::domain_kill(1).err()),
        ("too much", pebble::vm_map(1 << 40).err()),
    ] {
        pebble::println!("{what}: {}", refused.map_or(0, |error| error.0));
    }
    let semaphore = pebble::sem_create(1)?;
    pebble::sem_wait(semaphore)?;
    pebble::sem_post(semaphore)?;
    pebble::sem_destroy(semaphore)?;
    let before = pebble::hrtime();
    pebble::hrsleep(before + 5000)?;
    let day = pebble::time_of_day();
    pebble::sleep(core::time::Duration::from_millis(2))?;
    let slept = pebble::time_of_day() - day;
    pebble::println!(
        "slept {} {}",
        pebble::hrtime() >= before + 5000,
        slept >= 2_000_000
    );
    pebble::eprintln!("to the errors");
    Ok(0)
}
