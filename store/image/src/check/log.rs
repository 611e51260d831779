//! The log: whether what the header lists is there, and what can be had.

use alloc::format;

use super::{Report, Severity};
use crate::{Error, Generation, Media, Volume};

/// Why no generation can be had.
pub fn explain<M: Media>(volume: &Volume<M>, error: &Error, report: &mut Report) {
    let previous = volume.disks.iter().flat_map(|disk| &disk.headers);
    let previous = previous.filter_map(crate::Slot::good);
    let previous = previous.filter(|header| header.sequence < volume.header.sequence);
    let previous = previous.map(|header| header.generation).max();
    report.say(
        Severity::Loss,
        None,
        format!("header {}: {error}", volume.header.sequence),
        "the newest checkpoint is not complete on any disk that was given, although its header was committed",
    );
    if let Some(generation) = previous {
        report.say(
            Severity::Note,
            None,
            format!("the header before it leads to generation {generation}"),
            "its part of the log may have been used again; what of it is still there can be tried by a person",
        );
    }
}

pub fn check<M: Media>(volume: &Volume<M>, generations: &[Generation], report: &mut Report) {
    for generation in generations {
        let header = &generation.header;
        report.frames += 1 + header.objects.frames + header.restart.frames;
    }
    for pair in generations.windows(2) {
        let (newer, older) = (&pair[0].header, &pair[1].header);
        if newer.parent != older.generation {
            report.say(
                Severity::Loss,
                None,
                format!(
                    "generation {} was made from {}, and the one listed before it is {}",
                    newer.generation, newer.parent, older.generation
                ),
                "what changed in between is not in the list, and is missing or older than it was",
            );
        }
    }
    let span = volume.header.next_log - volume.header.oldest_log;
    if span > volume.log.1.frames {
        report.say(
            Severity::Loss,
            None,
            format!(
                "{span} frames of the log are in use, and it has {}",
                volume.log.1.frames
            ),
            "parts of the listed generations have been overwritten",
        );
    }
}
