//! Pages that a call shows, gives or exchanges.

use core::mem::offset_of;
use pebble_abi::layout::{PAGE, PHYSMAP, STACKS};
use pebble_abi::object::{Domain, Stack};
use pebble_abi::page_table::{BORROWED, EXECUTE, READ, SHARED_UNTIL_WRITTEN, USER, VALID, WRITE};
use pebble_portal_spec::{Argument, Specification};

use crate::machine::{field, Machine};

const ACCESSED_DIRTY: u64 = 3 << 6;
/// The address of a page in an entry, with the bits above it.
const PAGE_NUMBER: u64 = !0x3ff;

/// An argument that names pages.
#[derive(Clone, Copy)]
pub(crate) struct Buffer {
    /// Its register.
    pub register: usize,
    /// Pages.
    pub pages: u64,
    /// Its letter.
    pub letter: Argument,
}

impl Buffer {
    /// The invoker must be able to write the pages itself.
    pub fn needs_write(&self) -> bool {
        matches!(
            self.letter,
            Argument::Window(_) | Argument::Give(_) | Argument::Take(_)
        )
    }
    /// The pages themselves change their place.
    pub fn moves(&self) -> bool {
        matches!(self.letter, Argument::Give(_) | Argument::Take(_))
    }
    /// The pages appear in the callee's area for given pages.
    pub fn is_gift(&self) -> bool {
        matches!(self.letter, Argument::Give(_) | Argument::OpenWindow(_))
    }
}

/// The arguments that name pages, in order.
pub(crate) fn buffers(specification: &Specification) -> Vec<Buffer> {
    let arguments = specification.arguments().iter().enumerate();
    arguments
        .filter_map(|(index, &letter)| {
            let pages = match letter {
                Argument::Window(pages)
                | Argument::ReadWindow(pages)
                | Argument::OpenWindow(pages) => pages,
                Argument::Give(pages) | Argument::Take(pages) => pages,
                _ => return None,
            };
            Some(Buffer {
                register: 10 + index,
                pages: pages as u64,
                letter,
            })
        })
        .collect()
}

/// A page as its domain's page table has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Page {
    /// Where its entry is.
    pub place: u64,
    /// The entry.
    pub entry: u64,
}

/// Why a page cannot be used.
pub(crate) enum Obstacle {
    /// The VM server may change that: the address that it gets.
    Absent(u64),
    /// The page stays where it is.
    Stays,
}

impl Machine {
    /// The first page of a call's first window: if the domain's last one was not in the same 2 MiB, and there is a
    /// table for this one, the domain's record says from now on where that is.
    pub(crate) fn remember_leaf(&mut self, domain: u64, address: u64) {
        let span = address >> 21;
        if self.get(domain + field!(Domain.leaf_span)) == span {
            return;
        }
        if let Some(place) = self.place(domain, address) {
            let bias = (place & !(PAGE - 1)).wrapping_sub(span * PAGE);
            self.set(domain + field!(Domain.leaf_span), span);
            self.set(domain + field!(Domain.leaf_bias), bias);
        }
    }

    /// Where the entry for `address` is in the page table of `domain`, if there is a table for it.
    fn place(&self, domain: u64, address: u64) -> Option<u64> {
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
        Some(table + 8 * (address >> 12 & 511))
    }

    /// A page of a buffer at `start` in `domain`, if the domain may use it as the letter wants.
    pub(crate) fn page(
        &self,
        domain: u64,
        start: u64,
        number: u64,
        buffer: &Buffer,
    ) -> Result<Page, Obstacle> {
        let address = start.wrapping_add(number * PAGE);
        // The lowest bit says whether the page must be writable.
        let absent = Obstacle::Absent(address & !1 | buffer.needs_write() as u64);
        let Some(place) = self.place(domain, address) else {
            return Err(absent);
        };
        let entry = self.get(place);
        if buffer.moves() && address >= STACKS {
            return Err(Obstacle::Stays);
        }
        let rights = if buffer.needs_write() {
            VALID | READ | WRITE | USER
        } else {
            VALID | READ | USER
        };
        if entry & rights != rights {
            return Err(absent);
        }
        if buffer.moves() && entry & (BORROWED | EXECUTE) != 0 {
            return Err(Obstacle::Stays);
        }
        Ok(Page { place, entry })
    }

    /// Shows pages on a stack's window; answers the address of the first.
    pub(crate) fn open_window(&mut self, stack: u64, pages: &[Page], writable: bool) -> u64 {
        let rights = if writable {
            VALID | READ | WRITE | USER
        } else {
            VALID | READ | USER
        };
        let next = self.get(stack + field!(Stack.window_next));
        let place = self
            .get(stack + field!(Stack.window_bias))
            .wrapping_add(next / PAGE * 8);
        for (number, page) in pages.iter().enumerate() {
            self.set(
                place + 8 * number as u64,
                page.entry & PAGE_NUMBER | rights | ACCESSED_DIRTY,
            );
        }
        self.set(
            stack + field!(Stack.window_next),
            next + pages.len() as u64 * PAGE,
        );
        next
    }

    /// Puts pages into a domain's area for given pages, as copies or for good; answers the address of the first.
    pub(crate) fn give(&mut self, domain: u64, pages: &[Page], moves: bool) -> u64 {
        let next = self.get(domain + field!(Domain.gift));
        let address = self.get(domain + field!(Domain.gift_address));
        for (number, page) in pages.iter().enumerate() {
            let copy = page.entry & !(EXECUTE | SHARED_UNTIL_WRITTEN) | BORROWED;
            self.set(
                next + 8 * number as u64,
                if moves { page.entry } else { copy },
            );
            if moves {
                self.set(page.place, 0);
            }
        }
        let count = pages.len() as u64;
        self.set(domain + field!(Domain.gift), next + 8 * count);
        self.set(
            domain + field!(Domain.gift_address),
            address.wrapping_add(count * PAGE),
        );
        address
    }

    /// Whether a domain's area has no room for `pages` more.
    pub(crate) fn has_no_room_for_gifts(&self, domain: u64, pages: u64) -> bool {
        self.get(domain + field!(Domain.gift)) + 8 * pages
            > self.get(domain + field!(Domain.gift) + 8)
    }

    /// Exchanges pages of two domains: all of them or, with `false` as the answer, none.
    pub(crate) fn exchange(&mut self, sides: [(u64, u64); 2], buffer: &Buffer) -> bool {
        if sides[0].0 == sides[1].0 {
            return false;
        }
        let mut pairs = Vec::new();
        for number in 0..buffer.pages {
            let [there, here] =
                sides.map(|(domain, start)| self.page(domain, start, number, buffer));
            let (Ok(there), Ok(here)) = (there, here) else {
                return false;
            };
            pairs.push((there, here));
        }
        for (there, here) in pairs {
            self.set(there.place, here.entry);
            self.set(here.place, there.entry);
        }
        true
    }

    /// Takes the last `pages` window pages of the thread's stack away.
    pub(crate) fn close_windows(&mut self, pages: u64) {
        let stack = self.stack();
        let start = self.get(stack + field!(Stack.window_next)) - pages * PAGE;
        self.set(stack + field!(Stack.window_next), start);
        let place = self
            .get(stack + field!(Stack.window_bias))
            .wrapping_add(start / PAGE * 8);
        for page in 0..pages {
            self.set(place + 8 * page, 0);
        }
    }
}
