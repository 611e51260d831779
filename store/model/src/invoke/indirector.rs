//! Forwarders: what is sent to one goes to the capability in its node, until that is blocked or the node destroyed
//! (EROS, section 3.4).

use pebble_store_object::{Capability, Kind};

use crate::{Error, World, INDIRECTOR_LIMIT};

/// Slot of a forwarder's node: where everything goes.
pub const FORWARD_TARGET: usize = 0;
/// Slot of a forwarder's node: a number other than 0 here closes it.
pub const FORWARD_BLOCKED: usize = 1;

impl World {
    /// The capability that answers to this one: itself, or what is behind the forwarders.
    ///
    /// # Errors
    /// [`Error::Void`] if it conveys nothing, here or behind a forwarder; [`Error::Blocked`];
    /// [`Error::TooManyIndirectors`], so that a ring of forwarders ends too.
    pub fn forward(&self, capability: Capability) -> Result<Capability, Error> {
        let mut target = self.current(capability);
        for _ in 0..=INDIRECTOR_LIMIT {
            match target.kind {
                Kind::Void => return Err(Error::Void),
                Kind::Indirector => {}
                _ => return Ok(target),
            }
            let slots = &self.node(target)?.slots;
            let blocked = slots[FORWARD_BLOCKED];
            if blocked.kind == Kind::Number && blocked.data != 0 {
                return Err(Error::Blocked(target.object));
            }
            target = self.current(slots[FORWARD_TARGET]);
        }
        Err(Error::TooManyIndirectors)
    }
}
