//! How a capability loses power on its way.

use pebble_store_object::{Capability, Kind, Rights};

/// Read-only and weak: what comes out of a weak capability.
pub const DIMINISHED: Rights = Rights::READ_ONLY.and(Rights::WEAK);

/// The capability in the form that weak access gives (EROS, section 3.4): memory is read-only and weak, a number stays
/// a number, and all else becomes void, because to call anybody is more than to read.
pub fn diminish(capability: Capability) -> Capability {
    match capability.kind {
        Kind::Number => capability,
        Kind::Node | Kind::DataPage | Kind::CapabilityPage => restrict(capability, DIMINISHED),
        _ => Capability::VOID,
    }
}

/// The capability with these restrictions in addition to its own.
pub fn restrict(capability: Capability, rights: Rights) -> Capability {
    Capability {
        rights: capability.rights.and(rights),
        ..capability
    }
}

/// What the holder of `through` gets of a capability that is stored behind it.
pub(crate) fn fetched(through: Capability, stored: Capability) -> Capability {
    if through.rights.has(Rights::WEAK) {
        diminish(stored)
    } else {
        stored
    }
}
