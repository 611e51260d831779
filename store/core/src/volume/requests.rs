//! Requests to disks and their answers.

use alloc::boxed::Box;
use alloc::vec::Vec;

use pebble_store_device::{BlockDevice, Error as DeviceError, Frame, Request, Tag};

use super::{Answer, Job, Operation, RangePlace, Standing, Volume};
use crate::mutant::mutated;

impl<D: BlockDevice> Volume<D> {
    /// Reads a frame of a range from a trusted disk that is not among those `tried` already (bit n for disk n of the list).
    /// Says whether there was one.
    pub fn read(&mut self, job: Job, place: RangePlace, tried: u32) -> bool {
        let count = self.disks.len();
        for step in 0..count {
            let index = (self.turn + step) % count;
            let disk = &self.disks[index];
            if tried & 1 << index != 0 || disk.standing != Standing::Trusted {
                continue;
            }
            if let Some(at) = disk.at(place) {
                self.turn = index + 1;
                self.read_raw(job, index, at);
                return true;
            }
        }
        false
    }

    /// Reads a frame of a disk.
    pub fn read_raw(&mut self, job: Job, disk: usize, at: u64) {
        let buffer = self.buffer();
        let tag = self.begin(job, 1, "read", disk);
        self.enqueue(disk, tag, Request::Read { at, buffer });
    }

    /// Writes a frame of a range to every disk that has it and counts.
    pub fn write(&mut self, job: Job, place: RangePlace, buffer: Box<Frame>) {
        if self
            .resync
            .as_ref()
            .is_some_and(|resync| resync.holds(place))
        {
            // A copy of this frame's old contents may be on its way to the joining disk. Which of two writes in flight comes
            // last is nobody's promise.
            self.held.push((job, place, buffer));
            return;
        }
        self.frames_written += 1;
        let mut targets: Vec<(usize, u64)> = Vec::with_capacity(self.disks.len());
        for (index, disk) in self.disks.iter().enumerate() {
            let clearing = disk.standing == Standing::Joining
                && self
                    .resync
                    .as_ref()
                    .is_some_and(|resync| !resync.clearing.done);
            if disk.standing != Standing::Out && !clearing {
                targets.extend(disk.at(place).map(|at| (index, at)));
            }
            if mutated!(self, WriteOneReplica) {
                targets.truncate(1);
            }
        }
        let Some((last, others)) = targets.split_last() else {
            // Every disk with this range is gone.
            self.ready.push(Answer {
                job,
                disk: 0,
                buffer: None,
                result: Err(DeviceError::Gone),
            });
            return;
        };
        let index = self.insert(job, targets.len() as u32, "write");
        if let Some(operation) = self.operations[index as usize].as_mut() {
            operation.place = Some(place);
        }
        for (disk, at) in others {
            let (at, buffer) = (*at, buffer.clone());
            let tag = self.tag(index, *disk);
            self.enqueue(*disk, tag, Request::Write { at, buffer });
        }
        let (disk, at) = *last;
        let tag = self.tag(index, disk);
        self.enqueue(disk, tag, Request::Write { at, buffer });
    }

    /// Writes a frame of one disk only.
    pub fn write_raw(&mut self, job: Job, disk: usize, at: u64, buffer: Box<Frame>) {
        let tag = self.begin(job, 1, "write", disk);
        self.enqueue(disk, tag, Request::Write { at, buffer });
    }

    /// Flushes every disk that counts.
    pub fn flush(&mut self, job: Job) {
        let disks = self.disks.iter().enumerate();
        let live: Vec<usize> = disks
            .filter(|(_, disk)| disk.standing != Standing::Out)
            .map(|(index, _)| index)
            .collect();
        let index = self.insert(job, live.len() as u32, "flush");
        for disk in live {
            let tag = self.tag(index, disk);
            self.enqueue(disk, tag, Request::Flush);
        }
    }

    /// Flushes one disk only.
    pub fn flush_raw(&mut self, job: Job, disk: usize) {
        let tag = self.begin(job, 1, "flush", disk);
        self.enqueue(disk, tag, Request::Flush);
    }

    /// Hands waiting requests to the disks and collects answers.
    pub fn poll(&mut self, answers: &mut Vec<Answer>) {
        self.release_held();
        answers.append(&mut self.ready);
        for disk in 0..self.disks.len() {
            self.submit_waiting(disk);
            while let Some(completion) = self.disks[disk].device.poll() {
                let index = (completion.tag.0 & 0xFFFF_FFFF) as u32 >> 4;
                let stamp = (completion.tag.0 >> 32) as u32;
                let known = self.operations.get(index as usize).and_then(Option::as_ref);
                if known.is_none_or(|operation| operation.stamp != stamp) {
                    continue;
                }
                self.disks[disk].under_way = self.disks[disk].under_way.saturating_sub(1);
                self.complete(index, disk, completion.buffer, completion.result, answers);
            }
            self.submit_waiting(disk);
        }
    }

    /// Whether requests are waiting or under way.
    pub fn busy(&self) -> bool {
        self.operations.len() > self.free.len() || !self.held.is_empty()
    }

    fn begin(&mut self, job: Job, left: u32, request: &'static str, disk: usize) -> Tag {
        let index = self.insert(job, left, request);
        self.tag(index, disk)
    }

    fn insert(&mut self, job: Job, left: u32, request: &'static str) -> u32 {
        self.stamp = self.stamp.wrapping_add(1);
        let operation = Operation {
            job,
            stamp: self.stamp,
            left,
            result: Ok(()),
            request,
            place: None,
        };
        match self.free.pop() {
            Some(index) => {
                self.operations[index as usize] = Some(operation);
                index
            }
            None => {
                self.operations.push(Some(operation));
                (self.operations.len() - 1) as u32
            }
        }
    }

    fn tag(&self, index: u32, disk: usize) -> Tag {
        let operation = self.operations.get(index as usize).and_then(Option::as_ref);
        let stamp = operation.map_or(0, |operation| operation.stamp);
        Tag(u64::from(stamp) << 32 | u64::from(index) << 4 | disk as u64 & 15)
    }

    fn enqueue(&mut self, disk: usize, tag: Tag, request: Request) {
        self.disks[disk].waiting.push_back((tag, request));
        self.submit_waiting(disk);
    }

    fn submit_waiting(&mut self, disk: usize) {
        let limit = self.in_flight;
        let disk = &mut self.disks[disk];
        while disk.under_way < limit {
            let Some((tag, request)) = disk.waiting.pop_front() else {
                return;
            };
            if let Err(request) = disk.device.submit(tag, request) {
                disk.waiting.push_front((tag, request));
                return;
            }
            disk.under_way += 1;
        }
    }

    fn complete(
        &mut self,
        index: u32,
        disk: usize,
        buffer: Option<Box<Frame>>,
        result: Result<(), DeviceError>,
        answers: &mut Vec<Answer>,
    ) {
        let slot = &mut self.operations[index as usize];
        let Some(operation) = slot.as_mut() else {
            return;
        };
        operation.left -= 1;
        let (left, request) = (operation.left, operation.request);
        let ignored = request == "flush" && mutated!(self, FlushErrorIgnored)
            || request == "write" && mutated!(self, WriteErrorIgnored);
        if let (Err(error), false) = (result, ignored) {
            // A failed read is the reader's matter, who can ask another disk.
            let bearable = request != "read" && self.give_up(disk);
            if let (false, Some(operation)) = (bearable, self.operations[index as usize].as_mut()) {
                operation.result = Err(error);
            }
        }
        if left > 0 {
            return;
        }
        if let Some(operation) = self.operations[index as usize].take() {
            self.free.push(index);
            let mut buffer = buffer;
            if operation.request == "write" {
                if let Some(written) = buffer.take() {
                    self.recycle(written);
                }
            }
            answers.push(Answer {
                job: operation.job,
                disk,
                buffer,
                result: operation.result,
            });
        }
    }

    fn release_held(&mut self) {
        let mut index = 0;
        while index < self.held.len() {
            let place = self.held[index].1;
            if self
                .resync
                .as_ref()
                .is_some_and(|resync| resync.holds(place))
            {
                index += 1;
            } else {
                let (job, place, buffer) = self.held.remove(index);
                self.write(job, place, buffer);
            }
        }
    }
}
