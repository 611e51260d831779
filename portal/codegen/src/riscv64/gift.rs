//! Pages that change their place for good: windows that stay open (`W`), pages given to the callee (`G`), pages
//! taken from it (`T`).
//!
//! `W` copies page-table entries of the invoker to the callee's gift area, marked as borrowed; `G` moves them. `T`
//! exchanges pages when the callee returns: its pages, whose address it leaves in `a1`, for the invoker's at the
//! argument, so that neither side's share of memory changes. The VM server's rules are in `abi::page_table`.

use super::asm::{registers::*, Assembler, Label, Register};
use super::window::{address_of_page, walk, Absent};
use super::DOMAIN;
use core::mem::offset_of;
use pebble_abi::errno::Errno;
use pebble_abi::{layout, object};

const GIFT: i32 = offset_of!(object::Domain, gift) as i32;
const GIFT_END: i32 = GIFT + 8;
const GIFT_ADDRESS: i32 = offset_of!(object::Domain, gift_address) as i32;
/// Words of scratch below the frame: entry and place of each page.
fn scratch(frame_bytes: i32, word: usize) -> i32 {
    -frame_bytes - 8 * (word as i32 + 1)
}

/// Branches to `absent` unless the page at `t5`, whose entry is in `t4`, is writable, and to `refused` unless it may be
/// moved then: what is borrowed or executable, or lies in a stack area, where another domain may see the same
/// entry, may not.
fn check_movable(
    a: &mut Assembler<'_>,
    temporary: Register,
    absent: &mut Label,
    refused: &mut Label,
) {
    a.lui(temporary, layout::STACKS as u32);
    a.bgeu(T5, temporary, refused);
    let writable = a.pages.writable as i32;
    a.andi(temporary, T4, writable);
    a.addi(temporary, temporary, -writable);
    a.bne(temporary, ZERO, absent);
    a.andi(temporary, T4, a.pages.fixed as i32);
    a.bne(temporary, ZERO, refused);
}

/// Checks the pages of a `W` (`moves` false) or `G` argument; `t2` = invoker. Entries and their places wait in the scratch
/// words from `first` on.
pub(super) fn check(
    a: &mut Assembler<'_>,
    argument: Register,
    pages: usize,
    moves: bool,
    (first, frame_bytes): (usize, i32),
    absent: &mut Absent,
    refused: &mut Label,
) {
    a.load_literal(T6, layout::PHYSMAP);
    for page in 0..pages {
        address_of_page(a, argument, page);
        walk(a, T2, absent.label(moves));
        a.sd(T3, scratch(frame_bytes, first + 2 * page + 1), T1);
        if moves {
            check_movable(a, T3, &mut absent.write, refused);
        } else {
            let readable = a.pages.readable as i32;
            a.andi(T3, T4, readable);
            a.addi(T3, T3, -readable);
            a.bne(T3, ZERO, &mut absent.read);
            // Not executable, never written through sharing, and not what keeps the page allocated.
            a.andi(T3, T4, a.pages.drop as i32);
            a.sub(T4, T4, T3);
            a.ori(T4, T4, a.pages.mark as i32);
        }
        a.sd(T4, scratch(frame_bytes, first + 2 * page), T1);
    }
}

/// Branches to `full` when the gift area of `t6` (the callee) has no room for `pages` pages. Uses `t3`, `t4`.
pub(super) fn check_room(a: &mut Assembler<'_>, pages: usize, full: &mut Label) {
    a.ld(T3, GIFT, T6);
    a.addi(T3, T3, 8 * pages as i32);
    a.ld(T4, GIFT_END, T6);
    a.bltu(T4, T3, full);
}

/// Carries out `W` or `G`: the callee (`t6`) gets the entries, the argument becomes the address there. `t1` = frame.
/// Uses `t2` to `t4`.
pub(super) fn hand_over(
    a: &mut Assembler<'_>,
    argument: Register,
    pages: usize,
    moves: bool,
    first: usize,
) {
    a.ld(T3, GIFT, T6);
    for page in 0..pages {
        a.ld(T4, scratch(0, first + 2 * page), T1);
        a.sd(T4, 8 * page as i32, T3);
        if moves {
            a.ld(T4, scratch(0, first + 2 * page + 1), T1);
            a.sd(ZERO, 0, T4);
            if page == 0 {
                a.sfence(argument, ZERO);
            } else {
                a.lui(T4, (page as u32) << 12);
                a.add(T4, T4, argument);
                a.sfence(T4, ZERO);
            }
        }
    }
    a.addi(T3, T3, 8 * pages as i32);
    a.sd(T3, GIFT, T6);
    a.ld(T3, GIFT_ADDRESS, T6);
    a.slli(argument, argument, 52);
    a.srli(argument, argument, 52);
    a.add(argument, argument, T3);
    a.lui(T4, (pages as u32) << 12);
    a.add(T3, T3, T4);
    a.sd(T3, GIFT_ADDRESS, T6);
}

/// Checks that the invoker's pages at a `T` argument are there and may be exchanged: the VM server makes them present
/// before the call. `t2` = invoker.
pub(super) fn check_take(
    a: &mut Assembler<'_>,
    argument: Register,
    pages: usize,
    absent: &mut Absent,
    refused: &mut Label,
) {
    a.load_literal(T6, layout::PHYSMAP);
    for page in 0..pages {
        address_of_page(a, argument, page);
        walk(a, T2, &mut absent.write);
        check_movable(a, T3, &mut absent.write, refused);
    }
}

/// The exchange, in the return code: `t1` = frame, whose word at `place` holds the invoker's address; `a1` = the
/// callee's. All pages or none; if none, the result becomes `-EFAULT`. A negative result exchanges nothing.
pub(super) fn take(a: &mut Assembler<'_>, place: i32, frame_domain: i32, pages: usize) {
    let mut refused = Label::new();
    let mut absent = Label::new();
    let mut done = Label::new();
    a.blt(A0, ZERO, &mut done);
    a.load_literal(T6, layout::PHYSMAP);
    a.ld(A2, place, T1);
    a.ld(T2, DOMAIN, TP);
    // Within one domain the two ranges could overlap, and a page would end up in two places.
    a.ld(T3, frame_domain, T1);
    a.beq(T2, T3, &mut refused);
    for (side, address) in [A1, A2].into_iter().enumerate() {
        if side == 1 {
            a.ld(T2, frame_domain, T1);
        }
        for page in 0..pages {
            address_of_page(a, address, page);
            walk(a, T2, &mut refused);
            a.sd(T3, scratch(0, 4 * page + 2 * side), T1);
            check_movable(a, T3, &mut absent, &mut refused);
            a.sd(T4, scratch(0, 4 * page + 2 * side + 1), T1);
        }
    }
    for page in 0..pages {
        for side in [0, 1] {
            a.ld(T3, scratch(0, 4 * page + 2 * side), T1);
            a.ld(T4, scratch(0, 4 * page + 2 * (1 - side) + 1), T1);
            a.sd(T4, 0, T3);
        }
        for address in [A1, A2] {
            address_of_page(a, address, page);
            a.sfence(T5, ZERO);
        }
    }
    // Two forward jumps around the refusal: nothing but branches is needed.
    a.beq(ZERO, ZERO, &mut done);
    a.bind(&refused);
    a.bind(&absent);
    a.li(A0, Errno::Fault.negated() as i32);
    a.bind(&done);
}
