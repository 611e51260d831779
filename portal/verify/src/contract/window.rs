//! Windows: which page-table entries a call may write, and that the return takes the same ones away.

use pebble_abi::layout::{PAGE, WINDOW_PAGES};
use pebble_abi::object::{Domain, Stack, Thread};
use pebble_portal_spec::Specification;

use super::*;

/// Valid, readable, user.
const READABLE: i16 = 0x13;
/// The same and writable.
const WRITABLE: i16 = 0x17;
/// Accessed and dirty.
const ACCESSED_DIRTY: i16 = 0xc0;

/// One page of a window, and what its walk through the invoker's page table met.
struct Page {
    /// Address in the invoker.
    address: Term,
    /// Entries of the three levels.
    entries: [Term; 3],
    /// Rights of the window.
    rights: i16,
}

impl Page {
    fn new(exit: &mut Exit<'_, '_>, argument: u8, page: i64, writable: bool) -> Page {
        let invoker = exit.load(THREAD, field!(Thread.domain));
        let mut table = exit.load(invoker, field!(Domain.root));
        let register = exit.input(argument);
        let terms = &mut exit.machine.terms;
        let address = terms.add_number(register, page * PAGE as i64);
        let mut entries = [ZERO; 3];
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
            let slot = terms.add(table, index);
            let (base, number) = terms.split(slot);
            // Located page-table slots carry their number in the base.
            let base = terms.add_number(base, number);
            *entry = terms.load(base, 0);
            let frame = terms.right(*entry, 10);
            let frame = terms.left(frame, 12);
            table = terms.add_number(frame, pebble_abi::layout::PHYSMAP as i64);
        }
        let rights = if writable { WRITABLE } else { READABLE };
        Page {
            address,
            entries,
            rights,
        }
    }

    /// The comparisons that the page must pass, each with zero.
    fn checks(&self, exit: &mut Exit<'_, '_>) -> [Term; 4] {
        let terms = &mut exit.machine.terms;
        let mut upper = [ZERO; 2];
        for (difference, entry) in upper.iter_mut().zip(self.entries) {
            let bits = terms.and(entry, crate::record::TABLE_OR_LEAF);
            *difference = terms.add_number(bits, -1);
        }
        let rights = terms.and(self.entries[2], self.rights);
        let rights = terms.add_number(rights, -(self.rights as i64));
        [terms.right(self.address, 38), upper[0], upper[1], rights]
    }

    /// The entry for the callee: the same page, the window's rights, never executable.
    fn entry(&self, exit: &mut Exit<'_, '_>) -> Term {
        let terms = &mut exit.machine.terms;
        let page = terms.right(self.entries[2], 10);
        let page = terms.left(page, 10);
        terms.or(page, self.rights | ACCESSED_DIRTY)
    }
}

/// Arguments that are windows: register, pages, writable.
fn windows(specification: &Specification) -> impl Iterator<Item = (u8, usize, bool)> + '_ {
    specification
        .arguments()
        .iter()
        .enumerate()
        .filter_map(|(index, argument)| {
            argument
                .window()
                .map(|(pages, writable)| (register::A0 + index as u8, pages, writable))
        })
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
    for (argument, count, writable) in windows(specification) {
        let shifted = exit.machine.terms.right(used, 9);
        let place = exit.machine.terms.add(entries, shifted);
        for page in 0..count {
            let walked = Page::new(exit, argument, page as i64, writable);
            for check in walked.checks(exit) {
                exit.zero(
                    check,
                    true,
                    "the invoker has the window's page with the rights asked for",
                )?;
            }
            let entry = walked.entry(exit);
            exit.memory(place, 8 * page as i32, entry, "a window's page-table entry")?;
        }
        let original = exit.input(argument);
        let terms = &mut exit.machine.terms;
        let within = terms.left(original, 52);
        let within = terms.right(within, 52);
        let start = terms.add(window, used);
        let address = terms.add(within, start);
        used = terms.add_number(used, (count as u64 * PAGE) as i64);
        exit.set(argument, address);
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
    for (argument, count, writable) in windows(specification) {
        for page in 0..count {
            let walked = Page::new(&mut exit, argument, page as i64, writable);
            // The lowest bit says whether the page must be writable.
            let mut address = exit.machine.terms.and(walked.address, -2);
            if writable {
                address = exit.machine.terms.or(address, 1);
            }
            if address != exit.state.stval {
                continue;
            }
            let checks = walked.checks(&mut exit);
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
