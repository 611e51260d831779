//! Pages that change their place for good: windows that stay open, pages given, pages taken.

use pebble_abi::errno::Errno;
use pebble_abi::layout::{PAGE, STACKS};
use pebble_abi::object::{self, Domain, Frame, Thread};
use pebble_portal_spec::{Argument, Specification, Stack, State as Kept};

use super::window::{buffers, within_page, Buffer, Page};
use super::*;

/// Bytes of a call's frame before the words of the letter `T`.
pub(super) fn saved_bytes(specification: &Specification) -> u64 {
    match (specification.state, specification.stack) {
        (Kept::Partial, _) => object::CALL_FRAME,
        (Kept::Minimal, Stack::New) => object::FRAME_HEADER + 8,
        (Kept::Minimal, Stack::Shared) => object::FRAME_HEADER,
    }
}

/// Buffers whose pages are exchanged when the callee returns.
pub(super) fn takes(specification: &Specification) -> impl Iterator<Item = Buffer> + '_ {
    buffers(specification).filter(|buffer| matches!(buffer.letter, Argument::Take(_)))
}

/// Buffers whose pages appear in the callee's area for given pages.
fn gifts(specification: &Specification) -> impl Iterator<Item = Buffer> + '_ {
    let given =
        |buffer: &Buffer| matches!(buffer.letter, Argument::OpenWindow(_) | Argument::Give(_));
    buffers(specification).filter(given)
}

/// Words beneath the frame in which entries, and places of given pages, wait for the commit.
pub(super) fn scratch_words(specification: &Specification) -> i32 {
    let gifts: usize = gifts(specification).map(|buffer| 2 * buffer.pages).sum();
    (specification.window_pages() + gifts) as i32
}

/// The comparisons that say that a page must stay where it is: its address, and bits of its entry.
fn unmovable(exit: &mut Exit<'_, '_>, page: &Page) -> (Term, Term) {
    let stacks = exit.number(STACKS);
    let fixed = exit.machine.policy.system.pages.fixed as i16;
    let bits = exit.machine.terms.and(page.entry, fixed);
    (stacks, bits)
}

/// A page that would have to move must stay: the path says so.
fn stays(exit: &mut Exit<'_, '_>, page: &Page) -> bool {
    let (stacks, bits) = unmovable(exit, page);
    let in_stacks = exit
        .machine
        .holds(Test::LessUnsigned, page.address, stacks, false);
    in_stacks || exit.machine.is_not_zero(bits)
}

/// The page is there, writable, and may move.
fn movable(exit: &mut Exit<'_, '_>, page: &Page) -> Result<(), Reason> {
    for check in page.checks {
        exit.zero(check, true, "a page that moves is there and writable")?;
    }
    let (stacks, bits) = unmovable(exit, page);
    exit.fact(
        Test::LessUnsigned,
        page.address,
        stacks,
        true,
        "a page that moves is not in a stack area",
    )?;
    exit.zero(
        bits,
        true,
        "a page that moves is neither borrowed nor executable",
    )
}

/// A page that is to be given or taken must stay: the call is refused.
pub(super) fn refused(exit: &mut Exit<'_, '_>, specification: &Specification) -> bool {
    let invoker = exit.load(THREAD, field!(Thread.domain));
    buffers(specification).filter(Buffer::moves).any(|buffer| {
        let start = exit.input(buffer.register);
        (0..buffer.pages).any(|number| {
            let page = Page::new(exit, invoker, start, number, &buffer);
            stays(exit, &page)
        })
    })
}

/// The comparison that says whether the callee's area has room.
pub(super) fn room(
    exit: &mut Exit<'_, '_>,
    specification: &Specification,
    callee: Term,
    truth: bool,
) -> Result<(), Reason> {
    let pages: usize = gifts(specification).map(|buffer| buffer.pages).sum();
    if pages == 0 {
        return if truth {
            Err(Reason::Check("room for given pages"))
        } else {
            Ok(())
        };
    }
    let end = exit.load(callee, field!(Domain.gift) + 8);
    let next = exit.load(callee, field!(Domain.gift));
    let next = exit.machine.terms.add_number(next, 8 * pages as i64);
    exit.fact(Test::LessUnsigned, end, next, truth, "room for given pages")
}

/// The callee has the pages that letters `W` and `G` name, and the invoker what is left.
pub(super) fn handed_over(
    exit: &mut Exit<'_, '_>,
    specification: &Specification,
    callee: Term,
) -> Result<(), Reason> {
    room(exit, specification, callee, false)?;
    let invoker = exit.load(THREAD, field!(Thread.domain));
    // Pages that will be taken can be, as far as the call can tell.
    for buffer in takes(specification) {
        let start = exit.input(buffer.register);
        for number in 0..buffer.pages {
            let page = Page::new(exit, invoker, start, number, &buffer);
            movable(exit, &page)?;
        }
    }
    let next = exit.load(callee, field!(Domain.gift));
    let area = exit.load(callee, field!(Domain.gift_address));
    let mut pages = 0;
    for buffer in gifts(specification) {
        let start = exit.input(buffer.register);
        for number in 0..buffer.pages {
            let page = Page::new(exit, invoker, start, number, &buffer);
            let last = page.entry;
            let slot = 8 * (pages + number) as i32;
            if buffer.moves() {
                movable(exit, &page)?;
                exit.memory(next, slot, last, "the entry of a given page")?;
                let cleared = exit.memory(
                    page.place,
                    0,
                    ZERO,
                    "the entry of a page that was given away",
                )?;
                let flush = Event::Flush {
                    address: Some(page.address),
                    asid: None,
                };
                exit.effect(flush, cleared, Reason::Flush)?;
            } else {
                for check in page.checks {
                    exit.zero(check, true, "the invoker may read the window's page")?;
                }
                let template = exit.machine.policy.system.pages;
                let terms = &mut exit.machine.terms;
                let dropped = terms.and(last, template.drop as i16);
                let copy = terms.subtract(last, dropped);
                let copy = terms.or(copy, template.mark as i16);
                exit.memory(next, slot, copy, "the entry of a window that stays open")?;
            }
        }
        let within = within_page(exit, start);
        let terms = &mut exit.machine.terms;
        let there = terms.add_number(area, (pages as u64 * PAGE) as i64);
        let address = terms.add(within, there);
        exit.set(buffer.register, address);
        pages += buffer.pages;
    }
    if pages > 0 {
        let terms = &mut exit.machine.terms;
        let next_after = terms.add_number(next, 8 * pages as i64);
        let area_after = terms.add_number(area, (pages as u64 * PAGE) as i64);
        exit.memory(
            callee,
            field!(Domain.gift),
            next_after,
            "the next entry for given pages",
        )?;
        exit.memory(
            callee,
            field!(Domain.gift_address),
            area_after,
            "the next address for given pages",
        )?;
    }
    Ok(())
}

/// Letter `T`, when the callee returns: its pages and the invoker's have changed places, all of them or none.
pub(super) fn taken(exit: &mut Exit<'_, '_>, specification: &Specification) -> Result<(), Reason> {
    let Some(buffer) = takes(specification).next() else {
        return Ok(());
    };
    // Dead for the invoker, as every argument register is.
    exit.registers[register::A2 as usize] = None;
    let answer = exit.input(register::A0);
    if exit.machine.holds(Test::Less, answer, ZERO, true) {
        return Ok(());
    }
    exit.fact(Test::Less, answer, ZERO, false, "the callee's answer")?;
    exit.scratch = -32 * buffer.pages as i32..0;
    let callee = exit.load(THREAD, field!(Thread.domain));
    let invoker = exit.load(FRAME, field!(Frame.domain));
    let theirs = exit.input(register::A1);
    let place = saved_bytes(specification) as i32;
    let ours = exit.load(FRAME, place);
    let mut refused = exit.machine.holds(Test::Equal, callee, invoker, true);
    for number in 0..buffer.pages {
        for (domain, start) in [(callee, theirs), (invoker, ours)] {
            let page = Page::new(exit, domain, start, number, &buffer);
            refused |= page
                .checks
                .iter()
                .any(|check| exit.machine.is_not_zero(*check));
            refused |= stays(exit, &page);
        }
    }
    if refused {
        exit.set_number(register::A0, Errno::Fault.negated() as u64);
        return Ok(());
    }
    exit.fact(
        Test::Equal,
        callee,
        invoker,
        false,
        "pages are exchanged between two domains",
    )?;
    for number in 0..buffer.pages {
        let there = Page::new(exit, callee, theirs, number, &buffer);
        let here = Page::new(exit, invoker, ours, number, &buffer);
        for (page, other) in [(&there, &here), (&here, &there)] {
            movable(exit, page)?;
            let changed =
                exit.memory(page.place, 0, other.entry, "the entry of an exchanged page")?;
            let flush = Event::Flush {
                address: Some(page.address),
                asid: None,
            };
            exit.effect(flush, changed, Reason::Flush)?;
        }
    }
    Ok(())
}
