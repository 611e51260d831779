//! Memory windows: pages of the invoker that the callee sees for the length of a call.
//!
//! A window page is mapped at once, by writing a page-table entry of the callee: each stack slot has
//! window pages of its own with a page-table page behind them, so two traversals never share an entry and the
//! entry of one goes when it returns. The paper counts traversals per page and domain instead, because its
//! processor refills the TLB in software; docs/decisions compares the two.

use super::asm::{csr, registers::*, Assembler, Label, Register};
use super::{DOMAIN_ROOT, STACK, TABLE};
use core::mem::offset_of;
use pebble_abi::object::{Domain, Stack};
use pebble_abi::{layout, slot};

const LEAF_SPAN: i32 = offset_of!(Domain, leaf_span) as i32;
const LEAF_BIAS: i32 = offset_of!(Domain, leaf_bias) as i32;
/// The bits of an entry that are not a page's number.
const FLAGS: i32 = 0x3ff;
const WINDOW_BIAS: i32 = offset_of!(Stack, window_bias) as i32;
const WINDOW_NEXT: i32 = offset_of!(Stack, window_next) as i32;
const WINDOW_END: i32 = offset_of!(Stack, window_end) as i32;

/// Where one page's entry waits between check and commit: below the frame that is about to be pushed.
fn scratch(frame_bytes: i32, page: usize) -> i32 {
    -frame_bytes - 8 * (page as i32 + 1)
}

/// Where the entries for the callee are between check and commit.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In words below a frame of so many bytes that is about to be pushed.
    Scratch(i32),
    /// In `ra`: there is one.
    Register,
}

/// Checks one window: walks the invoker's page table (`t2` = its domain) for each page and leaves the entry for the
/// callee in its place; `first` counts window pages before this argument. Branches to `absent` when a page is not there
/// or not usable this way. Uses `t3` to `t6`.
pub(super) fn check(
    a: &mut Assembler<'_>,
    argument: Register,
    pages: usize,
    writable: bool,
    (first, place): (usize, Place),
    absent: &mut Absent,
) {
    let pages_of = a.pages;
    let rights = if writable {
        pages_of.writable
    } else {
        pages_of.readable
    } as i32;
    let add = pages_of.add as i32;
    if first > 0 || pages > 1 {
        a.load_literal(T6, layout::PHYSMAP);
    }
    for page in 0..pages {
        let first_of_all = first + page == 0;
        if first_of_all {
            remembered(a, T2, argument, pages == 1, absent.label(writable));
            absent.first = Some((argument, writable));
        } else {
            address_of_page(a, argument, page);
            walk(a, T2, absent.label(writable));
        }
        a.andi(T3, T4, rights);
        a.addi(T3, T3, -rights);
        if first_of_all {
            a.bne(T3, ZERO, &mut absent.here);
        } else {
            a.bne(T3, ZERO, absent.label(writable));
        }
        // Same page, rights of this window only, which the entry was just found to have: never executable.
        a.andi(T4, T4, !(FLAGS & !(rights | add)));
        match place {
            Place::Scratch(frame) => {
                a.ori(T4, T4, add);
                a.sd(T4, scratch(frame, first + page), T1);
            }
            Place::Register => a.ori(RA, T4, add),
        }
    }
}

/// As [`walk`], but the page-table page is mostly the one that the domain's last window was in: where that is stands in
/// the domain's record. Only a call's first page asks there, since each question doubles the paths through the block. The
/// page's address is the argument itself, and not in `t5` when it was found that way. `load_map`: `t6` is not PHYSMAP yet.
fn remembered(
    a: &mut Assembler<'_>,
    domain: Register,
    argument: Register,
    load_map: bool,
    absent: &mut Label,
) {
    let mut known = Label::new();
    a.ld(T3, LEAF_SPAN, domain);
    a.srli(T4, argument, 21);
    a.beq(T3, T4, &mut known);
    a.mv(T5, argument);
    if load_map {
        a.load_literal(T6, layout::PHYSMAP);
    }
    walk_to_leaf(a, domain, absent);
    a.srli(T4, T5, 21);
    a.sd(T4, LEAF_SPAN, domain);
    a.slli(T4, T4, 12);
    a.sub(T3, T3, T4);
    a.sd(T3, LEAF_BIAS, domain);
    a.bind(&known);
    a.ld(T3, LEAF_BIAS, domain);
    a.srli(T4, argument, 9);
    a.andi(T4, T4, -8);
    a.add(T3, T3, T4);
    a.ld(T4, 0, T3);
}

/// `t5` = address of page `page` of the buffer that starts at `argument`. Uses `t3`.
pub(super) fn address_of_page(a: &mut Assembler<'_>, argument: Register, page: usize) {
    if page == 0 {
        a.mv(T5, argument);
    } else {
        a.lui(T3, (page as u32) << 12);
        a.add(T5, argument, T3);
    }
}

/// Walks the page table of `domain` for the address in `t5`: `t3` = where its entry is, `t4` = the entry, which may be
/// anything. Branches to `absent` when there is no entry. `t6` = PHYSMAP.
pub(super) fn walk(a: &mut Assembler<'_>, domain: Register, absent: &mut Label) {
    walk_to_leaf(a, domain, absent);
    a.slli(T4, T5, 43);
    a.srli(T4, T4, 55);
    a.slli(T4, T4, 3);
    a.add(T3, T3, T4);
    a.ld(T4, 0, T3);
}

/// The upper levels of [`walk`]: `t3` = the page-table page that the entry is in.
fn walk_to_leaf(a: &mut Assembler<'_>, domain: Register, absent: &mut Label) {
    // Only the lower half of the address space is a component's.
    a.srli(T3, T5, 38);
    a.bne(T3, ZERO, absent);
    a.ld(T3, DOMAIN_ROOT, domain);
    a.srli(T4, T5, 30);
    for level in [2, 1] {
        if level == 1 {
            a.slli(T4, T5, 34);
            a.srli(T4, T4, 55);
        }
        a.slli(T4, T4, 3);
        a.add(T3, T3, T4);
        // A table below, not a large page: core servers see RAM through those, and what is in them is not ours.
        a.ld(T3, 0, T3);
        a.andi(T4, T3, a.pages.table_mask as i32);
        a.addi(T4, T4, -(a.pages.table_value as i32));
        a.bne(T4, ZERO, absent);
        a.srli(T3, T3, 10);
        a.slli(T3, T3, 12);
        a.add(T3, T3, T6);
    }
}

/// Branches to `full` when the stack record in `t5` has fewer than `pages` window pages left. Leaves the address of the
/// first free one in `t4`; uses `t3`.
pub(super) fn check_room(a: &mut Assembler<'_>, pages: usize, full: &mut Label) {
    a.ld(T4, WINDOW_NEXT, T5);
    a.ld(T3, WINDOW_END, T5);
    if pages == 1 {
        a.beq(T3, T4, full);
    } else {
        a.sub(T3, T3, T4);
        a.srli(T3, T3, 12);
        a.addi(T3, T3, -(pages as i32));
        a.blt(T3, ZERO, full);
    }
}

/// Opens one window on the stack record in `t5`: moves the entries to their places and the argument to the
/// address that the callee sees. `t1` is the new frame, `t4` the first free window page, unless it must be loaded
/// `again`. Uses `t2`, `t3`.
pub(super) fn open(
    a: &mut Assembler<'_>,
    argument: Register,
    pages: usize,
    first: usize,
    again: bool,
    place: Place,
) {
    if again {
        a.ld(T4, WINDOW_NEXT, T5);
    }
    a.ld(T2, WINDOW_BIAS, T5);
    a.srli(T3, T4, 9);
    a.add(T3, T3, T2);
    for page in 0..pages {
        match place {
            Place::Register => a.sd(RA, 0, T3),
            Place::Scratch(_) => {
                a.ld(T2, scratch(0, first + page), T1);
                a.sd(T2, 8 * page as i32, T3);
            }
        }
    }
    a.slli(argument, argument, 52);
    a.srli(argument, argument, 52);
    a.add(argument, argument, T4);
    a.lui(T2, (pages as u32) << 12);
    a.add(T4, T4, T2);
    a.sd(T4, WINDOW_NEXT, T5);
}

/// Closes the last `pages` window pages of the thread's stack. Uses `t2` to `t4`; leaves the stack in `t6`.
pub(super) fn close(a: &mut Assembler<'_>, pages: usize) {
    a.ld(T6, STACK, TP);
    a.ld(T2, WINDOW_NEXT, T6);
    a.lui(T4, (pages as u32) << 12);
    a.sub(T2, T2, T4);
    a.sd(T2, WINDOW_NEXT, T6);
    a.ld(T3, WINDOW_BIAS, T6);
    a.srli(T4, T2, 9);
    a.add(T4, T4, T3);
    for page in 0..pages {
        a.sd(ZERO, 8 * page as i32, T4);
        if page > 0 {
            a.lui(T3, 1 << 12);
            a.add(T2, T2, T3);
        }
        a.sfence(T2, ZERO);
    }
}

/// Where a portal goes whose caller's buffer is not there.
#[derive(Default)]
pub(super) struct Absent {
    /// A page that must be readable.
    pub read: Label,
    /// A page that must be writable.
    pub write: Label,
    /// The first page of a call that begins with a window, which is at this argument, must be writable or not.
    here: Label,
    first: Option<(Register, bool)>,
}

impl Absent {
    /// The label for a window with these rights.
    pub fn label(&mut self, writable: bool) -> &mut Label {
        if writable {
            &mut self.write
        } else {
            &mut self.read
        }
    }
}

/// The page at `t5` is not there, or not usable this way: continue in the window-fault portal of the current table,
/// which finds the address where a page fault would have left it. Its lowest bit says that the page must be
/// writable: without that, the VM server could find nothing wrong and the call would be repeated for ever.
pub(super) fn absent(a: &mut Assembler<'_>, absent: &Absent) {
    for (label, writable) in [(&absent.read, false), (&absent.write, true)] {
        let first = absent.first.filter(|(_, write)| *write == writable);
        if let Some((argument, _)) = first {
            a.bind(&absent.here);
            a.mv(T5, argument);
        }
        if first.is_some() || Assembler::is_used(label) {
            a.bind(label);
            a.andi(T5, T5, -2);
            if writable {
                a.ori(T5, T5, 1);
            }
            a.csrw(csr::STVAL, T5);
            a.ld(T0, TABLE, TP);
            a.ld(T0, 8 * slot::WINDOW_FAULT as i32, T0);
            a.jr(T0);
        }
    }
}
