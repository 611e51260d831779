//! Reading everything, and saying what is wrong (fsck). Changes nothing.
//!
//! What can be mended is given with its finding as frames to write, and only where no doubt is possible: the right contents
//! are known from a checksum in a record that is itself believed, or from an identical twin. Nothing that could be the only
//! copy of anything is ever overwritten.

mod contents;
mod fixed;
mod log;
mod pots;
mod replicas;

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use pebble_store_device::Frame;

use crate::{Error, Generation, Media, Progress, Snapshot, Volume};

/// Findings that a report keeps; more are counted only, so that a ruined image does not fill memory.
pub const FINDINGS_LIMIT: usize = 1000;

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Severity {
    /// Worth knowing; nothing is wrong.
    Note,
    /// Something is wrong, and nothing is lost: the system starts and has everything.
    Fault,
    /// Something is lost, or the image cannot be started.
    Loss,
}

/// A frame that can be written without any doubt.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mending {
    /// The disk, by its place in the list.
    pub disk: usize,
    /// The frame of the disk.
    pub at: u64,
    /// What belongs there.
    pub contents: Box<Frame>,
    /// Why that is certain.
    pub because: &'static str,
}

/// Something that was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// Where, if it is in one place: disk and frame.
    pub place: Option<(usize, u64)>,
    /// What was found.
    pub what: String,
    /// What that means, and what to do.
    pub meaning: &'static str,
    /// How it can be mended.
    pub mending: Option<Mending>,
}

/// What a check found.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// In the order in which they were found.
    pub findings: Vec<Finding>,
    /// Findings that there was no room for, by severity.
    pub dropped: usize,
    /// The worst of all.
    pub worst: Option<Severity>,
    /// Frames that were read and checked.
    pub frames: u64,
    /// Objects whose contents were checked.
    pub objects: u64,
    /// Capabilities that were checked.
    pub capabilities: u64,
}

impl Report {
    fn add(&mut self, finding: Finding) {
        self.worst = self.worst.max(Some(finding.severity));
        if self.findings.len() < FINDINGS_LIMIT {
            self.findings.push(finding);
        } else {
            self.dropped += 1;
        }
    }

    fn say(
        &mut self,
        severity: Severity,
        place: Option<(usize, u64)>,
        what: String,
        meaning: &'static str,
    ) {
        self.add(Finding {
            severity,
            place,
            what,
            meaning,
            mending: None,
        });
    }

    /// Nothing is wrong.
    pub fn is_clean(&self) -> bool {
        self.worst <= Some(Severity::Note)
    }
}

/// Checks a volume. An error is a volume of which no generation can be read at all; the report says what was found before.
pub fn check<M: Media>(volume: &mut Volume<M>, progress: Progress<'_>) -> (Report, Option<Error>) {
    let mut report = Report::default();
    fixed::check(volume, &mut report);
    let generations = match volume.generations() {
        Ok(generations) => generations,
        Err(error) => {
            log::explain(volume, &error, &mut report);
            return (report, Some(error));
        }
    };
    log::check(volume, &generations, &mut report);
    pots::check(volume, &mut report);
    let snapshot = match snapshot(volume, &generations, &mut report, progress) {
        Ok(snapshot) => snapshot,
        Err(error) => return (report, Some(error)),
    };
    contents::check(volume, &snapshot, &mut report, progress);
    replicas::check(volume, &generations, &snapshot, &mut report);
    (report, None)
}

/// The newest generation; tag pots that cannot be believed are losses.
fn snapshot<M: Media>(
    volume: &mut Volume<M>,
    generations: &[Generation],
    report: &mut Report,
    progress: Progress<'_>,
) -> Result<Snapshot, Error> {
    volume
        .snapshot(generations, None, progress)
        .inspect_err(|error| {
            report.say(
                Severity::Loss,
                None,
                alloc::format!("{error}"),
                "a cluster's tags are lost, and with them which objects are at home there",
            );
        })
}
