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
