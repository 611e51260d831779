//! A user-level pager: one region of pages, shown in every domain that maps it.
//!
//! A client calls `vm_pager(2 * REGION, "/pager/shared", 0)` and uses the part of it that is aligned to `REGION`: so
//! page k of the shared region appears where the page number modulo `PAGES` is k, whatever address the client got.
#![cfg_attr(target_os = "none", no_std, no_main)]

use core::cell::UnsafeCell;

use pebble::interfaces::pager::{access, supply, SHARED};
use pebble::{code, Entry, Errno, Error};

pebble::main!(run);

const PAGE: usize = 4096;
/// Pages of the region.
const PAGES: usize = 16;

/// The region. Clients write to it at any time, so this domain never looks at it, it only has its address.
#[repr(C, align(4096))]
struct Region(UnsafeCell<[[u8; PAGE]; PAGES]>);

// SAFETY: no thread of this domain reads or writes the bytes after the start.
unsafe impl Sync for Region {}

static REGION: Region = Region(UnsafeCell::new([[0; PAGE]; PAGES]));

fn run() -> Result<(), Error> {
    for page in 0..PAGES {
        // A page that is only reserved is not yet there to be supplied.
        // SAFETY: within the region, before any client has it.
        unsafe { page_address(page).cast_mut().write_volatile(0) };
    }
    pebble::portal_register(
        SHARED.name,
        SHARED.specification,
        0,
        fault as *const () as Entry,
    )?;
    pebble::serve()
}

fn page_address(page: usize) -> *const u8 {
    REGION.0.get().cast::<u8>().wrapping_add(page * PAGE)
}

/// Which page of the region belongs at an address of a client.
fn page_for(address: usize) -> usize {
    address / PAGE % PAGES
}

extern "C" fn fault(
    _constant: usize,
    _cookie: usize,
    domain: usize,
    address: usize,
    wanted: u64,
) -> isize {
    if wanted & access::EXECUTE != 0 {
        return Errno::Access.negated();
    }
    let (place, page) = (
        address & !(PAGE - 1),
        page_address(page_for(address)) as usize,
    );
    // SAFETY: this domain holds no reference into the region.
    code(unsafe { pebble::vm_supply(domain, place, page, supply::WRITE as usize) }.map(|()| 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_aligned_part_of_twice_the_size_holds_every_page_once() {
        for base in [0x1000_0000, 0x1000_7000, 0x1234_5000_usize] {
            let aligned = base.next_multiple_of(PAGES * PAGE);
            assert!(aligned + PAGES * PAGE <= base + 2 * PAGES * PAGE);
            for page in 0..PAGES {
                assert_eq!(page_for(aligned + page * PAGE + 77), page);
            }
        }
    }
}
