//! Short circuits: the portal does the work itself.

use core::mem::offset_of;
use pebble_abi::errno::Errno;
use pebble_abi::layout::MAX_DOMAINS;
use pebble_abi::object::{self, Domain};
use pebble_portal_spec::portal::Kind;

use crate::machine::register::*;
use crate::machine::{field, Machine, Stamp};
use crate::World;

/// SBI extensions.
const SBI_PUT_BYTE: u64 = 1;
const SBI_TIME: u64 = 0x5449_4d45;
const SBI_RESET: u64 = 0x5352_5354;

impl Machine {
    /// The firmware is called; it answers zeros.
    fn call_firmware(&mut self, extension: u64, function: u64, first: u64, second: u64) {
        self.x[A7] = extension;
        self.x[A6] = function;
        self.firmware.push([extension, function, first, second]);
        self.x[A0] = 0;
        self.x[A1] = 0;
    }
}

impl World<'_> {
    pub(crate) fn short_circuit(&self, m: &mut Machine, kind: &Kind<'_>) {
        match *kind {
            Kind::Empty => m.fail(Errno::NoSys),
            Kind::Dead => m.fail(Errno::OwnerDead),
            Kind::GetAsid => m.answer(m.get(m.domain() + field!(Domain.asid))),
            Kind::GetThread => m.answer(m.thread_number()),
            Kind::HighResolutionTime => {
                m.answer(0);
                m.stamps.push(Stamp::HalfCycles { register: A0 });
            }
            Kind::TimeOfDay { scale, offset } => {
                m.answer(0);
                m.stamps.push(Stamp::Ticks {
                    register: A0,
                    scale,
                    offset,
                });
            }
            Kind::SetTimer => {
                if self.system.sstc {
                    m.stimecmp = m.x[A1];
                } else {
                    m.call_firmware(SBI_TIME, 0, m.x[A1], m.x[A1]);
                }
                m.answer(0);
            }
            Kind::PutByte => {
                m.call_firmware(SBI_PUT_BYTE, m.x[A6], m.x[A1], m.x[A1]);
                m.answer(0);
            }
            Kind::Reset => {
                m.call_firmware(SBI_RESET, 0, 0, 1);
                m.answer(0);
            }
            // What they do cannot be seen in registers or memory.
            Kind::FlushDomain => {
                let number = m.x[A0];
                if number < MAX_DOMAINS as u64 {
                    let record = self.system.domains + object::DOMAIN_BYTES * number;
                    m.set(record + field!(Domain.leaf_span), object::NO_SPAN);
                }
                m.answer(0);
            }
            Kind::FlushPage | Kind::FlushInstructions => m.answer(0),
            Kind::WaitForInterrupt => m.pc = m.x[RA],
            _ => panic!("{kind:?} is not a short circuit"),
        }
    }
}
