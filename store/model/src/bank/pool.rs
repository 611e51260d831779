//! A range of objects that can be sold.

use alloc::collections::BTreeSet;

use pebble_store_object::{Capability, Kind, ObjectId, ObjectKind, Rights};

use crate::{Error, World};

/// The objects of one range, and which of them are free.
#[derive(Clone, Debug)]
pub(crate) struct Pool {
    range: Capability,
    free: BTreeSet<u64>,
}

impl Pool {
    /// All of the range that is free in this world. Retired objects are not.
    pub(crate) fn new(world: &World, first: ObjectId, count: u64) -> Self {
        let range = Capability {
            kind: Kind::Range,
            rights: Rights::FULL,
            object: first,
            data: count,
            ..Capability::VOID
        };
        let free = (0..count)
            .filter(|offset| {
                let object = world.object(ObjectId(first.0 + offset));
                object.is_none_or(|object| object.contents.is_none() && !object.is_retired())
            })
            .collect();
        Self { range, free }
    }

    /// How many objects are free.
    pub(crate) fn free(&self) -> u64 {
        self.free.len() as u64
    }

    /// Makes the first free object exist.
    pub(crate) fn take(
        &mut self,
        world: &mut World,
        kind: ObjectKind,
    ) -> Result<Capability, Error> {
        let offset = *self.free.first().ok_or(Error::Exhausted)?;
        let made = world.create_in(self.range, offset, kind)?;
        self.free.remove(&offset);
        Ok(made)
    }

    /// Whether this object is one of the range.
    pub(crate) fn has(&self, id: ObjectId) -> bool {
        id.0.checked_sub(self.range.object.0)
            .is_some_and(|offset| offset < self.range.data)
    }

    /// Ends an object. It can be sold again, unless its version has reached the limit.
    pub(crate) fn give_back(&mut self, world: &mut World, id: ObjectId) -> Result<(), Error> {
        let offset = id.0.wrapping_sub(self.range.object.0);
        world.destroy_in(self.range, offset)?;
        if world.object(id).is_some_and(|object| !object.is_retired()) {
            self.free.insert(offset);
        }
        Ok(())
    }
}
