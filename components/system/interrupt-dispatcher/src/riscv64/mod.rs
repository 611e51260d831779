//! The platform-level interrupt controller: every register access of this component.
//!
//! Offsets from the RISC-V PLIC specification; context 1 is supervisor mode of hart 0 on QEMU's `virt`.
#![allow(unsafe_code)]

use core::ptr::{read_volatile, write_volatile};

use pebble_server::abi::layout::DEVICE;

use crate::{Controller, SOURCES};

/// Physical address on QEMU's `virt`.
const BASE: u64 = 0x0c00_0000;
/// Supervisor mode of hart 0.
const CONTEXT: u64 = 1;
const ENABLE: u64 = 0x2000 + 0x80 * CONTEXT;
const THRESHOLD: u64 = 0x20_0000 + 0x1000 * CONTEXT;
const CLAIM: u64 = THRESHOLD + 4;

/// The controller, whose registers the dispatcher's domain has mapped.
pub struct Plic;

impl Plic {
    #[inline(always)]
    fn read(offset: u64) -> u32 {
        // SAFETY: `offset` is that of a register above; init maps the controller's registers at this address.
        unsafe { read_volatile((DEVICE + BASE + offset) as *const u32) }
    }

    #[inline(always)]
    fn write(offset: u64, value: u32) {
        // SAFETY: as above.
        unsafe { write_volatile((DEVICE + BASE + offset) as *mut u32, value) }
    }
}

impl Controller for Plic {
    fn open(&self) {
        for word in 0..SOURCES as u64 / 32 {
            Self::write(ENABLE + 4 * word, u32::MAX);
        }
        Self::write(THRESHOLD, 0);
    }

    #[inline(always)]
    fn claim(&self) -> u32 {
        Self::read(CLAIM)
    }

    fn complete(&self, source: u32) {
        Self::write(CLAIM, source);
    }

    fn set_priority(&self, source: u32, priority: u32) {
        Self::write(4 * (u64::from(source) % SOURCES as u64), priority);
    }
}
