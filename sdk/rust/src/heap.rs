//! The global allocator: talc over `sbrk`.

use core::alloc::Layout;
use core::ptr::NonNull;

use talc::base::binning::Binning;
use talc::base::Talc;
use talc::source::Source;
use talc::TalcLock;

use crate::{sbrk, RawLock};

#[global_allocator]
static HEAP: TalcLock<RawLock, Grow> = TalcLock::new(Grow { end: None });

/// Runs `function` while no thread is in the middle of an allocation.
pub(crate) fn while_locked<T>(function: impl FnOnce() -> T) -> T {
    let _guard = HEAP.lock();
    function()
}

/// Bytes that the heap grows by at least.
const STEP: usize = 32 << 10;

/// Takes more memory at the heap's end when none is left.
#[derive(Debug)]
struct Grow {
    end: Option<NonNull<u8>>,
}

// SAFETY: the pointer is only the end of memory that the allocator behind the lock owns.
unsafe impl Send for Grow {}

// SAFETY: `acquire` uses the allocator only through `talc`; portal calls allocate nothing.
unsafe impl Source for Grow {
    fn acquire<B: Binning>(talc: &mut Talc<Self, B>, layout: Layout) -> Result<(), ()> {
        // Room for the allocation, its alignment and the allocator's own bookkeeping.
        let bytes = (layout.size() + layout.align() + 4096).next_multiple_of(STEP);
        let base = sbrk(isize::try_from(bytes).map_err(drop)?).map_err(drop)?;
        let limit = (base + bytes) as *mut u8;
        let end = match talc.source.end {
            // Less than a chunk may lie between the allocator's end and the break that it came from.
            Some(end) if base - end.as_ptr() as usize <= 64 => {
                // SAFETY: `end` is the heap's end, and what follows up to `limit` is new and ours.
                unsafe { talc.extend(end, limit) }
            }
            // SAFETY: the range is new and ours alone.
            _ => unsafe { talc.claim(base as *mut u8, bytes) }.ok_or(())?,
        };
        talc.source.end = Some(end);
        Ok(())
    }
}
