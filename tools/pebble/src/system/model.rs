//! A checked system: what the bundle is made from and `pebble graph` draws.

use pebble_abi::object::role;

/// A whole system.
#[derive(Clone, Debug)]
pub struct System {
    /// Its name.
    pub name: String,
    /// The component that is started when no program is run.
    pub shell: Option<String>,
    /// What a program of `pebble run` gets.
    pub program: Grants,
    /// Core components by role number, then the others as described.
    pub components: Vec<Component>,
}

/// What a component may hold and do.
#[derive(Clone, Debug, PartialEq)]
pub struct Grants {
    /// Priority of its first thread, and the highest of its threads.
    pub priority: u32,
    /// Most pages that it may hold.
    pub memory_pages: u32,
    /// Names that it may open.
    pub open: Vec<String>,
    /// Names that it may register.
    pub register: Vec<String>,
    /// Names about which it may give rules to others.
    pub decide: Vec<String>,
    /// Quantum or period in microseconds.
    pub quantum: u32,
    /// Budget in each period in microseconds; 0 for best effort.
    pub budget: u32,
}

/// One component.
#[derive(Clone, Debug)]
pub struct Component {
    /// Its name, unique in the system.
    pub name: String,
    /// Crate folder, C file or ELF, as described.
    pub path: String,
    /// Role number.
    pub role: u32,
    /// Started at boot.
    pub start: bool,
    /// Its death ends the system.
    pub critical: bool,
    /// Arguments.
    pub args: Vec<String>,
    /// Rights and limits.
    pub grants: Grants,
    /// Devices that it drives.
    pub devices: Vec<Device>,
    /// Line of its description.
    pub line: usize,
}

impl Component {
    /// Placed by boot code.
    pub fn is_core(&self) -> bool {
        self.role != role::ORDINARY && self.role < role::CORE_END
    }
}

/// A device's registers and interrupt.
#[derive(Clone, Debug, PartialEq)]
pub struct Device {
    /// Physical address.
    pub base: u64,
    /// Bytes of registers.
    pub bytes: u64,
    /// Interrupt number, 0 for none.
    pub interrupt: u32,
}

/// Names of roles in a description, by role number.
pub const ROLES: [&str; 9] = [
    "ordinary",
    "vm",
    "portal-manager",
    "scheduler",
    "interrupt-dispatcher",
    "idle",
    "init",
    "loader",
    "name-server",
];
