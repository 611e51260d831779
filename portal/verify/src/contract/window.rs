//! Windows: which page-table entries a call may write, and that the return takes the same ones away.

use pebble_abi::layout::{PAGE, WINDOW_PAGES};
use pebble_abi::object::{Domain, Stack, Thread};
use pebble_portal_spec::{Argument, Specification};

use super::*;

/// Valid, readable, user.
const READABLE: i16 = 0x13;
/// The same and writable.
const WRITABLE: i16 = 0x17;
/// Accessed and dirty.
const ACCESSED_DIRTY: i16 = 0xc0;

/// An argument that names pages.
#[derive(Clone, Copy)]
pub(super) struct Buffer {
    /// Its register.
    pub register: u8,
    /// Pages.
    pub pages: usize,
    /// Its letter.
    pub letter: Argument,
}

impl Buffer {
    /// Rights that the page's own entry must have: among them W where the page is written or moved.
    pub fn rights(&self) -> i16 {
        match self.letter {
            Argument::Window(_) | Argument::Give(_) | Argument::Take(_) => WRITABLE,
            _ => READABLE,
        }
    }
    /// The pages themselves change their place.
    pub fn moves(&self) -> bool {
        matches!(self.letter, Argument::Give(_) | Argument::Take(_))
    }
}

/// Arguments that name pages, in order.
pub(super) fn buffers(specification: &Specification) -> impl Iterator<Item = Buffer> + '_ {
    specification
        .arguments()
        .iter()
        .enumerate()
        .filter_map(|(index, &letter)| {
            let pages = match letter {
                Argument::Window(pages)
                | Argument::ReadWindow(pages)
                | Argument::OpenWindow(pages) => pages,
                Argument::Give(pages) | Argument::Take(pages) => pages,
                _ => return None,
            };
            Some(Buffer {
                register: register::A0 + index as u8,
                pages: pages as usize,
                letter,
            })
        })
}

/// A page of a buffer, and what the walk through its domain's page table meets.
pub(super) struct Page {
    /// Its address.
    pub address: Term,
    /// Entries of the three levels.
    pub entries: [Term; 3],
    /// Where the last of them is.
    pub place: Term,
}

impl Page {
    /// Page `page` of the buffer at `buffer` in `domain`.
    pub fn new(exit: &mut Exit<'_, '_>, domain: Term, buffer: Term, page: usize) -> Page {
        let mut table = exit.load(domain, field!(Domain.root));
        let terms = &mut exit.machine.terms;
        let address = terms.add_number(buffer, page as i64 * PAGE as i64);
        let mut entries = [ZERO; 3];
        let mut place = ZERO;
        for (level, entry) in entries.iter_mut().enumerate() {
            let index = match level {
                0 => terms.right(address, 30),
                // Nine bits, by shifting out those above and below.
                _ => {
                    let above = terms.left(address, if level == 1 { 34 } else { 43 });
                    terms.right(above, 55)
                }
            };
            let index = terms.left(index, 3);
            place = terms.add(table, index);
            *entry = terms.load(place, 0);
            let frame = terms.right(*entry, 10);
            let frame = terms.left(frame, 12);
            table = terms.add_number(frame, pebble_abi::layout::PHYSMAP as i64);
        }
        Page {
            address,
            entries,
            place,
        }
    }

    /// The comparisons with zero that the page must pass to be there with `rights`.
    pub fn checks(&self, exit: &mut Exit<'_, '_>, rights: i16) -> [Term; 4] {
        let terms = &mut exit.machine.terms;
        let mut upper = [ZERO; 2];
        for (difference, entry) in upper.iter_mut().zip(self.entries) {
            let bits = terms.and(entry, crate::record::TABLE_OR_LEAF);
            *difference = terms.add_number(bits, -1);
        }
        let bits = terms.and(self.entries[2], rights);
        let bits = terms.add_number(bits, -(rights as i64));
        [terms.right(self.address, 38), upper[0], upper[1], bits]
    }

    /// The entry for the callee: the same page, the window's rights, never executable.
    fn entry(&self, exit: &mut Exit<'_, '_>, rights: i16) -> Term {
        let terms = &mut exit.machine.terms;
        let page = terms.right(self.entries[2], 10);
        let page = terms.left(page, 10);
        terms.or(page, rights | ACCESSED_DIRTY)
    }
}

/// Offset within a page, by shifting out what is above.
pub(super) fn within_page(exit: &mut Exit<'_, '_>, address: Term) -> Term {
    let above = exit.machine.terms.left(address, 52);
    exit.machine.terms.right(above, 52)
}

/// The stack's window pages in use, and the comparison that says there is room.
pub(super) fn room(
    exit: &mut Exit<'_, '_>,
    specification: &Specification,
    stack: Term,
    truth: bool,
) -> Result<(), Reason> {
    let pages = specification.window_pages() as u64;
    let used = exit.load(stack, field!(Stack.window_used));
    let most = exit.number((WINDOW_PAGES - pages) * PAGE);
    exit.fact(
        Test::LessUnsigned,
        most,
        used,
        truth,
        "window pages left on the stack",
    )
}

/// A call with windows has opened them on `stack`.
pub(super) fn opened(
    exit: &mut Exit<'_, '_>,
    specification: &Specification,
    stack: Term,
) -> Result<(), Reason> {
    let pages = specification.window_pages();
    if pages == 0 {
        return Ok(());
    }
    room(exit, specification, stack, false)?;
    let entries = exit.load(stack, field!(Stack.window_entry));
    let window = exit.load(stack, field!(Stack.window));
    let mut used = exit.load(stack, field!(Stack.window_used));
    let invoker = exit.load(THREAD, field!(Thread.domain));
    let shown = |buffer: &Buffer| buffer.letter.window().is_some();
    for buffer in buffers(specification).filter(shown) {
        let original = exit.input(buffer.register);
        let shifted = exit.machine.terms.right(used, 9);
        let place = exit.machine.terms.add(entries, shifted);
        for number in 0..buffer.pages {
            let page = Page::new(exit, invoker, original, number);
            for check in page.checks(exit, buffer.rights()) {
                exit.zero(
                    check,
                    true,
                    "the invoker has the window's page with the rights asked for",
                )?;
            }
            let entry = page.entry(exit, buffer.rights());
            exit.memory(
                place,
                8 * number as i32,
                entry,
                "a window's page-table entry",
            )?;
        }
        let within = within_page(exit, original);
        let terms = &mut exit.machine.terms;
        let start = terms.add(window, used);
        let address = terms.add(within, start);
        used = terms.add_number(used, (buffer.pages as u64 * PAGE) as i64);
        exit.set(buffer.register, address);
    }
    exit.memory(
        stack,
        field!(Stack.window_used),
        used,
        "the stack's window pages in use",
    )?;
    Ok(())
}

/// A page of a window was found absent: the path continues in the window-fault portal.
pub(super) fn absent(mut exit: Exit<'_, '_>, specification: &Specification) -> Result<(), Reason> {
    let table = exit.load(THREAD, field!(Thread.table));
    let block = exit.load(table, 8 * pebble_abi::slot::WINDOW_FAULT as i32);
    if exit.way != Way::Jump(block) {
        return Err(Reason::Exit);
    }
    let invoker = exit.load(THREAD, field!(Thread.domain));
    for buffer in buffers(specification) {
        let start = exit.input(buffer.register);
        for number in 0..buffer.pages {
            let page = Page::new(&mut exit, invoker, start, number);
            // The lowest bit says whether the page must be writable.
            let mut address = exit.machine.terms.and(page.address, -2);
            if buffer.rights() == WRITABLE {
                address = exit.machine.terms.or(address, 1);
            }
            if address != exit.state.stval {
                continue;
            }
            let checks = page.checks(&mut exit, buffer.rights());
            if checks.iter().any(|check| exit.machine.is_not_zero(*check)) {
                exit.stval = address;
                exit.set(register::T0, block);
                return exit.finish();
            }
        }
    }
    Err(Reason::Check("a window's page is absent"))
}

/// A return has closed the windows of the call: entries cleared, then flushed.
pub(super) fn closed(exit: &mut Exit<'_, '_>, pages: usize) -> Result<(), Reason> {
    if pages == 0 {
        return Ok(());
    }
    let stack = exit.load(THREAD, field!(Thread.stack));
    let entries = exit.load(stack, field!(Stack.window_entry));
    let window = exit.load(stack, field!(Stack.window));
    let used = exit.load(stack, field!(Stack.window_used));
    let terms = &mut exit.machine.terms;
    let used = terms.add_number(used, -((pages as u64 * PAGE) as i64));
    let shifted = terms.right(used, 9);
    let place = terms.add(entries, shifted);
    let start = terms.add(window, used);
    exit.memory(
        stack,
        field!(Stack.window_used),
        used,
        "the stack's window pages in use",
    )?;
    for page in 0..pages {
        let cleared = exit.memory(
            place,
            8 * page as i32,
            ZERO,
            "a closed window's page-table entry",
        )?;
        let address = exit
            .machine
            .terms
            .add_number(start, (page as u64 * PAGE) as i64);
        let flush = Event::Flush {
            address: Some(address),
            asid: None,
        };
        exit.effect(flush, cleared, Reason::Flush)?;
    }
    Ok(())
}
