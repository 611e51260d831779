//! Invocation: the one way in which the holder of a capability gets anything done (EROS, section 3.3).

mod indirector;
mod memory;
mod operation;

use pebble_store_object::{Capability, Kind, ObjectId};

use crate::range::split;
use crate::{named_by, Error, World};

pub use indirector::{FORWARD_BLOCKED, FORWARD_TARGET};
pub use operation::{Operation, Reply};

impl World {
    /// Asks the object that a capability names. Forwarders are passed, and do not show.
    ///
    /// Entry and resume capabilities are answered by processes: [`World::communicate`].
    ///
    /// # Errors
    /// An [`Error`] that says why not; nothing has changed then.
    pub fn invoke(
        &mut self,
        capability: Capability,
        operation: Operation<'_>,
    ) -> Result<Reply, Error> {
        let target = match self.forward(capability) {
            // All kinds answer what they are, void ones too.
            Err(Error::Void) if operation == Operation::TypeOf => {
                return Ok(Reply::Kind(Kind::Void))
            }
            target => target?,
        };
        if operation == Operation::TypeOf {
            return Ok(Reply::Kind(target.kind));
        }
        match target.kind {
            Kind::Number => match operation {
                Operation::ReadNumber => Ok(Reply::Number(target.data)),
                _ => Err(Error::NotUnderstood(Kind::Number)),
            },
            Kind::Node => self.invoke_node(target, operation),
            Kind::DataPage => self.invoke_data_page(target, operation),
            Kind::CapabilityPage => self.invoke_slots(target, operation),
            Kind::Process => self.invoke_process(target, operation),
            Kind::Fault => match operation {
                Operation::Restart => self.restart(target),
                Operation::PassOn => self.pass_on(target),
                _ => Err(Error::NotUnderstood(Kind::Fault)),
            },
            Kind::Range => self.invoke_range(target, operation),
            Kind::Void => Err(Error::Void),
            kind @ (Kind::Entry | Kind::Resume | Kind::Indirector) => {
                Err(Error::NotUnderstood(kind))
            }
        }
    }

    fn invoke_range(
        &mut self,
        range: Capability,
        operation: Operation<'_>,
    ) -> Result<Reply, Error> {
        match operation {
            Operation::Create(offset, kind) => {
                self.create_in(range, offset, kind).map(Reply::Capability)
            }
            Operation::Destroy(offset) => self.destroy_in(range, offset).map(|()| Reply::Done),
            Operation::Split(offset, count) => split(range, offset, count).map(Reply::Capability),
            Operation::Identify(capability) => {
                let ObjectId(id) = self.current(capability).object;
                let offset = id.wrapping_sub(range.object.0);
                match named_by(self.current(capability).kind) {
                    None => Err(Error::Void),
                    Some(_) if offset < range.data => Ok(Reply::Number(offset)),
                    Some(_) => Err(Error::OutOfRange(offset)),
                }
            }
            _ => Err(Error::NotUnderstood(Kind::Range)),
        }
    }
}
