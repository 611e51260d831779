//! What the device tree says: memory, bundle, timebase, processor features.

use pebble_abi::object::{feature, Range};

use super::{fail, memory};

/// The machine as boot code needs it.
pub(super) struct Machine {
    /// RAM.
    pub ram: Range,
    /// RAM into which nothing was loaded reads as zero (property `pebble,zeroed` of the memory's node): a simulated
    /// machine says so, where clearing some megabytes would cost minutes.
    pub zeroed: bool,
    /// The bundle (initial RAM disk).
    pub bundle: Range,
    /// The device tree itself.
    pub device_tree: Range,
    /// Timebase frequency in Hz.
    pub timebase: u64,
    /// See [`feature`].
    pub features: u64,
}

impl Machine {
    /// Reads the device tree at physical address `device_tree`.
    ///
    /// # Safety
    /// The firmware's device tree must be there, mapped, and not change.
    pub(super) unsafe fn read(device_tree: u64) -> Machine {
        // SAFETY: the caller's promise.
        let tree = match unsafe { fdt::Fdt::from_ptr(memory::pointer::<u8>(device_tree)) } {
            Ok(tree) => tree,
            Err(_) => fail("the firmware's device tree is damaged"),
        };
        let Some(region) = tree.memory().regions().next() else {
            fail("the device tree names no memory")
        };
        let start = region.starting_address as u64;
        let ram = Range {
            start,
            end: start + region.size.unwrap_or(0) as u64,
        };
        let number = |node: &str, property: &str| -> Option<u64> {
            let bytes = tree.find_node(node)?.property(property)?.value;
            Some(bytes.iter().fold(0, |sum, &byte| sum << 8 | byte as u64))
        };
        let (Some(first), Some(end)) = (
            number("/chosen", "linux,initrd-start"),
            number("/chosen", "linux,initrd-end"),
        ) else {
            fail("no bundle: start the machine with the system's bundle as initial RAM disk")
        };
        let isa = tree
            .find_node("/cpus/cpu@0")
            .and_then(|cpu| cpu.property("riscv,isa"))
            .and_then(|isa| isa.as_str())
            .unwrap_or("");
        let mut features = 0;
        if isa.split('_').any(|extension| extension == "sstc") {
            features |= feature::SSTC;
        }
        if isa.split('_').next().is_some_and(|base| base.contains('d')) {
            features |= feature::FLOAT;
        }
        // A system that begins on one machine and goes on on another is told of the one that it goes on on.
        let told = number("/cpus/cpu@0", "pebble,asid-bits");
        if told.unwrap_or_else(asid_bits) >= 8 {
            features |= feature::ASID;
        }
        let zeroed = tree
            .find_node("/memory")
            .is_some_and(|memory| memory.property("pebble,zeroed").is_some());
        Machine {
            ram,
            zeroed,
            bundle: Range { start: first, end },
            device_tree: Range {
                start: device_tree,
                end: device_tree + tree.total_size() as u64,
            },
            timebase: number("/cpus", "timebase-frequency").unwrap_or(10_000_000),
            features,
        }
    }
}

/// Implemented ASID bits: those that stick in `satp`.
fn asid_bits() -> u64 {
    let found: u64;
    // SAFETY: the root page stays the same, so translation does; the flush forgets the odd ASID.
    unsafe {
        core::arch::asm!(
            "csrr {old}, satp",       // privileged: the way to learn how many ASID bits exist
            "or {new}, {old}, {mask}",
            "csrw satp, {new}",
            "csrr {new}, satp",
            "csrw satp, {old}",
            "sfence.vma",
            old = out(reg) _, new = out(reg) found, mask = in(reg) 0xffffu64 << 44,
        );
    }
    u64::from((found >> 44 & 0xffff).count_ones())
}
