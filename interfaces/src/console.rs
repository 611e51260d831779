//! The console: one serial line, three kinds of output, one input.

use crate::Service;

/// Bytes that one call takes at most: a window is one page.
pub const MOST: usize = 4096;

/// A component's standard output: `write(a1 = buffer, a2 = length)`.
pub const WRITE: Service = Service {
    c_name: "CONSOLE_WRITE",
    name: "/console/write",
    specification: "nmcri",
    meaning: "standard output: (buffer within one page, length); answers the bytes written",
};
/// A component's standard error: `write(a1 = buffer, a2 = length)`.
pub const ERROR: Service = Service {
    c_name: "CONSOLE_ERROR",
    name: "/console/error",
    specification: "nmcri",
    meaning: "standard error: (buffer within one page, length); answers the bytes written",
};
/// The system's own messages, one line each: `write(a1 = buffer, a2 = length)`.
pub const LOG: Service = Service {
    c_name: "CONSOLE_LOG",
    name: "/console/log",
    specification: "nmcri",
    meaning:
        "system messages, whole lines: (buffer within one page, length); answers the bytes written",
};
/// Input: `read(a1 = buffer, a2 = length)` waits for at least one byte.
pub const READ: Service = Service {
    c_name: "CONSOLE_READ",
    name: "/console/read",
    specification: "nmcwi",
    meaning: "input: (buffer within one page, length); waits for at least one byte, answers how many there were",
};

/// All of them.
pub const ALL: &[Service] = &[WRITE, ERROR, LOG, READ];
