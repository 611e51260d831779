//! Short circuits, the return slot and slots without a portal.

use pebble_abi::errno::Errno;
use pebble_abi::layout::MAX_DOMAINS;
use pebble_abi::object::{Domain, Thread};
use pebble_portal_spec::portal::Kind;

use super::*;
use crate::decode::Width;
use crate::term::Node;

/// SBI extension "TIME".
const SBI_TIME: u64 = 0x5449_4d45;
/// SBI extension "SRST".
const SBI_RESET: u64 = 0x5352_5354;

/// Checks a path of a short circuit that leaves.
pub(super) fn leave(mut exit: Exit<'_, '_>, kind: &Kind<'_>) -> Result<(), Reason> {
    match kind {
        Kind::Empty => return exit.answer(Errno::NoSys),
        Kind::Dead => return exit.answer(Errno::OwnerDead),
        Kind::Return => {
            let top = exit.top;
            exit.continue_frame(top)?;
            return exit.finish();
        }
        _ => {}
    }
    exit.to_user()?;
    exit.sepc = exit.input(register::RA);
    let (first, argument) = (exit.input(register::A0), exit.input(register::A1));
    let result = match *kind {
        Kind::GetAsid => {
            let domain = exit.load(THREAD, field!(Thread.domain));
            exit.load(domain, field!(Domain.asid))
        }
        Kind::GetThread => number(&mut exit),
        Kind::HighResolutionTime => {
            let cycles = exit.csr(csr::CYCLE);
            exit.machine.terms.right(cycles, 1)
        }
        Kind::TimeOfDay { scale, offset } => {
            let (ticks, scale) = (exit.csr(csr::TIME), exit.number(scale));
            let offset = exit.number(offset);
            let terms = &mut exit.machine.terms;
            let time = terms.product(ticks, scale);
            terms.add(time, offset)
        }
        Kind::SetTimer => {
            if exit.machine.policy.system.sstc {
                exit.stimecmp = argument;
            } else {
                let extension = exit.number(SBI_TIME);
                firmware(&mut exit, [extension, ZERO, argument, argument])?;
            }
            ZERO
        }
        Kind::WaitForInterrupt => {
            exit.effect(Event::Wait, 0, Reason::Privilege)?;
            exit.input(register::A0)
        }
        Kind::FlushDomain => {
            let flush = Event::Flush {
                address: None,
                asid: Some(first),
            };
            exit.effect(flush, 0, Reason::Flush)?;
            let limit = exit.number(MAX_DOMAINS as u64);
            let numbered = exit.machine.holds(Test::LessUnsigned, first, limit, true);
            exit.fact(
                Test::LessUnsigned,
                first,
                limit,
                numbered,
                "the domain's number",
            )?;
            if numbered {
                let domains = exit.machine.policy.system.domains;
                let terms = &mut exit.machine.terms;
                let record = terms.left(first, object::DOMAIN_BYTES.ilog2() as u8);
                let record = terms.add_number(record, domains as i64);
                let none = exit.number(object::NO_SPAN);
                exit.memory(
                    record,
                    field!(Domain.leaf_span),
                    none,
                    "the span that the domain's record names",
                )?;
            }
            ZERO
        }
        Kind::FlushPage => {
            let flush = Event::Flush {
                address: Some(argument),
                asid: Some(first),
            };
            exit.effect(flush, 0, Reason::Flush)?;
            ZERO
        }
        Kind::PutByte => {
            let extension = exit.number(1);
            let function = exit.input(register::A6);
            firmware(&mut exit, [extension, function, argument, argument])?;
            JUNK
        }
        Kind::FlushInstructions => {
            exit.effect(Event::FenceInstructions, 0, Reason::Privilege)?;
            ZERO
        }
        Kind::Reset => {
            let (extension, failure) = (exit.number(SBI_RESET), exit.number(1));
            firmware(&mut exit, [extension, ZERO, ZERO, failure])?;
            ZERO
        }
        _ => return Err(Reason::Exit),
    };
    exit.registers[register::A0 as usize] = (result != JUNK).then_some(result);
    if matches!(kind, Kind::Reset) {
        exit.registers[register::A0 as usize] = None;
    }
    exit.finish()
}

/// The thread's number, as a 32-bit load leaves it.
pub(super) fn number(exit: &mut Exit<'_, '_>) -> Term {
    exit.machine.terms.term(Node::Load {
        base: THREAD,
        offset: field!(Thread.number),
        width: Width::Word,
    })
}

/// A call of the firmware, which keeps every register but `a0` and `a1`; the portal itself sets `a6` and `a7`.
fn firmware(exit: &mut Exit<'_, '_>, call: [Term; 4]) -> Result<(), Reason> {
    exit.effect(Event::Firmware(call), 0, Reason::Privilege)?;
    for number in [register::A1, register::A6, register::A7] {
        exit.registers[number as usize] = None;
    }
    Ok(())
}
