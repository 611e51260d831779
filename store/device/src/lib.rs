//! What the store may ask of a disk, and what it may believe of the answers.
//!
//! The semantics are virtio-blk's (OASIS virtio, block device, with the flush feature negotiated):
//!
//! - Requests that are in flight together complete in any order, and none waits for another.
//! - From submission on, a written frame's contents are undefined, sector by sector: old, new, or neither.
//! - A write is stable once it has completed **and** a flush that was submitted after that completion has completed
//!   without error. Nothing else makes it stable.
//! - A flush that fails says that everything since the last good flush is unknown. A later good flush does not mend that.
//! - A read returns the last completed write of the frame, or reports an error; a faulty medium may also return something
//!   else, so that what matters carries a checksum.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

use alloc::boxed::Box;

/// Bytes of a frame, the unit of every request.
pub const FRAME_SIZE: usize = 4096;

/// Bytes that a disk writes whole or not at all, as far as anybody promises.
pub const SECTOR_SIZE: usize = 512;

/// The contents of a frame.
pub type Frame = [u8; FRAME_SIZE];

/// What is asked. Buffers belong to the device from submission until they come back in the completion.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Request {
    /// Read frame `at` into the buffer.
    Read {
        /// The frame's number on the device, from 0.
        at: u64,
        /// Where the contents go.
        buffer: Box<Frame>,
    },
    /// Write the buffer to frame `at`.
    Write {
        /// The frame's number on the device, from 0.
        at: u64,
        /// The contents.
        buffer: Box<Frame>,
    },
    /// Make every write that has completed before now stable.
    Flush,
}

/// Which request a completion answers: chosen by who submits, never looked at by the device.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Tag(pub u64);

/// The answer to a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Completion {
    /// The tag that came with the request.
    pub tag: Tag,
    /// The buffer that came with the request; a read's contents are in it when `result` is good.
    pub buffer: Option<Box<Frame>>,
    /// Whether it was done.
    pub result: Result<(), Error>,
}

/// Why a request was not done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Error {
    /// The medium or the way to it failed (virtio's `S_IOERR`).
    Medium,
    /// The frame lies behind the device's end.
    OutOfRange,
    /// The device is gone, and answers nothing any more.
    Gone,
}

/// A disk.
pub trait BlockDevice {
    /// Frames of the device.
    fn frames(&self) -> u64;

    /// Starts a request. A device whose queue is full gives the request back; try again after a completion.
    fn submit(&mut self, tag: Tag, request: Request) -> Result<(), Request>;

    /// The next completion, if there is one yet. Does not wait.
    fn poll(&mut self) -> Option<Completion>;
}
