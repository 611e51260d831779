//! One disk: what is stable, what is not yet, and what is still being done.

use std::rc::Rc;

use pebble_store_device::{Completion, Error, Frame, Request, Tag, FRAME_SIZE, SECTOR_SIZE};

use crate::fault::{Fault, Faults, Kind};
use crate::{Image, Random};

/// A write that has completed and is not stable.
#[derive(Clone, Debug)]
pub(crate) struct Volatile {
    pub at: u64,
    pub contents: Rc<Frame>,
    /// No flush makes it stable any more: it failed, or was to be made stable by a flush that failed.
    pub doomed: bool,
    /// Whether reads see it; a doomed write may have left the cache.
    pub seen: bool,
}

/// A request in flight.
#[derive(Clone, Debug)]
pub(crate) struct Pending {
    pub tag: Tag,
    pub request: Request,
    /// A write's contents as they are shared with images, and where they really go: nowhere for a lost write.
    pub write: Option<(Option<u64>, Rc<Frame>)>,
    /// For a flush, how many of the completed writes it covers.
    pub covers: usize,
    pub fault: Option<Fault>,
}

#[derive(Clone, Debug)]
pub(crate) struct State {
    pub stable: Image,
    /// What each frame held before its last stable write.
    pub previous: Image,
    pub completed: Vec<Volatile>,
    pub pending: Vec<Pending>,
    pub faults: Faults,
    pub gone: bool,
    /// Flushes that have completed well.
    pub flushes: u64,
    /// Writes that have completed well.
    pub writes: u64,
    /// Reads that have completed well.
    pub reads: u64,
}

impl State {
    pub fn new(stable: Image) -> Self {
        Self {
            previous: stable.clone(),
            stable,
            completed: Vec::new(),
            pending: Vec::new(),
            faults: Faults::none(),
            gone: false,
            flushes: 0,
            writes: 0,
            reads: 0,
        }
    }

    /// Whether a request writes a frame that a request in flight writes.
    pub fn hazard(&self, request: &Request) -> bool {
        let Request::Write { at, .. } = request else {
            return false;
        };
        let mut pending = self.pending.iter();
        pending.any(|other| matches!(&other.request, Request::Write { at: same, .. } if same == at))
    }

    /// Takes a request in. What it could leave behind after a cut has changed if it is a write.
    pub fn accept(&mut self, tag: Tag, request: Request, random: &mut Random) {
        let kind = match request {
            Request::Read { .. } => Kind::Read,
            Request::Write { .. } => Kind::Write,
            Request::Flush => Kind::Flush,
        };
        let fault = self.faults.strike(kind, random);
        let write = match &request {
            Request::Write { at, buffer } if *at < self.stable.frames() => {
                let place = match fault {
                    Some(Fault::LostWrite) => None,
                    Some(Fault::MisdirectedWrite) => Some(random.below(self.stable.frames())),
                    _ => Some(*at),
                };
                Some((place, Rc::new(**buffer)))
            }
            _ => None,
        };
        self.pending.push(Pending {
            tag,
            request,
            write,
            covers: self.completed.len(),
            fault,
        });
    }

    /// Ends the request at `index` of those in flight.
    pub fn complete(&mut self, index: usize, random: &mut Random) -> Completion {
        let pending = self.pending.remove(index);
        let (tag, fault) = (pending.tag, pending.fault);
        let (buffer, result) = match pending.request {
            Request::Flush => (None, self.flush(pending.covers, fault, random)),
            Request::Read { at, mut buffer } => {
                let result = self.read(at, &mut buffer, fault, random);
                (Some(buffer), result)
            }
            Request::Write { at, buffer } => {
                let result = match pending.write {
                    _ if self.gone => Err(Error::Gone),
                    None => Err(Error::OutOfRange),
                    Some((place, contents)) => self.written(place, contents, fault, random),
                };
                debug_assert!(result != Err(Error::OutOfRange) || at >= self.stable.frames());
                (Some(buffer), result)
            }
        };
        Completion {
            tag,
            buffer,
            result,
        }
    }

    fn written(
        &mut self,
        place: Option<u64>,
        contents: Rc<Frame>,
        fault: Option<Fault>,
        random: &mut Random,
    ) -> Result<(), Error> {
        let failed = fault == Some(Fault::WriteError);
        if let Some(at) = place {
            self.completed.push(Volatile {
                at,
                contents,
                doomed: failed,
                seen: !failed || random.once_in(2),
            });
        }
        if failed {
            return Err(Error::Medium);
        }
        self.writes += 1;
        Ok(())
    }

    fn flush(
        &mut self,
        covers: usize,
        fault: Option<Fault>,
        random: &mut Random,
    ) -> Result<(), Error> {
        if self.gone {
            return Err(Error::Gone);
        }
        if fault == Some(Fault::FlushError) {
            // Everything since the last good flush is unknown, also what completed while this one was under way.
            for write in &mut self.completed {
                if !write.doomed {
                    write.doomed = true;
                    write.seen = random.once_in(2);
                }
            }
            return Err(Error::Medium);
        }
        let rest = self.completed.split_off(covers.min(self.completed.len()));
        let mut kept: Vec<Volatile> = Vec::new();
        for write in std::mem::replace(&mut self.completed, rest) {
            if write.doomed {
                kept.push(write);
                continue;
            }
            // A later write of the frame takes the place of what became of an earlier one.
            kept.retain(|doomed| doomed.at != write.at);
            let before = self.stable.shared(write.at).cloned();
            self.previous.put(write.at, before);
            self.stable.put(write.at, Some(write.contents));
        }
        let covered = kept.len();
        kept.append(&mut self.completed);
        self.completed = kept;
        // Another flush under way covers what is left of what it covered.
        for pending in &mut self.pending {
            if matches!(pending.request, Request::Flush) {
                let since = pending.covers.saturating_sub(covers);
                pending.covers = covered + since;
            }
        }
        self.flushes += 1;
        Ok(())
    }

    fn read(
        &mut self,
        at: u64,
        buffer: &mut Frame,
        fault: Option<Fault>,
        random: &mut Random,
    ) -> Result<(), Error> {
        if self.gone {
            return Err(Error::Gone);
        }
        if at >= self.stable.frames() {
            return Err(Error::OutOfRange);
        }
        if fault == Some(Fault::ReadError) || self.faults.unreadable(at) {
            // What is in the buffer then says nothing.
            buffer[random.below(FRAME_SIZE as u64) as usize] ^= 0x5a;
            return Err(Error::Medium);
        }
        match fault {
            Some(Fault::StaleRead) => *buffer = *self.previous.read(at),
            Some(Fault::MisdirectedRead) => {
                *buffer = *self.current(random.below(self.stable.frames()));
            }
            _ => {
                *buffer = *self.current(at);
                self.race(at, buffer, random);
            }
        }
        if fault == Some(Fault::FlippedBit) {
            let bit = random.below(FRAME_SIZE as u64 * 8);
            buffer[bit as usize / 8] ^= 1 << (bit % 8);
        }
        self.reads += 1;
        Ok(())
    }

    /// A read that meets a write in flight sees any mixture of old and new sectors.
    fn race(&self, at: u64, buffer: &mut Frame, random: &mut Random) {
        let racing = self
            .pending
            .iter()
            .filter_map(|pending| pending.write.as_ref());
        for (_, contents) in racing.filter(|(place, _)| *place == Some(at)) {
            let seen = random.word();
            let sectors = buffer.chunks_exact_mut(SECTOR_SIZE);
            let both = sectors.zip(contents.chunks_exact(SECTOR_SIZE)).enumerate();
            for (_, (old, new)) in both.filter(|(sector, _)| seen & 1 << sector != 0) {
                old.copy_from_slice(new);
            }
        }
    }

    /// The last completed write of a frame.
    fn current(&self, at: u64) -> &Frame {
        let mut writes = self.completed.iter().rev();
        match writes.find(|write| write.at == at && write.seen) {
            Some(write) => &write.contents,
            None => self.stable.read(at),
        }
    }
}
