//! A generation as a stream of bytes, for keeping elsewhere and for another machine (EROS, section 3.5.3).
//!
//! All integers are little-endian. A head of 1024 bytes, then records of 40 bytes, an object's contents of 4096 bytes behind
//! its record. Checksums are XXH3 with 64 bits. Each record's checksum is seeded with the one before it (the first with the
//! head's), so that nothing can be missing, doubled, exchanged or from another stream without being noticed; the last
//! record says how many there were, so that an end that comes early is noticed too.
//!
//! | byte | head | | byte | record |
//! |---|---|---|---|---|
//! | 0 | `PebSend` and 1, the format's version | | 0 | kind: 1 object with contents, 2 null object, 3 process to start, 4 end |
//! | 8 | checksum of what is behind it, seed 0 | | 8 | object frame; process; objects in the stream |
//! | 16 | volume, 16 bytes | | 16 | version, 6 bytes, and kind; version, hazard and priority; processes in the stream |
//! | 32 | generation | | 24 | 0; call count; 0 |
//! | 40 | time, nanoseconds since 1970 | | 32 | checksum of bytes 0 to 31 and the contents |
//! | 48 | frames of the log range | | | |
//! | 56 | frames of the journal range | | | |
//! | 64 | object ranges, at most 28 | | | |
//! | 72 | for each: first object frame, object frames | | | |

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

use pebble_store_device::{Frame, FRAME_SIZE};
use pebble_store_format::{
    checksum, ClusterPlace, FrameKind, ObjectFrame, RangeKind, RestartEntry,
};
use pebble_store_format::{CLUSTER_DATA, CLUSTER_FRAMES, CLUSTER_POTS};
use pebble_store_object::{CallCount, ObjectId, Version, COUNTER_LIMIT};

use crate::build::zero_frame;
use crate::{Error, Fault, Layout, Media, Progress, Snapshot, Volume};

const MARK: [u8; 8] = *b"PebSend\x01";
const HEAD: usize = 1024;
const RECORD: usize = 40;
const RANGES_AT: usize = 72;
const RANGES: u64 = 28;

const OBJECT: u64 = 1;
const NULL: u64 = 2;
const START: u64 = 3;
const END: u64 = 4;

fn get(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(word)
}

fn put(bytes: &mut [u8], at: usize, value: u64) {
    bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
}

fn pack(counter: u64, low: u8, high: u8) -> u64 {
    counter & COUNTER_LIMIT | u64::from(low) << 48 | u64::from(high) << 56
}

fn sum(before: u64, record: &[u8], contents: Option<&Frame>) -> u64 {
    let sum = checksum::of_bytes(before, &record[..32]);
    contents.map_or(sum, |contents| checksum::of_bytes(sum, contents))
}

/// Where the bytes of a stream go.
type Sink<'a> = &'a mut dyn FnMut(&[u8]) -> Result<(), Fault>;

/// Why a generation was not sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SendError {
    /// The image.
    Image(Error),
    /// Whoever takes the bytes.
    Sink,
}

impl From<Error> for SendError {
    fn from(error: Error) -> Self {
        Self::Image(error)
    }
}

impl From<Fault> for SendError {
    fn from(_: Fault) -> Self {
        Self::Sink
    }
}

/// Writes a snapshot as a stream. An object that is damaged ends it: what cannot be read back is no backup.
pub fn send<M: Media>(
    volume: &mut Volume<M>,
    snapshot: &Snapshot,
    sink: Sink<'_>,
    progress: Progress<'_>,
) -> Result<(), SendError> {
    let mut head = [0; HEAD];
    head[..8].copy_from_slice(&MARK);
    let identity = volume
        .disks
        .first()
        .map_or(0, |disk| disk.superblock.volume);
    head[16..32].copy_from_slice(&identity.to_le_bytes());
    let frames_of = |kind| {
        let found = volume.ranges.iter().find(|range| range.range.kind == kind);
        found.map_or(0, |range| range.range.frames)
    };
    let fields = [
        snapshot.generation,
        snapshot.time,
        frames_of(RangeKind::Log),
        frames_of(RangeKind::Journal),
    ];
    for (index, field) in fields.into_iter().enumerate() {
        put(&mut head, 32 + 8 * index, field);
    }
    let objects = volume
        .ranges
        .iter()
        .filter(|range| range.range.kind == RangeKind::Object);
    let mut count = 0;
    for (index, range) in objects.take(RANGES as usize).enumerate() {
        let at = RANGES_AT + 16 * index;
        put(&mut head, at, range.range.object_base);
        put(
            &mut head,
            at + 8,
            ClusterPlace::capacity(range.range.frames),
        );
        count += 1;
    }
    put(&mut head, 64, count);
    let mut chain = checksum::of_bytes(0, &head[16..]);
    put(&mut head, 8, chain);
    sink(&head)?;
    let mut record = |fields: [u64; 4], contents: Option<&Frame>| -> Result<(), Fault> {
        let mut bytes = [0; RECORD];
        for (index, field) in fields.into_iter().enumerate() {
            put(&mut bytes, 8 * index, field);
        }
        chain = sum(chain, &bytes, contents);
        put(&mut bytes, 32, chain);
        sink(&bytes)?;
        contents.map_or(Ok(()), |contents| sink(contents))
    };
    let whole = snapshot.objects.len() as u64;
    for (done, object) in (0..).zip(&snapshot.objects) {
        progress(done, whole);
        let contents = volume.contents(object)?;
        let kind = if contents.is_some() { OBJECT } else { NULL };
        let word = pack(object.tag.version.0, object.tag.kind as u8, 0);
        record([kind, object.frame.0, word, 0], contents.as_deref())?;
    }
    for entry in &snapshot.restart {
        let word = pack(entry.version.0, entry.hazard, entry.priority);
        record([START, entry.process.0, word, entry.call_count.0], None)?;
    }
    record([END, whole, snapshot.restart.len() as u64, 0], None)?;
    Ok(())
}

/// What is wrong with a stream, and where.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StreamError {
    /// The byte at which the record begins that is wrong.
    pub position: u64,
    /// The record's number, from 1; 0: the head.
    pub record: u64,
    /// What is wrong.
    pub problem: StreamProblem,
}

/// What is wrong with a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StreamProblem {
    /// It is over before its end.
    Ends {
        /// Bytes of the record that are there.
        after: u64,
    },
    /// It cannot be read.
    Unreadable,
    /// It does not begin as a stream does.
    NotAStream,
    /// A checksum is wrong.
    Checksum,
    /// A field has a value without a meaning.
    Value {
        /// Which.
        field: &'static str,
        /// What it holds.
        found: u64,
    },
    /// There is something behind its end.
    Behind,
}

impl fmt::Display for StreamError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "the stream, byte {}: ", self.position)?;
        match self.record {
            0 => write!(out, "the head ")?,
            record => write!(out, "record {record} ")?,
        }
        match self.problem {
            StreamProblem::Ends { after } => write!(
                out,
                "breaks off after {after} bytes: the stream is torn; send it again"
            ),
            StreamProblem::Unreadable => write!(out, "cannot be read"),
            StreamProblem::NotAStream => write!(out, "is not that of a stream that was sent by this program"),
            StreamProblem::Checksum => write!(
                out,
                "has a wrong checksum: damaged, or something before it is missing; send the stream again"
            ),
            StreamProblem::Value { field, found } => write!(out, "says {field} is {found}"),
            StreamProblem::Behind => write!(out, "comes behind the stream's end"),
        }
    }
}

impl core::error::Error for StreamError {}

/// One thing that came with a stream.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Received {
    /// An object frame; none: its contents are null.
    Object(ObjectFrame, FrameKind, Version, Option<Box<Frame>>),
    /// A process to start.
    Start(RestartEntry),
}

/// Where the bytes of a stream come from: fills a part of the buffer and says how much; 0 at the end.
type Source<'a> = &'a mut dyn FnMut(&mut [u8]) -> Result<usize, Fault>;

/// The reading end of a stream. Needs no more memory than one record.
pub struct Receiver<'a> {
    source: Source<'a>,
    position: u64,
    record: u64,
    chain: u64,
    counts: [u64; 2],
}

impl<'a> Receiver<'a> {
    /// Reads the head. With it comes how a volume is divided that can take the stream; its identity is the sent volume's.
    pub fn begin(source: Source<'a>) -> Result<(Self, Layout), StreamError> {
        let mut receiver = Self {
            source,
            position: 0,
            record: 0,
            chain: 0,
            counts: [0; 2],
        };
        let mut head = [0; HEAD];
        receiver.fill(&mut head, 0)?;
        if head[..8] != MARK {
            return Err(receiver.error(StreamProblem::NotAStream));
        }
        receiver.chain = checksum::of_bytes(0, &head[16..]);
        if receiver.chain != get(&head, 8) {
            return Err(receiver.error(StreamProblem::Checksum));
        }
        let value = |field, found| StreamProblem::Value { field, found };
        let count = get(&head, 64);
        if count == 0 || count > RANGES {
            return Err(receiver.error(value("the number of object ranges", count)));
        }
        let mut objects = Vec::new();
        for index in 0..count as usize {
            let (base, capacity) = (
                get(&head, RANGES_AT + 16 * index),
                get(&head, RANGES_AT + 16 * index + 8),
            );
            if capacity == 0 || capacity >> 48 != 0 {
                return Err(receiver.error(value("the size of an object range", capacity)));
            }
            objects.push((base, frames_for(capacity)));
        }
        let [generation, log, journal] = [32, 48, 56].map(|at| get(&head, at));
        for (field, found) in [("the log's size", log), ("the journal's size", journal)] {
            if found >> 48 != 0 {
                return Err(receiver.error(value(field, found)));
            }
        }
        if generation == 0 {
            return Err(receiver.error(value("the generation", generation)));
        }
        let layout = Layout {
            volume: u128::from(get(&head, 16)) | u128::from(get(&head, 24)) << 64,
            boot: 0,
            log,
            journal,
            objects,
            generation,
            time: get(&head, 40),
        };
        receiver.position = HEAD as u64;
        receiver.record = 1;
        Ok((receiver, layout))
    }

    /// The next thing; none: the stream is complete, and every byte of it was right.
    pub fn receive(&mut self) -> Result<Option<Received>, StreamError> {
        let mut head = [0; RECORD];
        self.fill(&mut head, 0)?;
        let [kind, name, word, last] = [0, 8, 16, 24].map(|at| get(&head, at));
        let mut contents = None;
        if kind == OBJECT {
            let mut frame = zero_frame();
            self.fill(&mut frame[..], RECORD as u64)?;
            contents = Some(frame);
        }
        let right = sum(self.chain, &head, contents.as_deref());
        if right != get(&head, 32) {
            return Err(self.error(StreamProblem::Checksum));
        }
        self.chain = right;
        let (counter, low, high) = (word & COUNTER_LIMIT, (word >> 48) as u8, (word >> 56) as u8);
        let value = |field, found| StreamProblem::Value { field, found };
        let length = RECORD + contents.as_ref().map_or(0, |_| FRAME_SIZE);
        let received = match kind {
            OBJECT | NULL => {
                let known = FrameKind::from_number(low).filter(|kind| *kind != FrameKind::Unused);
                let kind = known.ok_or(self.error(value("an object's kind", low.into())))?;
                self.counts[0] += 1;
                Received::Object(ObjectFrame(name), kind, Version(counter), contents)
            }
            START => {
                if last > COUNTER_LIMIT {
                    return Err(self.error(value("a call count", last)));
                }
                self.counts[1] += 1;
                Received::Start(RestartEntry {
                    process: ObjectId(name),
                    version: Version(counter),
                    call_count: CallCount(last),
                    hazard: low,
                    priority: high,
                })
            }
            END => return self.end([name, word]),
            _ => return Err(self.error(value("a record's kind", kind))),
        };
        self.position += length as u64;
        self.record += 1;
        Ok(Some(received))
    }

    fn end(&mut self, counts: [u64; 2]) -> Result<Option<Received>, StreamError> {
        if counts != self.counts {
            let field = "the number of objects in the stream";
            let found = counts[0];
            return Err(self.error(StreamProblem::Value { field, found }));
        }
        self.position += RECORD as u64;
        self.record += 1;
        match (self.source)(&mut [0]) {
            Ok(0) => Ok(None),
            Ok(_) => Err(self.error(StreamProblem::Behind)),
            Err(Fault) => Err(self.error(StreamProblem::Unreadable)),
        }
    }

    fn fill(&mut self, buffer: &mut [u8], before: u64) -> Result<(), StreamError> {
        let mut done = 0;
        while done < buffer.len() {
            match (self.source)(&mut buffer[done..]) {
                Ok(0) => {
                    let after = before + done as u64;
                    return Err(self.error(StreamProblem::Ends { after }));
                }
                Ok(count) => done += count.min(buffer.len() - done),
                Err(Fault) => return Err(self.error(StreamProblem::Unreadable)),
            }
        }
        Ok(())
    }

    fn error(&self, problem: StreamProblem) -> StreamError {
        StreamError {
            position: self.position,
            record: self.record,
            problem,
        }
    }
}

/// Frames that an object range needs to hold so many object frames.
pub(crate) fn frames_for(capacity: u64) -> u64 {
    let rest = capacity % CLUSTER_DATA;
    let cut = if rest == 0 { 0 } else { rest + CLUSTER_POTS };
    capacity / CLUSTER_DATA * CLUSTER_FRAMES + cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_made_for_so_many_objects_holds_them() {
        for capacity in 1..2000 {
            let frames = frames_for(capacity);
            assert_eq!(ClusterPlace::capacity(frames), capacity);
            assert!(ClusterPlace::capacity(frames - 1) < capacity);
        }
    }
}
