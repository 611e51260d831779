//! How a product comes to be: everything it is made of is the client's (EROS, section 5.3, figure 10).

use pebble_store_object::{Capability, Kind, ObjectKind};

use super::{Constructors, COMPONENTS, REQUESTOR, TEMPLATE};
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
    /// [`Error::NotGenuine`] for what is no requestor's capability; those of [`Banks::check_room`] and of [`copy`].
    /// Nothing was bought then.
    pub fn request(
        &self,
        world: &mut World,
        banks: &mut Banks,
        requestor: Capability,
        bank: Capability,
    ) -> Result<Capability, Error> {
        self.own(world, requestor, Some(REQUESTOR))?;
        let slots = world.node(requestor)?.slots;
        let template = diminish(world.current(slots[TEMPLATE]));
        let has_space = template.kind != Kind::Void;
        // Room for all of it, or none of it is bought.
        banks.check_room(world, bank, ObjectKind::Node, 3 + u64::from(has_space))?;
        let mut space = Capability::VOID;
        if has_space {
            // Steps 7 and 8 of the figure: the copy of the template in which it will write. First, because a template
            // that is no space is found here.
            space = copy(world, banks, bank, self.manager, template)?;
        }
        // Steps 2 to 5: the creator buys the nodes of a process from the client's bank.
        let mut nodes = [Capability::VOID; 3];
        for node in &mut nodes {
            *node = banks.allocate(world, bank, ObjectKind::Node)?;
        }
        let process = world.make_process(nodes[0], nodes[1], nodes[2])?;
        for (number, component) in slots[..COMPONENTS].iter().enumerate() {
            let register = FIRST_COMPONENT_REGISTER + number;
            world.invoke(process, Operation::StoreRegister(register, *component))?;
        }
        world.invoke(process, Operation::StoreRegister(BANK_REGISTER, bank))?;
        world.invoke(process, Operation::StorePart(Part::Space, space))?;
        // Step 9: it is ready for its client's call.
        Ok(Capability {
            kind: Kind::Entry,
            ..process
        })
    }
}
