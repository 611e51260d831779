//! Damage to the records of the store: superblock, headers, directories, tags.

use pebble_store_format::{FrameKind, LogLayout, RangeKind};

use super::object::{entries, newest, put_entry};
use super::{Injector, Volume};

const fn injector(name: &'static str, inject: fn(&mut Volume) -> Option<()>) -> Injector {
    Injector { name, inject }
}

/// Damage to records.
pub const INJECTORS: &[Injector] = &[
    injector("superblock: a byte of the first copy", |volume| {
        volume.flip(0, 70);
        Some(())
    }),
    injector("superblock: a byte of the second copy", |volume| {
        volume.flip(1, 70);
        Some(())
    }),
    injector("superblock: copies that say different things", |volume| {
        let mut other = volume.superblock.clone();
        other.ranges.last_mut()?.frames -= 1;
        volume.image.write(1, *other.encode());
        Some(())
    }),
    injector("superblock: a range behind the end of the disk", |volume| {
        let frames = volume.image.frames();
        let mut ranges = volume.superblock.ranges.iter_mut();
        ranges.find(|r| r.kind == RangeKind::Object)?.frames += frames;
        let frame = volume.superblock.encode();
        volume.image.write(0, *frame);
        volume.image.write(1, *frame);
        Some(())
    }),
    injector("checkpoint header: a byte of the newest", |volume| {
        let at = volume.log()?.first + LogLayout::header_slot(volume.header.sequence);
        volume.flip(at, 50);
        Some(())
    }),
    injector(
        "checkpoint header: a generation that is not the newest listed",
        |volume| {
            let mut header = volume.header.clone();
            header.generation += 1;
            volume.put_header(header)
        },
    ),
    injector(
        "checkpoint header: the log's end before its newest generation",
        |volume| {
            let mut header = volume.header.clone();
            header.next_log = volume.generations.first()?.0;
            volume.put_header(header)
        },
    ),
    injector(
        "checkpoint header: log frames given free that are in use",
        |volume| {
            let mut header = volume.header.clone();
            header.oldest_log = volume.generations.last()?.0;
            (header.oldest_log > volume.generations.last()?.1.first_log).then_some(())?;
            volume.put_header(header)
        },
    ),
    injector("checkpoint header: a reference's checksum", |volume| {
        let mut header = volume.header.clone();
        header.generations[0].checksum ^= 1;
        volume.put_header(header)
    }),
    injector(
        "checkpoint header: a reference to another frame",
        |volume| {
            let mut header = volume.header.clone();
            header.generations[0].log -= 1;
            volume.put_header(header)
        },
    ),
    injector("checkpoint header: a generation listed twice", |volume| {
        let mut header = volume.header.clone();
        let first = header.generations[0];
        header.generations.insert(0, first);
        volume.put_header(header)
    }),
    injector(
        "checkpoint header: an older generation left out",
        |volume| {
            let mut header = volume.header.clone();
            (header.generations.len() > 2).then_some(())?;
            header.generations.remove(1);
            volume.put_header(header)
        },
    ),
    injector(
        "checkpoint header: no disk of this volume in sync",
        |volume| {
            let mut header = volume.header.clone();
            header.in_sync = 1 << 7;
            volume.put_header(header)
        },
    ),
    injector("generation header: a byte", |volume| {
        let at = volume.log_frame(volume.generations.first()?.0)?;
        volume.flip(at, 40);
        Some(())
    }),
    injector("generation header: another generation's number", |volume| {
        let (_, mut generation) = *volume.generations.first()?;
        generation.generation += 5;
        volume.put_generation(0, generation)
    }),
    injector("generation header: a parent that never was", |volume| {
        let (_, mut generation) = *volume.generations.first()?;
        (volume.generations.len() > 1).then_some(())?;
        let other = generation.parent.checked_sub(1)?;
        (other > 0).then_some(())?;
        generation.parent = other;
        volume.put_generation(0, generation)
    }),
    injector(
        "generation header: a span that reaches into the one before",
        |volume| {
            let (_, mut generation) = *volume.generations.first()?;
            (volume.generations.len() > 1).then_some(())?;
            generation.first_log -= 1;
            volume.put_generation(0, generation)
        },
    ),
    injector("generation header: a directory's checksum", |volume| {
        let (_, mut generation) = *volume.generations.first()?;
        generation.objects.checksum ^= 1;
        volume.put_generation(0, generation)
    }),
    injector("object directory: a byte", |volume| {
        let generation = volume.generations.first()?.1;
        let number = volume.directory(&generation).first()?.0;
        let at = volume.log_frame(number)?;
        volume.flip(at, 80);
        Some(())
    }),
    injector("object directory: another generation's number", |volume| {
        let generation = volume.generations.first()?.1;
        let mut frames = volume.directory(&generation);
        frames.first_mut()?.1.generation += 1;
        volume.put_directory(0, &frames)
    }),
    injector("object directory: a frame's place in it", |volume| {
        let generation = volume.generations.first()?.1;
        let mut frames = volume.directory(&generation);
        frames.first_mut()?.1.index += 1;
        volume.put_directory(0, &frames)
    }),
    injector("object directory: an entry twice", |volume| {
        let generation = volume.generations.first()?.1;
        let mut frames = volume.directory(&generation);
        let list = &mut frames.first_mut()?.1.entries;
        let first = *list.first()?;
        list.push(first);
        volume.put_directory(0, &frames)
    }),
    injector("object directory: an object outside all ranges", |volume| {
        let (place, mut entry) = *entries(volume).first()?;
        entry.frame.0 = 1 << 50;
        put_entry(volume, place, entry)
    }),
    injector(
        "object directory: contents in a frame outside the generation",
        |volume| {
            let (place, mut entry, _) = newest(volume, FrameKind::DataPage)?;
            entry.log = volume.header.next_log + 1;
            put_entry(volume, place, entry)
        },
    ),
    injector(
        "object directory: contents in the directory's own frame",
        |volume| {
            let (place, mut entry, _) = newest(volume, FrameKind::DataPage)?;
            entry.log = volume.generations[place.generation].1.objects.first;
            put_entry(volume, place, entry)
        },
    ),
    injector("object directory: a checksum", |volume| {
        let (place, mut entry, _) = newest(volume, FrameKind::DataPage)?;
        entry.tag.checksum ^= 1;
        put_entry(volume, place, entry)
    }),
    injector("object directory: two objects in one frame", |volume| {
        let all = entries(volume);
        let mut full = all.iter().filter(|(_, entry)| !entry.tag.null);
        let (place, mut entry) = *full.next()?;
        entry.log = full.find(|(_, other)| other.frame != entry.frame)?.1.log;
        put_entry(volume, place, entry)
    }),
    injector("restart directory: a byte", |volume| {
        let generation = volume.generations.first()?.1;
        let number = volume.restart(&generation).first()?.0;
        let at = volume.log_frame(number)?;
        volume.flip(at, 70);
        Some(())
    }),
    injector("tag pot: both copies", |volume| {
        let range = volume.objects()?;
        volume.flip(range.first, 40);
        volume.flip(range.first + 1, 40);
        Some(())
    }),
];
