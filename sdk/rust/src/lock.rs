//! Locks between threads of one domain.

use core::sync::atomic::{AtomicBool, Ordering};

/// A lock that costs no portal call when free. A waiter yields, and then sleeps, since yielding alone never lets
/// a holder of lower priority run.
#[derive(Debug)]
pub struct RawLock(AtomicBool);

/// A value behind a [`RawLock`].
pub type Mutex<T> = lock_api::Mutex<RawLock, T>;
/// Access to it.
pub type MutexGuard<'a, T> = lock_api::MutexGuard<'a, RawLock, T>;

/// Tries before a waiter sleeps.
const YIELDS: u32 = 16;
/// Cycles that a sleep lasts, halved.
const PAUSE: u64 = 50_000;

// SAFETY: `lock` and `try_lock` succeed only by the change from false to true, which one thread makes.
unsafe impl lock_api::RawMutex for RawLock {
    #[allow(clippy::declare_interior_mutable_const)]
    const INIT: Self = RawLock(AtomicBool::new(false));
    type GuardMarker = lock_api::GuardSend;

    fn lock(&self) {
        let mut tries = 0;
        while !self.try_lock() {
            tries += 1;
            // A failure to wait is no reason to stop trying.
            let _ = if tries < YIELDS {
                crate::yield_now()
            } else {
                crate::hrsleep(crate::hrtime() + PAUSE)
            };
        }
    }

    fn try_lock(&self) -> bool {
        self.0
            .compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
    }

    unsafe fn unlock(&self) {
        self.0.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_excludes_others_until_released() {
        let value: Mutex<u32> = Mutex::new(1);
        let guard = value.lock();
        assert!(value.try_lock().is_none());
        drop(guard);
        *value.try_lock().expect("free again") += 1;
        assert_eq!(*value.lock(), 2);
    }
}
