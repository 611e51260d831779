//! Test of crate pebble: threads, locks, the heap, fork, errors, a panic.
#![cfg_attr(target_os = "none", no_std, no_main)]

extern crate alloc;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;

use pebble::{println, Errno, Error, Mutex};

pebble::main!(run);

static ITEMS: Mutex<Vec<usize>> = Mutex::new(Vec::new());
static DONE: AtomicUsize = AtomicUsize::new(0);

extern "C" fn work(first: usize) {
    for item in first..first + 500 {
        ITEMS.lock().push(item);
        if item % 50 == 0 {
            pebble::yield_now().expect("yield always works");
        }
    }
    pebble::sem_post(DONE.load(Ordering::Relaxed)).expect("the semaphore exists");
}

fn run() -> Result<(), Error> {
    let done = pebble::sem_create(0)?;
    DONE.store(done, Ordering::Relaxed);
    for first in 1..=3 {
        pebble::thread_create(work, first)?;
    }
    for _ in 0..3 {
        pebble::sem_wait(done)?;
    }
    let items = ITEMS.lock().clone();
    println!("{} items, sum {}", items.len(), items.iter().sum::<usize>());

    let shared = AtomicUsize::new(0);
    // SAFETY: the new thread uses its copy of a number and statics, and ends without leaving this block.
    if unsafe { pebble::fork() }? == 0 {
        // Its own copy: the parent does not see this.
        shared.store(6, Ordering::Relaxed);
        DONE.fetch_add(0, Ordering::Relaxed);
        pebble::sem_post(done)?;
        pebble::thread_exit();
    }
    pebble::sem_wait(done)?;
    println!("the parent's copy is {}", shared.load(Ordering::Relaxed));

    let lines: Vec<String> = (0..5000).map(|number| format!("{number:>40}")).collect();
    println!("{}", lines[4999].trim_start());
    let before = pebble::time_of_day();
    pebble::sleep(Duration::from_millis(2))?;
    println!("slept {}", pebble::time_of_day() - before >= 2_000_000);
    println!(
        "{}",
        pebble::portal_open("/power/off").expect_err("no rule allows it")
    );
    assert!(
        pebble::portal_open("/program/nothing") == Err(Errno::NoEntry.into()),
        "no such name"
    );
    panic!("as the test wants")
}
