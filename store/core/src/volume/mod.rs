//! The disks of a volume as one: reads from any good copy, writes to all.
//!
//! A disk is *trusted* when everything committed can be read from it, *joining* while it is being brought up to date, *out*
//! when it is neither. Writes go to trusted and joining disks, reads to trusted ones. A disk that fails a write or a flush is
//! out from then on, as long as another trusted one is left (EROS, section 3.5.3: duplexed ranges).

mod clearing;
mod geometry;
mod requests;
mod resync;

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use pebble_store_device::{BlockDevice, Error as DeviceError, Frame, Request, Tag, FRAME_SIZE};
use pebble_store_format::VolumeKey;

pub(crate) use geometry::{Geometry, RangePlace};
pub(crate) use resync::Resync;

/// What a request is for: comes back with its answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Job {
    /// A superblock of a disk: copy 0 or 1.
    Superblock(u64),
    /// A frame of the start of the log range: headers and boot records.
    Slot(u64),
    /// A generation header: its place in the header's list.
    Generation(usize),
    /// A directory frame: its number in the order of reading.
    Directory(u64),
    /// A journal record frame.
    JournalRecord(u64),
    /// A page of the journal, by position.
    JournalPage(u64),
    /// The contents of an object, for a slot of the cache.
    Fetch(u32),
    /// The contents of an object of the started generation, to be looked at: a reading under way.
    Verify(u32),
    /// A copy of a tag pot.
    Pot(u64),
    /// A frame of the checkpoint under way: item of the frozen list.
    Save(u32),
    /// Contents from the journal for an item of the frozen list.
    Carry(u32),
    /// A directory or generation header of the checkpoint under way.
    SaveRecord,
    /// The checkpoint header.
    Header,
    /// The first or second flush of a checkpoint.
    CheckpointFlush,
    /// An object to bring home: item of the cluster under migration.
    Migrate(u32),
    /// The same, on its way home.
    Home,
    /// The tag pot of the cluster under migration.
    HomePot,
    /// A frame of a journal record.
    Journal,
    /// The flush behind a journal record.
    JournalFlush,
    /// The boot record.
    Boot,
    /// The flush behind it.
    BootFlush,
    /// The flush that opening begins with.
    OpenFlush,
    /// A frame that is copied to a joining disk.
    Resync(u32),
}

/// An answer.
pub(crate) struct Answer {
    pub job: Job,
    /// The disk that answered last.
    pub disk: usize,
    /// A read's contents.
    pub buffer: Option<Box<Frame>>,
    pub result: Result<(), DeviceError>,
}

/// How far a disk can be believed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Standing {
    Trusted,
    Joining,
    Out,
}

pub(crate) struct Disk<D> {
    pub device: D,
    pub standing: Standing,
    /// It is of this volume and out of date: to be brought up to date.
    pub stale: bool,
    /// Its number in the volume, from its superblock.
    pub number: u8,
    /// The first frame of each range, in the order of the geometry; none where the disk lacks the range.
    pub first: Vec<Option<u64>>,
    waiting: VecDeque<(Tag, Request)>,
    under_way: usize,
}

/// A request that is under way, on one disk or several.
struct Operation {
    job: Job,
    stamp: u32,
    left: u32,
    result: Result<(), DeviceError>,
    request: &'static str,
    /// Where a write to a range goes.
    place: Option<RangePlace>,
}

pub(crate) struct Volume<D> {
    pub disks: Vec<Disk<D>>,
    pub geometry: Geometry,
    /// What the checksums of its records begin with.
    pub key: VolumeKey,
    in_flight: usize,
    /// Buffers that came back, for the next reads.
    buffers: Vec<Box<Frame>>,
    operations: Vec<Option<Operation>>,
    free: Vec<u32>,
    stamp: u32,
    turn: usize,
    /// Writes that wait for the window of a resync to move on.
    held: Vec<(Job, RangePlace, Box<Frame>)>,
    /// Answers that no disk had to give.
    ready: Vec<Answer>,
    pub resync: Option<Resync>,
    /// A trusted disk was lost since the set of trusted disks was last written down.
    pub changed: bool,
    pub lost: u64,
    pub frames_written: u64,
    #[cfg(feature = "mutants")]
    pub mutant: Option<crate::Mutant>,
}

impl<D: BlockDevice> Volume<D> {
    pub fn new(devices: Vec<D>, in_flight: usize) -> Self {
        let disks = devices.into_iter().map(Disk::new);
        Self {
            disks: disks.collect(),
            geometry: Geometry::default(),
            key: VolumeKey::of(0),
            in_flight: in_flight.max(1),
            buffers: Vec::new(),
            operations: Vec::new(),
            free: Vec::new(),
            stamp: 0,
            turn: 0,
            held: Vec::new(),
            ready: Vec::new(),
            resync: None,
            changed: false,
            lost: 0,
            frames_written: 0,
            #[cfg(feature = "mutants")]
            mutant: None,
        }
    }

    pub fn trusted(&self) -> impl Iterator<Item = usize> + '_ {
        let disks = self.disks.iter().enumerate();
        disks
            .filter(|(_, disk)| disk.standing == Standing::Trusted)
            .map(|(index, _)| index)
    }

    /// A buffer with anything in it.
    pub fn buffer(&mut self) -> Box<Frame> {
        let buffer = self.buffers.pop();
        buffer.unwrap_or_else(|| Box::new([0; FRAME_SIZE]))
    }

    /// A buffer that is not needed any more.
    pub fn recycle(&mut self, buffer: Box<Frame>) {
        if self.buffers.len() < 2 * self.in_flight {
            self.buffers.push(buffer);
        }
    }

    /// The numbers of the disks with some standing, as bits.
    pub fn numbers(&self, standing: Standing) -> u8 {
        let disks = self.disks.iter().filter(|disk| disk.standing == standing);
        disks.fold(0, |bits, disk| bits | 1 << (disk.number & 7))
    }

    /// Takes a disk out, if it may go: a joining one always, a trusted one if another is left.
    fn give_up(&mut self, disk: usize) -> bool {
        match self.disks[disk].standing {
            Standing::Out => true,
            Standing::Joining => {
                self.disks[disk].standing = Standing::Out;
                self.resync = None;
                true
            }
            Standing::Trusted => {
                if self.trusted().count() < 2 {
                    return false;
                }
                self.disks[disk].standing = Standing::Out;
                self.changed = true;
                self.lost += 1;
                true
            }
        }
    }
}

impl<D> Disk<D> {
    pub fn new(device: D) -> Self {
        Self {
            device,
            standing: Standing::Trusted,
            stale: false,
            number: 0,
            first: Vec::new(),
            waiting: VecDeque::new(),
            under_way: 0,
        }
    }
}
