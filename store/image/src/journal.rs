//! Pages that were committed by themselves since a generation's snapshot (EROS, section 3.5.1).

use alloc::collections::BTreeMap;

use pebble_store_format::{checksum, GenerationHeader, JournalPage, JournalRecord, ObjectFrame};

use crate::{Media, Volume};

impl<M: Media> Volume<M> {
    /// The pages of the records that are newer than a generation, with their positions in the journal; the last record of
    /// a page counts. The first record that is missing ends the journal. One of which a page is not right on any disk was
    /// never reported, and is passed over.
    pub(crate) fn journaled(
        &mut self,
        generation: &GenerationHeader,
    ) -> BTreeMap<ObjectFrame, (u64, JournalPage)> {
        let mut pages = BTreeMap::new();
        let Some((range, layout)) = self.journal else {
            return pages;
        };
        for step in 0..layout.records {
            let sequence = generation.journal_sequence.checked_add(step);
            let Some(record) = sequence.and_then(|sequence| self.journal_record(sequence)) else {
                break;
            };
            let placed: BTreeMap<_, _> = record
                .pages
                .iter()
                .zip(record.position..)
                .map(|(page, position)| (page.frame, (position, *page)))
                .collect();
            let complete = placed.values().all(|(position, page)| {
                let holders = self.holders(range);
                holders.into_iter().any(|disk| {
                    let contents = self.read(disk, range, layout.page(*position));
                    contents.is_some_and(|contents| {
                        checksum::of_object(page.frame, &contents) == page.checksum
                    })
                })
            });
            if !complete {
                // It was never finished: either nothing was journaled after it, or only by a later start.
                let next = sequence.and_then(|sequence| self.journal_record(sequence + 1));
                if next.is_none_or(|next| next.restart <= record.restart) {
                    break;
                }
                continue;
            }
            pages.extend(placed);
        }
        pages
    }

    /// The record with this number. Disks may differ: the one that was lost before a crash may lack the last.
    fn journal_record(&mut self, sequence: u64) -> Option<JournalRecord> {
        let (range, layout) = self.journal?;
        let slot = layout.record(sequence);
        let key = self.key;
        self.holders(range).into_iter().find_map(|disk| {
            let frame = self.read(disk, range, slot)?;
            let record = JournalRecord::decode(key, slot, &frame).ok()?;
            let fits = record.pages.len() as u64 <= layout.pages;
            (fits && record.sequence == sequence).then_some(record)
        })
    }
}
