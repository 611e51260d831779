//! Typed access to the nucleus objects: the only place of this component with `unsafe`.
//!
//! Records refer to each other by privileged address, because portal code follows the references. The same
//! memory is mapped here at `layout::OBJECTS`; [`Objects`] translates and checks bounds, so a wrong reference
//! stops the portal manager instead of writing elsewhere.

use pebble_abi::layout::{self, PHYSMAP};
use pebble_abi::object::{self, BootInfo, Domain, Frame, Hart, Stack, Thread};

/// Words of a page.
const PAGE_WORDS: usize = layout::PAGE as usize / 8;

/// The object region.
#[derive(Clone, Copy)]
pub struct Objects {
    /// Privileged address of the region.
    base: u64,
}

/// Boot's description of the system.
pub fn boot_info() -> &'static BootInfo {
    // SAFETY: boot code maps this page read-only in every core domain and fills it before the first thread runs.
    unsafe { &*(layout::BOOT_INFO as *const BootInfo) }
}

impl Objects {
    /// The region that boot code made.
    pub fn new() -> Objects {
        Objects {
            base: PHYSMAP + boot_info().objects,
        }
    }

    fn place<T>(self, privileged: u64) -> *mut T {
        let offset = privileged.wrapping_sub(self.base);
        assert!(
            offset <= object::REGION - size_of::<T>() as u64
                && offset.is_multiple_of(align_of::<T>() as u64),
            "reference outside the nucleus objects: {privileged:#x}"
        );
        (layout::OBJECTS + offset) as *mut T
    }

    /// Reads the record at a privileged address.
    pub fn read<T: Copy>(self, privileged: u64) -> T {
        // SAFETY: within the object region, aligned; records are plain numbers. Volatile: portal code writes them.
        unsafe { self.place::<T>(privileged).read_volatile() }
    }

    /// Writes the record at a privileged address.
    pub fn write<T: Copy>(self, privileged: u64, value: T) {
        // SAFETY: as for `read`; only this component and portal code write there, and portal code runs to its end.
        unsafe { self.place::<T>(privileged).write_volatile(value) }
    }

    /// Sets each word of the page at `privileged` to `value`.
    pub fn fill_page(self, privileged: u64, value: u64) {
        let place = self.place::<[u64; PAGE_WORDS]>(privileged).cast::<u64>();
        for index in 0..PAGE_WORDS {
            // SAFETY: the page is within the object region, aligned, and words are plain numbers. Only this component
            // and portal code write there, and portal code runs to its end.
            unsafe { place.add(index).write_volatile(value) };
        }
    }

    /// Privileged address of a domain's record.
    pub fn domain(self, asid: usize) -> u64 {
        assert!(asid < layout::MAX_DOMAINS);
        self.base + object::DOMAINS + asid as u64 * object::DOMAIN_BYTES
    }

    /// Number of the domain whose record is at `privileged`; `None` for an address that is no record.
    pub fn domain_number(self, privileged: u64) -> Option<usize> {
        let offset = privileged.checked_sub(self.base + object::DOMAINS)?;
        let number = (offset / object::DOMAIN_BYTES) as usize;
        (offset % object::DOMAIN_BYTES == 0 && number < layout::MAX_DOMAINS).then_some(number)
    }

    /// Reads a domain's record.
    pub fn read_domain(self, asid: usize) -> Domain {
        self.read(self.domain(asid))
    }

    /// Privileged address of the `index`-th stack record.
    pub fn stack(self, index: usize) -> u64 {
        assert!(index < layout::MAX_STACKS);
        self.base + object::STACKS + index as u64 * object::STACK_BYTES
    }

    /// Reads a stack record.
    pub fn read_stack(self, privileged: u64) -> Stack {
        self.read(privileged)
    }

    /// Privileged address of page `index` of the pool.
    pub fn pool(self, index: usize) -> u64 {
        self.base + object::POOL + index as u64 * layout::PAGE
    }

    /// Index of the pool page at `privileged`.
    pub fn pool_index(self, privileged: u64) -> usize {
        ((privileged - self.base - object::POOL) / layout::PAGE) as usize
    }

    /// Privileged address of the per-hart block.
    pub fn hart(self) -> u64 {
        self.base + object::HART
    }

    /// The thread that owns the floating-point registers.
    pub fn float_owner(self) -> u64 {
        self.read::<Hart>(self.hart()).fp_owner
    }

    /// Privileged address of thread `number`'s record, 0 when there is none.
    pub fn thread(self, number: usize) -> u64 {
        if number >= layout::MAX_THREADS {
            return 0;
        }
        self.read(self.base + object::THREADS + 8 * number as u64)
    }

    /// Enters or removes (0) a thread.
    pub fn set_thread(self, number: usize, record: u64) {
        assert!(number < layout::MAX_THREADS);
        self.write(self.base + object::THREADS + 8 * number as u64, record);
    }

    /// Reads the top frame of the thread whose record is at `thread`.
    pub fn top_frame(self, thread: u64) -> (u64, Frame) {
        let top = self.read::<Thread>(thread).invocation;
        (top, self.read(top))
    }

    /// Privileged address of word `index` of portal code space, for the code generator.
    pub fn code(self, first_word: usize, words: usize) -> &'static mut [u32] {
        assert!((first_word + words) * 4 <= object::CODE_BYTES as usize);
        // SAFETY: the code area of the object region; the allocator in `code.rs` hands out disjoint parts, and a part is
        // written before any table slot leads to it.
        unsafe {
            core::slice::from_raw_parts_mut((layout::OBJECTS as *mut u32).add(first_word), words)
        }
    }
}

/// A slice that a caller showed through a window of at most `limit` bytes: never beyond the window's page.
pub fn window(address: usize, limit: usize) -> &'static [u8] {
    let room = layout::PAGE as usize - address % layout::PAGE as usize;
    // SAFETY: the portal mapped the page that `address` points into for the length of this call; the slice ends with it.
    // Another thread of the caller may change the bytes meanwhile, so users copy them once and check the copy.
    unsafe { core::slice::from_raw_parts(address as *const u8, room.min(limit)) }
}

/// Writes `value` to a caller's writable window.
///
/// # Errors
/// False when the value would leave the window's page.
pub fn window_write<T: Copy>(address: usize, value: T) -> bool {
    let room = layout::PAGE as usize - address % layout::PAGE as usize;
    if room < size_of::<T>() {
        return false;
    }
    // SAFETY: the page is mapped writable for the length of this call, and the value fits it.
    unsafe { (address as *mut T).write_unaligned(value) };
    true
}

/// Reads a record from a caller's window; `None` when it would leave the window's page.
pub fn window_read<T: Copy>(address: usize) -> Option<T> {
    let room = layout::PAGE as usize - address % layout::PAGE as usize;
    // SAFETY: the page is mapped for the length of this call and the record lies within it; records are plain numbers.
    (room >= size_of::<T>()).then(|| unsafe { (address as *const T).read_unaligned() })
}

/// The component's state behind its lock.
pub struct Guarded<T>(core::cell::UnsafeCell<T>);

// SAFETY: `Guarded::with` takes the portal manager's lock, a semaphore with initial value 1.
unsafe impl<T> Sync for Guarded<T> {}

impl<T> Guarded<T> {
    /// Wraps the initial state.
    pub const fn new(value: T) -> Self {
        Guarded(core::cell::UnsafeCell::new(value))
    }

    /// Runs `work` with the state. Not to be nested, and no upcall into a component inside.
    pub fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        use pebble_abi::slot::lock;
        pebble_server::invoke(lock::P, 0, 0, 0, 0, 0);
        // SAFETY: P returned, so no other thread is between P and V.
        let result = work(unsafe { &mut *self.0.get() });
        pebble_server::invoke(lock::V, 0, 0, 0, 0, 0);
        result
    }
}
