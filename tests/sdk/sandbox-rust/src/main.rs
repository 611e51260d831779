//! The USENIX paper's sandbox in Rust: a parent counts every portal call of its child, portals made later too.
#![cfg_attr(target_os = "none", no_std, no_main)]

extern crate alloc;

use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use pebble::abi::slot;
use pebble::{Entry, Error};

pebble::main!(run);

const ROUNDS: usize = 100;

static CHILD: AtomicUsize = AtomicUsize::new(0);
static COUNT: [AtomicUsize; slot::NPORTALS] = [const { AtomicUsize::new(0) }; slot::NPORTALS];

/// Every portal call of the child.
extern "C" fn intercept(id: usize, a: usize, b: usize, c: usize, d: usize, e: usize) -> isize {
    COUNT[id].fetch_add(1, Relaxed);
    if id == slot::EXIT {
        for (id, count) in COUNT.iter().enumerate() {
            if count.load(Relaxed) != 0 {
                pebble::println!("portal {id}: {}", count.load(Relaxed));
            }
        }
    }
    pebble::invoke_portal(id, a, b, c, d, e)
}

/// A portal appeared here: the child gets one that leads to `intercept`, with the slot first and then as here.
extern "C" fn notify(_asid: usize, id: usize, specification: *const u8) -> isize {
    // SAFETY: NUL-terminated and valid during the call.
    let text = unsafe { core::ffi::CStr::from_ptr(specification.cast()) };
    let rest = text.to_str().ok().and_then(|text| text.get(3..));
    let stub = alloc::format!("sm={}", rest.unwrap_or(""));
    let child = CHILD.load(Relaxed);
    match pebble::portal_create_child(child, id, &stub, 0, intercept as *const () as Entry) {
        Ok(()) => 0,
        Err(error) => -(error.0 as isize),
    }
}

/// What the child does.
fn measure() -> Result<(), Error> {
    let (there, back) = (pebble::sem_create(0)?, pebble::sem_create(0)?);
    // SAFETY: the new thread uses copies of two numbers, and never leaves this block.
    if unsafe { pebble::fork() }? == 0 {
        loop {
            pebble::sem_wait(there)?;
            pebble::sem_post(back)?;
        }
    }
    for _ in 0..ROUNDS {
        pebble::sem_post(there)?;
        pebble::sem_wait(back)?;
    }
    let heap = pebble::sbrk(4096)?;
    let same_thread = pebble::get_thread() == pebble::get_thread();
    pebble::yield_now()?;
    pebble::println!(
        "the child has {} bytes more, its thread is {}",
        pebble::sbrk(0)? - heap,
        if same_thread { "one" } else { "two" }
    );
    Ok(())
}

fn run() -> Result<(), Error> {
    pebble::portal_notify(notify)?;
    // SAFETY: this is the only thread, and the child uses nothing that others own.
    let child = unsafe { pebble::domain_fork(intercept as *const () as Entry) }?;
    if child == 0 {
        measure()?;
        pebble::exit(0);
    }
    CHILD.store(child, Relaxed);
    // Until the child's exit, which is issued here, ends this domain.
    pebble::sem_wait(pebble::sem_create(0)?)
}
