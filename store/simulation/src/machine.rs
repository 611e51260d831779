//! The machine that has the disks: time, order and what a power cut would find.

use std::cell::RefCell;
use std::rc::Rc;

use pebble_store_device::{Completion, Request, Tag};

use crate::cut::DiskCut;
use crate::state::State;
use crate::{Cut, Disk, Faults, Image, Random};

/// In which order a disk answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// Each request is answered at the next poll, in the order of submission: for runs in which order is not the matter.
    Submission,
    /// Any request in flight is next, or none yet, as the seed has it.
    Random,
}

/// One or more disks that lose power together. A clone is the same machine.
#[derive(Clone, Debug)]
pub struct Machine(Rc<RefCell<Inner>>);

#[derive(Debug)]
pub(crate) struct Inner {
    disks: Vec<State>,
    random: Random,
    order: Order,
    queue: usize,
    hazards: u64,
    event: u64,
    cuts: Option<Vec<Cut>>,
}

impl Machine {
    /// A machine whose disks hold these images. `queue` is how many requests a disk has in flight at most, at least 1.
    pub fn new(images: &[Image], seed: u64, order: Order, queue: usize) -> Self {
        Self(Rc::new(RefCell::new(Inner {
            disks: images.iter().cloned().map(State::new).collect(),
            random: Random::new(seed),
            order,
            queue: queue.max(1),
            hazards: 0,
            event: 0,
            cuts: None,
        })))
    }

    /// The disk with this index, to give to a store. Every such disk is the same one.
    pub fn disk(&self, index: usize) -> Disk {
        let inner = self.0.borrow();
        Disk::new(self.clone(), index, inner.disks[index].stable.frames())
    }

    /// From now on a [`Cut`] is taken down at each event.
    pub fn record(&self) {
        self.0.borrow_mut().cuts.get_or_insert_default();
    }

    /// The cuts taken down since the last call.
    pub fn cuts(&self) -> Vec<Cut> {
        let mut inner = self.0.borrow_mut();
        inner.cuts.as_mut().map_or(Vec::new(), std::mem::take)
    }

    /// What a cut at this moment would find, whatever was taken down before.
    pub fn cut(&self) -> Cut {
        self.0.borrow().cut(None)
    }

    /// Events so far: submissions of writes, good flushes, writes and flushes that fail, losses of a disk.
    pub fn event(&self) -> u64 {
        self.0.borrow().event
    }

    /// Writes that met another one in flight for the same frame: what is left of the two is nobody's promise.
    pub fn hazards(&self) -> u64 {
        self.0.borrow().hazards
    }

    /// Good (reads, writes, flushes) of a disk so far.
    pub fn counts(&self, index: usize) -> (u64, u64, u64) {
        let inner = self.0.borrow();
        let disk = &inner.disks[index];
        (disk.reads, disk.writes, disk.flushes)
    }

    /// What a disk does wrong from now on.
    pub fn inject(&self, index: usize, faults: Faults) {
        self.0.borrow_mut().disks[index].faults = faults;
    }

    /// Takes a disk away: it answers everything with [`pebble_store_device::Error::Gone`].
    pub fn lose(&self, index: usize) {
        let mut inner = self.0.borrow_mut();
        inner.disks[index].gone = true;
        inner.happened(None);
    }

    /// Whether requests are in flight on any disk.
    pub fn busy(&self) -> bool {
        let inner = self.0.borrow();
        inner.disks.iter().any(|disk| !disk.pending.is_empty())
    }

    pub(crate) fn submit(&self, index: usize, tag: Tag, request: Request) -> Result<(), Request> {
        self.0.borrow_mut().submit(index, tag, request)
    }

    pub(crate) fn poll(&self, index: usize) -> Option<Completion> {
        self.0.borrow_mut().poll(index)
    }
}

impl Inner {
    fn submit(&mut self, index: usize, tag: Tag, request: Request) -> Result<(), Request> {
        let disk = &mut self.disks[index];
        if disk.pending.len() >= self.queue {
            return Err(request);
        }
        let is_write = matches!(request, Request::Write { .. });
        self.hazards += u64::from(disk.hazard(&request));
        disk.accept(tag, request, &mut self.random);
        if is_write && !disk.gone {
            self.happened(Some(index));
        }
        Ok(())
    }

    fn poll(&mut self, index: usize) -> Option<Completion> {
        let disk = &mut self.disks[index];
        let flight = disk.pending.len() as u64;
        if flight == 0 {
            return None;
        }
        let next = match self.order {
            Order::Submission => 0,
            Order::Random if self.random.once_in(4) => return None,
            Order::Random => self.random.below(flight),
        };
        let is_read = matches!(disk.pending[next as usize].request, Request::Read { .. });
        let is_flush = matches!(disk.pending[next as usize].request, Request::Flush);
        let completion = disk.complete(next as usize, &mut self.random);
        let failed = completion.result.is_err();
        if is_flush || failed && !is_read {
            self.happened(None);
        }
        Some(completion)
    }

    /// Counts an event and takes it down. `written` is the disk that has got a new write.
    fn happened(&mut self, written: Option<usize>) {
        self.event += 1;
        if self.cuts.is_some() {
            let cut = self.cut(written);
            self.cuts.get_or_insert_default().push(cut);
        }
    }

    fn cut(&self, written: Option<usize>) -> Cut {
        let disks: Vec<DiskCut> = self.disks.iter().map(DiskCut::of).collect();
        let mut before = 0;
        let fresh = written.and_then(|index| {
            before += disks[..index].iter().map(DiskCut::len).sum::<usize>();
            // A lost write leaves nothing new.
            let last = self.disks[index].pending.last()?.write.as_ref()?.0;
            last.map(|_| before + disks[index].len() - 1)
        });
        Cut {
            event: self.event,
            disks,
            fresh,
        }
    }
}
