//! What a machine does: actions at random, from a seed.

use std::rc::Rc;

use pebble_store_object::{
    CallCount, Capability, ObjectId, ObjectKind, Rights, Version, COUNTER_LIMIT, NODE_SLOTS,
    PAGE_SIZE,
};
use pebble_store_simulation::{Fault, Random};

use crate::object::{Contents, Node, Object, Restart, World};
use crate::subject::Action;

/// How often each kind of step is taken, relative to each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Weights {
    /// An object changes.
    pub put: u64,
    /// The restart list changes.
    pub restart: u64,
    /// A checkpoint is asked for.
    pub checkpoint: u64,
    /// A page is journaled.
    pub journal: u64,
    /// An object is used.
    pub touch: u64,
    /// The store goes on a little.
    pub poll: u64,
    /// The store goes on until it has nothing to do.
    pub settle: u64,
    /// A disk of a pair is lost.
    pub lose: u64,
    /// A disk does something wrong.
    pub fault: u64,
    /// An object changes in memory that nobody has changed.
    pub damage: u64,
}

/// A step of a workload.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// Something is asked of the store.
    Act(Action),
    /// A checkpoint is asked for.
    Checkpoint,
    /// From now on these threads are to be restarted.
    Restart(Vec<Restart>),
    /// The store is polled this often.
    Poll(u64),
    /// The store is polled until it is idle.
    Settle,
    /// A disk is lost.
    Lose(usize),
    /// A disk does something wrong, after this many fitting requests.
    Fault(usize, Fault, u64),
    /// Something changes the contents of an object in memory, behind the store's back; then a checkpoint is tried.
    Damage(ObjectId),
}

impl Step {
    /// What it is, without what it is done to.
    pub fn name(&self) -> &'static str {
        match self {
            Step::Act(Action::Put(_)) => "changing objects",
            Step::Act(Action::Checkpoint(_)) | Step::Checkpoint => "taking a checkpoint",
            Step::Act(Action::Journal(_)) => "journaling pages",
            Step::Act(Action::Touch(_)) => "using an object",
            Step::Restart(_) => "changing the restart list",
            Step::Lose(_) => "losing a disk",
            Step::Fault(..) => "breaking a disk",
            Step::Damage(_) => "damaging memory",
            Step::Poll(_) => "polling",
            Step::Settle => "finishing what is under way",
        }
    }
}

impl Step {
    /// What it is, and what it is done to.
    pub fn told(&self) -> String {
        let name = self.name();
        match self {
            Step::Act(Action::Put(objects)) => {
                let ids = objects.iter().map(|(id, object)| {
                    let Object { kind, version, .. } = object;
                    format!(" {:#x} ({kind:?}, version {})", id.0, version.0)
                });
                format!("{name}:{}", ids.collect::<String>())
            }
            Step::Act(Action::Journal(pages)) => format!("{name}: {pages:x?}"),
            Step::Poll(times) => format!("{name} {times} times"),
            Step::Damage(id) => format!("{name}: {:#x}", id.0),
            Step::Lose(disk) => format!("{name}: {disk}"),
            Step::Fault(disk, fault, spared) => {
                format!("{name}: {disk}, {fault:?} after {spared} requests of its kind")
            }
            _ => name.into(),
        }
    }
}

impl Weights {
    /// A bit of everything but disks that are lost.
    pub const ORDINARY: Weights = Weights {
        put: 10,
        restart: 2,
        checkpoint: 3,
        journal: 2,
        touch: 2,
        poll: 6,
        settle: 1,
        lose: 0,
        fault: 0,
        damage: 0,
    };

    /// The next step in a world.
    pub fn step(&self, world: &World, random: &mut Random) -> Step {
        let ids: Vec<ObjectId> = world.objects.keys().copied().collect();
        let id = random.pick(&ids);
        let mut which = random.below(self.sum());
        let mut is = |weight: u64| {
            let hit = which < weight;
            which = which.wrapping_sub(weight);
            hit
        };
        if is(self.put) {
            return Step::Act(put(id, world, random));
        }
        if is(self.restart) {
            return Step::Restart(restart(world, random));
        }
        if is(self.checkpoint) {
            return Step::Checkpoint;
        }
        if is(self.journal) {
            let mut pages = vec![id];
            if random.once_in(3) {
                pages.push(random.pick(&ids));
            }
            pages.sort_unstable();
            pages.dedup();
            let page = |id: &ObjectId| matches!(world.objects[id].contents, Contents::Bytes(_));
            pages.retain(page);
            return Step::Act(Action::Journal(pages));
        }
        if is(self.touch) {
            return Step::Act(Action::Touch(id));
        }
        if is(self.poll) {
            return Step::Poll(1 + random.below(12));
        }
        if is(self.settle) {
            return Step::Settle;
        }
        if is(self.damage) {
            return Step::Damage(id);
        }
        let disk = random.below(2) as usize;
        if is(self.lose) {
            return Step::Lose(disk);
        }
        Step::Fault(disk, random.pick(&Fault::ALL), random.below(12))
    }

    fn sum(&self) -> u64 {
        self.put
            + self.restart
            + self.checkpoint
            + self.journal
            + self.touch
            + self.poll
            + self.settle
            + self.lose
            + self.fault
            + self.damage
    }
}

/// A change of an object: its contents, its call count, or that it is given back.
pub fn put(id: ObjectId, world: &World, random: &mut Random) -> Action {
    let mut object = world.objects[&id].clone();
    match random.below(12) {
        0 if object.contents != Contents::Nothing => {
            object.version = Version((object.version.0 + 1).min(COUNTER_LIMIT));
            object.contents = Contents::Nothing;
        }
        1 if matches!(object.contents, Contents::Node(_)) => {
            object.call_count = CallCount((object.call_count.0 + 1).min(COUNTER_LIMIT));
        }
        _ => object.contents = change(&object, world, random),
    }
    if matches!(object.contents, Contents::Slots(_)) {
        object.kind = ObjectKind::CapabilityPage;
    } else if object.kind != ObjectKind::Node {
        object.kind = ObjectKind::DataPage;
    }
    Action::Put(vec![(id, object)])
}

/// Other contents: everything new, or one word. A free object is taken into use.
fn change(object: &Object, world: &World, random: &mut Random) -> Contents {
    match &object.contents {
        Contents::Bytes(bytes) if random.once_in(3) => {
            let mut bytes = **bytes;
            let at = random.below(PAGE_SIZE as u64 / 8) as usize * 8;
            bytes[at..at + 8].copy_from_slice(&random.word().to_le_bytes());
            Contents::Bytes(Rc::new(bytes))
        }
        Contents::Nothing if object.kind == ObjectKind::Node => Contents::Node(Rc::new(Node {
            height: 0,
            guard: 0,
            slots: [Capability::VOID; NODE_SLOTS],
        })),
        Contents::Nothing if random.once_in(3) => {
            Contents::Slots(vec![capability(world, random)].into())
        }
        Contents::Bytes(_) | Contents::Nothing => {
            let mut bytes = [0; PAGE_SIZE];
            let mut stream = Random::new(random.word());
            for word in bytes.chunks_exact_mut(8) {
                word.copy_from_slice(&stream.word().to_le_bytes());
            }
            Contents::Bytes(Rc::new(bytes))
        }
        Contents::Slots(slots) => {
            let mut slots = slots.to_vec();
            slots.resize(1 + random.below(100) as usize, Capability::VOID);
            let last = slots.len() - 1;
            let slot = random.below(slots.len() as u64) as usize;
            slots[slot] = capability(world, random);
            slots[last] = Capability::number(random.word());
            Contents::Slots(slots.into())
        }
        Contents::Node(node) => {
            let mut node = Node::clone(node);
            if random.once_in(6) {
                node.height = random.pick(&[0, 17, 21, 26, 30]);
                node.guard = random.word();
            }
            for _ in 0..1 + random.below(4) {
                let slot = random.below(NODE_SLOTS as u64) as usize;
                node.slots[slot] = capability(world, random);
            }
            Contents::Node(Rc::new(node))
        }
    }
}

/// A capability that is good in this world, or a number.
fn capability(world: &World, random: &mut Random) -> Capability {
    use pebble_store_object::Kind;
    let at = random.below(world.objects.len() as u64 + 2) as usize;
    let object = world.objects.iter().nth(at);
    let Some((id, object)) = object.filter(|(_, o)| o.contents != Contents::Nothing) else {
        return Capability::number(random.word() | 1);
    };
    let kind = match object.kind {
        ObjectKind::Node => random.pick(&[Kind::Node, Kind::Process, Kind::Entry, Kind::Resume]),
        ObjectKind::DataPage => Kind::DataPage,
        ObjectKind::CapabilityPage => Kind::CapabilityPage,
    };
    let data = match kind {
        Kind::Entry => random.below(100),
        Kind::Resume => object.call_count.0,
        _ => 0,
    };
    Capability {
        kind,
        rights: Rights::from_bits(random.below(8) as u8).unwrap_or_default(),
        object: *id,
        version: object.version,
        data,
    }
}

/// A restart list: some of the nodes, in the order of their numbers.
fn restart(world: &World, random: &mut Random) -> Vec<Restart> {
    let nodes = world.objects.iter();
    let nodes = nodes.filter(|(_, object)| matches!(object.contents, Contents::Node(_)));
    let some = nodes.filter(|_| random.once_in(3));
    let some: Vec<_> = some.collect();
    some.into_iter()
        .map(|(thread, object)| Restart {
            thread: *thread,
            version: object.version,
            call_count: object.call_count,
            hazard: random.below(3) as u8,
            priority: random.below(32) as u8,
        })
        .collect()
}
