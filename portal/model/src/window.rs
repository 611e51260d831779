//! Windows: pages of the invoker that the callee sees while it is called.

use core::mem::offset_of;
use pebble_abi::layout::{PAGE, PHYSMAP};
use pebble_abi::object::{Domain, Stack};
use pebble_portal_spec::Specification;

use crate::machine::{field, Machine};

const VALID: u64 = 1;
const READ: u64 = 1 << 1;
const WRITE: u64 = 1 << 2;
const EXECUTE: u64 = 1 << 3;
const USER: u64 = 1 << 4;
const ACCESSED_DIRTY: u64 = 3 << 6;
/// The address of a page in an entry, with the bits above it.
const PAGE_NUMBER: u64 = !0x3ff;

/// One argument that is a window.
pub(crate) struct Window {
    /// Register of the argument.
    pub register: usize,
    /// Pages.
    pub pages: u64,
    /// The callee may write.
    pub writable: bool,
}

/// The windows that a specification asks for, in order.
pub(crate) fn windows(specification: &Specification) -> Vec<Window> {
    let arguments = specification.arguments().iter().enumerate();
    arguments
        .filter_map(|(index, argument)| {
            let (pages, writable) = argument.window()?;
            Some(Window {
                register: 10 + index,
                pages: pages as u64,
                writable,
            })
        })
        .collect()
}

impl Machine {
    /// The page-table entry that shows the page at `address` of `domain` to another domain, if the domain itself
    /// may use the page in this way.
    pub fn window_entry(&self, domain: u64, address: u64, writable: bool) -> Option<u64> {
        if address >> 38 != 0 {
            return None;
        }
        let mut table = self.get(domain + field!(Domain.root));
        for level in [2, 1] {
            let entry = self.get(table + 8 * (address >> (12 + 9 * level) & 511));
            // Valid, and without a right of its own: a table.
            if entry & (VALID | READ | WRITE | EXECUTE) != VALID {
                return None;
            }
            table = PHYSMAP.wrapping_add(entry >> 10 << 12);
        }
        let entry = self.get(table + 8 * (address >> 12 & 511));
        let rights = if writable {
            VALID | READ | WRITE | USER
        } else {
            VALID | READ | USER
        };
        (entry & rights == rights).then_some(entry & PAGE_NUMBER | rights | ACCESSED_DIRTY)
    }

    /// Shows pages on a stack's window; answers the address of the first.
    pub(crate) fn open_window(&mut self, stack: u64, entries: &[u64]) -> u64 {
        let used = self.get(stack + field!(Stack.window_used));
        let place = self.get(stack + field!(Stack.window_entry)) + used / PAGE * 8;
        for (page, entry) in entries.iter().enumerate() {
            self.set(place + 8 * page as u64, *entry);
        }
        self.set(
            stack + field!(Stack.window_used),
            used + entries.len() as u64 * PAGE,
        );
        self.get(stack + field!(Stack.window)).wrapping_add(used)
    }

    /// Takes the last `pages` window pages of the thread's stack away.
    pub(crate) fn close_windows(&mut self, pages: u64) {
        let stack = self.stack();
        let used = self.get(stack + field!(Stack.window_used)) - pages * PAGE;
        self.set(stack + field!(Stack.window_used), used);
        let place = self.get(stack + field!(Stack.window_entry)) + used / PAGE * 8;
        for page in 0..pages {
            self.set(place + 8 * page, 0);
        }
    }
}
