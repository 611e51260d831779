//! What has a fixed place: superblocks, header slots, boot records.

use alloc::format;
use alloc::string::String;

use pebble_store_format::{DecodeError, RangeKind};

use super::{Finding, Mending, Report, Severity};
use crate::{Media, Slot, Volume};

fn reason<T>(slot: &Slot<T>) -> String {
    match slot {
        Slot::Blank => String::from("zeros"),
        Slot::Good(_) => String::from("good"),
        Slot::Bad(error) => format!("{error}"),
        Slot::Unreadable => String::from("it cannot be read"),
    }
}

pub fn check<M: Media>(volume: &mut Volume<M>, report: &mut Report) {
    for disk in 0..volume.disks.len() {
        report.frames += 6;
        superblocks(volume, disk, report);
        headers(volume, disk, report);
        boots(volume, disk, report);
        standing(volume, disk, report);
    }
}

fn superblocks<M: Media>(volume: &Volume<M>, disk: usize, report: &mut Report) {
    let facts = &volume.disks[disk];
    for (copy, slot) in facts.superblocks.iter().enumerate() {
        let at = copy as u64;
        match slot {
            Slot::Good(superblock) if *superblock == facts.superblock => {}
            Slot::Good(_) => report.say(
                Severity::Fault,
                Some((disk, at)),
                String::from("the two copies of the superblock differ"),
                "the first one is believed; which is right cannot be known from the image",
            ),
            bad => report.add(Finding {
                severity: Severity::Fault,
                place: Some((disk, at)),
                what: format!("superblock, copy {}: {}", copy + 1, reason(bad)),
                meaning: "the other copy is good and is used",
                mending: Some(Mending {
                    disk,
                    at,
                    contents: facts.superblock.encode(),
                    because: "both copies are the same by definition, and are never written after the disk is formatted",
                }),
            }),
        }
    }
}

fn headers<M: Media>(volume: &Volume<M>, disk: usize, report: &mut Report) {
    let Some(first) = volume.at(disk, volume.log.0, 0) else {
        return;
    };
    let facts = &volume.disks[disk];
    for (slot, header) in facts.headers.iter().enumerate() {
        let place = Some((disk, first + slot as u64));
        let twin = facts.headers[1 - slot].good();
        let other = volume.disks.iter().enumerate().find(|(index, other)| {
            *index != disk
                && other.believed
                && facts.believed
                && other.newest() == facts.newest()
                && other.headers[slot].good().is_some()
        });
        match (header, twin, other) {
            (Slot::Good(_), ..) => {}
            (Slot::Blank, Some(twin), _) if twin.sequence == 1 || !facts.believed => {}
            (bad, _, Some((_, other))) => {
                let contents = other.headers[slot].good().map(|header| header.encode(volume.key));
                report.add(Finding {
                    severity: Severity::Fault,
                    place,
                    what: format!("header slot {slot}: {}", reason(bad)),
                    meaning: "another disk of the volume has this header",
                    mending: contents.map(|contents| Mending {
                        disk,
                        at: first + slot as u64,
                        contents,
                        because: "disks that are trusted hold the same headers, and the newest header is on both",
                    }),
                });
            }
            (bad, Some(twin), None) => report.say(
                Severity::Fault,
                place,
                format!("header slot {slot}: {}; the other slot has header {}", reason(bad), twin.sequence),
                "a checkpoint that was cut off while it was committed, or damage to the newest header; the next checkpoint \
                 writes this slot again. What is in it is left alone: it may help a person",
            ),
            (bad, None, None) => report.say(
                Severity::Fault,
                place,
                format!("header slot {slot}: {}", reason(bad)),
                "this disk has no header that counts",
            ),
        }
    }
}

fn boots<M: Media>(volume: &Volume<M>, disk: usize, report: &mut Report) {
    let Some(first) = volume.at(disk, volume.log.0, pebble_store_format::HEADER_SLOTS) else {
        return;
    };
    for (slot, boot) in volume.disks[disk].boots.iter().enumerate() {
        if let Slot::Bad(DecodeError { .. }) | Slot::Unreadable = boot {
            report.say(
                Severity::Note,
                Some((disk, first + slot as u64)),
                format!("boot record {slot}: {}", reason(boot)),
                "a count of starts is lost, nothing else; the next start writes it again",
            );
        }
    }
}

/// Whether the disk counts, and whether every disk is here.
fn standing<M: Media>(volume: &Volume<M>, disk: usize, report: &mut Report) {
    let facts = &volume.disks[disk];
    if !facts.believed {
        let newest = facts.newest().map(|header| header.sequence);
        report.say(
            Severity::Fault,
            Some((disk, 0)),
            match newest {
                Some(newest) => format!(
                    "out of date: its newest header is {newest}, the volume's is {}",
                    volume.header.sequence
                ),
                None => String::from("it has no checkpoint header"),
            },
            "nothing on this disk is believed; the running system brings it up to date",
        );
    }
    if disk > 0 {
        return;
    }
    let here = volume
        .disks
        .iter()
        .fold(0, |here, facts| here | 1 << facts.number);
    let missing = volume.header.in_sync & !here;
    if missing != 0 {
        report.say(
            Severity::Note,
            None,
            format!(
                "the volume has other disks that were not given: numbers {}",
                numbers(missing)
            ),
            "what only they have right is not looked for",
        );
    }
    let logs = volume
        .ranges
        .iter()
        .filter(|range| range.range.kind == RangeKind::Journal);
    if logs.count() == 0 {
        report.say(
            Severity::Note,
            None,
            String::from("the volume has no journal"),
            "pages cannot be committed between checkpoints",
        );
    }
}

fn numbers(set: u8) -> String {
    let mut text = String::new();
    for number in (0..8).filter(|number| set & 1 << number != 0) {
        if !text.is_empty() {
            text.push_str(", ");
        }
        text.push_str(&format!("{number}"));
    }
    text
}
