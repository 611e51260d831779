//! How banks are recorded in objects, so that they last as long as what they own.
//!
//! A bank's node holds its parent, its limit and two counts. The owner of every object is in the *owner table*, the
//! first pages of the page range: one little-endian word for each object, pages first, then nodes; 0 for a free one,
//! otherwise the identity of the owning bank's node, with [`IS_BANK`] if the object is a bank's node itself.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;

use pebble_store_object::{
    Capability, Kind, ObjectId, ObjectKind, Rights, Version, COUNTER_LIMIT, PAGE_SIZE,
};

use crate::bank::{Bank, Banks};
use crate::{Contents, Error, Object, World};

/// Slot of a bank's node: the node of the bank above, opaque; void in the prime bank's.
pub const BANK_PARENT: usize = 0;
/// Slot of a bank's node: how many objects it and the banks below may have.
pub const BANK_LIMIT: usize = 1;
/// Slot of a bank's node: how many objects were bought from it.
pub const BANK_OWN: usize = 2;
/// Slot of a bank's node: how many objects it and the banks below have.
pub const BANK_TOTAL: usize = 3;

/// Objects recorded in one page of the owner table.
pub const OWNERS_PER_PAGE: u64 = (PAGE_SIZE / 8) as u64;
/// In an entry of the owner table: the object is a bank's node.
pub const IS_BANK: u64 = 1 << 63;

/// Which objects there are. The two ranges must not overlap, nor contain identity 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    /// The first page.
    pub first_page: ObjectId,
    /// How many pages; more than the owner table takes.
    pub pages: u64,
    /// The first node: the prime bank's.
    pub first_node: ObjectId,
    /// How many nodes.
    pub nodes: u64,
}

impl Layout {
    /// Small enough that objects are used again and again.
    pub const SMALL: Layout = Layout {
        first_page: ObjectId(0x1000),
        pages: 24,
        first_node: ObjectId(0x2000),
        nodes: 40,
    };

    /// Pages of the owner table.
    pub fn table_pages(&self) -> u64 {
        (self.pages + self.nodes).div_ceil(OWNERS_PER_PAGE)
    }

    /// The place of an object in the owner table, if it is in one of the ranges.
    pub fn place(&self, id: ObjectId) -> Option<u64> {
        let page = id.0.wrapping_sub(self.first_page.0);
        let node = id.0.wrapping_sub(self.first_node.0);
        if page < self.pages {
            Some(page)
        } else if node < self.nodes {
            Some(self.pages + node)
        } else {
            None
        }
    }

    /// Whether objects of this kind have identities like this one.
    pub fn suits(&self, id: ObjectId, kind: ObjectKind) -> bool {
        self.place(id)
            .is_some_and(|place| (place >= self.pages) == (kind == ObjectKind::Node))
    }

    /// The identity at a place of the owner table.
    pub fn identity(&self, place: u64) -> ObjectId {
        if place < self.pages {
            ObjectId(self.first_page.0 + place)
        } else {
            ObjectId(self.first_node.0 + (place - self.pages))
        }
    }

    /// What the owner table says about the object at a place: 0 if there is no such page.
    pub(super) fn owner(&self, objects: &BTreeMap<ObjectId, Object>, place: u64) -> u64 {
        let page = ObjectId(self.first_page.0 + place / OWNERS_PER_PAGE);
        let Some(Contents::DataPage(bytes)) = objects
            .get(&page)
            .and_then(|object| object.contents.as_ref())
        else {
            return 0;
        };
        let at = (place % OWNERS_PER_PAGE) as usize * 8;
        bytes[at..at + 8]
            .iter()
            .rev()
            .fold(0, |word, byte| (word << 8) | u64::from(*byte))
    }
}

/// A new world with the prime bank and an owner table. Every eighth object has been given back almost as often as can
/// be.
pub(super) fn found(layout: &Layout) -> Result<(World, Banks), Error> {
    let mut world = World::new();
    // Some objects are old, so that histories come to those that are retired.
    for place in (layout.table_pages()..layout.pages + layout.nodes).filter(|place| place % 8 == 7)
    {
        let version = Version(COUNTER_LIMIT - 2);
        let old = Object {
            version,
            ..Object::default()
        };
        world.put(layout.identity(place), old);
    }
    let pages = (layout.first_page, layout.pages);
    let mut banks = Banks::new(&mut world, pages, (layout.first_node, layout.nodes))?;
    let prime = banks.prime();
    for _ in 0..layout.table_pages() {
        banks.allocate(&mut world, prime, ObjectKind::DataPage)?;
    }
    record(layout, &mut world, &banks);
    Ok((world, banks))
}

/// Writes the state of the banks into their objects, where it differs from what is there.
pub(super) fn record(layout: &Layout, world: &mut World, banks: &Banks) {
    for (id, bank) in banks.banks() {
        let slots = bank_slots(world, bank);
        let node = world.object(*id);
        let Some(Contents::Node(node)) = node.and_then(|object| object.contents.as_ref()) else {
            continue;
        };
        if node.slots[..4] != slots {
            let mut node = node.clone();
            node.slots[..4].copy_from_slice(&slots);
            replace(world, *id, Contents::Node(node));
        }
    }
    for page in 0..layout.table_pages() {
        let mut bytes = Box::new([0; PAGE_SIZE]);
        let first = page * OWNERS_PER_PAGE;
        for place in first..(first + OWNERS_PER_PAGE).min(layout.pages + layout.nodes) {
            let id = layout.identity(place);
            let mark = if banks.banks().contains_key(&id) {
                IS_BANK
            } else {
                0
            };
            let owner = banks.owners().get(&id).map_or(0, |owner| owner.0 | mark);
            let at = (place - first) as usize * 8;
            bytes[at..at + 8].copy_from_slice(&owner.to_le_bytes());
        }
        let id = ObjectId(layout.first_page.0 + page);
        let contents = Contents::DataPage(bytes);
        if world.object(id).and_then(|object| object.contents.as_ref()) != Some(&contents) {
            replace(world, id, contents);
        }
    }
}

fn bank_slots(world: &World, bank: &Bank) -> [Capability; 4] {
    let parent = bank.parent.map_or(Capability::VOID, |parent| Capability {
        kind: Kind::Node,
        rights: Rights::OPAQUE,
        object: parent,
        version: world
            .object(parent)
            .map(|object| object.version)
            .unwrap_or_default(),
        data: 0,
    });
    let own = bank.own.len() as u64;
    [
        parent,
        Capability::number(bank.limit),
        Capability::number(own),
        Capability::number(bank.total),
    ]
}

fn replace(world: &mut World, id: ObjectId, contents: Contents) {
    if let Some(object) = world.object(id).cloned() {
        let contents = Some(contents);
        world.put(id, Object { contents, ..object });
    }
}
