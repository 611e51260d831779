//! Confinement: whether a product could talk to anybody whom its client has not allowed, told from what it gets and
//! never from its code (EROS, section 5.3; Shapiro and Weber's rule).

use alloc::collections::BTreeSet;
use alloc::vec;
use alloc::vec::Vec;

use pebble_store_object::{Capability, Kind, Rights};

use super::Constructors;
use crate::{Error, World, DIMINISHED};

/// What a constructor says about its products.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// A product can talk only to its client and to what the client has allowed.
    Confined,
    /// These capabilities, the constructor's or those of one it uses, may lead to others.
    Holes(Vec<Capability>),
}

impl Constructors {
    /// Whether products are confined, if the client allows them `authorised`, too: each allowed in this or any more
    /// restricted form.
    ///
    /// A component is no hole if it is void, a number, a page of data that is read-only, other memory that is read-only
    /// and weak, allowed by the client, or the requestor's capability of a constructor of which the same holds.
    ///
    /// # Errors
    /// [`Error::NotGenuine`] for what is no requestor's capability, [`Error::Void`].
    pub fn verdict(
        &self,
        world: &World,
        requestor: Capability,
        authorised: &[Capability],
    ) -> Result<Verdict, Error> {
        if !self.is_requestor(world, requestor) {
            self.own(world, requestor, None)?;
            return Err(Error::NotGenuine);
        }
        let mut holes = Vec::new();
        let mut asked = BTreeSet::from([requestor]);
        let mut open = vec![requestor];
        while let Some(constructor) = open.pop() {
            for component in self.components(world, constructor)? {
                if is_discreet(component)
                    || authorised.iter().any(|allowed| covers(*allowed, component))
                {
                    continue;
                }
                if !self.is_requestor(world, component) {
                    holes.push(component);
                } else if asked.insert(component) {
                    open.push(component);
                }
            }
        }
        Ok(if holes.is_empty() {
            Verdict::Confined
        } else {
            Verdict::Holes(holes)
        })
    }
}

/// Whether a capability only lets its holder read, for ever.
fn is_discreet(capability: Capability) -> bool {
    match capability.kind {
        Kind::Void | Kind::Number => true,
        Kind::DataPage => capability.rights.has(Rights::READ_ONLY),
        Kind::Node | Kind::CapabilityPage => capability.rights.has(DIMINISHED),
        _ => false,
    }
}

/// Whether who may have the one may have the other.
fn covers(allowed: Capability, other: Capability) -> bool {
    let rights = allowed.rights;
    other.rights.has(rights) && Capability { rights, ..other } == allowed
}
