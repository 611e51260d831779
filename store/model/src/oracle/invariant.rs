//! What must be true of any set of objects that a crash may leave.

use alloc::collections::BTreeMap;

use pebble_store_object::{Capability, Kind, ObjectId, ObjectKind, Rights, COUNTER_LIMIT};

use super::bookkeeping::{Layout, BANK_LIMIT, BANK_OWN, BANK_PARENT, BANK_TOTAL, IS_BANK};
use super::Violation;
use crate::space::HEIGHTS;
use crate::{memory_kind, named_by, Contents, Object};

/// What was seen by a check that found nothing wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Census {
    /// Objects that exist.
    pub live: u64,
    /// Banks.
    pub banks: u64,
    /// Capabilities to objects that convey something.
    pub good: u64,
    /// Capabilities that convey nothing any more.
    pub stale: u64,
}

/// Checks objects under their identities. Those that are missing count as free with counters 0.
///
/// # Errors
/// The first [`Violation`] found.
pub fn check(layout: &Layout, objects: &BTreeMap<ObjectId, Object>) -> Result<Census, Violation> {
    let mut census = Census::default();
    for (id, object) in objects {
        check_object(layout, *id, object)?;
        let Some(contents) = &object.contents else {
            continue;
        };
        census.live += 1;
        for (slot, capability) in contents.slots().iter().enumerate() {
            match check_slot(layout, objects, (*id, slot), *capability)? {
                Some(true) => census.good += 1,
                Some(false) => census.stale += 1,
                None => {}
            }
        }
    }
    census.banks = check_banks(layout, objects)?;
    Ok(census)
}

fn check_object(layout: &Layout, id: ObjectId, object: &Object) -> Result<(), Violation> {
    let place = layout.place(id).ok_or(Violation::Stranger(id))?;
    let in_range = object.version.0 <= COUNTER_LIMIT && object.calls.0 <= COUNTER_LIMIT;
    let page_with_calls = place < layout.pages && object.calls.0 != 0;
    let retired_and_live = object.version.0 == COUNTER_LIMIT && object.contents.is_some();
    if !in_range || page_with_calls || retired_and_live {
        return Err(Violation::Counter(id));
    }
    let Some(contents) = &object.contents else {
        return Ok(());
    };
    if !layout.suits(id, contents.kind()) {
        return Err(Violation::WrongRange(id, contents.kind()));
    }
    match contents {
        Contents::Node(node) if node.height != 0 && !HEIGHTS.contains(&node.height) => {
            Err(Violation::Height(id, node.height))
        }
        _ => Ok(()),
    }
}

/// Whether a capability is good (`Some(true)`), stale, or to no object.
fn check_slot(
    layout: &Layout,
    objects: &BTreeMap<ObjectId, Object>,
    (holder, slot): (ObjectId, usize),
    capability: Capability,
) -> Result<Option<bool>, Violation> {
    let no_capability = Violation::NoCapability {
        holder,
        slot,
        capability,
    };
    let from_the_future = Violation::FromTheFuture {
        holder,
        slot,
        capability,
    };
    let Some(kind) = named_by(capability.kind) else {
        let sound = match capability.kind {
            Kind::Void => capability == Capability::VOID,
            Kind::Number => capability == Capability::number(capability.data),
            _ => {
                let last = capability
                    .object
                    .0
                    .checked_add(capability.data.wrapping_sub(1));
                let last = last.and_then(|last| layout.place(ObjectId(last)));
                let first = layout.place(capability.object);
                capability.data > 0
                    && first
                        .zip(last)
                        .is_some_and(|(first, last)| last - first == capability.data - 1)
            }
        };
        return if sound { Ok(None) } else { Err(no_capability) };
    };
    let memory = memory_kind(kind) == capability.kind;
    if !layout.suits(capability.object, kind) || (!memory && capability.rights != Rights::FULL) {
        return Err(no_capability);
    }
    let missing = Object::default();
    let object = objects.get(&capability.object).unwrap_or(&missing);
    if capability.version > object.version {
        return Err(from_the_future);
    }
    if capability.version < object.version {
        return Ok(Some(false));
    }
    let Some(contents) = &object.contents else {
        return Err(from_the_future);
    };
    if contents.kind() != kind {
        return Err(Violation::WrongKind {
            holder,
            slot,
            capability,
        });
    }
    if !matches!(capability.kind, Kind::Resume | Kind::Fault) {
        return Ok(Some(true));
    }
    if capability.data > object.calls.0 {
        return Err(from_the_future);
    }
    Ok(Some(capability.data == object.calls.0))
}

/// What a bank's node says.
struct Record {
    parent: Option<ObjectId>,
    own: u64,
    total: u64,
}

/// Checks that what exists is what the banks own, and that their counts are right. Returns how many banks there are.
fn check_banks(layout: &Layout, objects: &BTreeMap<ObjectId, Object>) -> Result<u64, Violation> {
    let mut records = BTreeMap::new();
    let mut owned: BTreeMap<ObjectId, u64> = BTreeMap::new();
    for place in 0..layout.pages + layout.nodes {
        let id = layout.identity(place);
        let entry = layout.owner(objects, place);
        let exists = objects
            .get(&id)
            .is_some_and(|object| object.contents.is_some());
        match (entry, exists) {
            (0, false) => continue,
            (0, true) => return Err(Violation::Leak(id)),
            (_, false) => return Err(Violation::Ghost(id)),
            (_, true) => {}
        }
        let owner = ObjectId(entry & !IS_BANK);
        *owned.entry(owner).or_default() += 1;
        let marked = layout
            .place(owner)
            .map_or(0, |place| layout.owner(objects, place));
        if marked & IS_BANK == 0 {
            return Err(Violation::NoOwner(id, owner.0));
        }
        if entry & IS_BANK != 0 {
            let record = read(layout, objects, id).ok_or(Violation::NoBank(id))?;
            // The prime bank owns its own node, and so is above itself here.
            if record.parent.unwrap_or(id) != owner {
                return Err(Violation::WrongParent(id));
            }
            records.insert(id, record);
        }
    }
    check_counts(layout, &records, &owned)?;
    Ok(records.len() as u64)
}

fn check_counts(
    layout: &Layout,
    records: &BTreeMap<ObjectId, Record>,
    owned: &BTreeMap<ObjectId, u64>,
) -> Result<(), Violation> {
    // Each bank's objects count for it and for all above it.
    let mut totals: BTreeMap<ObjectId, u64> = BTreeMap::new();
    for (id, record) in records {
        let own = owned.get(id).copied().unwrap_or(0);
        expect(*id, record.own, own)?;
        let mut at = *id;
        for step in 0.. {
            *totals.entry(at).or_default() += own;
            match records.get(&at).and_then(|record| record.parent) {
                Some(parent) => at = parent,
                None => break,
            }
            if step > records.len() {
                return Err(Violation::Cycle(*id));
            }
        }
        if at != layout.first_node {
            return Err(Violation::Cycle(*id));
        }
    }
    for (id, record) in records {
        expect(*id, record.total, totals.get(id).copied().unwrap_or(0))?;
    }
    Ok(())
}

fn expect(bank: ObjectId, recorded: u64, counted: u64) -> Result<(), Violation> {
    if recorded == counted {
        Ok(())
    } else {
        Err(Violation::Count {
            bank,
            recorded,
            counted,
        })
    }
}

/// A bank's node, if it is laid out as one: only the prime bank has none above it.
fn read(layout: &Layout, objects: &BTreeMap<ObjectId, Object>, id: ObjectId) -> Option<Record> {
    let contents = objects.get(&id)?.contents.as_ref()?;
    if contents.kind() != ObjectKind::Node {
        return None;
    }
    let slots = contents.slots();
    let number = |slot: usize| match slots.get(slot)? {
        Capability {
            kind: Kind::Number,
            data,
            ..
        } => Some(*data),
        _ => None,
    };
    let above = slots[BANK_PARENT];
    let parent = match above.kind {
        Kind::Void if id == layout.first_node => None,
        Kind::Node if id != layout.first_node => {
            let parent = objects.get(&above.object)?;
            if parent.version != above.version || parent.contents.is_none() {
                return None;
            }
            Some(above.object)
        }
        _ => return None,
    };
    number(BANK_LIMIT)?;
    Some(Record {
        parent,
        own: number(BANK_OWN)?,
        total: number(BANK_TOTAL)?,
    })
}
