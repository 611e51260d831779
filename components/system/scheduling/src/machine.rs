//! What a scheduler needs of the processor; a hart of the target, or a simulation in host tests.

use core::sync::atomic::{AtomicI32, Ordering};

use pebble_abi::layout::MAX_SEMAPHORES;
use pebble_abi::semaphore::{INITIAL, LATER, LATER_WHICH, NOTHING_LATER};

/// Counters, timer, and the semaphore counters that portal code shares.
pub trait Machine {
    /// In its state before the first entry.
    const NEW: Self;
    /// The cycle counter.
    fn cycles(&self) -> u64;
    /// The timebase, in which the timer is set.
    fn ticks(&self) -> u64;
    /// Asks for one timer interrupt when the timebase reaches `tick`, instead of any asked for before.
    fn set_timer(&mut self, tick: u64);
    /// The semaphore counters.
    fn counters(&self) -> &Counters;
}

/// The counter of every semaphore, on a page of its own: portals for P and V count inline while nobody has
/// to wait.
///
/// While a semaphore is in use, its counter is the paper's while P would not block; when threads wait it is negative
/// and says how many, and of which level if it is one (`pebble_abi::semaphore`). [`Counters::CLOSED`] makes both inline paths come to the scheduler, which answers
/// `-EINVAL`: so a portal to a semaphore that has ended cannot count in it, nor in its successor's.
#[repr(C, align(4096))]
pub struct Counters([AtomicI32; MAX_SEMAPHORES]);

impl Default for Counters {
    fn default() -> Self {
        Counters::new()
    }
}

impl Counters {
    /// Value while no semaphore has this index.
    pub const CLOSED: i32 = i32::MIN;

    /// The counters at the start: the fixed semaphores have their values, the others are closed.
    pub const fn new() -> Counters {
        let mut counters = [const { AtomicI32::new(Counters::CLOSED) }; MAX_SEMAPHORES];
        let mut index = 0;
        while index < INITIAL.len() {
            counters[index] = AtomicI32::new(INITIAL[index]);
            index += 1;
        }
        counters[LATER_WHICH] = AtomicI32::new(NOTHING_LATER);
        counters[LATER] = AtomicI32::new(0);
        Counters(counters)
    }

    /// Reads a counter; the index wraps.
    #[inline(always)]
    pub fn get(&self, semaphore: u16) -> i32 {
        self.0[semaphore as usize % MAX_SEMAPHORES].load(Ordering::Relaxed)
    }

    /// The semaphore of a V that portal code left for now.
    #[inline(always)]
    pub fn later(&self) -> Option<u16> {
        let which = self.0[LATER_WHICH].load(Ordering::Relaxed);
        (which >= 0).then_some((which & (MAX_SEMAPHORES as i32 - 1)) as u16)
    }

    /// That V is done. Portal code leaves no other before [`Counters::allow_later`].
    #[inline(always)]
    pub fn done_later(&self) {
        self.0[LATER_WHICH].store(NOTHING_LATER, Ordering::Relaxed);
    }

    /// From now on portal code may leave a V for which one thread waits, if its level is below this one.
    #[inline(always)]
    pub fn allow_later(&self, below: i32) {
        self.0[LATER].store(-below, Ordering::Relaxed);
    }

    /// Whether portal code may leave a V on a semaphore with this counter.
    pub fn may_leave(&self, counter: i32) -> bool {
        counter < 0 && counter + 1 >= self.0[LATER].load(Ordering::Relaxed)
    }

    /// As portal code does it: leaves a V.
    pub fn leave(&self, semaphore: u16) {
        self.0[LATER_WHICH].store(semaphore.into(), Ordering::Relaxed);
        self.0[LATER].store(0, Ordering::Relaxed);
    }

    /// Whether a semaphore with this value of its counter is in use.
    #[inline(always)]
    pub fn is_open(value: i32) -> bool {
        value != Counters::CLOSED
    }

    /// Writes a counter; the index wraps.
    #[inline(always)]
    pub fn set(&self, semaphore: u16, value: i32) {
        self.0[semaphore as usize % MAX_SEMAPHORES].store(value, Ordering::Relaxed);
    }
}
