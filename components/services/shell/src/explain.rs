//! Errors in words: what was wrong, where, and what to try.

use alloc::format;
use alloc::string::String;

use pebble::{Errno, Error};

/// Why a component does not start.
pub fn start(name: &str, error: Error) -> String {
    let known = |errno: Errno| error == errno;
    if known(Errno::NoEntry) {
        format!("there is no component `{name}`; `components` lists them")
    } else if known(Errno::Exists) {
        format!("{name} runs already; `inspect {name}` shows it, `stop {name}` ends it")
    } else if known(Errno::PermissionDenied) {
        format!("{name} is a core server: boot code started it")
    } else if known(Errno::NoMemory) {
        format!("{name} does not start: {error}; `memory` and its `memory` in the system description tell")
    } else {
        format!("{name} does not start: {error}; the system's message says why")
    }
}

/// Why a component is not stopped.
pub fn stop(name: &str, error: Error) -> String {
    let known = |errno: Errno| error == errno;
    if known(Errno::NoEntry) {
        format!("there is no component `{name}`; `components` lists them")
    } else if known(Errno::NoSuchProcess) {
        format!("{name} does not run; `start {name}` starts it")
    } else if known(Errno::PermissionDenied) {
        format!("{name} is a core server: nothing works without it; `shutdown` ends the system")
    } else if known(Errno::Busy) {
        format!("the system ends with {name}; `shutdown` ends it in order, `stop -f {name}` all the same")
    } else {
        format!("{name} is not stopped: {error}")
    }
}

/// Why a list cannot be shown.
pub fn list(what: &str, error: Error) -> String {
    format!("cannot read {what}: {error}")
}
