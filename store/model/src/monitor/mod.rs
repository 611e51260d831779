//! Compartments and a reference monitor: whatever crosses between compartments goes through something that can be
//! taken away, and is on a list (EROS, sections 2.3 and 3.4; KeySafe).
//!
//! A crossing capability is either the system's forwarder, for memory that holds no capabilities, or a filter: a face
//! of the monitor's own process, which passes what it is asked and gives nothing through but crossing capabilities in
//! their turn. Its holder cannot tell which.

mod messages;

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use pebble_store_object::{Capability, Kind, ObjectId, ObjectKind};

use crate::bank::Banks;
use crate::invoke::{Operation, Reply, FORWARD_BLOCKED, FORWARD_TARGET};
use crate::{Error, World};

/// A compartment.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Compartment(pub u32);

/// How a grant is mediated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mediation {
    /// By the system's forwarder. What comes through it crosses as it is, so it is for data pages only.
    Indirector,
    /// By the monitor.
    Filter,
}

/// One access that a compartment has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Grant {
    /// Whose capability it is.
    pub from: Compartment,
    /// Who has got it.
    pub to: Compartment,
    /// What is behind it.
    pub target: Capability,
    /// What the holder has.
    pub handed: Capability,
    /// The node of the forwarder or filter: destroying it ends the access.
    node: Capability,
}

/// Says whether a compartment may have another's capability, or in which form: `None` is no.
pub type Policy =
    fn(from: Compartment, to: Compartment, capability: Capability) -> Option<Capability>;

/// A reference monitor.
#[derive(Clone, Debug)]
pub struct Monitor {
    bank: Capability,
    policy: Policy,
    grants: BTreeMap<ObjectId, Grant>,
}

impl Monitor {
    /// A monitor that buys its forwarders from this bank and keeps to this policy.
    pub fn new(bank: Capability, policy: Policy) -> Self {
        Self {
            bank,
            policy,
            grants: BTreeMap::new(),
        }
    }

    /// Changes the policy, for what is granted and asked from now on. [`Monitor::enforce`] ends what it forbids of what
    /// was granted before.
    pub fn set_policy(&mut self, policy: Policy) {
        self.policy = policy;
    }

    /// Gives `to` a crossing capability to what `from` has. The kinds that name nobody cross as they are.
    ///
    /// # Errors
    /// [`Error::Policy`]; [`Error::Void`]; [`Error::NotUnderstood`] for a forwarder in front of what holds or carries
    /// capabilities; those of [`Banks::allocate`].
    pub fn grant(
        &mut self,
        world: &mut World,
        banks: &mut Banks,
        (from, to): (Compartment, Compartment),
        capability: Capability,
        mediation: Mediation,
    ) -> Result<Capability, Error> {
        let capability = world.current(capability);
        match capability.kind {
            Kind::Void => return Err(Error::Void),
            Kind::Number => return Ok(capability),
            _ => {}
        }
        let target = (self.policy)(from, to, capability).ok_or(Error::Policy)?;
        if mediation == Mediation::Indirector && target.kind != Kind::DataPage {
            return Err(Error::NotUnderstood(target.kind));
        }
        let node = banks.allocate(world, self.bank, ObjectKind::Node)?;
        world.node_mut(node)?.slots[FORWARD_TARGET] = target;
        let kind = match mediation {
            Mediation::Indirector => Kind::Indirector,
            Mediation::Filter => Kind::Entry,
        };
        let handed = Capability { kind, ..node };
        let grant = Grant {
            from,
            to,
            target,
            handed,
            node,
        };
        self.grants.insert(node.object, grant);
        Ok(handed)
    }

    /// What the holder of a crossing capability asks, whichever way it is mediated. A filter grants the other side
    /// whatever capability is given with the question or the answer, by the same policy.
    ///
    /// # Errors
    /// [`Error::Void`] after the access was ended; [`Error::NotGenuine`] for what the monitor has not handed out;
    /// [`Error::Policy`] for a capability that may not cross; those of the operation.
    pub fn invoke(
        &mut self,
        world: &mut World,
        banks: &mut Banks,
        handed: Capability,
        operation: Operation<'_>,
    ) -> Result<Reply, Error> {
        if !world.is_live(handed) {
            return match operation {
                Operation::TypeOf => Ok(Reply::Kind(Kind::Void)),
                _ => Err(Error::Void),
            };
        }
        let grant = *self.grants.get(&handed.object).ok_or(Error::NotGenuine)?;
        if grant.handed != handed {
            return Err(Error::NotGenuine);
        }
        if handed.kind == Kind::Indirector {
            return world.invoke(handed, operation);
        }
        if world.node(grant.node)?.slots[FORWARD_BLOCKED].data != 0 {
            return Err(Error::Blocked(handed.object));
        }
        let back = (grant.to, grant.from);
        let operation = match operation {
            Operation::Store(slot, given) => {
                Operation::Store(slot, self.cross(world, banks, back, given)?)
            }
            Operation::Swap(slot, given) => {
                Operation::Swap(slot, self.cross(world, banks, back, given)?)
            }
            Operation::StoreRegister(register, given) => {
                Operation::StoreRegister(register, self.cross(world, banks, back, given)?)
            }
            Operation::StorePart(part, given) => {
                Operation::StorePart(part, self.cross(world, banks, back, given)?)
            }
            other => other,
        };
        let target = world.node(grant.node)?.slots[FORWARD_TARGET];
        // What was handed on is asked the way it came.
        let nested = self
            .grants
            .get(&target.object)
            .is_some_and(|grant| grant.handed == target);
        let answer = if nested {
            self.invoke(world, banks, target, operation)
        } else {
            world.invoke(target, operation)
        };
        match answer? {
            Reply::Capability(answer) => {
                let answer = self.cross(world, banks, (grant.from, grant.to), answer)?;
                Ok(Reply::Capability(answer))
            }
            other => Ok(other),
        }
    }

    /// A capability as the other compartment may have it: its own come back as they were before they crossed.
    fn cross(
        &mut self,
        world: &mut World,
        banks: &mut Banks,
        (from, to): (Compartment, Compartment),
        capability: Capability,
    ) -> Result<Capability, Error> {
        let capability = world.current(capability);
        match self.grants.get(&capability.object) {
            Some(grant) if grant.handed == capability && grant.from == to => {
                return Ok(world.current(grant.target))
            }
            _ => {}
        }
        match capability.kind {
            Kind::Void | Kind::Number => Ok(capability),
            _ => self.grant(world, banks, (from, to), capability, Mediation::Filter),
        }
    }

    /// Closes an access for the time being, or opens it again.
    ///
    /// # Errors
    /// [`Error::NotGenuine`] for what the monitor has not handed out.
    pub fn set_blocked(
        &self,
        world: &mut World,
        handed: Capability,
        blocked: bool,
    ) -> Result<(), Error> {
        let grant = self.grants.get(&handed.object).ok_or(Error::NotGenuine)?;
        world.node_mut(grant.node)?.slots[FORWARD_BLOCKED] = Capability::number(u64::from(blocked));
        Ok(())
    }

    /// Ends one access. Others to the same object stay.
    ///
    /// # Errors
    /// [`Error::NotGenuine`] for what the monitor has not handed out.
    pub fn revoke(
        &mut self,
        world: &mut World,
        banks: &mut Banks,
        handed: Capability,
    ) -> Result<(), Error> {
        let grant = self
            .grants
            .get(&handed.object)
            .filter(|grant| grant.handed == handed);
        let node = grant.ok_or(Error::NotGenuine)?.node;
        banks.deallocate(world, self.bank, node)?;
        self.grants.remove(&handed.object);
        Ok(())
    }

    /// Ends every access that the policy does not allow now in the form in which it was granted. Returns how many.
    ///
    /// # Errors
    /// Those of [`Monitor::revoke`].
    pub fn enforce(&mut self, world: &mut World, banks: &mut Banks) -> Result<usize, Error> {
        let policy = self.policy;
        let forbidden = self
            .grants
            .values()
            .filter(|grant| policy(grant.from, grant.to, grant.target) != Some(grant.target));
        let forbidden: Vec<_> = forbidden.map(|grant| grant.handed).collect();
        for handed in &forbidden {
            self.revoke(world, banks, *handed)?;
        }
        Ok(forbidden.len())
    }

    /// Who has what access: every grant.
    pub fn audit(&self) -> impl Iterator<Item = &Grant> {
        self.grants.values()
    }
}
