//! The bundle as init and the loader see it: mapped read-only, checked at every access.
#![no_std]

use pebble_abi::bundle::{Component, Header};
use pebble_abi::layout::BUNDLE;
use pebble_abi::object::BootInfo;

/// The bundle.
#[derive(Clone, Copy)]
pub struct Bundle {
    bytes: &'static [u8],
    header: Header,
}

/// Boot's description of the system.
pub fn boot_info() -> &'static BootInfo {
    // SAFETY: boot code maps this page read-only in every core domain and fills it before the first thread runs.
    unsafe { &*(pebble_abi::layout::BOOT_INFO as *const BootInfo) }
}

impl Default for Bundle {
    fn default() -> Self {
        Self::new()
    }
}

impl Bundle {
    /// The bundle that boot code has checked.
    pub fn new() -> Bundle {
        let range = boot_info().bundle;
        // The initial RAM disk starts on a page, so its first byte is the mapping's.
        let length = (range.end - range.start) as usize;
        // SAFETY: boot code mapped these pages read-only for as long as the system runs.
        let bytes = unsafe { core::slice::from_raw_parts(BUNDLE as *const u8, length) };
        // SAFETY: boot code checked that the header is within the bundle; any bits are a valid header.
        let header = unsafe { bytes.as_ptr().cast::<Header>().read_unaligned() };
        Bundle { bytes, header }
    }

    /// Flags of the whole description.
    pub fn flags(&self) -> u64 {
        self.header.flags
    }

    /// Number of components.
    pub fn count(&self) -> usize {
        self.header.count as usize
    }

    /// Component `index`.
    pub fn component(&self, index: usize) -> Component {
        assert!(index < self.count());
        let offset = size_of::<Header>() + index * size_of::<Component>();
        // SAFETY: boot code checked that all records are within the bundle; any bits are a valid record.
        unsafe {
            self.bytes
                .as_ptr()
                .add(offset)
                .cast::<Component>()
                .read_unaligned()
        }
    }

    /// The component called `name`.
    pub fn find(&self, name: &[u8]) -> Option<usize> {
        (0..self.count()).find(|&index| name_of(&self.component(index).name) == name)
    }

    /// A component's ELF file.
    pub fn image(&self, component: &Component) -> Option<&'static [u8]> {
        let start = component.image as usize;
        self.bytes
            .get(start..start.checked_add(component.image_bytes as usize)?)
    }

    /// `count` NUL-terminated strings from `offset` on, the NULs included.
    pub fn strings(&self, offset: u64, count: usize) -> Option<&'static [u8]> {
        let bytes = self.bytes.get(offset as usize..)?;
        if count == 0 {
            return Some(&[]);
        }
        let nul = bytes.iter().enumerate().filter(|(_, &byte)| byte == 0);
        let (end, _) = nul.take(count).nth(count - 1)?;
        Some(&bytes[..=end])
    }

    /// The component's access rules: lines that end with NUL, an empty line ends them.
    pub fn rules(&self, component: &Component) -> &'static [u8] {
        if component.rules == 0 {
            return b"\0";
        }
        let bytes = self.bytes.get(component.rules as usize..).unwrap_or(b"\0");
        let end = bytes.windows(2).position(|pair| pair == [0, 0]);
        match bytes {
            [0, ..] => &bytes[..1],
            _ => end.map_or(b"\0".as_slice(), |end| &bytes[..end + 2]),
        }
    }
}

/// A padded name's text.
pub fn name_of(name: &[u8]) -> &[u8] {
    let end = name.iter().position(|&byte| byte == 0);
    &name[..end.unwrap_or(name.len())]
}
