//! Space banks: who pays for which object, and who can end it (EROS, section 5.1).
//!
//! One service implements every bank; only it holds ranges. A bank is one node, bought from its parent. What is bought
//! from a bank counts for it and for all banks above it, and each of them may have a limit.

mod destroy;
mod pool;

use alloc::collections::{BTreeMap, BTreeSet};

use pebble_store_object::{Capability, Kind, ObjectId, ObjectKind, Rights};

use crate::object::named_by;
use crate::{Error, World};
use pool::Pool;

pub use destroy::Destroy;

/// In a bank capability's data: the bank cannot be destroyed through it, nor objects be given back.
pub const NO_DESTROY: u64 = 1;
/// In a bank capability's data: the limit cannot be set through it.
pub const NO_LIMIT: u64 = 2;

/// One bank, as seen by a checker.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bank {
    /// The bank above; the prime bank has none.
    pub parent: Option<ObjectId>,
    /// How many objects it and the banks below may have.
    pub limit: u64,
    /// The objects bought from it: among them the nodes of the banks below.
    pub own: BTreeSet<ObjectId>,
    /// The nodes of the banks directly below.
    pub children: BTreeSet<ObjectId>,
    /// How many objects it and the banks below have.
    pub total: u64,
}

/// The service behind every bank.
#[derive(Clone, Debug)]
pub struct Banks {
    pages: Pool,
    nodes: Pool,
    banks: BTreeMap<ObjectId, Bank>,
    owner: BTreeMap<ObjectId, ObjectId>,
    prime: Capability,
}

impl Banks {
    /// The prime bank over two ranges of objects of a world, `(first, number)`; what exists there already belongs to
    /// nobody. The prime bank's node is the first that is bought, and belongs to the prime bank itself.
    ///
    /// # Errors
    /// [`Error::Exhausted`] if there is no free node.
    pub fn new(
        world: &mut World,
        pages: (ObjectId, u64),
        nodes: (ObjectId, u64),
    ) -> Result<Self, Error> {
        let pages = Pool::new(world, pages.0, pages.1);
        let mut nodes = Pool::new(world, nodes.0, nodes.1);
        let node = nodes.take(world, ObjectKind::Node)?;
        let prime = Bank {
            parent: None,
            limit: u64::MAX,
            own: BTreeSet::from([node.object]),
            children: BTreeSet::new(),
            total: 1,
        };
        Ok(Self {
            pages,
            nodes,
            banks: BTreeMap::from([(node.object, prime)]),
            owner: BTreeMap::from([(node.object, node.object)]),
            prime: face(node, 0),
        })
    }

    /// The prime bank, which owns all storage.
    pub fn prime(&self) -> Capability {
        self.prime
    }

    /// Every bank under the identity of its node.
    pub fn banks(&self) -> &BTreeMap<ObjectId, Bank> {
        &self.banks
    }

    /// Who owns each object that exists.
    pub fn owners(&self) -> &BTreeMap<ObjectId, ObjectId> {
        &self.owner
    }

    /// The bank that a capability names, if this service has made it: a forged one is told by this.
    ///
    /// # Errors
    /// [`Error::Void`] for a bank that is gone, [`Error::NotGenuine`] for what is no bank.
    pub fn verify(&self, world: &World, bank: Capability) -> Result<ObjectId, Error> {
        if !world.is_live(bank) {
            return Err(Error::Void);
        }
        if bank.kind != Kind::Entry || !self.banks.contains_key(&bank.object) {
            return Err(Error::NotGenuine);
        }
        Ok(bank.object)
    }

    /// Buys an empty object.
    ///
    /// # Errors
    /// Those of [`Banks::verify`], [`Error::Limit`] and [`Error::Exhausted`].
    pub fn allocate(
        &mut self,
        world: &mut World,
        bank: Capability,
        kind: ObjectKind,
    ) -> Result<Capability, Error> {
        let buyer = self.verify(world, bank)?;
        self.check_limits(buyer, 1)?;
        let made = self.pool(kind).take(world, kind)?;
        self.owner.insert(made.object, buyer);
        if let Some(bank) = self.banks.get_mut(&buyer) {
            bank.own.insert(made.object);
        }
        self.change_totals(Some(buyer), 1, 0);
        Ok(made)
    }

    /// Gives an object back to the bank that sold it. Takes an unrestricted capability to node or page.
    ///
    /// # Errors
    /// Those of [`Banks::verify`], [`Error::BankRestricted`], [`Error::Restricted`] if the object's capability is,
    /// [`Error::Foreign`] if the object was not bought from this very bank, or is a bank's node.
    pub fn deallocate(
        &mut self,
        world: &mut World,
        bank: Capability,
        object: Capability,
    ) -> Result<(), Error> {
        let seller = self.verify(world, bank)?;
        allowed(bank, NO_DESTROY)?;
        if !world.is_live(object) {
            return Err(Error::Void);
        }
        match object.kind {
            Kind::Node | Kind::DataPage | Kind::CapabilityPage => {}
            other => return Err(Error::NotUnderstood(other)),
        }
        if object.rights != Rights::FULL {
            return Err(Error::Restricted(object.rights));
        }
        let id = object.object;
        if self.owner.get(&id) != Some(&seller) || self.banks.contains_key(&id) {
            return Err(Error::Foreign(id));
        }
        self.end(world, id)?;
        if let Some(bank) = self.banks.get_mut(&seller) {
            bank.own.remove(&id);
        }
        self.change_totals(Some(seller), 0, 1);
        Ok(())
    }

    /// Makes a bank below another, with a limit of its own or none. Its node is bought from the one above.
    ///
    /// # Errors
    /// As [`Banks::allocate`].
    pub fn make_bank(
        &mut self,
        world: &mut World,
        above: Capability,
        limit: Option<u64>,
    ) -> Result<Capability, Error> {
        let parent = self.verify(world, above)?;
        let node = self.allocate(world, above, ObjectKind::Node)?;
        let bank = Bank {
            parent: Some(parent),
            limit: limit.unwrap_or(u64::MAX),
            own: BTreeSet::new(),
            children: BTreeSet::new(),
            total: 0,
        };
        self.banks.insert(node.object, bank);
        if let Some(parent) = self.banks.get_mut(&parent) {
            parent.children.insert(node.object);
        }
        Ok(face(node, 0))
    }

    /// Sets a bank's limit. It may be below what the bank has already: then nothing more can be bought.
    ///
    /// # Errors
    /// Those of [`Banks::verify`], [`Error::BankRestricted`].
    pub fn set_limit(
        &mut self,
        world: &World,
        bank: Capability,
        limit: Option<u64>,
    ) -> Result<(), Error> {
        let id = self.verify(world, bank)?;
        allowed(bank, NO_LIMIT)?;
        if let Some(bank) = self.banks.get_mut(&id) {
            bank.limit = limit.unwrap_or(u64::MAX);
        }
        Ok(())
    }

    /// A capability to the same bank that allows less: `restrictions` is any of [`NO_DESTROY`] and [`NO_LIMIT`].
    ///
    /// # Errors
    /// Those of [`Banks::verify`].
    pub fn restrict(
        &self,
        world: &World,
        bank: Capability,
        restrictions: u64,
    ) -> Result<Capability, Error> {
        self.verify(world, bank)?;
        let data = bank.data | (restrictions & (NO_DESTROY | NO_LIMIT));
        Ok(Capability { data, ..bank })
    }

    /// How many objects can be bought from a bank as far as limits go: the most constraining of all on the way to the
    /// prime bank.
    ///
    /// # Errors
    /// Those of [`Banks::verify`].
    pub fn available(&self, world: &World, bank: Capability) -> Result<u64, Error> {
        let id = self.verify(world, bank)?;
        let rooms = self
            .path(id)
            .map(|(_, bank)| bank.limit.saturating_sub(bank.total));
        Ok(rooms.min().unwrap_or(0))
    }

    /// Whether so many objects of a kind can be bought now.
    ///
    /// # Errors
    /// Those that [`Banks::allocate`] would give before the last of them.
    pub fn check_room(
        &self,
        world: &World,
        bank: Capability,
        kind: ObjectKind,
        number: u64,
    ) -> Result<(), Error> {
        let id = self.verify(world, bank)?;
        self.check_limits(id, number)?;
        let pool = if kind == ObjectKind::Node {
            &self.nodes
        } else {
            &self.pages
        };
        if pool.free() < number {
            return Err(Error::Exhausted);
        }
        Ok(())
    }

    /// Free objects that are left: pages, nodes.
    pub fn free(&self) -> (u64, u64) {
        (self.pages.free(), self.nodes.free())
    }

    /// The bank and those above it.
    fn path(&self, from: ObjectId) -> impl Iterator<Item = (ObjectId, &Bank)> {
        let mut next = Some(from);
        core::iter::from_fn(move || {
            let id = next?;
            let bank = self.banks.get(&id)?;
            next = bank.parent;
            Some((id, bank))
        })
    }

    fn check_limits(&self, buyer: ObjectId, number: u64) -> Result<(), Error> {
        match self
            .path(buyer)
            .find(|(_, bank)| bank.total.saturating_add(number) > bank.limit)
        {
            Some((full, _)) => Err(Error::Limit(full)),
            None => Ok(()),
        }
    }

    /// Adds to and takes from what a bank and all above it have.
    fn change_totals(&mut self, from: Option<ObjectId>, more: u64, less: u64) {
        let mut next = from;
        while let Some(bank) = next.and_then(|id| self.banks.get_mut(&id)) {
            bank.total = bank.total + more - less;
            next = bank.parent;
        }
    }

    fn pool(&mut self, kind: ObjectKind) -> &mut Pool {
        match kind {
            ObjectKind::Node => &mut self.nodes,
            ObjectKind::DataPage | ObjectKind::CapabilityPage => &mut self.pages,
        }
    }

    /// Ends an object and forgets its owner, whose books are the caller's matter.
    fn end(&mut self, world: &mut World, id: ObjectId) -> Result<(), Error> {
        let pool = if self.nodes.has(id) {
            &mut self.nodes
        } else {
            &mut self.pages
        };
        pool.give_back(world, id)?;
        self.owner.remove(&id);
        Ok(())
    }
}

/// The capability through which a bank is called.
fn face(node: Capability, restrictions: u64) -> Capability {
    debug_assert!(named_by(node.kind) == Some(ObjectKind::Node));
    Capability {
        kind: Kind::Entry,
        data: restrictions,
        ..node
    }
}

fn allowed(bank: Capability, restriction: u64) -> Result<(), Error> {
    if bank.data & restriction == 0 {
        Ok(())
    } else {
        Err(Error::BankRestricted)
    }
}
