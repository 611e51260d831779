//! Windows: which page-table entries a call may write, and that the return takes the same ones away.

use pebble_abi::layout::PAGE;
use pebble_abi::object::{Domain, Stack, Thread};
use pebble_abi::page_table::{self, PageTemplate};
use pebble_portal_spec::{Argument, Specification};

use super::*;

/// Valid, readable, user.
const READABLE: i16 = 0x13;
/// The same and writable.
const WRITABLE: i16 = 0x17;
/// Accessed and dirty.
const ACCESSED_DIRTY: i16 = 0xc0;

/// The bits of an entry that are not a page's number.
const FLAGS: i16 = 0x3ff;
/// Bits of an address within the span of one page-table page.
const SPAN_SHIFT: u8 = 21;

/// Bits of an entry that mean nothing to the processor.
const SOFTWARE: u32 = (page_table::SHARED_UNTIL_WRITTEN | page_table::BORROWED) as u32;

/// Whether the VM server's template agrees with the processor: it may choose among the bits that mean nothing to the
/// processor, but a table is a table, rights are rights, and nothing executable is passed on.
pub(crate) fn is_sound(template: &PageTemplate) -> bool {
    let execute = page_table::EXECUTE as u32;
    let passes = |bits: u32| bits & execute != 0 && bits & !(execute | SOFTWARE) == 0;
    template.table_mask == crate::record::TABLE_OR_LEAF as u32
        && template.table_value == page_table::VALID as u32
        && template.readable == READABLE as u32
        && template.writable == WRITABLE as u32
        && template.add == ACCESSED_DIRTY as u32
        && passes(template.fixed)
        && passes(template.drop)
        && template.mark & !SOFTWARE == 0
}

/// Whether the specification has a letter that works on pages.
pub(crate) fn names_pages(specification: &Specification) -> bool {
    buffers(specification).next().is_some()
}

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
#[derive(Clone, Copy)]
pub(super) struct Page {
    /// Its address.
    pub address: Term,
    /// Where its entry is.
    pub place: Term,
    /// The entry.
    pub entry: Term,
    /// The address of its table, less what the number of its span adds; zero where nobody asks.
    bias: Term,
    /// The comparisons with zero that it must pass to be there with the rights that its letter needs.
    pub checks: [Term; 4],
}

/// Pages that contracts have looked at in this part: every way out asks for the same ones again.
pub(crate) struct Pages {
    known: [Option<(PageKey, Page)>; 24],
    used: usize,
}

/// Domain, address of the buffer, number of the page, rights, how the path found its entry.
type PageKey = (Term, Term, usize, i16, Found);

/// How a path finds a page's entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    /// By a walk.
    Walked,
    /// By a walk whose last table the domain's record now names.
    Noted,
    /// In the table that the domain's record named.
    Remembered,
}

impl Pages {
    pub(crate) const fn new() -> Self {
        Pages {
            known: [None; 24],
            used: 0,
        }
    }
    /// Terms are made anew: what was known means nothing any more.
    pub(crate) fn forget(&mut self) {
        self.used = 0;
    }
    fn find(&self, key: PageKey) -> Option<Page> {
        let mut known = self.known[..self.used].iter().flatten();
        known
            .find(|(other, _)| *other == key)
            .map(|(_, page)| *page)
    }
    /// Without room a page is worked out each time.
    fn remember(&mut self, key: PageKey, page: Page) {
        if let Some(place) = self.known.get_mut(self.used) {
            *place = Some((key, page));
            self.used += 1;
        }
    }
}

impl Page {
    /// Page `number` of `buffer`, which starts at `start` in `domain`.
    pub fn new(
        exit: &mut Exit<'_, '_>,
        domain: Term,
        start: Term,
        number: usize,
        buffer: &Buffer,
    ) -> Page {
        let key = (
            domain,
            start,
            number,
            buffer.rights(),
            Found::of(exit, domain, start, number, buffer),
        );
        if let Some(page) = exit.machine.pages.find(key) {
            return page;
        }
        let page = Self::walk(exit, key);
        exit.machine.pages.remember(key, page);
        page
    }

    fn walk(exit: &mut Exit<'_, '_>, key: PageKey) -> Page {
        let (domain, start, number, rights, found) = key;
        if found == Found::Remembered {
            let bias = exit.load(domain, field!(Domain.leaf_bias));
            return Page::at(exit, start, bias, rights, None);
        }
        let mut table = exit.load(domain, field!(Domain.root));
        let terms = &mut exit.machine.terms;
        let address = terms.add_number(start, number as i64 * PAGE as i64);
        let mut checks = [terms.right(address, 38); 4];
        let (mut entry, mut place) = (ZERO, ZERO);
        for level in 0..3 {
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
            entry = terms.load(place, 0);
            // An upper entry leads to a table, the last one has the rights.
            let (mask, value) = if level < 2 {
                (crate::record::TABLE_OR_LEAF, 1)
            } else {
                (rights, rights as i64)
            };
            let bits = terms.and(entry, mask);
            checks[level + 1] = terms.add_number(bits, -value);
            let frame = terms.right(entry, 10);
            let frame = terms.left(frame, 12);
            table = terms.add_number(frame, pebble_abi::layout::PHYSMAP as i64);
            if level == 1 && found == Found::Noted {
                let span = terms.right(address, SPAN_SHIFT);
                let above = terms.left(span, 12);
                let bias = terms.subtract(table, above);
                return Page::at(exit, address, bias, rights, Some(checks));
            }
        }
        Page {
            address,
            place,
            entry,
            bias: ZERO,
            checks,
        }
    }

    /// The page at `address`, whose entry is found from the bias of its table; `walked`: what the upper levels had to
    /// pass, if they were looked at.
    fn at(
        exit: &mut Exit<'_, '_>,
        address: Term,
        bias: Term,
        rights: i16,
        walked: Option<[Term; 4]>,
    ) -> Page {
        let terms = &mut exit.machine.terms;
        let index = terms.right(address, 9);
        let index = terms.and(index, -8);
        let place = terms.add(bias, index);
        let entry = terms.load(place, 0);
        let bits = terms.and(entry, rights);
        let last = terms.add_number(bits, -(rights as i64));
        let mut checks = walked.unwrap_or([last; 4]);
        checks[3] = last;
        Page {
            address,
            place,
            entry,
            bias,
            checks,
        }
    }

    /// The entry for the callee: the same page, the window's rights, which the entry was found to have, and nothing else;
    /// never executable.
    fn shown(&self, exit: &mut Exit<'_, '_>, rights: i16) -> Term {
        let terms = &mut exit.machine.terms;
        let kept = terms.and(self.entry, !(FLAGS & !(rights | ACCESSED_DIRTY)));
        terms.or(kept, ACCESSED_DIRTY)
    }
}

impl Found {
    /// The first page that a call looks at, if it is a window's, is looked for in the domain's record first.
    fn of(
        exit: &mut Exit<'_, '_>,
        domain: Term,
        start: Term,
        number: usize,
        buffer: &Buffer,
    ) -> Found {
        let first = first_window(&exit.machine.policy.kind);
        if number != 0 || first.is_none_or(|first| first.register != buffer.register) {
            return Found::Walked;
        }
        let noted = exit.load(domain, field!(Domain.leaf_span));
        let span = exit.machine.terms.right(start, SPAN_SHIFT);
        match exit.machine.holds(Test::Equal, noted, span, true) {
            true => Found::Remembered,
            false => Found::Noted,
        }
    }
}

/// Whether the call looks at one page, which is a window's.
pub(super) fn is_alone(specification: &Specification) -> bool {
    specification.window_pages() == 1 && buffers(specification).count() == 1
}

/// The window whose first page is the first that a call looks at.
fn first_window(kind: &Kind<'_>) -> Option<Buffer> {
    let Kind::Call { specification, .. } = kind else {
        return None;
    };
    buffers(specification)
        .find(|buffer| !matches!(buffer.letter, Argument::Take(_)))
        .filter(|buffer| buffer.letter.window().is_some())
}

/// A call that found another span in the invoker's record than its first window's has walked to that window's table; if
/// there is one, the record now names it. That is no commit: whatever follows, the record says the truth.
pub(super) fn noted(exit: &mut Exit<'_, '_>) -> Result<(), Reason> {
    let Some(buffer) = first_window(&exit.machine.policy.kind) else {
        return Ok(());
    };
    let invoker = exit.load(THREAD, field!(Thread.domain));
    let start = exit.input(buffer.register);
    let before = exit.load(invoker, field!(Domain.leaf_span));
    let span = exit.machine.terms.right(start, SPAN_SHIFT);
    if !exit.machine.holds(Test::Equal, before, span, false) {
        return Ok(());
    }
    let page = Page::new(exit, invoker, start, 0, &buffer);
    if !page.checks[..3]
        .iter()
        .all(|check| exit.machine.is_zero(*check))
    {
        return Ok(());
    }
    let bias = page.bias;
    exit.memory(
        invoker,
        field!(Domain.leaf_span),
        span,
        "the span that the domain's record names",
    )?;
    exit.memory(
        invoker,
        field!(Domain.leaf_bias),
        bias,
        "where the record says its entries are",
    )?;
    Ok(())
}

/// Offset within a page, by shifting out what is above.
pub(super) fn within_page(exit: &mut Exit<'_, '_>, address: Term) -> Term {
    let above = exit.machine.terms.left(address, 52);
    exit.machine.terms.right(above, 52)
}

/// The comparison that says whether the stack has the window pages that the call needs: with `truth`, that it has not.
pub(super) fn room(
    exit: &mut Exit<'_, '_>,
    specification: &Specification,
    stack: Term,
    truth: bool,
) -> Result<(), Reason> {
    let pages = specification.window_pages();
    let end = exit.load(stack, field!(Stack.window_end));
    let next = exit.load(stack, field!(Stack.window_next));
    let what = "window pages left on the stack";
    if pages == 1 {
        return exit.fact(Test::Equal, end, next, truth, what);
    }
    let terms = &mut exit.machine.terms;
    let left = terms.subtract(end, next);
    let left = terms.right(left, 12);
    let missing = terms.add_number(left, -(pages as i64));
    exit.fact(Test::Less, missing, ZERO, truth, what)
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
    let bias = exit.load(stack, field!(Stack.window_bias));
    let mut next = exit.load(stack, field!(Stack.window_next));
    let invoker = exit.load(THREAD, field!(Thread.domain));
    let shown = |buffer: &Buffer| buffer.letter.window().is_some();
    for buffer in buffers(specification).filter(shown) {
        let original = exit.input(buffer.register);
        let shifted = exit.machine.terms.right(next, 9);
        let place = exit.machine.terms.add(bias, shifted);
        for number in 0..buffer.pages {
            let page = Page::new(exit, invoker, original, number, &buffer);
            for check in page.checks {
                exit.zero(
                    check,
                    true,
                    "the invoker has the window's page with the rights asked for",
                )?;
            }
            let entry = page.shown(exit, buffer.rights());
            exit.memory(
                place,
                8 * number as i32,
                entry,
                "a window's page-table entry",
            )?;
        }
        let within = within_page(exit, original);
        let terms = &mut exit.machine.terms;
        let address = terms.add(within, next);
        next = terms.add_number(next, (buffer.pages as u64 * PAGE) as i64);
        exit.set(buffer.register, address);
    }
    exit.memory(
        stack,
        field!(Stack.window_next),
        next,
        "the stack's first free window page",
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
            let page = Page::new(&mut exit, invoker, start, number, &buffer);
            // The lowest bit says whether the page must be writable.
            let mut address = exit.machine.terms.and(page.address, -2);
            if buffer.rights() == WRITABLE {
                address = exit.machine.terms.or(address, 1);
            }
            if address != exit.state.stval {
                continue;
            }
            if page
                .checks
                .iter()
                .any(|check| exit.machine.is_not_zero(*check))
            {
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
    let bias = exit.load(stack, field!(Stack.window_bias));
    let next = exit.load(stack, field!(Stack.window_next));
    let terms = &mut exit.machine.terms;
    let start = terms.add_number(next, -((pages as u64 * PAGE) as i64));
    let shifted = terms.right(start, 9);
    let place = terms.add(bias, shifted);
    exit.memory(
        stack,
        field!(Stack.window_next),
        start,
        "the stack's first free window page",
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
