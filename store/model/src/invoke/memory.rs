//! Nodes and pages: what their holders can do, and what restrictions take away.

use pebble_store_object::{Capability, Kind, Rights};

use super::{Operation, Reply};
use crate::rights::fetched;
use crate::space::HEIGHTS;
use crate::{diminish, restrict, Contents, Error, World};

impl World {
    pub(super) fn invoke_node(
        &mut self,
        node: Capability,
        operation: Operation<'_>,
    ) -> Result<Reply, Error> {
        match operation {
            Operation::Height => Ok(Reply::Number(u64::from(self.node(node)?.height))),
            Operation::SetHeight(height) => {
                refuse(node, Rights::READ_ONLY.and(Rights::OPAQUE))?;
                if height != 0 && !HEIGHTS.contains(&height) {
                    return Err(Error::NoHeight(height));
                }
                self.node_mut(node)?.height = height;
                Ok(Reply::Done)
            }
            Operation::MakeProcess => face(node, Kind::Process),
            Operation::MakeIndirector => face(node, Kind::Indirector),
            other => self.invoke_slots(node, other),
        }
    }

    /// What nodes and capability pages have in common.
    pub(super) fn invoke_slots(
        &mut self,
        holder: Capability,
        operation: Operation<'_>,
    ) -> Result<Reply, Error> {
        match operation {
            Operation::Fetch(slot) => {
                refuse(holder, Rights::OPAQUE)?;
                let slots = self.contents(holder)?.slots();
                let stored = *slots.get(slot).ok_or(no_slot(slot, slots))?;
                Ok(Reply::Capability(fetched(holder, self.current(stored))))
            }
            Operation::Store(slot, capability) => {
                self.swap(holder, slot, capability).map(|_| Reply::Done)
            }
            Operation::Swap(slot, capability) => {
                self.swap(holder, slot, capability).map(Reply::Capability)
            }
            Operation::Clear => {
                refuse(holder, Rights::READ_ONLY.and(Rights::OPAQUE))?;
                self.contents_mut(holder)?
                    .slots_mut()
                    .fill(Capability::VOID);
                Ok(Reply::Done)
            }
            Operation::Reduce(rights) => Ok(Reply::Capability(restrict(holder, rights))),
            _ => Err(Error::NotUnderstood(holder.kind)),
        }
    }

    fn swap(
        &mut self,
        holder: Capability,
        slot: usize,
        capability: Capability,
    ) -> Result<Capability, Error> {
        refuse(holder, Rights::READ_ONLY.and(Rights::OPAQUE))?;
        let mut stored = self.current(capability);
        if holder.rights.has(Rights::WEAK) {
            stored = diminish(stored);
        }
        let slots = self.contents(holder)?.slots();
        let old = *slots.get(slot).ok_or(no_slot(slot, slots))?;
        self.contents_mut(holder)?.slots_mut()[slot] = stored;
        Ok(fetched(holder, self.current(old)))
    }

    pub(super) fn invoke_data_page(
        &mut self,
        page: Capability,
        operation: Operation<'_>,
    ) -> Result<Reply, Error> {
        match operation {
            Operation::ReadBytes(offset, length) => {
                let Contents::DataPage(bytes) = self.contents(page)? else {
                    return Err(Error::Void);
                };
                let end = offset.saturating_add(length);
                let bytes = bytes
                    .get(offset..end)
                    .ok_or(Error::OutOfPage { offset, length })?;
                Ok(Reply::Bytes(bytes.to_vec()))
            }
            Operation::WriteBytes(offset, new) => {
                refuse(page, Rights::READ_ONLY)?;
                let length = new.len();
                let Contents::DataPage(bytes) = self.contents_mut(page)? else {
                    return Err(Error::Void);
                };
                let end = offset.saturating_add(length);
                let bytes = bytes
                    .get_mut(offset..end)
                    .ok_or(Error::OutOfPage { offset, length })?;
                bytes.copy_from_slice(new);
                Ok(Reply::Done)
            }
            Operation::Clear => {
                refuse(page, Rights::READ_ONLY)?;
                if let Contents::DataPage(bytes) = self.contents_mut(page)? {
                    bytes.fill(0);
                }
                Ok(Reply::Done)
            }
            Operation::Reduce(rights) => Ok(Reply::Capability(restrict(page, rights))),
            _ => Err(Error::NotUnderstood(Kind::DataPage)),
        }
    }
}

/// Refuses what any of these restrictions forbids.
fn refuse(capability: Capability, forbidden: Rights) -> Result<(), Error> {
    if capability.rights.bits() & forbidden.bits() == 0 {
        Ok(())
    } else {
        Err(Error::Restricted(capability.rights))
    }
}

/// Another capability to the same node; only for who may do everything with it.
fn face(node: Capability, kind: Kind) -> Result<Reply, Error> {
    if node.rights != Rights::FULL {
        return Err(Error::Restricted(node.rights));
    }
    Ok(Reply::Capability(Capability { kind, ..node }))
}

fn no_slot(slot: usize, slots: &[Capability]) -> Error {
    Error::NoSlot {
        slot,
        slots: slots.len(),
    }
}
