//! A disk in memory that counts what is asked of it.

use std::cell::Cell;
use std::collections::VecDeque;
use std::rc::Rc;

use pebble_store_device::{BlockDevice, Completion, Error, Frame, Request, Tag};
use pebble_store_image::{Fault, Media, Memory};

/// Requests that are left before the work counts as endless. Shared by the disks of a volume.
#[derive(Clone)]
pub struct Patience(Rc<Cell<u64>>);

impl Patience {
    /// So many requests.
    pub fn new(requests: u64) -> Self {
        Self(Rc::new(Cell::new(requests)))
    }

    fn spend(&self) {
        let left = self.0.get();
        assert!(left > 0, "this work does not end");
        self.0.set(left - 1);
    }
}

/// The disk.
pub struct Disk {
    image: Memory,
    patience: Patience,
    answers: VecDeque<Completion>,
}

impl Disk {
    pub fn new(image: Memory, patience: &Patience) -> Self {
        Self {
            image,
            patience: patience.clone(),
            answers: VecDeque::new(),
        }
    }

    pub fn into_image(self) -> Memory {
        self.image
    }
}

impl Media for Disk {
    fn frames(&self) -> u64 {
        self.image.frames()
    }

    fn read(&mut self, at: u64, frame: &mut Frame) -> Result<(), Fault> {
        self.patience.spend();
        self.image.read(at, frame)
    }

    fn write(&mut self, at: u64, frame: &Frame) -> Result<(), Fault> {
        self.patience.spend();
        self.image.write(at, frame)
    }
}

impl BlockDevice for Disk {
    fn frames(&self) -> u64 {
        self.image.frames()
    }

    fn submit(&mut self, tag: Tag, request: Request) -> Result<(), Request> {
        let (buffer, result) = match request {
            Request::Read { at, mut buffer } => {
                let result = Media::read(self, at, &mut buffer);
                (Some(buffer), result)
            }
            Request::Write { at, buffer } => {
                let result = Media::write(self, at, &buffer);
                (Some(buffer), result)
            }
            Request::Flush => (None, Ok(())),
        };
        self.answers.push_back(Completion {
            tag,
            buffer,
            result: result.map_err(|_| Error::OutOfRange),
        });
        Ok(())
    }

    fn poll(&mut self) -> Option<Completion> {
        self.answers.pop_front()
    }
}
