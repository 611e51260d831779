//! A disk of a machine, as the store sees it.

use pebble_store_device::{BlockDevice, Completion, Request, Tag};

use crate::Machine;

/// A disk of a [`Machine`].
#[derive(Clone, Debug)]
pub struct Disk {
    machine: Machine,
    index: usize,
    frames: u64,
}

impl Disk {
    pub(crate) fn new(machine: Machine, index: usize, frames: u64) -> Self {
        Self {
            machine,
            index,
            frames,
        }
    }
}

impl BlockDevice for Disk {
    fn frames(&self) -> u64 {
        self.frames
    }

    fn submit(&mut self, tag: Tag, request: Request) -> Result<(), Request> {
        self.machine.submit(self.index, tag, request)
    }

    fn poll(&mut self) -> Option<Completion> {
        self.machine.poll(self.index)
    }
}
