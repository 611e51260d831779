//! The only unsafe code: real memory, the one instance of the server's state behind its lock, and the
//! short circuits that flush translations.

use core::cell::UnsafeCell;

use pebble_server::abi::errno::Errno;
use pebble_server::abi::layout::{BOOT_INFO, PAGE, PHYSICAL, RAM};
use pebble_server::abi::object::BootInfo;
use pebble_server::abi::slot::{self, NAMELEN};
use pebble_server::invoke;
use virtual_memory::memory::Memory;
use virtual_memory::Server;

#[cfg(target_arch = "riscv64")]
core::arch::global_asm!(
    // Short circuits take their arguments from a0 on; like every portal they return to `ra`.
    ".globl virtual_memory_flush_domain",
    "virtual_memory_flush_domain: li a7, {domain}",
    "ecall",
    ".globl virtual_memory_flush_page",
    "virtual_memory_flush_page: li a7, {page}",
    "ecall",
    domain = const slot::vm::FLUSH_DOMAIN,
    page = const slot::vm::FLUSH_PAGE,
);

#[cfg(target_arch = "riscv64")]
extern "C" {
    fn virtual_memory_flush_domain(asid: usize);
    fn virtual_memory_flush_page(asid: usize, address: u64);
}

/// Words that one round of zeroing a page writes.
const ZEROED_AT_ONCE: usize = 32;

/// Physical memory, at [`PHYSICAL`] in this component: boot code mapped all RAM there.
pub struct PhysicalWindow;

impl PhysicalWindow {
    fn at(physical: u64) -> *mut u64 {
        assert!(physical >= RAM, "{physical:#x} is not RAM");
        (PHYSICAL + (physical - RAM)) as *mut u64
    }
}

impl Memory for PhysicalWindow {
    fn read(&self, physical: u64) -> u64 {
        // SAFETY: all of RAM is mapped there for the life of the component; addresses beyond it fault.
        // Volatile, because portal code writes page-table entries behind the compiler's back.
        unsafe { Self::at(physical).read_volatile() }
    }

    fn write(&mut self, physical: u64, value: u64) {
        // SAFETY: as for `read`; the caller owns this word (`Memory::write`), and no Rust object of this
        // component is in memory that is reached this way.
        unsafe { Self::at(physical).write_volatile(value) }
    }

    fn replace(&mut self, physical: u64, expected: u64, new: u64) -> bool {
        use core::sync::atomic::{AtomicU64, Ordering};
        // SAFETY: as for `read`; words are 8-byte aligned, and all concurrent writers use whole words.
        let word = unsafe { AtomicU64::from_ptr(Self::at(physical)) };
        word.compare_exchange(expected, new, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
    }

    fn zero_page(&mut self, frame: u64) {
        let mut line = Self::at(frame);
        for _ in 0..PAGE as usize / 8 / ZEROED_AT_ONCE {
            // Volatile, because the library's `memset` that these loops would become takes three instructions for a
            // word, and a page of zeros is most of a fault's cost.
            for word in 0..ZEROED_AT_ONCE {
                // SAFETY: as for `write`; the frame was just allocated.
                unsafe { line.add(word).write_volatile(0) }
            }
            line = line.wrapping_add(ZEROED_AT_ONCE);
        }
    }

    fn copy(&mut self, from: u64, to: u64, bytes: u64) {
        let from = Self::at(from & !7)
            .cast::<u8>()
            .wrapping_add((from & 7) as usize);
        let to = Self::at(to & !7)
            .cast::<u8>()
            .wrapping_add((to & 7) as usize);
        // SAFETY: as for `write`; source and destination are different frames.
        unsafe { to.copy_from_nonoverlapping(from, bytes as usize) }
    }

    fn copy_from_window(&mut self, window: u64, frame: u64) {
        let from = window as *const u8;
        // SAFETY: the portal opened a window of one page at this address for the time of this call, and
        // the caller checked that it is page aligned.
        unsafe {
            Self::at(frame)
                .cast::<u8>()
                .copy_from_nonoverlapping(from, PAGE as usize)
        }
    }

    #[cfg(target_arch = "riscv64")]
    fn flush_page(&mut self, asid: usize, address: u64) {
        // SAFETY: obeys the C calling convention and changes no memory.
        unsafe { virtual_memory_flush_page(asid, address) }
    }

    #[cfg(target_arch = "riscv64")]
    fn flush_domain(&mut self, asid: usize) {
        // SAFETY: obeys the C calling convention and changes no memory.
        unsafe { virtual_memory_flush_domain(asid) }
    }

    #[cfg(target_arch = "riscv64")]
    fn code_written(&mut self) {
        // SAFETY: an unprivileged instruction that orders this hart's fetches after its stores.
        unsafe { core::arch::asm!("fence.i") }
    }

    #[cfg(not(target_arch = "riscv64"))]
    fn flush_page(&mut self, _: usize, _: u64) {}

    #[cfg(not(target_arch = "riscv64"))]
    fn flush_domain(&mut self, _: usize) {}

    #[cfg(not(target_arch = "riscv64"))]
    fn code_written(&mut self) {}
}

/// What boot code left for the core components.
pub fn boot_info() -> &'static BootInfo {
    // SAFETY: boot code maps this page read-only in every core component and never changes it again.
    unsafe { &*(BOOT_INFO as *const BootInfo) }
}

/// The bytes of a name that a window shows. What lies beyond the window's page is filled with a byte that
/// no name has, so that a name which does not end within its page is refused.
pub fn read_name(window: u64) -> [u8; NAMELEN] {
    let mut name = [0xff; NAMELEN];
    let room = (PAGE - window % PAGE) as usize;
    for (index, byte) in name.iter_mut().take(room).enumerate() {
        // SAFETY: the portal opened a window of one page at this address for the time of this call.
        // Volatile, because the client may change the bytes meanwhile: each is read once.
        *byte = unsafe { (window as *const u8).wrapping_add(index).read_volatile() };
    }
    name
}

struct Shared(UnsafeCell<Server<PhysicalWindow>>);

// SAFETY: only `locked` reaches the content, one thread at a time.
unsafe impl Sync for Shared {}

static SERVER: Shared = Shared(UnsafeCell::new(Server::new(PhysicalWindow)));

/// Runs `work` on the server's state, which no other thread touches meanwhile. `work` must not call back
/// into a portal that can enter the VM server. An error: the thread was abandoned while it waited.
pub fn locked<R>(work: impl FnOnce(&mut Server<PhysicalWindow>) -> R) -> Result<R, Errno> {
    if invoke(slot::lock::P, 0, 0, 0, 0, 0) < 0 {
        return Err(Errno::Interrupted);
    }
    // SAFETY: the semaphore has the initial value 1, so this is the only reference.
    let result = work(unsafe { &mut *SERVER.0.get() });
    invoke(slot::lock::V, 0, 0, 0, 0, 0);
    Ok(result)
}
