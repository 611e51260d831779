//! All objects, and which capabilities are good for them.

use alloc::collections::{BTreeMap, BTreeSet};

use pebble_store_object::{Capability, Kind, ObjectId, ObjectKind, Rights, COUNTER_LIMIT};

use crate::object::{memory_kind, named_by, Contents, Node, Object};
use crate::Error;

/// All objects. An identity that was never used is a free object with counters 0.
///
/// The functions here are what the system itself may do; what the holder of a capability may do is
/// [`World::invoke`], [`World::communicate`] and [`World::touch`].
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct World {
    objects: BTreeMap<ObjectId, Object>,
    changed: BTreeSet<ObjectId>,
}

impl World {
    /// A world in which nothing exists.
    pub fn new() -> Self {
        Self::default()
    }

    /// Every object that was ever used, free ones too.
    pub fn objects(&self) -> &BTreeMap<ObjectId, Object> {
        &self.objects
    }

    /// The object with this identity, if it was ever used.
    pub fn object(&self, id: ObjectId) -> Option<&Object> {
        self.objects.get(&id)
    }

    /// Sets an object to what it is said to be, whatever was there: how a world is loaded or a test prepared.
    pub fn put(&mut self, id: ObjectId, object: Object) {
        self.changed.insert(id);
        self.objects.insert(id, object);
    }

    /// The identities of what has changed since this was last asked.
    pub fn take_changed(&mut self) -> BTreeSet<ObjectId> {
        core::mem::take(&mut self.changed)
    }

    /// Makes a free object exist, empty.
    ///
    /// # Errors
    /// [`Error::Exists`], and [`Error::Retired`] for an object that is never used again.
    pub fn create(&mut self, id: ObjectId, kind: ObjectKind) -> Result<Capability, Error> {
        let object = self.objects.entry(id).or_default();
        if object.contents.is_some() {
            return Err(Error::Exists(id));
        }
        if object.is_retired() {
            return Err(Error::Retired(id));
        }
        object.contents = Some(Contents::empty(kind));
        self.changed.insert(id);
        Ok(Capability {
            kind: memory_kind(kind),
            rights: Rights::FULL,
            object: id,
            version: object.version,
            data: 0,
        })
    }

    /// Ends an object: its contents are gone, and every capability to it is void wherever it is, because the version
    /// has moved on (EROS, section 2.3).
    ///
    /// # Errors
    /// [`Error::Void`] if there is no such object.
    pub fn destroy(&mut self, id: ObjectId) -> Result<(), Error> {
        let object = self.objects.get_mut(&id).ok_or(Error::Void)?;
        if object.contents.take().is_none() {
            return Err(Error::Void);
        }
        // An object that exists is below the limit: creating it was refused otherwise.
        object.version.0 = (object.version.0 + 1).min(COUNTER_LIMIT);
        self.changed.insert(id);
        Ok(())
    }

    /// Whether the capability conveys anything now.
    pub fn is_live(&self, capability: Capability) -> bool {
        let Some(kind) = named_by(capability.kind) else {
            return capability.kind != Kind::Void;
        };
        let Some(object) = self.objects.get(&capability.object) else {
            return false;
        };
        let Some(contents) = &object.contents else {
            return false;
        };
        let answered = matches!(capability.kind, Kind::Resume | Kind::Fault)
            && object.calls.0 != capability.data;
        object.version == capability.version && contents.kind() == kind && !answered
    }

    /// The capability as it reads now: void if it conveys nothing any more.
    pub fn current(&self, capability: Capability) -> Capability {
        if self.is_live(capability) {
            capability
        } else {
            Capability::VOID
        }
    }

    /// The contents of the object that a capability names.
    ///
    /// # Errors
    /// [`Error::Void`] if the capability names no object or conveys nothing.
    pub(crate) fn contents(&self, capability: Capability) -> Result<&Contents, Error> {
        if !self.is_live(capability) {
            return Err(Error::Void);
        }
        let object = self.objects.get(&capability.object).ok_or(Error::Void)?;
        object.contents.as_ref().ok_or(Error::Void)
    }

    /// As [`World::contents`], to change them.
    pub(crate) fn contents_mut(&mut self, capability: Capability) -> Result<&mut Contents, Error> {
        if !self.is_live(capability) {
            return Err(Error::Void);
        }
        let object = self
            .objects
            .get_mut(&capability.object)
            .ok_or(Error::Void)?;
        self.changed.insert(capability.object);
        object.contents.as_mut().ok_or(Error::Void)
    }

    /// The node that a capability of any kind over a node names.
    pub(crate) fn node(&self, capability: Capability) -> Result<&Node, Error> {
        match self.contents(capability)? {
            Contents::Node(node) => Ok(node),
            _ => Err(Error::Void),
        }
    }

    /// As [`World::node`], to change it.
    pub(crate) fn node_mut(&mut self, capability: Capability) -> Result<&mut Node, Error> {
        match self.contents_mut(capability)? {
            Contents::Node(node) => Ok(node),
            _ => Err(Error::Void),
        }
    }

    /// How often the calls through this object were answered.
    pub(crate) fn calls(&self, id: ObjectId) -> u64 {
        self.objects.get(&id).map_or(0, |object| object.calls.0)
    }

    /// Counts one answered call: every copy of its resume capability is void from now on.
    pub(crate) fn count_call(&mut self, id: ObjectId) {
        if let Some(object) = self.objects.get_mut(&id) {
            object.calls.0 = (object.calls.0 + 1).min(COUNTER_LIMIT);
            self.changed.insert(id);
        }
    }
}
