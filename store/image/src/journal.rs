//! Pages that were committed by themselves since a generation's snapshot (EROS, section 3.5.1).

use alloc::collections::BTreeMap;

use pebble_store_format::{GenerationHeader, JournalPage, JournalRecord, ObjectFrame};

use crate::{Media, Volume};

impl<M: Media> Volume<M> {
    /// The pages of the records that are newer than a generation, with their positions in the journal; the last record of
    /// a page counts. The first record that is missing ends the journal.
    pub(crate) fn journaled(
        &mut self,
        generation: &GenerationHeader,
    ) -> BTreeMap<ObjectFrame, (u64, JournalPage)> {
        let mut pages = BTreeMap::new();
        let Some((range, layout)) = self.journal else {
            return pages;
        };
        let key = self.key;
        let mut position = generation.journal_position;
        for step in 0..layout.records {
            let Some(sequence) = generation.journal_sequence.checked_add(step) else {
                break;
            };
            let slot = layout.record(sequence);
            let found = self.record(range, slot, |frame| JournalRecord::decode(key, slot, frame));
            let Ok(record) = found else {
                break;
            };
            let fits = record.sequence == sequence && record.position == position;
            if !fits || record.generation < generation.generation {
                break;
            }
            for (page, place) in record.pages.iter().zip(record.position..) {
                pages.insert(page.frame, (place, *page));
            }
            position = record.position + record.pages.len() as u64;
        }
        pages
    }
}
