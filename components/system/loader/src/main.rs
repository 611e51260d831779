//! Loader: makes a domain of a component's image. Its entries, which only init can call.
//!
//! The stack queue holds one stack, so one call at a time is in here: the state needs no other lock.
#![no_std]
#![no_main]

mod image;

use core::sync::atomic::{AtomicU64, Ordering};

use bundle::Bundle;
use pebble_abi::errno::Errno;
use pebble_abi::layout::MAX_DOMAINS;
use pebble_server::entries;

use image::Refusal;

entries! { [load, start] }

/// Where the first thread of each loaded domain starts; 0 once it does.
static ENTRY: [AtomicU64; MAX_DOMAINS] = [const { AtomicU64::new(0) }; MAX_DOMAINS];

fn number(result: Result<usize, Refusal>) -> isize {
    match result {
        Ok(answer) => answer as isize,
        Err((reason, error)) => reason.answer(error),
    }
}

extern "C" fn load(_: usize, index: usize) -> isize {
    let bundle = Bundle::new();
    if index >= bundle.count() {
        return Errno::NoEntry.negated();
    }
    let loaded = image::load(&bundle, &bundle.component(index));
    number(loaded.map(|(asid, entry)| {
        if let Some(place) = ENTRY.get(asid) {
            place.store(entry, Ordering::Relaxed);
        }
        asid
    }))
}

extern "C" fn start(_: usize, asid: usize) -> isize {
    let entry = ENTRY
        .get(asid)
        .map_or(0, |place| place.swap(0, Ordering::Relaxed));
    if entry == 0 {
        return Errno::NoSuchProcess.negated();
    }
    number(image::start(asid, entry).map(|()| 0))
}
