//! Ranges: the power to make and destroy objects, which only the space bank holds.

use pebble_store_object::{Capability, Kind, ObjectId, ObjectKind};

use crate::{Error, World};

impl World {
    /// Makes the object at this place of a range exist, empty.
    ///
    /// # Errors
    /// [`Error::NotUnderstood`] for a capability that is no range, [`Error::OutOfRange`], and those of
    /// [`World::create`].
    pub fn create_in(
        &mut self,
        range: Capability,
        offset: u64,
        kind: ObjectKind,
    ) -> Result<Capability, Error> {
        let id = place(range, offset)?;
        self.create(id, kind)
    }

    /// Ends the object at this place of a range.
    ///
    /// # Errors
    /// As [`World::create_in`], and [`Error::Void`] if it does not exist.
    pub fn destroy_in(&mut self, range: Capability, offset: u64) -> Result<(), Error> {
        let id = place(range, offset)?;
        self.destroy(id)
    }
}

/// Part of a range.
pub(crate) fn split(range: Capability, offset: u64, count: u64) -> Result<Capability, Error> {
    if count == 0 || offset.checked_add(count).is_none_or(|end| end > range.data) {
        return Err(Error::OutOfRange(offset));
    }
    Ok(Capability {
        object: ObjectId(range.object.0 + offset),
        data: count,
        ..range
    })
}

fn place(range: Capability, offset: u64) -> Result<ObjectId, Error> {
    match range.kind {
        Kind::Range if offset < range.data => Ok(ObjectId(range.object.0 + offset)),
        Kind::Range => Err(Error::OutOfRange(offset)),
        Kind::Void => Err(Error::Void),
        other => Err(Error::NotUnderstood(other)),
    }
}
