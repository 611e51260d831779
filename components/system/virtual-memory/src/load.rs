//! What init asks for while it loads a component: image, heap, start information, devices.

use pebble_abi::entry::vm;
use pebble_abi::errno::Errno;
use pebble_abi::layout::{DEVICE, HEAP_LIMIT, IMAGE, PAGE, PHYSICAL, START_INFO};

use crate::memory::Memory;
use crate::region::{Kind, Region};
use crate::riscv64::entry::Entry;
use crate::server::Server;

/// A segment of an image.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    /// Where it begins in the component.
    pub address: u64,
    /// Its length there; what the file does not fill is zero.
    pub bytes: u64,
    /// Where its content begins in the bundle.
    pub offset: u64,
    /// Bytes of content.
    pub file_bytes: u64,
    /// [`vm::READ`], [`vm::WRITE`], [`vm::EXECUTE`].
    pub protection: u64,
}

impl<M: Memory> Server<M> {
    /// Adds a segment. Its pages appear when they are used.
    pub fn image_map(&mut self, asid: usize, segment: Segment) -> Result<(), Errno> {
        let asid = self.living(asid)?;
        let end = segment
            .address
            .checked_add(segment.bytes)
            .ok_or(Errno::Invalid)?;
        let source = self
            .bundle
            .start
            .checked_add(segment.offset)
            .ok_or(Errno::Invalid)?;
        let source_end = source
            .checked_add(segment.file_bytes)
            .ok_or(Errno::Invalid)?;
        let is_placed = segment.address >= IMAGE && segment.bytes > 0 && end <= HEAP_LIMIT;
        let is_in_file = segment.file_bytes <= segment.bytes && source_end <= self.bundle.end;
        let all = vm::READ | vm::WRITE | vm::EXECUTE;
        let is_protection = segment.protection & !all == 0
            && segment.protection != 0
            && segment.protection & (vm::WRITE | vm::EXECUTE) != vm::WRITE | vm::EXECUTE;
        if !is_placed || !is_in_file || !is_protection {
            return Err(Errno::Invalid);
        }
        let region = Region {
            start: segment.address & !(PAGE - 1),
            end: end.next_multiple_of(PAGE),
            protection: segment.protection,
            kind: Kind::Image {
                base: segment.address,
                source,
                bytes: segment.file_bytes,
            },
        };
        self.insert_region(asid, region)
    }

    /// Starts the heap behind the image.
    pub fn image_end(&mut self, asid: usize, address: u64) -> Result<(), Errno> {
        let asid = self.living(asid)?;
        if !(IMAGE..=HEAP_LIMIT).contains(&address) {
            return Err(Errno::Invalid);
        }
        let heap = address.next_multiple_of(PAGE);
        let is_there = self.region_of_kind(asid, Kind::Heap).is_some();
        if is_there || self.overlap(asid, heap, HEAP_LIMIT).is_some() {
            return Err(Errno::Exists);
        }
        self.insert_region(asid, Region::writable(heap, heap, Kind::Heap))?;
        self.spaces[asid].heap = heap;
        self.spaces[asid].heap_end = heap;
        Ok(())
    }

    /// Copies the page that the window shows to the component's start-information page, once.
    pub fn start_info(&mut self, asid: usize, window: u64) -> Result<(), Errno> {
        let asid = self.living(asid)?;
        if !window.is_multiple_of(PAGE) {
            return Err(Errno::Invalid);
        }
        let end = START_INFO + PAGE;
        let region = Region {
            start: START_INFO,
            end,
            protection: vm::READ,
            kind: Kind::Fixed,
        };
        self.insert_region(asid, region)?;
        let slot = self.make_entry(asid, START_INFO)?;
        let frame = self.charged_frame(asid)?;
        self.memory.copy_from_window(window, frame);
        self.memory.write(slot, Entry::page(frame, vm::READ).0);
        Ok(())
    }

    /// Shows device registers to a driver, at `DEVICE` plus their physical address. Never RAM.
    pub fn device_map(&mut self, asid: usize, physical: u64, bytes: u64) -> Result<(), Errno> {
        let asid = self.living(asid)?;
        let end = physical.checked_add(bytes).ok_or(Errno::Invalid)?;
        let is_aligned = physical.is_multiple_of(PAGE) && bytes.is_multiple_of(PAGE) && bytes > 0;
        let is_ram = physical < self.ram.end && end > self.ram.start;
        if !is_aligned || is_ram || end > PHYSICAL - DEVICE {
            return Err(Errno::Invalid);
        }
        self.insert_region(
            asid,
            Region::writable(DEVICE + physical, DEVICE + end, Kind::Device),
        )
    }
}
