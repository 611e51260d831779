//! What core servers are made of: an entry table, portal calls, and an end for broken invariants.
//!
//! A core server (VM server, portal manager, scheduler, interrupt dispatcher) has no `main`: threads of
//! others enter it through portals. Its image begins with the table of those entries, from which boot code
//! and the portal manager make portals. Ordinary components use the crate `pebble` instead.
#![cfg_attr(target_os = "none", no_std)]

pub use pebble_abi as abi;

mod riscv64;
pub use riscv64::{cycles, invoke, putc};

/// Puts the entry table at the start of the image: `entries! { data: SYMBOL, [first, second, ...] }`, where
/// `data` is a static that portal code may use, or `entries! { [first, ...] }` without one.
#[macro_export]
macro_rules! entries {
    (data: $data:path, [$($entry:path),* $(,)?]) => { $crate::entries!(@table (core::ptr::addr_of!($data)).cast::<u8>(), [$($entry),*]); };
    ([$($entry:path),* $(,)?]) => { $crate::entries!(@table core::ptr::null(), [$($entry),*]); };
    (@table $data:expr, [$($entry:path),*]) => {
        /// The server's portal entries, in the order of `abi::entry`.
        #[used]
        #[link_section = ".pebble.entries"]
        static ENTRIES: $crate::Table = {
            const COUNT: usize = [$(stringify!($entry)),*].len();
            let mut entries = [core::ptr::null(); $crate::abi::entry::MAX];
            let mut index = 0;
            $( entries[index] = $entry as *const (); index += 1; )*
            let _ = index;
            $crate::Table { magic: $crate::abi::entry::MAGIC, count: COUNT as u64, data: $data, entries }
        };
    };
}

/// The entry table with addresses still to be linked; the layout is `abi::entry::EntryTable`'s.
#[repr(C)]
pub struct Table {
    /// `abi::entry::MAGIC`.
    pub magic: u64,
    /// Number of entries.
    pub count: u64,
    /// Data object for portal code, or null.
    pub data: *const u8,
    /// Entry addresses.
    pub entries: [*const (); abi::entry::MAX],
}

// SAFETY: the table is constant; its pointers are only read, by boot code and the portal manager.
unsafe impl Sync for Table {}

/// Writes to the firmware's console, one byte at a time: only for the last words of a core server.
pub struct LastWords;

impl core::fmt::Write for LastWords {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        text.bytes().for_each(putc);
        Ok(())
    }
}

/// A broken invariant in a core server ends the system: say where, then trap.
#[cfg(target_os = "none")]
#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    use core::fmt::Write;
    let _ = writeln!(LastWords, "\x100core server stopped: {info}");
    riscv64::stop()
}
