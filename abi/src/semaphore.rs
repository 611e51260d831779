//! Semaphores that exist from the start, by index in the scheduler's table of counters.

/// Lock of the portal manager.
pub const PORTAL_MANAGER_LOCK: usize = 0;
/// Lock of the VM server.
pub const VM_LOCK: usize = 1;
/// The scheduler's V on it wakes the portal manager's stack warden.
pub const WARDEN: usize = 2;
/// The portal manager's V on it tells init of a death.
pub const DEATH: usize = 3;
/// What [`crate::slot::PORTAL_ACCEPT`] takes for a specification when the slot of P was passed: P, and V behind it, as
/// `sem_create` leaves them.
pub const ACCEPT_BOTH: &str = "PV";
/// The same when the slot of V was passed: V alone.
pub const ACCEPT_POST: &str = "V";
/// First index that `sem_alloc` may give out.
pub const FIRST_FREE: usize = 16;
/// Initial value of the semaphores above.
pub const INITIAL: [i32; 4] = [1, 1, 0, 0];

/// Word of the counters' page that says which V may wait for the scheduler's next entry: of a semaphore for which one
/// thread waits, when that thread's level is below this. It is kept with its sign changed; 0: none.
pub const LATER: usize = 8;
/// Word of that page for the semaphore of such a V, [`NOTHING_LATER`] when there is none.
pub const LATER_WHICH: usize = 9;
/// No V waits for the scheduler.
pub const NOTHING_LATER: i32 = -1;
/// Counter of a semaphore for which one thread waits, of this level, 0 to 63.
pub const fn one_waits(level: u8) -> i32 {
    -2 - level as i32
}
/// Counter of a semaphore for which this many threads wait, at least one: their levels are the scheduler's matter.
pub const fn many_wait(count: i32) -> i32 {
    MANY - count
}
/// Counters below this are [`many_wait`]'s.
const MANY: i32 = -1024;
/// Whether this is [`one_waits`]'s counter.
pub const fn is_one(counter: i32) -> bool {
    counter < 0 && counter > MANY
}
/// How many threads wait, by the counter.
pub const fn waiting(counter: i32) -> i32 {
    if counter >= 0 {
        0
    } else if counter < MANY {
        MANY - counter
    } else {
        1
    }
}
/// The counter when one of them waits no more.
pub const fn one_fewer(counter: i32) -> i32 {
    if waiting(counter) <= 1 {
        0
    } else {
        counter + 1
    }
}
