//! What an image is in: frames that can be read and written one at a time, without waiting for anything.

use alloc::vec::Vec;

use pebble_store_device::{Frame, FRAME_SIZE};

/// A frame that could not be read or written: damage, or the end of the image.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fault;

/// An image file, a disk, or memory.
pub trait Media {
    /// Whole frames.
    fn frames(&self) -> u64;
    /// Reads a frame.
    fn read(&mut self, at: u64, frame: &mut Frame) -> Result<(), Fault>;
    /// Writes a frame.
    fn write(&mut self, at: u64, frame: &Frame) -> Result<(), Fault>;
}

/// An image in memory.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Memory(pub Vec<u8>);

impl Memory {
    /// Zeros.
    pub fn zeros(frames: u64) -> Self {
        Self(alloc::vec![0; frames as usize * FRAME_SIZE])
    }

    fn span(&self, at: u64) -> Option<core::ops::Range<usize>> {
        let first = usize::try_from(at).ok()?.checked_mul(FRAME_SIZE)?;
        let span = first..first.checked_add(FRAME_SIZE)?;
        (span.end <= self.0.len()).then_some(span)
    }
}

impl Media for Memory {
    fn frames(&self) -> u64 {
        (self.0.len() / FRAME_SIZE) as u64
    }

    fn read(&mut self, at: u64, frame: &mut Frame) -> Result<(), Fault> {
        let span = self.span(at).ok_or(Fault)?;
        frame.copy_from_slice(&self.0[span]);
        Ok(())
    }

    fn write(&mut self, at: u64, frame: &Frame) -> Result<(), Fault> {
        let span = self.span(at).ok_or(Fault)?;
        self.0[span].copy_from_slice(frame);
        Ok(())
    }
}
