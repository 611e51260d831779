//! Physical memory during boot: pages are only ever taken; what is left goes to the VM server.

use pebble_abi::layout::{PAGE, PHYSMAP};
use pebble_abi::object::{self, Range};

use super::{fail, machine::Machine};

/// The privileged address of physical address `physical`.
pub(super) fn pointer<T>(physical: u64) -> *mut T {
    (PHYSMAP + physical) as *mut T
}

/// Hands out pages upward from `next`.
pub(super) struct Memory {
    /// Start and end of what was skipped between the boot image and the object region.
    pub gap: Range,
    /// First page not handed out.
    pub next: u64,
    end: u64,
    objects: u64,
    zeroed: bool,
}

impl Memory {
    /// Memory after the boot image: first the object region, then pages up to the bundle.
    pub(super) fn new(image_end: u64, machine: &Machine) -> Memory {
        let huge = object::CODE_BYTES;
        let objects = image_end.next_multiple_of(huge);
        let next = objects + object::REGION;
        let end = [
            machine.bundle.start,
            machine.device_tree.start,
            machine.ram.end,
        ]
        .into_iter()
        .filter(|&limit| limit >= next)
        .min()
        .unwrap_or(next);
        if machine.bundle.start < next && machine.bundle.end > image_end {
            fail("the bundle lies where the nucleus objects belong; give the machine more memory");
        }
        if !machine.zeroed {
            // SAFETY: RAM behind the boot image, in front of bundle and device tree: nobody's yet.
            unsafe { pointer::<u8>(objects).write_bytes(0, object::REGION as usize) };
        }
        Memory {
            gap: Range {
                start: image_end,
                end: objects,
            },
            next,
            end,
            objects,
            zeroed: machine.zeroed,
        }
    }

    /// Physical address of the object region.
    pub(super) fn objects(&self) -> u64 {
        self.objects
    }

    /// A zeroed page.
    pub(super) fn page(&mut self) -> u64 {
        let page = self.next;
        if page + PAGE > self.end {
            fail("out of memory; give the machine more");
        }
        self.next += PAGE;
        if !self.zeroed {
            // SAFETY: the page was free until now.
            unsafe { pointer::<u8>(page).write_bytes(0, PAGE as usize) };
        }
        page
    }
}
