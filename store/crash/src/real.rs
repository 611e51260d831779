//! The real store, as the tests speak to it.

use std::collections::BTreeSet;
use std::rc::Rc;

use pebble_store::{Corruption, Error, Parameters, Recovered, Status, Stop, Store, Verify};
use pebble_store_format::{
    encode_capability_page, index_of, node_id, object_frame, page_id, CapabilityPage, FrameKind,
    Node as StoredNode, ObjectFrame, RestartEntry, Tag, NODES_PER_POT, PAGE_CAPABILITIES,
};
use pebble_store_object::{CallCount, Capability, ObjectId, ObjectKind, Version};
use pebble_store_simulation::{Disk, Image, Machine};

use crate::object::{Contents, Node, Object, Restart, World};
use crate::subject::{Action, Complaint, Coverage, Outcome, Progress, Subject};
use crate::volume;

/// Polls after which something that only needs a few reads does not come any more.
const PATIENCE: u32 = 1_000_000;

/// Sizes of a store, and how it is run.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Frames of the log, without those of headers.
    pub log: u64,
    /// Frames of the journal; 0 for none.
    pub journal: u64,
    /// Pages that programs use.
    pub pages: u64,
    /// Pots of nodes that programs use.
    pub pots: u64,
    /// Disks, all alike.
    pub disks: usize,
    /// How it is run.
    pub parameters: Parameters,
}

/// A store that runs.
pub struct Real {
    store: Store<Disk>,
    recovered: Recovered,
    progress: Progress,
    /// The last record that was handed to the journal.
    record: Option<u64>,
    /// Objects that had been saved in this life before the newest snapshot.
    saved_at_snapshot: u64,
    /// Frames of the started generation that the store has looked at and called good.
    called_good: BTreeSet<ObjectFrame>,
}

/// Turns the store's answer into what the tests want to know.
fn outcome(stop: Stop) -> Result<Outcome, String> {
    match stop {
        Stop::Wait(_) => Ok(Outcome::Later),
        Stop::Error(error) => Err(error.to_string()),
    }
}

impl Subject for Real {
    type Shape = Shape;

    fn world(shape: &Shape) -> World {
        let free = |kind| Object {
            kind,
            version: Version(0),
            call_count: CallCount(0),
            contents: Contents::Nothing,
        };
        let mut world = World::default();
        for page in 1..=shape.pages {
            let id = page_id(ObjectFrame(page));
            world.objects.insert(id, free(ObjectKind::DataPage));
        }
        for pot in 0..shape.pots {
            for node in 0..NODES_PER_POT {
                let id = node_id(volume::pot(shape.pages, pot), node);
                world.objects.insert(id, free(ObjectKind::Node));
            }
        }
        world
    }

    fn format(shape: &Shape, world: &World) -> (Vec<Image>, u64) {
        volume::format(shape, world)
    }

    fn recover(shape: &Shape, machine: &Machine, missing: Option<usize>) -> Result<Self, String> {
        let present = (0..shape.disks).filter(|disk| Some(*disk) != missing);
        let disks = present.map(|disk| machine.disk(disk)).collect();
        let mut store = Store::open(disks, shape.parameters.clone());
        for _ in 0..PATIENCE {
            if store.poll() != Status::Opening {
                break;
            }
        }
        if shape.parameters.verify == Verify::Behind {
            for _ in 0..PATIENCE {
                if store.verified().is_some() || store.poll() == Status::Stopped {
                    break;
                }
            }
        }
        let called_good = called_good(&store);
        let Some(recovered) = store.recovered().cloned() else {
            return Err(match store.failure() {
                Some(error) => error.to_string(),
                None => "opening never ends".into(),
            });
        };
        let progress = Progress {
            snapshots: 0,
            newest: recovered.generation,
            committed: recovered.generation,
            journaled: true,
            fallback: match shape.parameters.count_boots {
                true => older(&store, recovered.generation),
                false => None,
            },
            redundant: store.redundant(),
        };
        Ok(Self {
            store,
            recovered,
            progress,
            record: None,
            saved_at_snapshot: 0,
            called_good,
        })
    }

    fn perform(&mut self, action: &Action) -> Result<Outcome, String> {
        let done = match action {
            Action::Put(objects) => self.put(objects),
            Action::Checkpoint(list) => self.snapshot(list),
            Action::Journal(pages) => return self.journal(pages),
            Action::Touch(id) => self.store.read(object_frame(*id)).map(|_| ()),
        };
        self.look();
        match done {
            Ok(()) => Ok(Outcome::Done),
            Err(stop) => outcome(stop),
        }
    }

    fn poll(&mut self) -> Result<(), String> {
        let status = self.store.poll();
        self.look();
        match (status, self.store.failure()) {
            (Status::Stopped, Some(error)) => Err(error.to_string()),
            _ => Ok(()),
        }
    }

    fn due(&self) -> bool {
        self.store.checkpoint_due().is_some()
    }

    fn idle(&self) -> bool {
        !self.store.busy()
    }

    fn progress(&self) -> Progress {
        self.progress
    }

    fn compare(&mut self, id: ObjectId, expected: &Object) -> Result<(), Complaint> {
        for _ in 0..PATIENCE {
            let compared = match expected.kind {
                ObjectKind::Node => self.compare_node(id, expected),
                _ => self.compare_page(id, expected),
            };
            match compared {
                Ok(result) => return result.map_err(Complaint::Wrong),
                Err(Stop::Wait(_)) => {
                    self.store.poll();
                }
                Err(Stop::Error(error)) if self.called_good.contains(&object_frame(id)) => {
                    return Err(Complaint::Contradiction(format!(
                        "was looked at and called good; {error}"
                    )))
                }
                Err(Stop::Error(error)) => return Err(Complaint::Unreadable(error.to_string())),
            }
            if let Some(error) = self.store.failure() {
                return Err(Complaint::Unreadable(error.to_string()));
            }
        }
        Err(Complaint::Wrong("is never read".into()))
    }

    fn restart_list(&self) -> Vec<Restart> {
        let entries = self.recovered.restart.iter();
        let list = entries.map(|entry| Restart {
            thread: entry.process,
            version: entry.version,
            call_count: entry.call_count,
            hazard: entry.hazard,
            priority: entry.priority,
        });
        list.collect()
    }

    fn damage(&mut self, id: ObjectId, byte: usize, saved: bool) -> bool {
        // What is being saved was looked at as soon as any of it is on its way.
        let looked = !self.store.checkpointing()
            || self.store.counters().log_objects > self.saved_at_snapshot;
        let damage = Corruption::Byte { at: byte, flip: 1 };
        saved && looked && self.store.corrupt(object_frame(id), damage)
    }

    fn coverage(&self) -> Coverage {
        let of = self.store.counters();
        Coverage {
            wraps: of.log_wraps,
            forced: of.forced_checkpoints,
            migrations: of.migrations,
            replays: of.journal_replays,
            resyncs: of.resyncs,
            fallbacks: of.fall_backs,
            verified: of.verified_objects + of.verified_bad,
        }
    }
}

impl Real {
    /// Brings the progress up to date.
    fn look(&mut self) {
        // What was started counts until something of this life is committed: after a fall-back the newest header is of a
        // later generation than what runs.
        if self.store.committed() != self.recovered.generation {
            self.progress.committed = self.store.committed();
        }
        self.progress.journaled = self
            .record
            .is_none_or(|record| self.store.journaled() > record);
        self.progress.redundant = self.store.redundant();
    }

    fn snapshot(&mut self, list: &[Restart]) -> Result<(), Stop> {
        let entry = |restart: &Restart| RestartEntry {
            process: restart.thread,
            version: restart.version,
            call_count: restart.call_count,
            hazard: restart.hazard,
            priority: restart.priority,
        };
        let list = list.iter().map(entry).collect();
        self.progress.newest = self.store.snapshot(list, 0, 0)?;
        self.progress.snapshots += 1;
        self.saved_at_snapshot = self.store.counters().log_objects;
        Ok(())
    }

    fn journal(&mut self, pages: &[ObjectId]) -> Result<Outcome, String> {
        let frames: Vec<_> = pages.iter().map(|id| object_frame(*id)).collect();
        if frames.is_empty() {
            return Ok(Outcome::Refused);
        }
        let outcome = match self.store.journal(&frames) {
            Ok(record) => {
                self.record = Some(record);
                Ok(Outcome::Done)
            }
            Err(Stop::Error(Error::NoJournal | Error::JournalRecord { .. })) => {
                Ok(Outcome::Refused)
            }
            Err(stop) => outcome(stop),
        };
        self.look();
        outcome
    }

    /// Changes objects together: first each is made ready to be changed, which may have to wait and changes nothing; then
    /// one frame at most is taken into use, which may have to wait as well; then nothing can stop it any more.
    fn put(&mut self, objects: &[(ObjectId, Object)]) -> Result<(), Stop> {
        let mut fresh: Vec<(ObjectFrame, FrameKind)> = Vec::new();
        for (id, object) in objects {
            let frame = object_frame(*id);
            let tag = self.store.tag(frame)?;
            match (tag.kind, object.kind) {
                (FrameKind::Unused, _) => fresh.extend(
                    Some((frame, wanted(object))).filter(|(_, kind)| *kind != FrameKind::Unused),
                ),
                (_, ObjectKind::Node) => {
                    let node = self.store.node(*id)?;
                    self.store.set_node(*id, &node)?;
                }
                _ => {
                    self.store.write(frame)?;
                }
            }
        }
        fresh.sort_by_key(|(frame, _)| *frame);
        fresh.dedup();
        for (number, (frame, kind)) in fresh.iter().enumerate() {
            match self.store.allocate(*frame, *kind) {
                Ok(_) => {}
                Err(stop) if number == 0 => return Err(stop),
                Err(_) => panic!("{} frames taken into use at once", fresh.len()),
            }
        }
        for (id, object) in objects {
            self.set(*id, object).unwrap_or_else(|stop| {
                panic!(
                    "object {:#x} was ready to be changed, and is not: {stop:?}",
                    id.0
                )
            });
        }
        Ok(())
    }

    fn set(&mut self, id: ObjectId, object: &Object) -> Result<(), Stop> {
        let frame = object_frame(id);
        match &object.contents {
            Contents::Nothing if object.kind != ObjectKind::Node => {
                if self.store.tag(frame)?.kind != FrameKind::Unused {
                    self.store.deallocate(frame)?;
                }
            }
            Contents::Bytes(bytes) => *self.store.write(frame)? = **bytes,
            Contents::Slots(slots) => {
                *self.store.write(frame)? = *encode_capability_page(&page_of(slots))
            }
            Contents::Nothing | Contents::Node(_) => self.store.set_node(id, &stored(object))?,
        }
        Ok(())
    }

    fn compare_page(
        &mut self,
        id: ObjectId,
        expected: &Object,
    ) -> Result<Result<(), String>, Stop> {
        let frame = object_frame(id);
        let tag: Tag = self.store.tag(frame)?;
        if (tag.kind, tag.version) != (wanted(expected), expected.version) {
            return Ok(Err(format!(
                "is {:?} of version {}, not {:?} of version {}",
                tag.kind,
                tag.version.0,
                wanted(expected),
                expected.version.0
            )));
        }
        let found = match &expected.contents {
            Contents::Nothing => return Ok(Ok(())),
            _ => self.store.read(frame)?,
        };
        let differs = match &expected.contents {
            Contents::Bytes(bytes) => (found != &**bytes).then(|| first(&bytes[..], &found[..])),
            Contents::Slots(slots) => {
                let bytes = encode_capability_page(&page_of(slots));
                (*found != *bytes).then(|| first(&bytes[..], &found[..]))
            }
            _ => Some("is a page".into()),
        };
        Ok(differs.map_or(Ok(()), Err))
    }

    fn compare_node(
        &mut self,
        id: ObjectId,
        expected: &Object,
    ) -> Result<Result<(), String>, Stop> {
        let tag = self.store.tag(object_frame(id))?;
        let wanted = stored(expected);
        if tag.kind == FrameKind::Unused {
            let same = wanted == StoredNode::empty(tag.version);
            return Ok(if same {
                Ok(())
            } else {
                Err("is a node in a frame that is not in use".into())
            });
        }
        let found = self.store.node(id)?;
        if found == wanted {
            return Ok(Ok(()));
        }
        let object = Object {
            kind: ObjectKind::Node,
            version: found.version,
            call_count: found.call_count,
            contents: Contents::Node(Rc::new(Node {
                height: found.height,
                guard: found.guard,
                slots: found.slots,
            })),
        };
        let index = index_of(id);
        let why = expected.difference(&object).unwrap_or_default();
        Ok(Err(format!("(node {index} of its pot) {why}")))
    }
}

/// What a store has said to be good of the generation that it has just started.
fn called_good(store: &Store<Disk>) -> BTreeSet<ObjectFrame> {
    let Some(verified) = store.verified() else {
        return BTreeSet::new();
    };
    let mut frames: BTreeSet<_> = store.saved_in(verified.generation).collect();
    for bad in &verified.frames {
        frames.remove(bad);
    }
    frames
}

/// The generation before one that runs, if it could be started.
fn older(store: &Store<Disk>, generation: u64) -> Option<u64> {
    let mut bootable = store.bootable();
    bootable.retain(|number| *number < generation);
    bootable.last().copied()
}

/// What a frame with this object holds.
fn wanted(object: &Object) -> FrameKind {
    match (&object.contents, object.kind) {
        (_, ObjectKind::Node) => FrameKind::Nodes,
        (Contents::Nothing, _) => FrameKind::Unused,
        (Contents::Slots(_), _) => FrameKind::CapabilityPage,
        _ => FrameKind::DataPage,
    }
}

/// A node as the store has it.
fn stored(object: &Object) -> StoredNode {
    let mut node = StoredNode::empty(object.version);
    node.call_count = object.call_count;
    if let Contents::Node(contents) = &object.contents {
        node.height = contents.height;
        node.guard = contents.guard;
        node.slots = contents.slots;
    }
    node
}

fn page_of(slots: &[Capability]) -> CapabilityPage {
    let mut page = [Capability::VOID; PAGE_CAPABILITIES];
    page[..slots.len()].copy_from_slice(slots);
    page
}

/// The first byte that differs, in words.
fn first(wanted: &[u8], found: &[u8]) -> String {
    let mut both = wanted.iter().zip(found).enumerate();
    match both.find(|(_, (wanted, found))| wanted != found) {
        Some((at, (wanted, found))) => format!("has {found:#04x} at byte {at}, not {wanted:#04x}"),
        None => "has another length".into(),
    }
}
