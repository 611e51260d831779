//! Short circuits: portals whose whole work is done in the portal (USENIX paper, "Short-Circuit Portals").

use super::asm::{csr, registers::*, Assembler, Label, RETURN_LITERAL};
use super::*;
use pebble_abi::errno::Errno;
use pebble_abi::layout::MAX_DOMAINS;
use pebble_abi::object;

use crate::System;

fn done(a: &mut Assembler<'_>) {
    a.csrw(csr::SEPC, RA);
    leave(a);
}

/// Slot 0: continue with the return code of the portal that pushed the top frame.
pub(super) fn return_stub(a: &mut Assembler<'_>) {
    a.ld(T1, INVOCATION, TP);
    a.ld(T0, FRAME_PORTAL, T1);
    a.ld(T2, RETURN_LITERAL, T0);
    a.jr(T2);
}

pub(super) fn empty(a: &mut Assembler<'_>) {
    answer(a, Errno::NoSys.negated() as i32);
}

pub(super) fn dead(a: &mut Assembler<'_>) {
    answer(a, Errno::OwnerDead.negated() as i32);
}

pub(super) fn get_asid(a: &mut Assembler<'_>) {
    a.ld(T1, DOMAIN, TP);
    a.ld(A0, DOMAIN_ASID, T1);
    done(a);
}

pub(super) fn get_thread(a: &mut Assembler<'_>) {
    a.lw(A0, NUMBER, TP);
    done(a);
}

pub(super) fn high_resolution_time(a: &mut Assembler<'_>) {
    a.csrr(A0, csr::CYCLE);
    a.srli(A0, A0, 1);
    done(a);
}

pub(super) fn time_of_day(a: &mut Assembler<'_>, scale: u64, offset: u64) {
    a.csrr(A0, csr::TIME);
    a.load_literal(T1, scale);
    a.mul(A0, A0, T1);
    a.load_literal(T1, offset);
    a.add(A0, A0, T1);
    done(a);
}

pub(super) fn set_timer(a: &mut Assembler<'_>, system: &System) {
    if system.sstc {
        a.csrw(csr::STIMECMP, A1);
    } else {
        // SBI: extension TIME, function 0.
        a.mv(A0, A1);
        a.load_literal(A7, 0x5449_4d45);
        a.li(A6, 0);
        a.ecall();
    }
    a.li(A0, 0);
    done(a);
}

pub(super) fn wait_for_interrupt(a: &mut Assembler<'_>) {
    a.wfi();
    done(a);
}

/// Also forgets where the domain's last window was: its page-table page may be about to get another use.
pub(super) fn flush_domain(a: &mut Assembler<'_>, system: &System) {
    let mut nobody = Label::new();
    a.sfence(ZERO, A0);
    a.li(T3, MAX_DOMAINS as i32);
    a.bgeu(A0, T3, &mut nobody);
    a.load_literal(T3, system.domains);
    a.slli(T4, A0, object::DOMAIN_BYTES.ilog2());
    a.add(T3, T3, T4);
    a.li(T4, object::NO_SPAN as i32);
    a.sd(T4, offset_of!(object::Domain, leaf_span) as i32, T3);
    a.bind(&nobody);
    a.li(A0, 0);
    done(a);
}

pub(super) fn flush_page(a: &mut Assembler<'_>) {
    a.sfence(A1, A0);
    a.li(A0, 0);
    done(a);
}

pub(super) fn put_byte(a: &mut Assembler<'_>) {
    // SBI: legacy console putchar.
    a.mv(A0, A1);
    a.li(A7, 1);
    a.ecall();
    done(a);
}

pub(super) fn flush_instructions(a: &mut Assembler<'_>) {
    a.fence_i();
    a.li(A0, 0);
    done(a);
}

pub(super) fn reset(a: &mut Assembler<'_>) {
    // SBI: extension SRST, shutdown, reason "system failure".
    a.load_literal(A7, 0x5352_5354);
    a.li(A6, 0);
    a.li(A0, 0);
    a.li(A1, 1);
    a.ecall();
    done(a);
}
