//! Messages between compartments: a filter passes them, and everything in them crosses.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use pebble_store_object::{Capability, Kind, ObjectId};

use super::{Grant, Monitor};
use crate::bank::Banks;
use crate::invoke::{FORWARD_BLOCKED, FORWARD_TARGET};
use crate::process::{Delivery, Manner, Message, Outgoing};
use crate::{Error, World};

impl Monitor {
    /// Lets a process invoke what is in one of its registers, whether that is a filter or not. The capabilities of the
    /// message cross to the other compartment, the resume capability too; that one's filter ends with its use.
    ///
    /// # Errors
    /// Those of [`World::communicate`]; [`Error::Policy`] if one of the capabilities may not cross, [`Error::Blocked`].
    /// Nothing has changed then.
    pub fn communicate(
        &mut self,
        world: &mut World,
        banks: &mut Banks,
        sender: Capability,
        manner: Manner,
        register: usize,
        message: &Message,
    ) -> Result<Delivery, Error> {
        let outgoing = world.outgoing(sender, register, message)?;
        let first = self.filter(outgoing.target);
        let (Some(first), true) = (first, world.may_invoke(sender)?) else {
            return world.communicate(sender, manner, register, message);
        };
        // Whether it can be delivered is asked before anything crosses.
        let mut way = Vec::from([first]);
        let mut target = first.target;
        while let Some(next) = self.filter(target) {
            way.push(next);
            target = next.target;
        }
        for grant in &way {
            if world.node(grant.node)?.slots[FORWARD_BLOCKED].data != 0 {
                return Err(Error::Blocked(grant.handed.object));
            }
        }
        world.check_ready(world.forward(target)?)?;
        let before: BTreeSet<ObjectId> = self.grants.keys().copied().collect();
        let sent = self.send(world, banks, (sender, manner), outgoing, &way);
        if sent.is_err() {
            let new = self
                .grants
                .values()
                .filter(|grant| !before.contains(&grant.node.object));
            for handed in new.map(|grant| grant.handed).collect::<Vec<_>>() {
                self.revoke(world, banks, handed)?;
            }
        } else if target.kind == Kind::Resume {
            for used in way {
                self.revoke(world, banks, used.handed)?;
            }
        }
        sent
    }

    fn send(
        &mut self,
        world: &mut World,
        banks: &mut Banks,
        (sender, manner): (Capability, Manner),
        mut outgoing: Outgoing,
        way: &[Grant],
    ) -> Result<Delivery, Error> {
        let mut resume = None;
        if manner == Manner::Call {
            resume = Some(world.continuation(sender, Kind::Resume)?);
        }
        for grant in way {
            let back = (grant.to, grant.from);
            for capability in outgoing.capabilities.iter_mut().chain(&mut resume) {
                *capability = self.cross(world, banks, back, *capability)?;
            }
            outgoing.target = world.current(world.node(grant.node)?.slots[FORWARD_TARGET]);
        }
        world.send(sender, manner, outgoing, resume)
    }

    /// The grant of which this is the filter.
    fn filter(&self, capability: Capability) -> Option<Grant> {
        let grant = self.grants.get(&capability.object)?;
        (grant.handed == capability && capability.kind == Kind::Entry).then_some(*grant)
    }
}
