//! What programs do to objects: read, change, allocate, give back.

use pebble_store_device::{BlockDevice, Frame};
use pebble_store_format::{
    index_of, object_frame, FrameKind, Node, NodePot, ObjectFrame, Tag, NODE_BYTES,
};
use pebble_store_object::{ObjectId, Version, COUNTER_LIMIT};

use crate::mutant::mutated;
use crate::{Due, Error, Stop, Store, Wait};

impl<D: BlockDevice> Store<D> {
    /// What a frame holds: its kind and version. The checksum is that of the contents saved last.
    pub fn tag(&mut self, frame: ObjectFrame) -> Result<Tag, Stop> {
        if let Some(index) = self.cache.find(frame) {
            return Ok(self.cache.slots[index as usize].tag);
        }
        self.ready()?;
        self.saved(frame).map(|(tag, _, _)| tag)
    }

    /// The contents of a frame. [`Wait::Object`] when it must be read first: ask again after a poll.
    pub fn read(&mut self, frame: ObjectFrame) -> Result<&Frame, Stop> {
        let index = self.present(frame)?;
        match &self.cache.slots[index as usize].contents {
            Some(contents) => Ok(contents),
            None => Err(Stop::Wait(Wait::Object)),
        }
    }

    /// The contents of a frame, to be changed. Log space is reserved, and the object is copied if the snapshot under way
    /// still needs it. The frame must have been allocated. The change is part of the epoch in which this is called: call
    /// again after a snapshot.
    pub fn write(&mut self, frame: ObjectFrame) -> Result<&mut Frame, Stop> {
        let index = self.present(frame)?;
        let tag = self.cache.slots[index as usize].tag;
        if tag.kind == FrameKind::Unused {
            let found = tag.kind;
            return Err(Stop::Error(Error::WrongKind { frame, found }));
        }
        self.change(index)?;
        let slot = &mut self.cache.slots[index as usize];
        slot.tag.null = false;
        match &mut slot.contents {
            Some(contents) => Ok(contents),
            None => Err(Stop::Wait(Wait::Object)),
        }
    }

    /// The contents of a page, to be replaced as a whole: zeros to begin with, each time that this is called. What was there is
    /// not read, so that this works where it is lost. Nodes that are lost can only be given back: their call counts went with
    /// them.
    pub fn overwrite(&mut self, frame: ObjectFrame) -> Result<&mut Frame, Stop> {
        let index = match self.cache.find(frame) {
            Some(_) => self.present(frame)?,
            None => self.blank(frame, |kind| {
                matches!(kind, FrameKind::DataPage | FrameKind::CapabilityPage)
            })?,
        };
        let found = self.cache.slots[index as usize].tag.kind;
        if matches!(found, FrameKind::Unused | FrameKind::Nodes) {
            return Err(Stop::Error(Error::WrongKind { frame, found }));
        }
        self.change(index)?;
        let slot = &mut self.cache.slots[index as usize];
        slot.clear();
        slot.tag.null = false;
        slot.contents.as_deref_mut().ok_or(Stop::Wait(Wait::Object))
    }

    /// A changed slot for a frame that is not in the cache, without reading what the frame holds: zeros or empty nodes.
    fn blank(&mut self, frame: ObjectFrame, fits: fn(FrameKind) -> bool) -> Result<u32, Stop> {
        self.ready()?;
        let (tag, _, _) = self.saved(frame)?;
        let found = tag.kind;
        if !fits(found) {
            return Err(Stop::Error(Error::WrongKind { frame, found }));
        }
        let tag = Tag { lost: false, ..tag };
        let index = self.cache.place(frame, tag).map_err(|wait| {
            self.due = self.due.or(Some(Due::Cache));
            Stop::Wait(wait)
        })?;
        self.cache.slots[index as usize].clear();
        if let Err(stop) = self.change(index) {
            // Nothing has changed, so nobody may find it.
            self.cache.remove(index);
            return Err(stop);
        }
        self.damaged.retain(|damaged| *damaged != frame);
        Ok(index)
    }

    /// One node of a pot.
    pub fn node(&mut self, id: ObjectId) -> Result<Node, Stop> {
        let frame = object_frame(id);
        let index = self.node_slot(id)?;
        let pot = self.cache.slots[index as usize].contents.as_ref();
        let contents = pot.ok_or(Stop::Wait(Wait::Object))?;
        Node::decode(id, contents, index_of(id) * NODE_BYTES)
            .map_err(|error| Error::Node { frame, error }.into())
    }

    /// Replaces one node of a pot. Whoever calls sees to it that version and call count never go back.
    pub fn set_node(&mut self, id: ObjectId, node: &Node) -> Result<(), Stop> {
        let index = self.node_slot(id)?;
        self.change(index)?;
        let slot = &mut self.cache.slots[index as usize];
        let contents = slot.contents.as_mut().ok_or(Stop::Wait(Wait::Object))?;
        node.encode(id, contents, index_of(id) * NODE_BYTES);
        slot.tag.null = false;
        slot.tag.version = slot.tag.version.max(node.version);
        Ok(())
    }

    fn node_slot(&mut self, id: ObjectId) -> Result<u32, Stop> {
        let frame = object_frame(id);
        let index = self.present(frame)?;
        let found = self.cache.slots[index as usize].tag.kind;
        if found != FrameKind::Nodes || index_of(id) >= pebble_store_format::NODES_PER_POT {
            return Err(Stop::Error(Error::WrongKind { frame, found }));
        }
        Ok(index)
    }

    /// Makes a frame hold objects of a kind, without contents: a page of zeros, or five empty nodes. The frame must hold
    /// nothing: never used, or given back.
    pub fn allocate(&mut self, frame: ObjectFrame, kind: FrameKind) -> Result<Version, Stop> {
        let index = self.present(frame)?;
        let tag = self.cache.slots[index as usize].tag;
        if tag.kind != FrameKind::Unused || kind == FrameKind::Unused {
            let found = tag.kind;
            return Err(Stop::Error(Error::WrongKind { frame, found }));
        }
        if tag.version.0 >= COUNTER_LIMIT {
            return Err(Stop::Error(Error::Retired { frame }));
        }
        self.change(index)?;
        self.make_null(index, Tag { kind, ..tag });
        Ok(tag.version)
    }

    /// Gives a frame back: its contents are gone, and its version grows by one, so that no capability to what it held is
    /// good any more.
    pub fn deallocate(&mut self, frame: ObjectFrame) -> Result<(), Stop> {
        let index = match self.present(frame) {
            // Nobody needs what is lost.
            Err(Stop::Error(Error::Lost { .. } | Error::Damaged { .. })) => {
                self.blank(frame, |kind| kind != FrameKind::Unused)?
            }
            found => found?,
        };
        let slot = &self.cache.slots[index as usize];
        let tag = slot.tag;
        if tag.kind == FrameKind::Unused {
            let found = tag.kind;
            return Err(Stop::Error(Error::WrongKind { frame, found }));
        }
        let greatest = match (&slot.contents, tag.kind) {
            (Some(contents), FrameKind::Nodes) => NodePot::decode(frame, contents)
                .map_err(|error| Error::Node { frame, error })?
                .version(),
            _ => tag.version,
        };
        let version = Version((greatest.max(tag.version).0 + 1).min(COUNTER_LIMIT));
        self.change(index)?;
        let tag = Tag {
            version,
            ..Tag::UNUSED
        };
        self.make_null(index, tag);
        Ok(())
    }

    fn make_null(&mut self, index: u32, tag: Tag) {
        let slot = &mut self.cache.slots[index as usize];
        slot.tag = Tag {
            null: true,
            checksum: 0,
            ..tag
        };
        slot.clear();
    }

    /// Keeps a frame in the cache until [`Store::unpin`] was called as often. It must be there.
    pub fn pin(&mut self, frame: ObjectFrame) -> Result<(), Stop> {
        let index = self.present(frame)?;
        self.cache.slots[index as usize].pins += 1;
        Ok(())
    }

    /// Lets go of a pin. A frame without pins is left alone.
    pub fn unpin(&mut self, frame: ObjectFrame) {
        if let Some(index) = self.cache.find(frame) {
            let slot = &mut self.cache.slots[index as usize];
            slot.pins = slot.pins.saturating_sub(1);
        }
    }

    /// Reserve, then copy if need be, then mark as changed: the one gate that every change goes through.
    fn change(&mut self, index: u32) -> Result<(), Stop> {
        if !self.cache.is_new_change(index) {
            return Ok(());
        }
        if self.failure.is_some() {
            return Err(Stop::Error(Error::Stopped));
        }
        let objects = self.cache.changed.len() + self.carried.len() + 1;
        if !self.log.can_hold(objects) && !mutated!(self, NoReserve) {
            self.due = Some(Due::Log);
            return Err(Stop::Wait(Wait::LogSpace));
        }
        match self.cache.begin_change(index) {
            Ok(copied) => {
                self.counters.copies += u64::from(copied);
                Ok(())
            }
            Err(wait) => Err(Stop::Wait(wait)),
        }
    }
}
