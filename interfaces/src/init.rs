//! Init: what runs. Starting and stopping the components of the system description, and listing them.
//!
//! A component is named as in the description. `component` fills an `InfoRecord` of the crate `pebble-abi`: the name, then
//! the numbers in the order of [`field`].

use crate::Service;

/// Start a component that does not run: `start(a1 = name)`.
pub const START: Service = Service {
    c_name: "INIT_START",
    name: "/init/start",
    specification: "nmcr",
    meaning: "start a component: (name); answers its domain, -ENOENT: not in the description, -EEXIST: it runs, -EPERM: a core server, or why it cannot be loaded",
};
/// End a component that runs: `stop(a1 = name, a2 = force)`.
pub const STOP: Service = Service {
    c_name: "INIT_STOP",
    name: "/init/stop",
    specification: "nmcri",
    meaning: "end a component: (name, force); answers 0, -ENOENT: not in the description, -ESRCH: it does not run, -EPERM: a core server, -EBUSY: its end would end the system, which happens with force 1",
};
/// One component of the description: `component(a1 = index, a2 = buffer)`.
pub const COMPONENT: Service = Service {
    c_name: "INIT_COMPONENT",
    name: "/init/component",
    specification: "nmciw",
    meaning: "what the description says of a component, and whether it runs: (index, buffer for an info record); answers 0, -EINVAL past the last",
};

/// All of them.
pub const ALL: &[Service] = &[START, STOP, COMPONENT];

/// Indices of the values that `component` fills in.
pub mod field {
    /// Its domain, 0 while it does not run.
    pub const DOMAIN: usize = 0;
    /// Role, as in the crate `pebble-abi`.
    pub const ROLE: usize = 1;
    /// Priority.
    pub const PRIORITY: usize = 2;
    /// Most pages of memory.
    pub const PAGES: usize = 3;
    /// Flags, as in the bundle.
    pub const FLAGS: usize = 4;
    /// Number of arguments.
    pub const ARGUMENTS: usize = 5;
    /// Number of devices.
    pub const DEVICES: usize = 6;
    /// Bytes of its image.
    pub const IMAGE: usize = 7;
}
