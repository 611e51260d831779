//! Which objects are in the log, and where: the in-core checkpoint directory.
//!
//! An open hash table with linear probing: an entry costs some twenty instructions to enter. What is not in it is at home.

use alloc::vec;
use alloc::vec::Vec;

use pebble_store_format::{ObjectFrame, Tag};

/// No object frame has this number.
const FREE: u64 = u64::MAX;

/// Where an object's newest saved contents are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Source {
    /// Nowhere: they are all zero.
    Null,
    /// In the log.
    Log(u64),
    /// In the journal, at a position.
    Journal(u64),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    frame: u64,
    /// The generations that have the object: one bit each.
    pub generations: u32,
    pub source: Source,
    pub tag: Tag,
}

const VACANT: Entry = Entry {
    frame: FREE,
    generations: 0,
    source: Source::Null,
    tag: Tag::UNUSED,
};

pub(crate) struct Index {
    entries: Vec<Entry>,
    used: usize,
    shift: u32,
}

impl Index {
    /// A table for so many objects; it grows when there are more.
    pub fn with_room(objects: usize) -> Self {
        let size = (objects * 2).next_power_of_two().max(16);
        Self {
            entries: vec![VACANT; size],
            used: 0,
            shift: 64 - size.trailing_zeros(),
        }
    }

    fn slot(&self, frame: u64) -> usize {
        (frame.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift) as usize
    }

    /// The place of a frame, or the vacant one where it would go.
    #[inline]
    fn find(&self, frame: u64) -> usize {
        let mask = self.entries.len() - 1;
        let mut place = self.slot(frame);
        loop {
            let found = self.entries[place & mask].frame;
            if found == frame || found == FREE {
                return place & mask;
            }
            place += 1;
        }
    }

    pub fn get(&self, frame: ObjectFrame) -> Option<&Entry> {
        let entry = &self.entries[self.find(frame.0)];
        (entry.frame != FREE).then_some(entry)
    }

    /// Enters the newest contents of a frame, which a generation (one bit) has.
    #[inline]
    pub fn enter(&mut self, frame: ObjectFrame, source: Source, tag: Tag, generation: u32) {
        if self.used * 2 >= self.entries.len() {
            self.grow();
        }
        let place = self.find(frame.0);
        let entry = &mut self.entries[place];
        if entry.frame == FREE {
            entry.frame = frame.0;
            self.used += 1;
        }
        entry.source = source;
        entry.tag = tag;
        entry.generations |= generation;
    }

    /// A generation (one bit) no longer has the frame; the last one to go takes the entry with it.
    pub fn leave(&mut self, frame: ObjectFrame, generation: u32) {
        let place = self.find(frame.0);
        let entry = &mut self.entries[place];
        entry.generations &= !generation;
        if entry.frame != FREE && entry.generations == 0 {
            self.remove(place);
        }
    }

    /// Takes an entry out and closes the gap, so that no search ends too early.
    fn remove(&mut self, mut gap: usize) {
        let mask = self.entries.len() - 1;
        self.used -= 1;
        let mut place = gap;
        loop {
            place = (place + 1) & mask;
            let frame = self.entries[place].frame;
            if frame == FREE {
                break;
            }
            let wanted = self.slot(frame);
            // The entry may move into the gap unless its own slot lies behind the gap.
            if (place.wrapping_sub(wanted) & mask) >= (place.wrapping_sub(gap) & mask) {
                self.entries[gap] = self.entries[place];
                gap = place;
            }
        }
        self.entries[gap] = VACANT;
    }

    fn grow(&mut self) {
        let mut larger = Self::with_room(self.entries.len());
        for entry in self.iter() {
            let place = larger.find(entry.frame);
            larger.entries[place] = *entry;
        }
        larger.used = self.used;
        *self = larger;
    }

    fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| entry.frame != FREE)
    }

    /// Every frame with its entry, in no order.
    pub fn frames(&self) -> impl Iterator<Item = (ObjectFrame, &Entry)> {
        self.iter().map(|entry| (ObjectFrame(entry.frame), entry))
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.used
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeMap;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

        /// The table against a map, with few enough frames that searches run into each other.
        #[test]
        fn is_a_map(steps in proptest::collection::vec((0..40u64, 0..3u32, any::<bool>()), 1..400)) {
            let mut index = Index::with_room(0);
            let mut map: BTreeMap<u64, (u64, u32)> = BTreeMap::new();
            for (number, (frame, bit, enter)) in steps.into_iter().enumerate() {
                let bit = 1 << bit;
                if enter {
                    index.enter(ObjectFrame(frame), Source::Log(number as u64), Tag::UNUSED, bit);
                    let entry = map.entry(frame).or_default();
                    *entry = (number as u64, entry.1 | bit);
                } else {
                    index.leave(ObjectFrame(frame), bit);
                    if let Some(entry) = map.get_mut(&frame) {
                        entry.1 &= !bit;
                        if entry.1 == 0 {
                            map.remove(&frame);
                        }
                    }
                }
                prop_assert_eq!(index.len(), map.len());
                for frame in 0..40 {
                    let found = index.get(ObjectFrame(frame)).map(|entry| (entry.source, entry.generations));
                    let wanted = map.get(&frame).map(|(log, bits)| (Source::Log(*log), *bits));
                    prop_assert_eq!(found, wanted);
                }
            }
        }
    }
}
