//! A disk's image taken apart, so that one thing in it can be made wrong and everything above it sealed again.
//!
//! This reads with the records of `store/format` only, and shares nothing with recovery or fsck.

use pebble_store_device::Frame;
use pebble_store_format::{
    fold_directory, CheckpointHeader, ClusterPlace, DirectoryFrame, GenerationHeader, LogLayout,
    ObjectFrame, Range, RangeKind, RestartFrame, Superblock, TagPot, VolumeKey, HEADER_SLOTS,
};
use pebble_store_simulation::Image;

/// A disk of a volume that has at least one good checkpoint.
#[derive(Clone, Debug)]
pub struct Volume {
    /// What is on it.
    pub image: Image,
    /// Its superblock.
    pub superblock: Superblock,
    /// The newest checkpoint header.
    pub header: CheckpointHeader,
    /// Its generations, newest first, each with its log number.
    pub generations: Vec<(u64, GenerationHeader)>,
}

impl Volume {
    /// Takes an image apart; nothing if it is not a sound volume of this format.
    pub fn of(image: &Image) -> Option<Self> {
        let superblock = Superblock::decode(image.read(0)).ok()?;
        let key = superblock.key();
        let log = range(&superblock, RangeKind::Log)?;
        let headers = (0..HEADER_SLOTS).filter_map(|slot| {
            let frame = image.read(log.first + slot);
            CheckpointHeader::decode(key, slot, frame).ok()
        });
        let header = headers.max_by_key(|header| header.sequence)?;
        let layout = LogLayout::of(log.frames)?;
        let mut generations = Vec::new();
        for reference in &header.generations {
            let frame = image.read(log.first + layout.frame(reference.log));
            let (generation, _) = GenerationHeader::decode(key, reference.log, frame).ok()?;
            generations.push((reference.log, generation));
        }
        Some(Self {
            image: image.clone(),
            superblock,
            header,
            generations,
        })
    }

    /// The key of its checksums.
    pub fn key(&self) -> VolumeKey {
        self.superblock.key()
    }

    /// The log range.
    pub fn log(&self) -> Option<Range> {
        range(&self.superblock, RangeKind::Log)
    }

    /// The first object range.
    pub fn objects(&self) -> Option<Range> {
        range(&self.superblock, RangeKind::Object)
    }

    /// The journal.
    pub fn journal(&self) -> Option<Range> {
        range(&self.superblock, RangeKind::Journal)
    }

    /// The disk's frame for a log number.
    pub fn log_frame(&self, number: u64) -> Option<u64> {
        let log = self.log()?;
        Some(log.first + LogLayout::of(log.frames)?.frame(number))
    }

    /// The disk's frame with the home of an object frame.
    pub fn home(&self, frame: ObjectFrame) -> Option<(Range, ClusterPlace, u64)> {
        let ranges = self.superblock.ranges.iter();
        let mut ranges = ranges.filter(|range| range.kind == RangeKind::Object);
        let range = ranges.find(|range| {
            let number = frame.0.checked_sub(range.object_base);
            number.is_some_and(|number| number < ClusterPlace::capacity(range.frames))
        })?;
        let place = ClusterPlace::of(frame.0 - range.object_base);
        Some((*range, place, range.first + place.frame()))
    }

    /// The tag pots of a cluster, with their disk frames and the valid one that counts first.
    pub fn pots(&self, range: &Range, cluster: u64) -> Vec<(u64, TagPot)> {
        let place = ClusterPlace { cluster, index: 0 };
        let mut pots: Vec<_> = (0..2)
            .filter_map(|copy| {
                let at = range.first + place.pot(copy);
                let frame = self.image.read(at);
                let pot = TagPot::decode(self.key(), range.number, cluster, frame).ok()?;
                Some((at, pot))
            })
            .collect();
        pots.sort_by_key(|(_, pot)| std::cmp::Reverse(pot.sequence));
        pots
    }

    /// The frames of a generation's object directory, with their log numbers.
    pub fn directory(&self, generation: &GenerationHeader) -> Vec<(u64, DirectoryFrame)> {
        let extent = generation.objects;
        let numbers = extent.first..extent.first + extent.frames;
        let frames = numbers.filter_map(|number| {
            let frame = self.image.read(self.log_frame(number)?);
            let (directory, _) = DirectoryFrame::decode(self.key(), number, frame).ok()?;
            Some((number, directory))
        });
        frames.collect()
    }

    /// The frames of a generation's restart directory, with their log numbers.
    pub fn restart(&self, generation: &GenerationHeader) -> Vec<(u64, RestartFrame)> {
        let extent = generation.restart;
        let numbers = extent.first..extent.first + extent.frames;
        let frames = numbers.filter_map(|number| {
            let frame = self.image.read(self.log_frame(number)?);
            let (directory, _) = RestartFrame::decode(self.key(), number, frame).ok()?;
            Some((number, directory))
        });
        frames.collect()
    }

    /// Writes a frame of the log.
    pub fn write_log(&mut self, number: u64, frame: &Frame) -> Option<()> {
        let at = self.log_frame(number)?;
        self.image.write(at, *frame);
        Some(())
    }

    /// Writes the object directory of the `index`th generation anew, and seals everything above it.
    pub fn put_directory(&mut self, index: usize, frames: &[(u64, DirectoryFrame)]) -> Option<()> {
        let mut fold = 0;
        let mut entries = 0;
        for (number, directory) in frames {
            let (frame, sum) = directory.encode(self.key(), *number);
            self.write_log(*number, &frame)?;
            fold = fold_directory(fold, sum);
            entries += directory.entries.len() as u64;
        }
        let (_, mut generation) = *self.generations.get(index)?;
        generation.objects.checksum = fold;
        generation.objects.entries = entries;
        self.put_generation(index, generation)
    }

    /// As [`Self::put_directory`], for the restart directory.
    pub fn put_restart(&mut self, index: usize, frames: &[(u64, RestartFrame)]) -> Option<()> {
        let mut fold = 0;
        let mut entries = 0;
        for (number, directory) in frames {
            let (frame, sum) = directory.encode(self.key(), *number);
            self.write_log(*number, &frame)?;
            fold = fold_directory(fold, sum);
            entries += directory.entries.len() as u64;
        }
        let (_, mut generation) = *self.generations.get(index)?;
        generation.restart.checksum = fold;
        generation.restart.entries = entries;
        self.put_generation(index, generation)
    }

    /// Writes the header of the `index`th generation anew, and seals the checkpoint header.
    pub fn put_generation(&mut self, index: usize, generation: GenerationHeader) -> Option<()> {
        let number = self.generations.get(index)?.0;
        let (frame, sum) = generation.encode(self.key(), number);
        self.write_log(number, &frame)?;
        self.generations[index].1 = generation;
        let mut header = self.header.clone();
        header.generations[index].checksum = sum;
        self.put_header(header)
    }

    /// Writes the checkpoint header anew, in the slot that its sequence number says.
    pub fn put_header(&mut self, header: CheckpointHeader) -> Option<()> {
        let at = self.log()?.first + LogLayout::header_slot(header.sequence);
        self.image.write(at, *header.encode(self.key()));
        self.header = header;
        Some(())
    }

    /// Changes one byte of a disk's frame.
    pub fn flip(&mut self, at: u64, byte: usize) {
        let mut frame = *self.image.read(at);
        frame[byte] ^= 0x10;
        self.image.write(at, frame);
    }
}

fn range(superblock: &Superblock, kind: RangeKind) -> Option<Range> {
    let mut ranges = superblock.ranges.iter();
    ranges.find(|range| range.kind == kind).copied()
}
