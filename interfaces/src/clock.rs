//! The clock: where the time of day comes from. Reading it costs no call: see `time_of_day` in the SDK.

use crate::Service;

/// Read the device again and correct the time of day: `synchronize()`.
pub const SYNCHRONIZE: Service = Service {
    c_name: "CLOCK_SYNCHRONIZE",
    name: "/clock/synchronize",
    specification: "nmc",
    meaning: "set the time of day from the device: (); answers nanoseconds since 1970",
};

/// All of them.
pub const ALL: &[Service] = &[SYNCHRONIZE];
