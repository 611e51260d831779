//! Copies: every frame that counts, on every disk that is believed.

use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;

use pebble_store_device::Frame;
use pebble_store_format::{checksum, DirectoryFrame, GenerationHeader, RestartFrame, VolumeKey};

use super::{Finding, Mending, Report, Severity};
use crate::{Generation, Media, Snapshot, Volume};

/// A test for the one right content of a frame.
type Right = Box<dyn Fn(&Frame) -> bool>;

/// With one disk there is nothing to compare. Tag pots and journal records are left out: which of two different valid ones
/// is right depends on what was being written.
pub fn check<M: Media>(
    volume: &mut Volume<M>,
    generations: &[Generation],
    snapshot: &Snapshot,
    report: &mut Report,
) {
    if volume.disks.iter().filter(|disk| disk.believed).count() < 2 {
        return;
    }
    let key = volume.key;
    let (log, layout) = volume.log;
    for generation in generations {
        let number = generation.header.generation;
        for (place, right) in records(key, generation) {
            compare(
                volume,
                log,
                layout.frame(place),
                &format!("generation {number}, log number {place}"),
                &right,
                report,
            );
        }
        for entry in &generation.objects {
            if !entry.tag.null {
                let (frame, sum) = (entry.frame, entry.tag.checksum);
                let right: Right =
                    Box::new(move |contents| checksum::of_object(frame, contents) == sum);
                let name = format!("generation {number}, object frame {}", frame.0);
                compare(volume, log, layout.frame(entry.log), &name, &right, report);
            }
        }
    }
    for object in &snapshot.objects {
        if object.generation == 0 {
            if let Some((range, place)) = volume.contents_at(object) {
                let (frame, sum) = (object.frame, object.tag.checksum);
                let right: Right =
                    Box::new(move |contents| checksum::of_object(frame, contents) == sum);
                compare(
                    volume,
                    range,
                    place,
                    &format!("object frame {}", frame.0),
                    &right,
                    report,
                );
            }
        }
    }
}

/// The log numbers of a generation's own records, and what must be there: the record with the checksum that is known.
fn records(key: VolumeKey, generation: &Generation) -> Vec<(u64, Right)> {
    let header = generation.header;
    let reference = generation.reference;
    let mut records: Vec<(u64, Right)> = Vec::new();
    records.push((
        reference.log,
        Box::new(move |frame| {
            let found = GenerationHeader::decode(key, reference.log, frame);
            found.is_ok_and(|(_, sum)| sum == reference.checksum)
        }),
    ));
    for (index, log) in (header.objects.first..)
        .take(header.objects.frames as usize)
        .enumerate()
    {
        records.push((
            log,
            Box::new(move |frame| {
                let found = DirectoryFrame::decode(key, log, frame);
                found.is_ok_and(|(found, _)| {
                    (found.generation, found.index) == (header.generation, index as u64)
                })
            }),
        ));
    }
    for (index, log) in (header.restart.first..)
        .take(header.restart.frames as usize)
        .enumerate()
    {
        records.push((
            log,
            Box::new(move |frame| {
                let found = RestartFrame::decode(key, log, frame);
                found.is_ok_and(|(found, _)| {
                    (found.generation, found.index) == (header.generation, index as u64)
                })
            }),
        ));
    }
    records
}

fn compare<M: Media>(
    volume: &mut Volume<M>,
    range: usize,
    frame: u64,
    name: &str,
    right: &Right,
    report: &mut Report,
) {
    let holders = volume.holders(range);
    let copies: Vec<Option<Box<Frame>>> = holders
        .iter()
        .map(|disk| volume.read(*disk, range, frame))
        .collect();
    report.frames += copies.len() as u64;
    let good = |copy: &&Option<Box<Frame>>| copy.as_deref().is_some_and(right);
    let Some(Some(contents)) = copies.iter().find(good) else {
        // Lost on every disk: said where the contents are checked.
        return;
    };
    for (disk, copy) in holders.into_iter().zip(&copies) {
        if good(&copy) {
            continue;
        }
        let Some(at) = volume.at(disk, range, frame) else {
            continue;
        };
        let state = if copy.is_some() {
            "holds something else"
        } else {
            "cannot be read"
        };
        report.add(Finding {
            severity: Severity::Fault,
            place: Some((disk, at)),
            what: format!("{name}: this copy {state}"),
            meaning: "another disk has it right, and is used",
            mending: Some(Mending {
                disk,
                at,
                contents: contents.clone(),
                because: "the checksum in a committed record fits the other disk's copy and not this one",
            }),
        });
    }
}
