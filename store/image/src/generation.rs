//! One generation of the log: its header, its objects and the processes to start.

use alloc::vec::Vec;

use pebble_store_format::{
    fold_directory, DirectoryEntry, DirectoryExtent, DirectoryFrame, GenerationHeader,
    GenerationReference, RestartEntry, RestartFrame, DIRECTORY_ENTRIES, RESTART_ENTRIES,
};

use crate::{Error, Media, Volume};

/// A generation that the checkpoint header lists.
#[derive(Clone, Debug)]
pub struct Generation {
    /// Where its header is.
    pub reference: GenerationReference,
    /// The header.
    pub header: GenerationHeader,
    /// The objects that changed in it.
    pub objects: Vec<DirectoryEntry>,
    /// The processes to start.
    pub restart: Vec<RestartEntry>,
}

impl<M: Media> Volume<M> {
    /// The generations that the header lists, newest first. A generation that cannot be read is an error: what is older
    /// than it may be complete, what is newer is not.
    pub fn generations(&mut self) -> Result<Vec<Generation>, Error> {
        let references = self.header.generations.clone();
        let mut generations: Vec<Generation> = Vec::new();
        for reference in references {
            let generation = self.generation(reference)?;
            let number = generation.header.generation;
            let error = |problem| Error::Generation {
                generation: number,
                problem,
            };
            match generations.last() {
                None if number != self.header.generation => {
                    return Err(error("the checkpoint header calls another one the newest"));
                }
                Some(newer) if number >= newer.header.generation => {
                    return Err(error("it is listed behind an older one"));
                }
                Some(newer) if generation.header.end_log > newer.header.first_log => {
                    return Err(error("its part of the log overlaps the next one's"));
                }
                _ => generations.push(generation),
            }
        }
        Ok(generations)
    }

    fn generation(&mut self, reference: GenerationReference) -> Result<Generation, Error> {
        let (range, layout) = self.log;
        let place = layout.frame(reference.log);
        let key = self.key;
        let found = self.record(range, place, |frame| {
            GenerationHeader::decode(key, reference.log, frame)
        });
        let (header, checksum) =
            found.map_err(|error| self.no_record(place, "generation header", error))?;
        let error = |problem| Error::Generation {
            generation: header.generation,
            problem,
        };
        if checksum != reference.checksum {
            return Err(error(
                "its header is not the one that the checkpoint header means",
            ));
        }
        if header.end_log - header.first_log > layout.frames {
            return Err(error("it claims more frames than the log has"));
        }
        if header.first_log < self.header.oldest_log || header.end_log > self.header.next_log {
            return Err(error("it lies outside the log's part in use"));
        }
        let objects = self.directory(&header, header.objects, DIRECTORY_ENTRIES)?;
        let restart = self.restart(&header, header.restart)?;
        let mut last = None;
        for entry in &objects {
            let inside = entry.tag.null || (header.first_log..header.end_log).contains(&entry.log);
            if !inside {
                return Err(error("an object is said to be outside its part of the log"));
            }
            if last >= Some(entry.frame) {
                return Err(error("the directory's objects are not in order"));
            }
            last = Some(entry.frame);
        }
        Ok(Generation {
            reference,
            header,
            objects,
            restart,
        })
    }

    fn no_record(
        &self,
        place: u64,
        record: &'static str,
        error: Option<pebble_store_format::DecodeError>,
    ) -> Error {
        Error::Record {
            at: self.first_at(self.log.0, place),
            record,
            error,
        }
    }

    fn directory(
        &mut self,
        header: &GenerationHeader,
        extent: DirectoryExtent,
        per_frame: usize,
    ) -> Result<Vec<DirectoryEntry>, Error> {
        let (range, layout) = self.log;
        let key = self.key;
        let mut entries = Vec::new();
        let mut folded = 0;
        for index in 0..extent.frames {
            let log = extent.first + index;
            let place = layout.frame(log);
            let found = self.record(range, place, |frame| {
                DirectoryFrame::decode(key, log, frame)
            });
            let (frame, checksum) =
                found.map_err(|error| self.no_record(place, "object directory", error))?;
            folded = fold_directory(folded, checksum);
            let full = index + 1 == extent.frames || frame.entries.len() == per_frame;
            if frame.generation != header.generation || frame.index != index || !full {
                return Err(part_of_another(header));
            }
            entries.extend(frame.entries);
        }
        whole(header, extent, entries.len(), folded)?;
        Ok(entries)
    }

    fn restart(
        &mut self,
        header: &GenerationHeader,
        extent: DirectoryExtent,
    ) -> Result<Vec<RestartEntry>, Error> {
        let (range, layout) = self.log;
        let key = self.key;
        let mut entries = Vec::new();
        let mut folded = 0;
        for index in 0..extent.frames {
            let log = extent.first + index;
            let place = layout.frame(log);
            let found = self.record(range, place, |frame| RestartFrame::decode(key, log, frame));
            let (frame, checksum) =
                found.map_err(|error| self.no_record(place, "restart directory", error))?;
            folded = fold_directory(folded, checksum);
            let full = index + 1 == extent.frames || frame.entries.len() == RESTART_ENTRIES;
            if frame.generation != header.generation || frame.index != index || !full {
                return Err(part_of_another(header));
            }
            entries.extend(frame.entries);
        }
        whole(header, extent, entries.len(), folded)?;
        Ok(entries)
    }
}

fn part_of_another(header: &GenerationHeader) -> Error {
    Error::Generation {
        generation: header.generation,
        problem: "a frame of its directories belongs to another generation or place",
    }
}

fn whole(
    header: &GenerationHeader,
    extent: DirectoryExtent,
    entries: usize,
    folded: u64,
) -> Result<(), Error> {
    if entries as u64 == extent.entries && folded == extent.checksum {
        return Ok(());
    }
    Err(Error::Generation {
        generation: header.generation,
        problem: "a directory is not the one that its header means",
    })
}
