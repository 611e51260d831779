//! Random histories of banks, nodes and pages, the same for the same seed.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec;
use alloc::vec::Vec;

use pebble_store_object::{Capability, Kind, ObjectId, ObjectKind, Rights};

use super::bookkeeping::{found, record, Layout};
use super::Operation;
use crate::bank::{Banks, Destroy};
use crate::random::Random;
use crate::space::HEIGHTS;
use crate::{Contents, Error, Object, World};

/// What one step of a workload did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// The operation.
    pub operation: Operation,
    /// The objects that it changed: their new state is in [`Workload::objects`]. Never empty.
    pub changed: BTreeSet<ObjectId>,
}

/// A history in the making.
#[derive(Clone, Debug)]
pub struct Workload {
    layout: Layout,
    random: Random,
    world: World,
    banks: Banks,
    /// Capabilities to the banks that exist; the prime bank first.
    faces: Vec<Capability>,
    /// Capabilities to the objects that exist and are the clients'.
    bought: Vec<Capability>,
}

impl Workload {
    /// A store in which only the prime bank and its owner table exist; some of the free objects have versions near the
    /// limit already. All of it is in [`Workload::objects`]: that is what the store must hold before the first step.
    ///
    /// # Errors
    /// [`Error::Exhausted`] if the layout has no room for the prime bank and its table.
    pub fn new(seed: u64, layout: Layout) -> Result<Self, Error> {
        let (world, banks) = found(&layout)?;
        let faces = vec![banks.prime()];
        let mut workload = Self {
            layout,
            random: Random::new(seed),
            world,
            banks,
            faces,
            bought: Vec::new(),
        };
        workload.world.take_changed();
        Ok(workload)
    }

    /// The layout of its store.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// What must be in the store now: every object that was ever used.
    pub fn objects(&self) -> &BTreeMap<ObjectId, Object> {
        self.world.objects()
    }

    /// Does one operation that changes something.
    pub fn step(&mut self) -> Step {
        loop {
            let operation = self.attempt();
            let changed = self.world.take_changed();
            if let (Ok(operation), false) = (operation, changed.is_empty()) {
                return Step { operation, changed };
            }
        }
    }

    /// Tries something; a refusal (a full store, nothing there to write to) has changed nothing.
    fn attempt(&mut self) -> Result<Operation, Error> {
        let operation = match self.random.below(100) {
            0..=24 => self.allocate(),
            25..=34 => self.deallocate(),
            35..=39 => self.make_bank(),
            40..=42 => self.destroy_bank(),
            43..=69 => self.write_slot(),
            70..=89 => self.write_page(),
            90..=93 => self.set_height(),
            _ => self.answer(),
        }?;
        record(&self.layout, &mut self.world, &self.banks);
        Ok(operation)
    }

    fn allocate(&mut self) -> Result<Operation, Error> {
        let bank = self.any_bank();
        let kinds = [
            ObjectKind::DataPage,
            ObjectKind::CapabilityPage,
            ObjectKind::Node,
        ];
        let kind = kinds[self.random.below(kinds.len())];
        let made = self.banks.allocate(&mut self.world, bank, kind)?;
        self.bought.push(made);
        Ok(Operation::Allocate {
            bank: bank.object,
            kind,
            made: made.object,
        })
    }

    fn deallocate(&mut self) -> Result<Operation, Error> {
        let object = *self.random.pick(&self.bought).ok_or(Error::Void)?;
        let owner = self.banks.owners().get(&object.object).copied();
        let bank = self.faces.iter().find(|face| Some(face.object) == owner);
        let bank = *bank.ok_or(Error::Foreign(object.object))?;
        self.banks.deallocate(&mut self.world, bank, object)?;
        self.bought.retain(|bought| *bought != object);
        Ok(Operation::Deallocate {
            bank: bank.object,
            object: object.object,
        })
    }

    fn make_bank(&mut self) -> Result<Operation, Error> {
        let above = self.any_bank();
        let limit = self
            .random
            .one_in(2)
            .then(|| 1 + self.random.below(12) as u64);
        let made = self.banks.make_bank(&mut self.world, above, limit)?;
        self.faces.push(made);
        Ok(Operation::MakeBank {
            above: above.object,
            made: made.object,
        })
    }

    fn destroy_bank(&mut self) -> Result<Operation, Error> {
        let bank = self.any_bank();
        let how = if self.random.one_in(2) {
            Destroy::Reclaim
        } else {
            Destroy::Return
        };
        self.banks.destroy(&mut self.world, bank, how)?;
        let world = &self.world;
        self.faces.retain(|face| world.is_live(*face));
        self.bought.retain(|bought| world.is_live(*bought));
        Ok(Operation::DestroyBank {
            bank: bank.object,
            how,
        })
    }

    fn write_slot(&mut self) -> Result<Operation, Error> {
        let object = *self.random.pick(&self.bought).ok_or(Error::Void)?;
        let capability = self.any_capability();
        let slots = self.world.contents(object)?.slots().len();
        let slot = self.random.below(slots);
        let contents = self.world.contents(object)?;
        let old = contents
            .slots()
            .get(slot)
            .ok_or(Error::NoSlot { slot, slots })?;
        if *old == capability {
            return Err(Error::Void);
        }
        self.world.contents_mut(object)?.slots_mut()[slot] = capability;
        Ok(Operation::WriteSlot {
            object: object.object,
            slot,
            capability,
        })
    }

    fn write_page(&mut self) -> Result<Operation, Error> {
        let object = *self.random.pick(&self.bought).ok_or(Error::Void)?;
        let Contents::DataPage(_) = self.world.contents(object)? else {
            return Err(Error::Void);
        };
        let length = 1 + self.random.below(512);
        let Contents::DataPage(bytes) = self.world.contents_mut(object)? else {
            return Err(Error::Void);
        };
        let offset = self.random.below(bytes.len() - length);
        let fill = self.random.word().to_le_bytes();
        for (index, byte) in bytes[offset..offset + length].iter_mut().enumerate() {
            *byte = fill[index % 8] ^ (index / 8) as u8;
        }
        Ok(Operation::WritePage {
            object: object.object,
            offset,
            length,
        })
    }

    fn set_height(&mut self) -> Result<Operation, Error> {
        let node = *self.random.pick(&self.bought).ok_or(Error::Void)?;
        let height = *self.random.pick(&HEIGHTS).unwrap_or(&0);
        match self.world.contents(node)? {
            Contents::Node(old) if old.height != height => {}
            _ => return Err(Error::Void),
        }
        self.world.node_mut(node)?.height = height;
        Ok(Operation::SetHeight {
            node: node.object,
            height,
        })
    }

    fn answer(&mut self) -> Result<Operation, Error> {
        let node = *self.random.pick(&self.bought).ok_or(Error::Void)?;
        if node.kind != Kind::Node {
            return Err(Error::Void);
        }
        self.world.count_call(node.object);
        Ok(Operation::Answer { node: node.object })
    }

    fn any_bank(&mut self) -> Capability {
        let prime = self.banks.prime();
        self.random.pick(&self.faces).copied().unwrap_or(prime)
    }

    /// Something that can be in a slot: a number, a capability of any kind to anything, or what is in a slot already,
    /// which may be stale.
    fn any_capability(&mut self) -> Capability {
        let object = self
            .random
            .pick(&self.bought)
            .copied()
            .unwrap_or(Capability::VOID);
        match self.random.below(10) {
            0 => Capability::VOID,
            1 => Capability::number(self.random.word()),
            2..=4 => {
                let contents = self.world.contents(object);
                let slots = contents.map(Contents::slots).unwrap_or(&[]);
                self.random.pick(slots).copied().unwrap_or(object)
            }
            5..=7 => {
                let bits = self.random.below(8) as u8;
                let rights = Rights::from_bits(bits).unwrap_or_default();
                Capability { rights, ..object }
            }
            _ if object.kind == Kind::Node => self.face_of(object),
            _ => object,
        }
    }

    /// One of the other capabilities that there can be to a node.
    fn face_of(&mut self, node: Capability) -> Capability {
        let kinds = [
            Kind::Process,
            Kind::Entry,
            Kind::Resume,
            Kind::Fault,
            Kind::Indirector,
        ];
        let kind = kinds[self.random.below(kinds.len())];
        let data = match kind {
            Kind::Resume | Kind::Fault => self.world.calls(node.object),
            Kind::Entry => self.random.word(),
            _ => 0,
        };
        Capability { kind, data, ..node }
    }
}
