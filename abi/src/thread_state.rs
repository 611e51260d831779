//! States of a thread as the scheduler's `thread_info` answers them, in bits 15..8.

/// No such thread.
pub const FREE: u8 = 0;
/// It runs, or could run.
pub const READY: u8 = 1;
/// It waits for a semaphore.
pub const WAITING: u8 = 2;
/// It sleeps.
pub const SLEEPING: u8 = 3;
/// It waits for a domain's stack.
pub const STACK: u8 = 4;
/// `thread_stop` keeps it off every queue.
pub const STOPPED: u8 = 5;
/// It has used up its budget and waits for the next period.
pub const THROTTLED: u8 = 6;

/// Each state with its name, for listings.
pub const NAMES: [&str; 7] = [
    "free",
    "ready",
    "waiting",
    "sleeping",
    "stack",
    "stopped",
    "throttled",
];
