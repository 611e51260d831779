//! A store of a few pages' length: two slots for each page, two headers with everything else, two flushes. It has no log and no
//! journal.

use std::collections::BTreeMap;
use std::rc::Rc;

use pebble_store_crash::object::{Contents, Node, Object, Restart, World};
use pebble_store_crash::subject::{Action, Complaint, Coverage, Outcome, Progress, Subject};
use pebble_store_device::{BlockDevice, Frame, Request, Tag, FRAME_SIZE};
use pebble_store_object::{CallCount, Capability, ObjectId, ObjectKind, Version, NODE_SLOTS};
use pebble_store_simulation::{Disk, Image, Machine};

/// Pages that it keeps; their versions are in the header.
const PAGES: u64 = 2;

/// A node that it keeps in the header, as long as it has no capabilities.
const NODE: ObjectId = ObjectId(PAGES);

/// Where the header has versions, and the node.
const VERSIONS: usize = 1024;
const NODE_AT: usize = 3072;

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

fn header(generation: u64, world: &World, restart: &[Restart]) -> Box<Frame> {
    let mut frame = Box::new([0; FRAME_SIZE]);
    set(&mut frame, 8, generation);
    set(&mut frame, 16, restart.len() as u64);
    for (index, entry) in restart.iter().enumerate() {
        let at = 24 + 32 * index;
        set(&mut frame, at, entry.version.0);
        set(&mut frame, at + 8, entry.call_count.0);
        set(&mut frame, at + 16, entry.hazard.into());
        set(&mut frame, at + 24, entry.priority.into());
    }
    for (index, object) in world.objects.values().enumerate() {
        set(&mut frame, VERSIONS + 8 * index, object.version.0);
    }
    let node = &world.objects[&NODE];
    set(
        &mut frame,
        NODE_AT,
        u64::from(node.contents != Contents::Nothing),
    );
    set(&mut frame, NODE_AT + 8, node.call_count.0);
    let sum = sum(&frame);
    set(&mut frame, 0, sum);
    frame
}

fn page(version: u64, frame: &Frame) -> Object {
    Object {
        kind: ObjectKind::DataPage,
        version: Version(version),
        call_count: CallCount(0),
        contents: Contents::Bytes(Rc::new(*frame)),
    }
}

fn node(version: u64, used: bool, calls: u64) -> Object {
    Object {
        kind: ObjectKind::Node,
        version: Version(version),
        call_count: CallCount(calls),
        contents: match used {
            false => Contents::Nothing,
            true => Contents::Node(Rc::new(Node {
                height: 0,
                guard: 0,
                slots: [Capability::VOID; NODE_SLOTS],
            })),
        },
    }
}

/// Whether it can keep this.
fn keeps(id: ObjectId, object: &Object) -> bool {
    match &object.contents {
        Contents::Bytes(_) => true,
        Contents::Nothing => id == NODE,
        Contents::Node(_) => *object == node(object.version.0, true, object.call_count.0),
        Contents::Slots(_) => false,
    }
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

    fn world(_: &Mistake) -> World {
        let pages = (0..PAGES).map(|id| (ObjectId(id), page(0, &[0; FRAME_SIZE])));
        let mut objects: BTreeMap<_, _> = pages.collect();
        objects.insert(NODE, node(0, false, 0));
        World {
            objects,
            restart: Vec::new(),
        }
    }

    fn format(_: &Mistake, world: &World) -> (Vec<Image>, u64) {
        let mut image = Image::new(2 + 2 * PAGES);
        image.write(1, *header(1, world, &[]));
        (vec![image], 1)
    }

    fn recover(mistake: &Mistake, machine: &Machine, _: Option<usize>) -> Result<Self, String> {
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
                thread: NODE,
                version: Version(word(newest, at)),
                call_count: CallCount(word(newest, at + 8)),
                hazard: word(newest, at + 16) as u8,
                priority: word(newest, at + 24) as u8,
            }
        };
        let restart = (0..word(newest, 16).min(100)).map(entry).collect();
        let mut objects = BTreeMap::new();
        for id in 0..PAGES {
            let at = 2 + generation % 2 * PAGES + id;
            let version = word(newest, VERSIONS + 8 * id as usize);
            objects.insert(ObjectId(id), page(version, &read(&mut disk, at)));
        }
        let version = word(newest, VERSIONS + 8 * PAGES as usize);
        let used = word(newest, NODE_AT) != 0;
        objects.insert(NODE, node(version, used, word(newest, NODE_AT + 8)));
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

    fn perform(&mut self, action: &Action) -> Result<Outcome, String> {
        match action {
            Action::Put(objects) => {
                if objects.iter().any(|(id, object)| !keeps(*id, object)) {
                    return Ok(Outcome::Refused);
                }
                self.world.objects.extend(objects.iter().cloned());
            }
            Action::Checkpoint(_) if !self.idle() => return Ok(Outcome::Later),
            Action::Checkpoint(list) => {
                self.world.restart = list.clone();
                self.checkpoint();
            }
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

    fn due(&self) -> bool {
        false
    }

    fn idle(&self) -> bool {
        self.turns.is_empty()
    }

    fn progress(&self) -> Progress {
        self.progress
    }

    fn compare(&mut self, id: ObjectId, expected: &Object) -> Result<(), Complaint> {
        let found = &self.world.objects[&id];
        match expected.difference(found) {
            None => Ok(()),
            Some(why) => Err(Complaint::Wrong(why)),
        }
    }

    fn restart_list(&self) -> Vec<Restart> {
        self.world.restart.clone()
    }

    fn damage(&mut self, _: ObjectId, _: usize, _: bool) -> bool {
        false
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
        let mut pages: Vec<_> = (0..PAGES).collect();
        if self.mistake == Mistake::ForgetsAPage {
            pages.pop();
        }
        let pages = pages.into_iter().filter_map(|id| {
            let Contents::Bytes(bytes) = &self.world.objects[&ObjectId(id)].contents else {
                return None;
            };
            Some(Request::Write {
                at: 2 + half * PAGES + id,
                buffer: Box::new(**bytes),
            })
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
            buffer: header(generation, &self.world, restart),
        }]);
        if self.mistake != Mistake::NoSecondFlush {
            turns.push(vec![Request::Flush]);
        }
        self.turns = turns;
    }
}
