//! Bringing a disk up to date while the system runs (EROS, section 3.5.3).
//!
//! Every frame of the ranges is copied from a trusted disk, a window at a time; new writes go to the joining disk as well.
//! A write into the window waits until the window has moved on, and the window waits for writes that were under way before
//! it: otherwise an old copy could overtake a new write. Header slots and boot records are not copied: the next checkpoint
//! writes them. What the joining disk had in them is made unreadable before anything else is written to it, so that it
//! does not look like a disk that could be started from, nor like one that was used without the others.

use alloc::boxed::Box;
use alloc::vec::Vec;

use pebble_store_device::{BlockDevice, Error as DeviceError, Frame};
use pebble_store_format::{RangeKind, BOOT_SLOTS, HEADER_SLOTS};

use super::clearing::{Clearing, READ};
use super::{Job, RangePlace, Standing, Volume};
use crate::mutant::mutated;

/// Frames of the window.
const WINDOW: u64 = 8;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    /// Being read; bit n for each disk that was asked.
    Reading(u32),
    Writing,
    Done,
}

pub(crate) struct Resync {
    /// The joining disk.
    pub disk: usize,
    range: usize,
    first: u64,
    end: u64,
    reading: bool,
    /// Until the old headers are gone for good, nothing is written to the disk.
    pub clearing: Clearing,
    steps: Vec<Step>,
    /// Everything is copied.
    pub done: bool,
    pub copied: u64,
}

impl Resync {
    pub fn new(disk: usize) -> Self {
        Self {
            disk,
            range: 0,
            first: 0,
            end: 0,
            reading: false,
            clearing: Clearing::default(),
            steps: Vec::new(),
            done: false,
            copied: 0,
        }
    }

    /// Whether a frame is in the window.
    pub fn holds(&self, place: RangePlace) -> bool {
        !self.done && place.range == self.range && (self.first..self.end).contains(&place.frame)
    }

    fn place(&self, step: u32) -> RangePlace {
        RangePlace {
            range: self.range,
            frame: self.first + u64::from(step),
        }
    }
}

impl<D: BlockDevice> Volume<D> {
    /// Begins to bring a disk up to date. One at a time.
    pub fn begin_resync(&mut self, disk: usize) {
        self.disks[disk].standing = Standing::Joining;
        self.resync = Some(Resync::new(disk));
        #[cfg(feature = "mutants")]
        if mutated!(self, OldHeadersLeft) {
            if let Some(resync) = self.resync.as_mut() {
                resync.clearing = Clearing::nothing();
            }
            return;
        }
        let clearing = self.begin_clearing(disk);
        if let Some(resync) = self.resync.as_mut() {
            resync.clearing = clearing;
        }
    }

    /// Moves the copying on, if there is any to do.
    pub fn step_resync(&mut self) {
        let Some(mut resync) = self.resync.take() else {
            return;
        };
        if resync.clearing.done
            && !resync.done
            && resync.steps.iter().all(|step| *step == Step::Done)
        {
            if !resync.reading && resync.first < resync.end {
                // The window is set; what was under way before must be finished.
                if !self.writing_into(&resync) {
                    resync.reading = true;
                    let count = resync.end - resync.first;
                    resync.steps = (0..count).map(|_| Step::Reading(0)).collect();
                    for step in 0..count as u32 {
                        self.read_for_resync(&mut resync, step);
                    }
                }
            } else {
                self.next_window(&mut resync);
            }
        }
        self.resync = Some(resync);
    }

    fn next_window(&mut self, resync: &mut Resync) {
        resync.steps.clear();
        resync.reading = false;
        resync.first = resync.end;
        while let Some(range) = self.geometry.ranges.get(resync.range) {
            if range.kind == RangeKind::Log && resync.first == 0 {
                resync.first = HEADER_SLOTS + BOOT_SLOTS;
            }
            let held = self.disks[resync.disk]
                .first
                .get(resync.range)
                .copied()
                .flatten();
            if resync.first < range.frames && held.is_some() {
                resync.end = (resync.first + WINDOW).min(range.frames);
                return;
            }
            resync.range += 1;
            (resync.first, resync.end) = (0, 0);
        }
        resync.done = true;
    }

    /// Whether a write into the window is under way.
    fn writing_into(&self, resync: &Resync) -> bool {
        if mutated!(self, ResyncOvertakes) {
            return false;
        }
        let places = self
            .operations
            .iter()
            .flatten()
            .filter_map(|operation| operation.place);
        places.into_iter().any(|place| resync.holds(place))
    }

    fn read_for_resync(&mut self, resync: &mut Resync, step: u32) {
        let Step::Reading(tried) = resync.steps[step as usize] else {
            return;
        };
        let skipped = mutated!(self, ResyncSkipsFrames) && step % 4 == 3;
        if skipped || !self.read(Job::Resync(step), resync.place(step), tried) {
            // No disk can read it: whoever needs it learns so from its checksum.
            resync.steps[step as usize] = Step::Done;
        }
    }

    /// Takes the answer to one of the requests above.
    pub fn resync_answer(
        &mut self,
        step: u32,
        from: usize,
        buffer: Option<Box<Frame>>,
        result: Result<(), DeviceError>,
    ) {
        let Some(mut resync) = self.resync.take() else {
            return;
        };
        if self.disks[resync.disk].standing != Standing::Joining {
            return;
        }
        if step >= READ {
            resync.clearing = self.clearing_answer(resync.clearing, resync.disk, step, buffer);
            self.resync = Some(resync);
            return;
        }
        match (resync.steps.get(step as usize).copied(), buffer, result) {
            (Some(Step::Reading(_)), Some(buffer), Ok(())) => {
                if let Some(at) = self.disks[resync.disk].at(resync.place(step)) {
                    resync.steps[step as usize] = Step::Writing;
                    resync.copied += 1;
                    self.write_raw(Job::Resync(step), resync.disk, at, buffer);
                }
            }
            (Some(Step::Reading(tried)), _, _) => {
                resync.steps[step as usize] = Step::Reading(tried | 1 << from);
                self.read_for_resync(&mut resync, step);
            }
            (Some(Step::Writing), _, Ok(())) => resync.steps[step as usize] = Step::Done,
            // The joining disk failed; it is out already.
            _ => return,
        }
        self.resync = Some(resync);
    }
}
