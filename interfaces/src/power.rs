//! Power: the end of the machine.

use crate::Service;

/// Switch the machine off: `off(a1 = exit status of the emulator)`.
pub const OFF: Service = Service {
    c_name: "POWER_OFF",
    name: "/power/off",
    specification: "nmci",
    meaning: "switch the machine off: (exit status); does not return",
};
/// Start the machine again: `restart()`.
pub const RESTART: Service = Service {
    c_name: "POWER_RESTART",
    name: "/power/restart",
    specification: "nmc",
    meaning: "reset the machine: (); does not return",
};

/// All of them.
pub const ALL: &[Service] = &[OFF, RESTART];
