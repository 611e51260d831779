//! Reads a component's memory in a stopped machine: its page table is walked by hand, since the processor may be in
//! another address space.

use std::collections::HashMap;
use std::path::PathBuf;

use pebble_abi::layout::PAGE;

use super::qmp::Control;

/// Bits of a page-table entry: valid, and readable or executable (a leaf).
const VALID: u64 = 1;
const LEAF: u64 = 0b1010;
/// Levels of an Sv39 page table, from the root.
const SHIFTS: [u32; 3] = [30, 21, 12];

/// Physical memory of the machine, a page at a time.
pub struct Memory {
    control: Control,
    file: PathBuf,
    pages: HashMap<u64, Vec<u8>>,
}

impl Memory {
    /// Reads through this connection, by way of a file.
    pub fn new(control: Control, file: PathBuf) -> Self {
        Memory {
            control,
            file,
            pages: HashMap::new(),
        }
    }

    fn physical(&mut self, address: u64) -> Option<u64> {
        let page = address / PAGE * PAGE;
        if !self.pages.contains_key(&page) {
            let bytes = self.control.memory(page, PAGE, &self.file).ok()?;
            self.pages.insert(page, bytes);
        }
        let start = (address % PAGE) as usize;
        let bytes = self.pages.get(&page)?.get(start..start + 8)?;
        Some(u64::from_le_bytes(bytes.try_into().ok()?))
    }

    /// A word at an address in the address space of this `satp`.
    pub fn word(&mut self, satp: u64, address: u64) -> Option<u64> {
        let physical = translate(satp, address, &mut |at| self.physical(at))?;
        self.physical(physical)
    }
}

/// Physical address of an aligned virtual one.
fn translate(satp: u64, address: u64, read: &mut dyn FnMut(u64) -> Option<u64>) -> Option<u64> {
    if !address.is_multiple_of(8) {
        return None;
    }
    let mut table = (satp & ((1 << 44) - 1)) * PAGE;
    for shift in SHIFTS {
        let entry = read(table + ((address >> shift) & 0x1ff) * 8)?;
        if entry & VALID == 0 {
            return None;
        }
        let target = ((entry >> 10) & ((1 << 44) - 1)) * PAGE;
        if entry & LEAF != 0 {
            let inside = (1 << shift) - 1;
            return Some((target & !inside) | (address & inside));
        }
        table = target;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_tables_are_walked() {
        let entry = |address: u64, bits: u64| ((address / PAGE) << 10) | bits;
        let memory = HashMap::from([
            (0x1000 + 8, entry(0x2000, VALID)),
            (0x2000 + 2 * 8, entry(0x3000, VALID)),
            (0x3000 + 3 * 8, entry(0x8_0000, VALID | 0b110)),
            (0x2000 + 4 * 8, entry(0x20_0000, VALID | 0b110)),
            (0x2000 + 5 * 8, 0),
        ]);
        let at = |address: u64| {
            translate(8 << 60 | 9 << 44 | 1, address, &mut |at| {
                memory.get(&at).copied()
            })
        };
        let base = 1 << 30 | 2 << 21;
        assert_eq!(at(base | 3 << 12 | 0x10), Some(0x8_0010));
        assert_eq!(at(1 << 30 | 4 << 21 | 0x1_2348), Some(0x21_2348));
        assert_eq!(at(1 << 30 | 5 << 21), None);
        assert_eq!(at(base | 3 << 12 | 0x11), None, "not aligned");
        assert_eq!(at(0), None);
    }
}
