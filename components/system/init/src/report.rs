//! Messages: through the console driver once it runs, through the firmware before.

use core::cell::UnsafeCell;
use core::fmt::{self, Write};
use core::sync::atomic::{AtomicUsize, Ordering};

use pebble_abi::log;
use pebble_server::{invoke, putc};

/// Slot of the console driver's log, 0 until it is open.
static LOG: AtomicUsize = AtomicUsize::new(0);

/// From now on messages go to the portal in `slot`.
pub fn use_log(slot: usize) {
    LOG.store(slot, Ordering::Relaxed);
}

/// One line on its way, within one page so that a window can show it.
#[repr(align(256))]
struct Line {
    bytes: UnsafeCell<[u8; 256]>,
}

// SAFETY: lines are written only by `message`, which one thread of init at a time calls (see `main.rs`).
unsafe impl Sync for Line {}

static LINE: Line = Line {
    bytes: UnsafeCell::new([0; 256]),
};

struct Buffer<'a> {
    bytes: &'a mut [u8; 256],
    used: usize,
}

impl Write for Buffer<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            if self.used < self.bytes.len() {
                self.bytes[self.used] = byte;
                self.used += 1;
            }
        }
        Ok(())
    }
}

/// Writes one line to the system's log.
pub fn message(text: fmt::Arguments<'_>) {
    // SAFETY: one thread at a time, as said at `Line`.
    let bytes = unsafe { &mut *LINE.bytes.get() };
    let mut buffer = Buffer { bytes, used: 0 };
    let _ = buffer.write_fmt(text);
    let used = buffer.used.min(255);
    bytes[used] = b'\n';
    let slot = LOG.load(Ordering::Relaxed);
    let written = match slot {
        0 => -1,
        _ => invoke(slot, bytes.as_ptr() as usize, used + 1, 0, 0, 0),
    };
    if written < 0 {
        putc(log::ESCAPE);
        putc(log::SYSTEM);
        bytes[..=used].iter().for_each(|&byte| putc(byte));
    }
}
