//! A store of one page's length: two slots for everything, two headers, two flushes. It has no log and no journal.

use std::collections::BTreeMap;
use std::rc::Rc;

use pebble_store_crash::object::{Contents, Object, Restart, World};
use pebble_store_crash::subject::{Action, Coverage, Outcome, Progress, Subject};
use pebble_store_device::{BlockDevice, Frame, Request, Tag, FRAME_SIZE};
use pebble_store_object::{CallCount, ObjectId, ObjectKind, Version};
use pebble_store_simulation::{Disk, Image, Machine};

/// Pages that it keeps, each with its version in the last 8 bytes of a frame.
const PAGES: u64 = 3;

/// What it does wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mistake {
    None,
    NoFirstFlush,
    NoSecondFlush,
    OneHeader,
    NoChecksum,
    ForgetsAPage,
    ForgetsRestartList,
    Stuck,
}

#[derive(Debug)]
pub struct Toy {
    mistake: Mistake,
    disk: Disk,
    world: World,
    progress: Progress,
    /// Requests to be sent, in turns: a turn begins when everything before is answered.
    turns: Vec<Vec<Request>>,
    flying: usize,
}

fn sum(frame: &Frame) -> u64 {
    let mut sum = 0xcbf2_9ce4_8422_2325_u64;
    for byte in &frame[8..] {
        sum = (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    }
    sum
}

fn word(frame: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(frame[at..at + 8].try_into().expect("8 bytes"))
}

fn set(frame: &mut Frame, at: usize, word: u64) {
    frame[at..at + 8].copy_from_slice(&word.to_le_bytes());
}

fn header(generation: u64, restart: &[Restart]) -> Box<Frame> {
    let mut frame = Box::new([0; FRAME_SIZE]);
    set(&mut frame, 8, generation);
    set(&mut frame, 16, restart.len() as u64);
    for (index, entry) in restart.iter().enumerate() {
        let at = 24 + 32 * index;
        set(&mut frame, at, entry.thread.0);
        set(&mut frame, at + 8, entry.call_count.0);
        set(&mut frame, at + 16, entry.hazard.into());
        set(&mut frame, at + 24, entry.priority.into());
    }
    let sum = sum(&frame);
    set(&mut frame, 0, sum);
    frame
}

fn page(frame: &Frame) -> Object {
    let mut bytes = *frame;
    set(&mut bytes, FRAME_SIZE - 8, 0);
    Object {
        kind: ObjectKind::DataPage,
        version: Version(word(frame, FRAME_SIZE - 8)),
        call_count: CallCount(0),
        contents: Contents::Bytes(Rc::new(bytes)),
    }
}

fn frame(object: &Object) -> Box<Frame> {
    let Contents::Bytes(bytes) = &object.contents else {
        panic!("it keeps pages only");
    };
    let mut frame = Box::new(**bytes);
    set(&mut frame, FRAME_SIZE - 8, object.version.0);
    frame
}

fn read(disk: &mut Disk, at: u64) -> Box<Frame> {
    let buffer = Box::new([0; FRAME_SIZE]);
    disk.submit(Tag(0), Request::Read { at, buffer })
        .expect("room");
    loop {
        if let Some(done) = disk.poll() {
            return done.buffer.expect("the buffer of a read");
        }
    }
}

impl Subject for Toy {
    type Shape = Mistake;

    fn format(_: &Mistake) -> (Vec<Image>, u64, World) {
        let mut image = Image::new(2 + 2 * PAGES);
        image.write(1, *header(1, &[]));
        let empty = page(&[0; FRAME_SIZE]);
        let objects = (0..PAGES).map(|id| (ObjectId(id), empty.clone()));
        let world = World {
            objects: objects.collect(),
            restart: Vec::new(),
        };
        (vec![image], 1, world)
    }

    fn recover(mistake: &Mistake, machine: &Machine) -> Result<Self, String> {
        let mut disk = machine.disk(0);
        let headers = [read(&mut disk, 0), read(&mut disk, 1)];
        let believed = |frame: &&Frame| {
            *mistake == Mistake::NoChecksum && word(&frame[..], 8) != 0
                || word(&frame[..], 0) == sum(frame)
        };
        let newest = headers
            .iter()
            .map(|frame| &**frame)
            .filter(believed)
            .max_by_key(|f| word(&f[..], 8));
        let newest = newest.ok_or("neither header is good")?;
        let generation = word(newest, 8);
        let entry = |index: u64| {
            let at = 24 + 32 * index as usize;
            Restart {
                thread: ObjectId(word(newest, at)),
                call_count: CallCount(word(newest, at + 8)),
                hazard: word(newest, at + 16) as u8,
                priority: word(newest, at + 24) as u8,
            }
        };
        let restart = (0..word(newest, 16).min(100)).map(entry).collect();
        let mut objects = BTreeMap::new();
        for id in 0..PAGES {
            let at = 2 + generation % 2 * PAGES + id;
            objects.insert(ObjectId(id), page(&read(&mut disk, at)));
        }
        Ok(Self {
            mistake: *mistake,
            disk,
            world: World { objects, restart },
            progress: Progress {
                newest: generation,
                committed: generation,
                journaled: true,
                ..Progress::default()
            },
            turns: Vec::new(),
            flying: 0,
        })
    }

    fn perform(&mut self, _: &Machine, action: &Action) -> Result<Outcome, String> {
        match action {
            Action::Put(objects) => {
                // Its version is kept there.
                let taken = |object: &Object| match &object.contents {
                    Contents::Bytes(bytes) => word(&bytes[..], FRAME_SIZE - 8) != 0,
                    _ => true,
                };
                if objects.iter().any(|(_, object)| taken(object)) {
                    return Ok(Outcome::Refused);
                }
                self.world.objects.extend(objects.iter().cloned());
            }
            Action::Restart(list) => self.world.restart = list.clone(),
            Action::Checkpoint if !self.idle() => return Ok(Outcome::Later),
            Action::Checkpoint => self.checkpoint(),
            Action::Touch(_) => {}
            _ => return Ok(Outcome::Refused),
        }
        Ok(Outcome::Done)
    }

    fn poll(&mut self) -> Result<(), String> {
        if self.flying == 0 {
            if let Some(turn) = self.turns.first_mut() {
                while let Some(request) = turn.pop() {
                    if let Err(request) = self.disk.submit(Tag(1), request) {
                        turn.push(request);
                        break;
                    }
                    self.flying += 1;
                }
            }
        }
        if self.disk.poll().is_some() {
            self.flying -= 1;
        }
        let over = self.turns.first().is_some_and(|turn| turn.is_empty());
        if over && self.flying == 0 && self.mistake != Mistake::Stuck {
            self.turns.remove(0);
            if self.turns.is_empty() {
                self.progress.committed = self.progress.newest;
            }
        }
        Ok(())
    }

    fn idle(&self) -> bool {
        self.turns.is_empty()
    }

    fn progress(&self) -> Progress {
        self.progress
    }

    fn compare(&mut self, id: ObjectId, expected: &Object) -> Result<(), String> {
        let found = &self.world.objects[&id];
        expected.difference(found).map_or(Ok(()), Err)
    }

    fn restart_list(&mut self) -> Result<Vec<Restart>, String> {
        Ok(self.world.restart.clone())
    }

    fn coverage(&self) -> Coverage {
        Coverage::default()
    }
}

impl Toy {
    fn checkpoint(&mut self) {
        self.progress.snapshots += 1;
        self.progress.newest += 1;
        let generation = self.progress.newest;
        let half = generation % 2;
        let mut objects: Vec<_> = self.world.objects.iter().collect();
        if self.mistake == Mistake::ForgetsAPage {
            objects.pop();
        }
        let pages = objects.iter().map(|(id, object)| Request::Write {
            at: 2 + half * PAGES + id.0,
            buffer: frame(object),
        });
        let mut turns = vec![pages.collect()];
        if self.mistake != Mistake::NoFirstFlush {
            turns.push(vec![Request::Flush]);
        }
        let restart = match self.mistake {
            Mistake::ForgetsRestartList => &[],
            _ => &self.world.restart[..],
        };
        turns.push(vec![Request::Write {
            at: match self.mistake {
                Mistake::OneHeader => 1,
                _ => half,
            },
            buffer: header(generation, restart),
        }]);
        if self.mistake != Mistake::NoSecondFlush {
            turns.push(vec![Request::Flush]);
        }
        self.turns = turns;
    }
}
