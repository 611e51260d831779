//! The end of a bank: with all that was bought from it, or all of that handed to the bank above.

use alloc::vec;
use alloc::vec::Vec;

use pebble_store_object::{Capability, ObjectId};

use super::{allowed, Bank, Banks, NO_DESTROY};
use crate::{Error, World};

/// What becomes of the objects of a bank that is destroyed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Destroy {
    /// They end, with the banks below and their objects. Nothing that was made of them is alive afterwards.
    Reclaim,
    /// They, and the banks below, go to the bank above. Every capability to them stays good.
    Return,
}

impl Banks {
    /// Destroys a bank.
    ///
    /// # Errors
    /// Those of [`Banks::verify`]; [`Error::BankRestricted`] if the capability does not allow it, and for the prime bank,
    /// which nobody can destroy.
    pub fn destroy(
        &mut self,
        world: &mut World,
        bank: Capability,
        how: Destroy,
    ) -> Result<(), Error> {
        let id = self.verify(world, bank)?;
        allowed(bank, NO_DESTROY)?;
        let parent = self.banks.get(&id).and_then(|bank| bank.parent);
        let parent = parent.ok_or(Error::BankRestricted)?;
        match how {
            Destroy::Reclaim => self.reclaim(world, id, parent)?,
            Destroy::Return => self.hand_up(id, parent),
        }
        // The bank's own node.
        self.end(world, id)?;
        if let Some(above) = self.banks.get_mut(&parent) {
            above.own.remove(&id);
            above.children.remove(&id);
        }
        self.change_totals(Some(parent), 0, 1);
        Ok(())
    }

    fn reclaim(&mut self, world: &mut World, id: ObjectId, parent: ObjectId) -> Result<(), Error> {
        let total = self.banks.get(&id).map_or(0, |bank| bank.total);
        for dead in self.below(id) {
            for object in dead.own {
                self.end(world, object)?;
            }
        }
        self.change_totals(Some(parent), 0, total);
        Ok(())
    }

    fn hand_up(&mut self, id: ObjectId, parent: ObjectId) {
        let Some(gone) = self.banks.remove(&id) else {
            return;
        };
        for object in &gone.own {
            self.owner.insert(*object, parent);
        }
        for child in &gone.children {
            if let Some(child) = self.banks.get_mut(child) {
                child.parent = Some(parent);
            }
        }
        if let Some(above) = self.banks.get_mut(&parent) {
            above.own.extend(gone.own);
            above.children.extend(gone.children);
        }
    }

    /// Takes a bank and all below it out of the books.
    fn below(&mut self, id: ObjectId) -> Vec<Bank> {
        let mut open = vec![id];
        let mut taken = Vec::new();
        while let Some(bank) = open.pop().and_then(|id| self.banks.remove(&id)) {
            open.extend(&bank.children);
            taken.push(bank);
        }
        taken
    }
}
