//! The bundle as boot code reads it: component records and images.

use core::mem::size_of;
use core::slice;
use pebble_abi::bundle::{self, Component, Header};
use pebble_abi::object::Range;

use super::{fail, memory::pointer};

/// The bundle in memory.
pub(super) struct Bundle {
    bytes: &'static [u8],
    count: usize,
}

impl Bundle {
    /// Checks the header and the records' bounds.
    pub(super) fn read(range: Range) -> Bundle {
        let length = (range.end - range.start) as usize;
        // SAFETY: the initial RAM disk, in RAM that boot code gives to nobody else.
        let bytes = unsafe { slice::from_raw_parts(pointer::<u8>(range.start), length) };
        if length < size_of::<Header>() {
            fail("the bundle is shorter than its header");
        }
        // SAFETY: long enough, page aligned by the boot loader, any bits are a valid header.
        let header = unsafe { bytes.as_ptr().cast::<Header>().read_unaligned() };
        let count = header.count as usize;
        if header.magic != bundle::MAGIC || header.version != bundle::VERSION {
            fail("the initial RAM disk is not a Pebble bundle of this version");
        }
        let records = size_of::<Header>() + count * size_of::<Component>();
        if count > 1024 || records > length || header.bytes as usize > length {
            fail("the bundle is cut short");
        }
        Bundle { bytes, count }
    }

    fn component(&self, index: usize) -> Component {
        let offset = size_of::<Header>() + index * size_of::<Component>();
        // SAFETY: `read` checked that all records are within the bundle; any bits are a valid record.
        unsafe {
            self.bytes
                .as_ptr()
                .add(offset)
                .cast::<Component>()
                .read_unaligned()
        }
    }

    /// The component with a core role.
    pub(super) fn core(&self, role: u32) -> Option<(usize, Component)> {
        (0..self.count)
            .map(|index| (index, self.component(index)))
            .find(|(_, component)| component.role == role)
    }

    /// A component's ELF file.
    pub(super) fn image(&self, component: &Component) -> &'static [u8] {
        let start = component.image as usize;
        match start
            .checked_add(component.image_bytes as usize)
            .and_then(|end| self.bytes.get(start..end))
        {
            Some(image) => image,
            None => fail("a component's image lies outside the bundle"),
        }
    }
}
