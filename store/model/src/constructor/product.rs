//! How a product comes to be: everything it is made of is the client's (EROS, section 5.3, figure 10).

use alloc::vec::Vec;

use pebble_store_object::{Capability, Kind, ObjectKind, Rights};

use super::{Constructors, COMPONENTS, TEMPLATE};
use crate::bank::Banks;
use crate::copy::copy;
use crate::invoke::Operation;
use crate::process::Part;
use crate::{diminish, Error, World};

/// Capability register of a new process: the first of its components.
pub const FIRST_COMPONENT_REGISTER: usize = 8;
/// Capability register of a new process: the client's bank.
pub const BANK_REGISTER: usize = FIRST_COMPONENT_REGISTER + COMPONENTS;

impl Constructors {
    /// Makes a product and lets it run: a process with the constructor's components and the client's bank in its
    /// registers, in a space of its own that begins as a copy of the template. Gives the right to call it.
    ///
    /// # Errors
    /// [`Error::NotGenuine`] for what is no requestor's capability; those of [`Banks::allocate`]. Everything that was
    /// bought is given back then.
    pub fn request(
        &self,
        world: &mut World,
        banks: &mut Banks,
        requestor: Capability,
        bank: Capability,
    ) -> Result<Capability, Error> {
        self.verdict(world, requestor, &[])?;
        let mut bought = Vec::new();
        let made = self.build(world, banks, requestor, bank, &mut bought);
        if made.is_err() {
            for node in bought {
                // Bought a moment ago from this very bank.
                banks.deallocate(world, bank, node)?;
            }
        }
        made
    }

    fn build(
        &self,
        world: &mut World,
        banks: &mut Banks,
        requestor: Capability,
        bank: Capability,
        bought: &mut Vec<Capability>,
    ) -> Result<Capability, Error> {
        // Steps 2 to 5 of the figure: the creator buys the nodes of a process from the client's bank.
        for _ in 0..3 {
            bought.push(banks.allocate(world, bank, ObjectKind::Node)?);
        }
        let process = world.make_process(bought[0], bought[1], bought[2])?;
        let slots = world.node(requestor)?.slots;
        for (number, component) in slots[..COMPONENTS].iter().enumerate() {
            let register = FIRST_COMPONENT_REGISTER + number;
            world.invoke(process, Operation::StoreRegister(register, *component))?;
        }
        world.invoke(process, Operation::StoreRegister(BANK_REGISTER, bank))?;
        // Step 6: it starts in the template, which it can only read.
        let template = diminish(world.current(slots[TEMPLATE]));
        world.invoke(process, Operation::StorePart(Part::Space, template))?;
        // Steps 7 and 8: it gets a copy of that, to write to.
        if template.kind != Kind::Void {
            let space = copy(world, banks, bank, self.manager, template)?;
            bought.push(Capability {
                rights: Rights::FULL,
                ..space
            });
            world.invoke(process, Operation::StorePart(Part::Space, space))?;
        }
        // Step 9: it is ready for its client's call.
        Ok(Capability {
            kind: Kind::Entry,
            ..process
        })
    }
}
