//! The consistency check: what must hold of the objects in memory before a checkpoint is committed (EROS, section 3.5.1).
//!
//! A checkpoint that was committed with an error in it stays for ever. So everything that is about to be saved is looked
//! at first, and a finding stops the store without committing: the system starts again from the checkpoint before. The
//! frozen objects cannot change any more, so that they are looked at while the system runs on; the same look goes round
//! the cache all the time ([`Store::check`]).

use core::fmt;

use pebble_store_device::BlockDevice;
use pebble_store_format::{checksum, decode_capability_page, FrameKind, NodePot, ObjectFrame};

use crate::cache::NO_FRAME;
use crate::checkpoint::Checkpoint;
use crate::index::Source;
use crate::log::Log;
use crate::Store;

/// What the check found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Finding {
    /// The cache has the frame in one slot and finds it in another, or not at all (a).
    Misplaced {
        /// Which.
        frame: ObjectFrame,
    },
    /// A frame that no range has is in the cache, the index or a restart list (a).
    NoSuchFrame {
        /// Which.
        frame: ObjectFrame,
    },
    /// A slot without contents is not being read (a).
    NoContents {
        /// Which.
        frame: ObjectFrame,
    },
    /// An object that nobody may have changed has changed (b).
    CleanChanged {
        /// Which.
        frame: ObjectFrame,
        /// The checksum of what was saved.
        saved: u64,
        /// The checksum of what is there.
        found: u64,
    },
    /// An unchanged object's tag is not that of what was saved (b).
    TagChanged {
        /// Which.
        frame: ObjectFrame,
    },
    /// A changed object is not in the list of those to be saved (c).
    NotListed {
        /// Which.
        frame: ObjectFrame,
    },
    /// An object is in the list of those to be saved, and there is nothing of it to save (c).
    NotFrozen {
        /// Which.
        frame: ObjectFrame,
    },
    /// A node or a page of capabilities holds what is none (d).
    BadCapability {
        /// Which.
        frame: ObjectFrame,
        /// The byte.
        offset: usize,
    },
    /// A frame without contents has some, or a frame without a kind holds objects (d).
    NotNull {
        /// Which.
        frame: ObjectFrame,
    },
    /// A version is lower than the one saved before (d).
    VersionWentBack {
        /// Which.
        frame: ObjectFrame,
    },
    /// A frame holds another kind of objects than before, and was not given back in between (d).
    KindChanged {
        /// Which.
        frame: ObjectFrame,
    },
    /// A node is newer than its pot's tag says (d).
    NodeNewerThanTag {
        /// Which.
        frame: ObjectFrame,
    },
    /// An object to be saved has changed since it was looked at.
    FrozenChanged {
        /// Which.
        frame: ObjectFrame,
    },
    /// The index has an object outside the part of the log that is in use.
    OutsideLog {
        /// Which.
        frame: ObjectFrame,
    },
    /// A process of the restart list is not in a node.
    RestartNotNode {
        /// The frame of its root.
        frame: ObjectFrame,
    },
    /// The log has less room than what was reserved in it.
    Overcommitted {
        /// Frames needed.
        needed: u64,
        /// Frames there are.
        room: u64,
    },
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let object = |out: &mut fmt::Formatter<'_>, frame: &ObjectFrame, text: &str| {
            write!(out, "object frame {}: {text}", frame.0)
        };
        match self {
            Self::Misplaced { frame } => object(out, frame, "the cache does not find it where it is"),
            Self::NoSuchFrame { frame } => object(out, frame, "no range has it"),
            Self::NoContents { frame } => object(out, frame, "its slot has no contents"),
            Self::CleanChanged { frame, saved, found } => write!(
                out,
                "object frame {}: changed without leave (checksum {saved:#x} when saved, {found:#x} now)",
                frame.0
            ),
            Self::TagChanged { frame } => object(out, frame, "its tag changed without leave"),
            Self::NotListed { frame } => object(out, frame, "changed, and not listed for saving"),
            Self::NotFrozen { frame } => object(out, frame, "listed for saving, and not there"),
            Self::BadCapability { frame, offset } => {
                write!(out, "object frame {}: no capability at byte {offset}", frame.0)
            }
            Self::NotNull { frame } => object(out, frame, "should be without contents"),
            Self::VersionWentBack { frame } => object(out, frame, "its version went back"),
            Self::KindChanged { frame } => object(out, frame, "holds another kind of objects than before"),
            Self::NodeNewerThanTag { frame } => object(out, frame, "a node is newer than its tag"),
            Self::FrozenChanged { frame } => object(out, frame, "changed after it was looked at"),
            Self::OutsideLog { frame } => object(out, frame, "indexed outside the log in use"),
            Self::RestartNotNode { frame } => object(out, frame, "to be started, and not a node"),
            Self::Overcommitted { needed, room } => {
                write!(out, "the log has room for {room} frames, and {needed} are promised")
            }
        }
    }
}

impl<D: BlockDevice> Store<D> {
    /// Looks at the next `slots` slots of the cache: the same look as before a commit, for a task with nothing else to do. The
    /// caller decides what a finding means; the next checkpoint will not be committed with it.
    pub fn check(&mut self, slots: usize) -> Option<Finding> {
        for _ in 0..slots.min(self.cache.slots.len()) {
            self.check_hand = (self.check_hand + 1) % self.cache.slots.len();
            let finding = self.look_at_slot(self.check_hand as u32, self.checkpoint.as_ref());
            if finding.is_some() {
                return finding;
            }
        }
        None
    }

    /// A slot of the cache, whatever its state.
    pub(crate) fn look_at_slot(
        &self,
        index: u32,
        checkpoint: Option<&Checkpoint>,
    ) -> Option<Finding> {
        let slot = &self.cache.slots[index as usize];
        let frame = slot.frame;
        if frame == NO_FRAME {
            return None;
        }
        if self.volume.geometry.home(frame).is_none() {
            return Some(Finding::NoSuchFrame { frame });
        }
        if !self.cache.map_agrees(index) {
            return Some(Finding::Misplaced { frame });
        }
        let Some(contents) = &slot.contents else {
            return slot
                .loading
                .is_none()
                .then_some(Finding::NoContents { frame });
        };
        if slot.loading.is_some() {
            return None;
        }
        if slot.changed != 0 {
            return self.check_listed(index, slot.changed, checkpoint);
        }
        let indexed = self.index.get(frame).map_or(slot.tag, |entry| entry.tag);
        if slot.tag != slot.saved || slot.tag != indexed {
            return Some(Finding::TagChanged { frame });
        }
        if slot.tag.null {
            return check_null(frame, slot.tag, contents);
        }
        let found = checksum::of_object(frame, contents);
        let saved = slot.tag.checksum;
        (found != saved).then_some(Finding::CleanChanged {
            frame,
            saved,
            found,
        })
    }

    /// A changed object must be in the list of its epoch.
    fn check_listed(
        &self,
        index: u32,
        epoch: u64,
        checkpoint: Option<&Checkpoint>,
    ) -> Option<Finding> {
        let frame = self.cache.slots[index as usize].frame;
        let listed = if epoch == self.cache.epoch {
            self.cache.is_listed(index, &self.cache.changed)
        } else {
            match checkpoint {
                Some(checkpoint) if checkpoint.generation == epoch => {
                    self.cache.is_listed(index, &checkpoint.frozen)
                }
                _ => false,
            }
        };
        (!listed).then_some(Finding::NotListed { frame })
    }

    /// An object of a snapshot.
    pub(crate) fn check_frozen(&self, index: u32, generation: u64) -> Option<Finding> {
        let frame = self.cache.slots[index as usize].frame;
        if self.volume.geometry.home(frame).is_none() {
            return Some(Finding::NoSuchFrame { frame });
        }
        if !self.cache.map_agrees(index) {
            return Some(Finding::Misplaced { frame });
        }
        let Some((contents, tag)) = self.cache.frozen(index, generation) else {
            return Some(Finding::NotFrozen { frame });
        };
        let slot = &self.cache.slots[index as usize];
        let indexed = self.index.get(frame).map(|entry| entry.tag);
        for saved in [Some(slot.saved), indexed].into_iter().flatten() {
            if tag.version < saved.version {
                return Some(Finding::VersionWentBack { frame });
            }
            // A frame that holds something else was given back in between.
            let same = tag.kind == saved.kind || saved.kind == FrameKind::Unused;
            if tag.version == saved.version && !same {
                return Some(Finding::KindChanged { frame });
            }
        }
        if tag.null {
            return check_null(frame, tag, contents);
        }
        match tag.kind {
            FrameKind::Unused => Some(Finding::NotNull { frame }),
            FrameKind::DataPage => None,
            FrameKind::CapabilityPage => decode_capability_page(contents).err().map(|error| {
                let offset = error.offset;
                Finding::BadCapability { frame, offset }
            }),
            FrameKind::Nodes => match NodePot::decode(frame, contents) {
                Ok(pot) if pot.version() > tag.version => Some(Finding::NodeNewerThanTag { frame }),
                Ok(_) => None,
                Err(error) => {
                    let offset = error.offset;
                    Some(Finding::BadCapability { frame, offset })
                }
            },
        }
    }

    /// What concerns no single slot: index, restart list, reservation.
    pub(crate) fn look_at_whole(&self, checkpoint: &Checkpoint) -> Option<Finding> {
        // What was reserved, and what is really needed: the restart list is mostly shorter than it may be, and may have been
        // longer when the log was filled.
        let objects = checkpoint.frozen.len() + checkpoint.journaled.len();
        let restart_frames = Log::frames_for_restart(checkpoint.restart.len());
        let needed = Log {
            restart_frames,
            ..self.log
        }
        .need(objects);
        let held = self.log.head - self.log.tail;
        let room = self.log.frames.saturating_sub(held);
        if needed > room || self.log.frozen != self.log.need(objects) {
            return Some(Finding::Overcommitted { needed, room });
        }
        for entry in &checkpoint.restart {
            let frame = pebble_store_format::object_frame(entry.process);
            if self.volume.geometry.home(frame).is_none() {
                return Some(Finding::NoSuchFrame { frame });
            }
            let slot = self
                .cache
                .find(frame)
                .map(|slot| &self.cache.slots[slot as usize]);
            let indexed = self.index.get(frame).map(|entry| entry.tag);
            // As it was at the snapshot.
            let known = match slot {
                Some(slot) => match &slot.copy {
                    Some((_, tag)) => Some(*tag),
                    None if slot.changed <= checkpoint.generation => Some(slot.tag),
                    None => indexed,
                },
                None => indexed,
            };
            if known.is_some_and(|tag| tag.kind != FrameKind::Nodes) {
                return Some(Finding::RestartNotNode { frame });
            }
        }
        let span = self.log.tail..self.log.head;
        let outside = self.index.frames().find(|(_, entry)| match entry.source {
            Source::Log(log) => !span.contains(&log),
            _ => false,
        });
        outside.map(|(frame, _)| Finding::OutsideLog { frame })
    }
}

fn check_null(
    frame: ObjectFrame,
    tag: pebble_store_format::Tag,
    contents: &pebble_store_device::Frame,
) -> Option<Finding> {
    let empty = match tag.kind {
        FrameKind::Nodes => {
            NodePot::decode(frame, contents).is_ok_and(|pot| pot == NodePot::empty(tag.version))
        }
        _ => contents.iter().all(|byte| *byte == 0),
    };
    (!empty).then_some(Finding::NotNull { frame })
}
