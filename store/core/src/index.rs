//! Which objects are in the log, and where: the in-core checkpoint directory.
//!
//! An open hash table with linear probing: an entry costs some twenty instructions to enter. What is not in it is at home.

use alloc::vec;
use alloc::vec::Vec;

use pebble_store_format::{ObjectFrame, PackedEntry, PackedTag, Tag};

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

/// What is known of an object that is not only at home.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// The generations that have the object: one bit each.
    pub generations: u32,
    pub source: Source,
    pub tag: Tag,
}

/// An entry as the table holds it: as few words as recovery can get away with writing.
#[derive(Clone, Copy)]
struct Place {
    frame: u64,
    /// A log number, or a journal position with the top bit set, or 0 for what is null.
    source: u64,
    tag: PackedTag,
    generations: u32,
}

const IN_JOURNAL: u64 = 1 << 63;

impl Place {
    fn entry(&self) -> Entry {
        Entry {
            generations: self.generations,
            source: match self.source {
                0 => Source::Null,
                place if place & IN_JOURNAL != 0 => Source::Journal(place & !IN_JOURNAL),
                log => Source::Log(log),
            },
            tag: self.tag.unpack(),
        }
    }
}

/// Where in a table of 2^(64 - shift) places a search for a frame begins.
#[inline]
fn slot(frame: u64, shift: u32) -> usize {
    (frame.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (shift & 63)) as usize
}

pub(crate) struct Index {
    /// For each place of the table the number of its entry, counted from 1; 0 where there is none.
    table: Vec<u32>,
    /// The entries, in no order.
    entries: Vec<Place>,
    shift: u32,
}

impl Index {
    /// A table for so many objects; it grows when there are more.
    pub fn with_room(objects: usize) -> Self {
        let size = (objects * 2).next_power_of_two().max(16);
        Self {
            table: vec![0; size],
            entries: Vec::with_capacity(objects),
            shift: 64 - size.trailing_zeros(),
        }
    }

    /// The place in the table of a frame, or the free one where it would go.
    fn find(&self, frame: u64) -> usize {
        let mask = self.table.len() - 1;
        let mut place = slot(frame, self.shift);
        loop {
            match self.table[place & mask] {
                0 => return place & mask,
                number if self.entries[number as usize - 1].frame == frame => return place & mask,
                _ => place += 1,
            }
        }
    }

    pub fn get(&self, frame: ObjectFrame) -> Option<Entry> {
        let number = self.table[self.find(frame.0)];
        let place = self.entries.get((number as usize).checked_sub(1)?)?;
        Some(place.entry())
    }

    /// Enters the newest contents of a frame, which a generation (one bit) has.
    pub fn enter(&mut self, frame: ObjectFrame, source: Source, tag: Tag, generation: u32) {
        let source = match source {
            Source::Null => 0,
            Source::Log(log) => log,
            Source::Journal(position) => position | IN_JOURNAL,
        };
        let log = source;
        let tag = tag.pack();
        self.enter_packed(PackedEntry { frame, log, tag }, generation);
    }

    /// The same for one entry of a directory.
    pub fn enter_packed(&mut self, entry: PackedEntry, generation: u32) {
        self.enter_all(&[entry], generation);
    }

    /// The same for entries of a directory. Recovery spends most of its time here.
    pub fn enter_all(&mut self, entries: &[PackedEntry], generation: u32) {
        while (self.entries.len() + entries.len()) * 2 > self.table.len() {
            self.grow();
        }
        let shift = self.shift;
        let table = &mut self.table[..];
        let mask = table.len() - 1;
        for entry in entries {
            let frame = entry.frame.0;
            let mut place = slot(frame, shift);
            // Half of the table is free, so that this ends; and the mask keeps every place inside.
            while let Some(number) = table.get_mut(place & mask) {
                if *number == 0 {
                    self.entries.push(Place {
                        frame,
                        source: entry.log,
                        tag: entry.tag,
                        generations: generation,
                    });
                    *number = self.entries.len() as u32;
                    break;
                }
                let known = &mut self.entries[*number as usize - 1];
                if known.frame == frame {
                    known.source = entry.log;
                    known.tag = entry.tag;
                    known.generations |= generation;
                    break;
                }
                place += 1;
            }
        }
    }

    /// A generation (one bit) no longer has the frame; the last one to go takes the entry with it.
    pub fn leave(&mut self, frame: ObjectFrame, generation: u32) {
        let place = self.find(frame.0);
        let number = self.table[place] as usize;
        let Some(entry) = number
            .checked_sub(1)
            .and_then(|number| self.entries.get_mut(number))
        else {
            return;
        };
        entry.generations &= !generation;
        if entry.generations == 0 {
            // The last entry takes the number of the one that goes.
            let last = self.entries.len();
            if number != last {
                let moved = self.find(self.entries[last - 1].frame);
                self.table[moved] = number as u32;
            }
            self.entries.swap_remove(number - 1);
            self.remove(place);
        }
    }

    /// Takes a place out and closes the gap, so that no search ends too early.
    fn remove(&mut self, mut gap: usize) {
        let mask = self.table.len() - 1;
        let mut place = gap;
        loop {
            place = (place + 1) & mask;
            let number = self.table[place];
            if number == 0 {
                break;
            }
            let wanted = slot(self.entries[number as usize - 1].frame, self.shift);
            // The place may move into the gap unless its own slot lies behind the gap.
            if (place.wrapping_sub(wanted) & mask) >= (place.wrapping_sub(gap) & mask) {
                self.table[gap] = number;
                gap = place;
            }
        }
        self.table[gap] = 0;
    }

    fn grow(&mut self) {
        let mut larger = Self::with_room(self.table.len());
        larger.entries = core::mem::take(&mut self.entries);
        for number in 0..larger.entries.len() {
            let place = larger.find(larger.entries[number].frame);
            larger.table[place] = number as u32 + 1;
        }
        *self = larger;
    }

    /// Every frame with its entry, in no order.
    pub fn frames(&self) -> impl Iterator<Item = (ObjectFrame, Entry)> + '_ {
        self.entries
            .iter()
            .map(|place| (ObjectFrame(place.frame), place.entry()))
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.entries.len()
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
                let (bit, number) = (1 << bit, number + 1);
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
