//! Constructors: makers of processes that can say what their products can reach (EROS, section 5.3).
//!
//! A constructor is one node: what every product gets, and whether more can be added. Whoever holds the builder's
//! capability adds and seals; whoever holds the requestor's asks for the verdict and for products.

mod product;
mod verdict;

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use pebble_store_object::{Capability, Kind, ObjectId, ObjectKind, NODE_SLOTS};

use crate::bank::Banks;
use crate::{diminish, Error, World};

pub use product::{BANK_REGISTER, FIRST_COMPONENT_REGISTER};
pub use verdict::Verdict;

/// How many capabilities a constructor can give its products.
pub const COMPONENTS: usize = 16;
/// Slot of a constructor's node: the space in which products start.
pub const TEMPLATE: usize = 30;
/// Slot of a constructor's node: 1 once it is sealed.
pub const SEALED: usize = NODE_SLOTS - 1;

/// In a constructor capability's data: this one adds and seals.
const BUILDER: u64 = 0;
/// In a constructor capability's data: this one asks for products.
const REQUESTOR: u64 = 1;

/// The metaconstructor: it makes constructors and knows which are its own.
#[derive(Clone, Debug)]
pub struct Constructors {
    /// Who copies pages that products write to.
    manager: Capability,
    made: BTreeSet<ObjectId>,
}

impl Constructors {
    /// A metaconstructor. `manager` is called when a product's memory must be copied.
    pub fn new(manager: Capability) -> Self {
        Self {
            manager,
            made: BTreeSet::new(),
        }
    }

    /// Makes a constructor, whose node the bank pays, and gives the builder's capability. Products start in a copy of
    /// `template`.
    ///
    /// # Errors
    /// Those of [`Banks::allocate`].
    pub fn make(
        &mut self,
        world: &mut World,
        banks: &mut Banks,
        bank: Capability,
        template: Capability,
    ) -> Result<Capability, Error> {
        let node = banks.allocate(world, bank, ObjectKind::Node)?;
        let template = world.current(template);
        let slots = &mut world.node_mut(node)?.slots;
        slots[TEMPLATE] = template;
        slots[SEALED] = Capability::number(0);
        self.made.insert(node.object);
        Ok(Capability {
            kind: Kind::Entry,
            data: BUILDER,
            ..node
        })
    }

    /// Whether this is a capability to one of the metaconstructor's own, of this role or any.
    fn own(&self, world: &World, constructor: Capability, role: Option<u64>) -> Result<(), Error> {
        if !world.is_live(constructor) {
            return Err(Error::Void);
        }
        let known = constructor.kind == Kind::Entry && self.made.contains(&constructor.object);
        if known && role.is_none_or(|role| role == constructor.data) {
            Ok(())
        } else {
            Err(Error::NotGenuine)
        }
    }

    /// Whether this is the requestor's capability of a constructor: a program that only looks like one is told by this.
    pub fn is_requestor(&self, world: &World, constructor: Capability) -> bool {
        self.own(world, constructor, Some(REQUESTOR)).is_ok()
    }

    /// Adds a capability that every product gets. Gives its number.
    ///
    /// # Errors
    /// [`Error::Sealed`]; [`Error::NotGenuine`] for what is not the builder's; [`Error::NoSlot`] after [`COMPONENTS`].
    pub fn install(
        &self,
        world: &mut World,
        builder: Capability,
        component: Capability,
    ) -> Result<usize, Error> {
        self.own(world, builder, Some(BUILDER))?;
        let component = world.current(component);
        let slots = &mut world.node_mut(builder)?.slots;
        if slots[SEALED].data != 0 {
            return Err(Error::Sealed);
        }
        let free = slots[..COMPONENTS]
            .iter()
            .position(|slot| slot.kind == Kind::Void);
        let slot = free.ok_or(Error::NoSlot {
            slot: COMPONENTS,
            slots: COMPONENTS,
        })?;
        slots[slot] = component;
        Ok(slot)
    }

    /// Seals: nothing can be added from now on. Gives the requestor's capability. To seal again gives it again.
    ///
    /// # Errors
    /// [`Error::NotGenuine`] for what is not the builder's, [`Error::Void`].
    pub fn seal(&self, world: &mut World, builder: Capability) -> Result<Capability, Error> {
        self.own(world, builder, Some(BUILDER))?;
        world.node_mut(builder)?.slots[SEALED] = Capability::number(1);
        Ok(Capability {
            data: REQUESTOR,
            ..builder
        })
    }

    /// What products get, as it reads now, the template last. Only a sealed constructor says.
    fn components(&self, world: &World, constructor: Capability) -> Result<Vec<Capability>, Error> {
        let slots = &world.node(constructor)?.slots;
        if slots[SEALED].data == 0 {
            return Err(Error::NotSealed);
        }
        // Of the template, products get a weak form only.
        let template = diminish(world.current(slots[TEMPLATE]));
        let given = slots[..COMPONENTS].iter().map(|slot| world.current(*slot));
        Ok(given.chain([template]).collect())
    }
}
