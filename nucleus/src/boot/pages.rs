//! Page tables (Sv39) of the core domains, and the privileged upper half that all domains share.

use core::ptr;
use pebble_abi::layout::{self, PAGE_SHIFT};
use pebble_abi::{object, slot};

use super::memory::{pointer, Memory};

/// Page-table entry bits. A and D are always set: hardware may not do it.
pub(super) const VALID: u64 = 1;
pub(super) const READ: u64 = 1 << 1;
pub(super) const WRITE: u64 = 1 << 2;
pub(super) const EXECUTE: u64 = 1 << 3;
pub(super) const USER: u64 = 1 << 4;
pub(super) const GLOBAL: u64 = 1 << 5;
const ACCESSED_DIRTY: u64 = 3 << 6;

/// An entry for `physical` with `rights`.
fn entry(physical: u64, rights: u64) -> u64 {
    (physical >> PAGE_SHIFT) << 10 | rights | VALID | ACCESSED_DIRTY
}

/// A table of 512 entries at a physical address.
#[derive(Clone, Copy)]
struct Table(u64);

impl Table {
    fn get(self, index: u64) -> u64 {
        // SAFETY: a page that boot code allocated for a table, index within it.
        unsafe { pointer::<u64>(self.0).add(index as usize & 511).read() }
    }
    fn set(self, index: u64, value: u64) {
        // SAFETY: as for `get`.
        unsafe {
            pointer::<u64>(self.0)
                .add(index as usize & 511)
                .write(value)
        }
    }
    /// The next level's table at `index`, made when missing.
    fn below(self, index: u64, memory: &mut Memory) -> Table {
        if self.get(index) & VALID == 0 {
            let page = memory.page();
            self.set(index, (page >> PAGE_SHIFT) << 10 | VALID);
        }
        Table((self.get(index) >> 10) << PAGE_SHIFT)
    }
}

/// A component's address space under construction.
#[derive(Clone, Copy)]
pub(super) struct Space {
    /// Physical address of the root table.
    pub root: u64,
}

impl Space {
    /// An empty space with the privileged half of `upper`.
    pub(super) fn new(memory: &mut Memory, upper: u64) -> Space {
        let root = memory.page();
        for index in 256..512 {
            Table(root).set(index, Table(upper).get(index));
        }
        Space { root }
    }

    /// Physical address of the entry for the 4 KiB page at `address`; tables on the way are made.
    pub(super) fn entry_address(self, memory: &mut Memory, address: u64) -> u64 {
        let table = Table(self.root)
            .below(address >> 30, memory)
            .below(address >> 21 & 511, memory);
        table.0 + 8 * (address >> 12 & 511)
    }

    /// Maps one page.
    pub(super) fn map(self, memory: &mut Memory, address: u64, physical: u64, rights: u64) {
        let place = self.entry_address(memory, address);
        // SAFETY: an entry of a table of this space.
        unsafe { pointer::<u64>(place).write(entry(physical, rights | USER)) }
    }

    /// Maps 2 MiB at once (core servers' views of RAM and objects only).
    pub(super) fn map_huge(self, memory: &mut Memory, address: u64, physical: u64, rights: u64) {
        Table(self.root)
            .below(address >> 30, memory)
            .set(address >> 21, entry(physical, rights | USER));
    }
}

/// The privileged half: RAM and devices (never executable), the resident page, portal code. All global.
/// Answers a root table whose upper entries are copied into every root.
pub(super) fn upper_half(memory: &mut Memory, objects: u64, resident: u64) -> u64 {
    let root = Table(memory.page());
    for gigabyte in 0..4 {
        let index = (layout::PHYSMAP >> 30 & 511) + gigabyte;
        root.set(index, entry(gigabyte << 30, READ | WRITE | GLOBAL));
    }
    let nucleus = root.below(layout::NUCLEUS >> 30 & 511, memory);
    let address = layout::NUCLEUS + (resident - layout::RAM);
    nucleus.below(address >> 21 & 511, memory).set(
        address >> 12 & 511,
        entry(resident, READ | EXECUTE | GLOBAL),
    );
    let code = root.below(layout::PORTAL_CODE >> 30 & 511, memory);
    code.set(
        layout::PORTAL_CODE >> 21 & 511,
        entry(objects + object::CODE, READ | EXECUTE | GLOBAL),
    );
    // Boot code itself needs portal code mapped to leave through it.
    extern "C" {
        static boot_root: u8;
    }
    let boot = Table(super::physical(ptr::addr_of!(boot_root)));
    boot.set(511, root.get(511));
    // SAFETY: new mappings only; the flush makes them visible.
    unsafe { core::arch::asm!("sfence.vma") };
    root.0
}

/// The page of code that all domains share: each entry is `li a7, SLOT; ecall`.
pub(super) fn gate_page(memory: &mut Memory) -> u64 {
    let page = memory.page();
    for (offset, slot) in [
        (layout::GATE_RETURN, slot::RETURN),
        (layout::GATE_SWITCH, slot::scheduler::SWITCH),
        (layout::GATE_THREAD_EXIT, slot::THREAD_EXIT),
    ] {
        let load = (slot as u32) << 20 | 17 << 7 | 0x13;
        // An answer means that the call was refused: `unimp` stops the thread there.
        for (index, word) in [load, 0x0000_0073, 0xc000_1073].into_iter().enumerate() {
            // SAFETY: within the page that was just allocated.
            unsafe { pointer::<u32>(page + offset).add(index).write(word) };
        }
    }
    // A thread whose domain died: answer the invoker; without an invoker the call answers at `ra`: end the thread.
    let dead = [
        0xf7e0_0513, // li a0, -EOWNERDEAD
        0x0000_0097, // auipc ra, 0
        0x0140_8093, // addi ra, ra, 20
        0x0000_0893, // li a7, RETURN
        0x0000_0073, // ecall
        0xc000_1073, // unimp
        (slot::THREAD_EXIT as u32) << 20 | 17 << 7 | 0x13,
        0x0000_0073, // ecall
        0xc000_1073, // unimp
    ];
    for (index, word) in dead.into_iter().enumerate() {
        // SAFETY: within the page that was just allocated.
        unsafe {
            pointer::<u32>(page + layout::GATE_DEAD)
                .add(index)
                .write(word)
        };
    }
    page
}
