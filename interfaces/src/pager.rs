//! Pagers: components that answer the page faults of regions in other domains.
//!
//! A client maps a region with `vm_pager(bytes, name, cookie)`. At a fault the VM server calls the portal of that
//! name as `fault(a1 = cookie, a2 = faulting domain, a3 = address, a4 = access)`; the pager gives a page of its own
//! with `vm_supply` and answers 0, or answers an error, which ends the faulting domain as a bad access would.

use crate::Service;

/// Specification of every pager's portal.
pub const SPECIFICATION: &str = "nmciiii";
/// Access that the faulting domain wanted.
pub mod access {
    pub use pebble_abi::entry::vm::{EXECUTE, READ, WRITE};
}
/// Flags of `vm_supply`.
pub mod supply {
    pub use pebble_abi::entry::vm::{SUPPLY_MOVE as MOVE, SUPPLY_WRITE as WRITE};
}

/// The example pager, which keeps one shared region.
pub const SHARED: Service = Service {
    c_name: "PAGER_SHARED",
    name: "/pager/shared",
    specification: SPECIFICATION,
    meaning: "faults of a region whose pages all clients share: (cookie, domain, address, access); answers 0",
};

/// All services with a fixed name.
pub const ALL: &[Service] = &[SHARED];
