//! User-level pagers: which portals they are reached through, and what they are being asked.

use pebble_abi::errno::Errno;
use pebble_abi::slot::NAMELEN;

/// Pagers in use at one time.
const MAX_PAGERS: usize = 32;
/// A pager's name begins with this: the VM server opens nothing else for others.
const PREFIX: &[u8] = b"/pager/";

/// A pager's name. Aligned to its size, so that it never straddles pages.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name([u8; NAMELEN]);

impl Name {
    const EMPTY: Name = Name([0; NAMELEN]);

    /// From bytes up to a NUL, which must be among the first `NAMELEN`.
    pub fn new(bytes: &[u8]) -> Result<Name, Errno> {
        let length = bytes.iter().take(NAMELEN).position(|&byte| byte == 0);
        let bytes = &bytes[..length.ok_or(Errno::NameTooLong)?];
        if !bytes.starts_with(PREFIX) {
            return Err(Errno::Access);
        }
        let mut name = Name::EMPTY;
        name.0[..bytes.len()].copy_from_slice(bytes);
        Ok(name)
    }

    /// The name, NUL-terminated.
    pub fn as_bytes(&self) -> &[u8; NAMELEN] {
        &self.0
    }
}

#[derive(Clone, Copy)]
struct Pager {
    name: Name,
    /// Slot in the VM server's own table, 0 for an unused record.
    portal: usize,
    /// Regions that it serves.
    regions: usize,
}

/// The pagers whose portals are open.
pub(crate) struct Pagers {
    table: [Pager; MAX_PAGERS],
}

impl Pagers {
    pub(crate) const fn new() -> Self {
        Pagers {
            table: [Pager {
                name: Name::EMPTY,
                portal: 0,
                regions: 0,
            }; MAX_PAGERS],
        }
    }

    /// The pager with this name, if its portal is open.
    pub(crate) fn find(&self, name: &Name) -> Option<usize> {
        self.table
            .iter()
            .position(|pager| pager.portal != 0 && pager.name == *name)
    }

    /// A pager whose portal was just opened.
    pub(crate) fn add(&mut self, name: &Name, portal: usize) -> Result<usize, Errno> {
        let free = self.table.iter().position(|pager| pager.portal == 0);
        let index = free.ok_or(Errno::TableFull)?;
        self.table[index] = Pager {
            name: *name,
            portal,
            regions: 0,
        };
        Ok(index)
    }

    /// The slot of its portal.
    pub(crate) fn portal(&self, pager: usize) -> usize {
        self.table[pager].portal
    }

    /// One more region.
    pub(crate) fn retain(&mut self, pager: usize) {
        self.table[pager].regions += 1;
    }

    /// One region less.
    pub(crate) fn release(&mut self, pager: usize) {
        self.table[pager].regions -= 1;
    }

    /// Its portal leads nowhere any more: new regions of this name need another one.
    pub(crate) fn forget_name(&mut self, pager: usize) {
        self.table[pager].name = Name::EMPTY;
    }

    /// The portal of a pager that serves no region: the record is free, the caller closes the portal.
    pub(crate) fn take_idle(&mut self) -> Option<usize> {
        let idle = |pager: &&mut Pager| pager.portal != 0 && pager.regions == 0;
        let pager = self.table.iter_mut().find(idle)?;
        Some(core::mem::take(&mut pager.portal))
    }
}

/// What a thread is asking a pager for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pending {
    /// The domain that needs the page, 0 for no question.
    pub(crate) asid: usize,
    /// Which of the domains that had this number, one after the other.
    pub(crate) generation: u64,
    /// The page.
    pub(crate) page: u64,
}

impl Pending {
    pub(crate) const NOTHING: Pending = Pending {
        asid: 0,
        generation: 0,
        page: 0,
    };
}
