//! One line about a fault: component, fault, address, source line.

use pebble_abi::layout::{self, PAGE, STACK_BOTTOM, STACK_SLOT, WINDOW_PAGES};
use pebble_abi::object::OUT_OF_MEMORY;

use super::message::Fault;
use super::symbols::Symbols;

/// What the processor calls this.
fn cause(fault: &Fault) -> String {
    let what = match fault.cause & !OUT_OF_MEMORY {
        0 => "jump to a misaligned address",
        1 => "jump to an address without memory",
        2 => {
            return format!(
                "illegal instruction{}",
                if fault.address == 0 {
                    String::new()
                } else {
                    format!(" {:#x}", fault.address)
                }
            )
        }
        3 => return "breakpoint".into(),
        4 => "misaligned load from",
        5 => "load from an address without memory:",
        6 => "misaligned store to",
        7 => "store to an address without memory:",
        12 => "jump to",
        13 => "load from",
        15 => "store to",
        number => return format!("processor exception {number} ({:#x})", fault.address),
    };
    let remark = match fault.cause & OUT_OF_MEMORY {
        0 => remark(fault.address),
        _ => Some("memory has run out"),
    };
    match remark {
        Some(remark) => format!("{what} {:#x} ({remark})", fault.address),
        None => format!("{what} {:#x}", fault.address),
    }
}

/// What is special about an address.
fn remark(address: u64) -> Option<&'static str> {
    let stacks = layout::STACKS..layout::STACKS + layout::MAX_DOMAINS as u64 * layout::STACK_AREA;
    if address < PAGE {
        Some("null pointer")
    } else if stacks.contains(&address)
        && (WINDOW_PAGES * PAGE..STACK_BOTTOM).contains(&((address - layout::STACKS) % STACK_SLOT))
    {
        Some("stack overflow")
    } else if address >= layout::USER_LIMIT {
        Some("not a component's address")
    } else {
        None
    }
}

/// The line.
pub fn describe(fault: &Fault, symbols: &Symbols) -> String {
    let place = match symbols.place(&fault.name, fault.pc).describe() {
        Some(place) => format!("in {place} (pc {:#x})", fault.pc),
        None => format!("at pc {:#x}, which is no code of its image", fault.pc),
    };
    format!(
        "{} (domain {}) ended by a fault: {}, {place}",
        fault.name,
        fault.asid,
        cause(fault)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn line(cause: u64, address: u64) -> String {
        let fault = Fault {
            name: "hello".into(),
            asid: 9,
            cause,
            address,
            pc: 0x10_0004,
        };
        describe(&fault, &Symbols::new("/nowhere".into(), BTreeMap::new()))
    }

    #[test]
    fn faults_are_named() {
        assert_eq!(
            line(15, 0),
            "hello (domain 9) ended by a fault: store to 0x0 (null pointer), at pc 0x100004, which is no code of its image"
        );
        assert!(line(2, 0).contains("illegal instruction, at"));
        assert!(line(13, layout::USER_LIMIT).contains("not a component's address"));
        assert!(line(12, 0xdead_0000).contains("jump to 0xdead0000"));
        assert!(line(15 | OUT_OF_MEMORY, 0x1000_0000)
            .contains("store to 0x10000000 (memory has run out), at"));
        assert!(line(99, 1).contains("processor exception 99"));
    }

    #[test]
    fn the_guard_page_of_a_stack_is_a_stack_overflow() {
        let slot = layout::stack_slot(layout::STACKS + layout::STACK_AREA * 9, 3);
        assert!(line(15, slot + STACK_BOTTOM - 8).contains("stack overflow"));
        assert!(!line(15, slot + STACK_BOTTOM).contains("stack overflow"));
        assert!(!line(15, slot).contains("stack overflow"));
    }
}
