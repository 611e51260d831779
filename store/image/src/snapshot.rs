//! A generation with everything in it: where each object is, and its contents.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use pebble_store_device::{Frame, FRAME_SIZE};
use pebble_store_format::{
    checksum, ClusterPlace, FrameKind, NodePot, ObjectFrame, RangeKind, RestartEntry, Tag, TagPot,
    CLUSTER_DATA, CLUSTER_POTS,
};

use crate::{Error, Generation, Media, Progress, Volume};

/// Where an object's contents are.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Place {
    /// Nowhere: they are zeros, or empty nodes.
    Null,
    /// At this log number.
    Log(u64),
    /// At this position of the journal.
    Journal(u64),
    /// At home.
    Home,
    /// Nowhere: they were lost on every disk, and the object's tag says so.
    Lost,
}

/// An object frame that is in use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Object {
    /// Which.
    pub frame: ObjectFrame,
    /// Version, kind and checksum.
    pub tag: Tag,
    /// Where its contents are.
    pub place: Place,
    /// The generation that it was saved in; 0: one that has been brought home.
    pub generation: u64,
}

/// A generation, complete.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Its number.
    pub generation: u64,
    /// When it was taken: nanoseconds since 1970.
    pub time: u64,
    /// Every object frame in use, in order.
    pub objects: Vec<Object>,
    /// Frames that were given back, with their versions: capabilities to what they held are older.
    pub freed: Vec<(ObjectFrame, pebble_store_object::Version)>,
    /// The processes to start.
    pub restart: Vec<RestartEntry>,
}

impl<M: Media> Volume<M> {
    /// The oldest generation that can be had: older ones may be under way to their homes.
    pub fn oldest(&self, generations: &[Generation]) -> u64 {
        let listed = generations
            .iter()
            .map(|generation| generation.header.generation);
        let bootable = listed.filter(|number| *number >= self.header.bootable_from);
        bootable.min().unwrap_or(self.header.generation)
    }

    /// A generation of those that [`Volume::generations`] gave; none: the newest. Reads every tag pot.
    pub fn snapshot(
        &mut self,
        generations: &[Generation],
        wanted: Option<u64>,
        progress: Progress<'_>,
    ) -> Result<Snapshot, Error> {
        let oldest = self.oldest(generations);
        let newest = self.header.generation;
        let wanted = wanted.unwrap_or(newest);
        let chosen = generations
            .iter()
            .find(|one| one.header.generation == wanted);
        let chosen = chosen
            .filter(|_| wanted >= oldest)
            .ok_or(Error::NoSuchGeneration {
                generation: wanted,
                oldest,
                newest,
            })?;
        let mut known: BTreeMap<ObjectFrame, Object> = BTreeMap::new();
        let older = generations
            .iter()
            .filter(|one| one.header.generation <= wanted);
        for generation in older.rev() {
            for entry in &generation.objects {
                let place = if entry.tag.null {
                    Place::Null
                } else {
                    Place::Log(entry.log)
                };
                let object = Object {
                    frame: entry.frame,
                    tag: entry.tag,
                    place,
                    generation: generation.header.generation,
                };
                known.insert(entry.frame, object);
            }
        }
        self.add_homes(&mut known, progress)?;
        if wanted == newest {
            for (frame, (position, page)) in self.journaled(&chosen.header) {
                if let Some(object) = known.get_mut(&frame) {
                    let same = object.tag.version == page.version;
                    if object.tag.kind == FrameKind::DataPage && same {
                        object.place = Place::Journal(position);
                        object.tag.null = false;
                        object.tag.lost = false;
                        object.tag.checksum = page.checksum;
                    }
                }
            }
        }
        let (in_use, free): (Vec<Object>, Vec<Object>) = known
            .into_values()
            .partition(|object| object.tag.kind != FrameKind::Unused);
        let freed = free.iter().filter(|object| object.tag.version.0 > 0);
        Ok(Snapshot {
            generation: wanted,
            time: chosen.header.time,
            objects: in_use,
            freed: freed
                .map(|object| (object.frame, object.tag.version))
                .collect(),
            restart: chosen.restart.clone(),
        })
    }

    /// Adds what is at home and in none of the generations.
    fn add_homes(
        &mut self,
        known: &mut BTreeMap<ObjectFrame, Object>,
        progress: Progress<'_>,
    ) -> Result<(), Error> {
        for range in 0..self.ranges.len() {
            let facts = self.ranges[range].range;
            if facts.kind != RangeKind::Object {
                continue;
            }
            let capacity = ClusterPlace::capacity(facts.frames);
            for cluster in 0..capacity.div_ceil(CLUSTER_DATA) {
                progress(cluster * CLUSTER_DATA, capacity);
                let pot = self.pot(range, cluster)?;
                let first = cluster * CLUSTER_DATA;
                let frames = (facts.object_base + first..).take((capacity - first) as usize);
                for (frame, tag) in frames.zip(&pot.tags) {
                    let frame = ObjectFrame(frame);
                    let place = match (tag.null, tag.lost) {
                        (true, _) => Place::Null,
                        (_, true) => Place::Lost,
                        _ => Place::Home,
                    };
                    known.entry(frame).or_insert(Object {
                        frame,
                        tag: *tag,
                        place,
                        generation: 0,
                    });
                }
            }
        }
        Ok(())
    }

    /// The tag pot of a cluster: the newer of the copies that can be believed.
    pub(crate) fn pot(&mut self, range: usize, cluster: u64) -> Result<Box<TagPot>, Error> {
        let number = self.ranges[range].range.number;
        let key = self.key;
        let mut best: Option<Box<TagPot>> = None;
        let mut problem = None;
        for copy in 0..CLUSTER_POTS {
            let place = ClusterPlace { cluster, index: 0 }.pot(copy);
            let found = self.record(range, place, |frame| {
                TagPot::decode(key, number, cluster, frame).map(Box::new)
            });
            match found {
                Ok(pot)
                    if best
                        .as_ref()
                        .is_none_or(|best| pot.sequence > best.sequence) =>
                {
                    best = Some(pot);
                }
                Ok(_) => {}
                Err(error) => problem = error,
            }
        }
        best.ok_or_else(|| {
            let place = ClusterPlace { cluster, index: 0 }.pot(0);
            Error::Pot {
                at: self.first_at(range, place),
                error: problem,
            }
        })
    }

    /// The range and frame that an object's contents are in; none: nowhere.
    pub(crate) fn contents_at(&self, object: &Object) -> Option<(usize, u64)> {
        match object.place {
            Place::Null | Place::Lost => None,
            Place::Log(number) => Some((self.log.0, self.log.1.frame(number))),
            Place::Journal(position) => {
                let (range, layout) = self.journal?;
                Some((range, layout.page(position)))
            }
            Place::Home => {
                let (range, place) = self.home(object.frame)?;
                Some((range, place.frame()))
            }
        }
    }

    /// An object's contents, from the first believed disk that has them right; none: they are null.
    pub fn contents(&mut self, object: &Object) -> Result<Option<Box<Frame>>, Error> {
        if object.place == Place::Null {
            return Ok(None);
        }
        if object.place == Place::Lost {
            let frame = object.frame;
            return Err(Error::Lost { frame });
        }
        let damaged = Error::Damaged {
            frame: object.frame,
        };
        let (range, frame) = self.contents_at(object).ok_or(damaged.clone())?;
        for disk in self.holders(range) {
            let contents = self.read(disk, range, frame);
            let right = |contents: &Frame| {
                checksum::of_object(object.frame, contents) == object.tag.checksum
            };
            if let Some(contents) = contents.filter(|contents| right(contents)) {
                return Ok(Some(contents));
            }
        }
        Err(damaged)
    }

    /// The nodes of an object that is a pot of them.
    pub(crate) fn nodes(&mut self, object: &Object) -> Result<NodePot, NodesError> {
        match self.contents(object).map_err(NodesError::Damaged)? {
            None => Ok(NodePot::empty(object.tag.version)),
            Some(contents) => NodePot::decode(object.frame, &contents).map_err(NodesError::Record),
        }
    }
}

/// Why there are no nodes.
pub(crate) enum NodesError {
    Damaged(Error),
    Record(pebble_store_format::DecodeError),
}

/// The contents of a null page.
pub(crate) const ZEROS: Frame = [0; FRAME_SIZE];
