//! Virtual copies: a space that reads as another, and buys what is written (EROS, section 5.2).
//!
//! One node to begin with: slot 0 is the original in its weak form, so that whoever manages the copy cannot change
//! or leak it; the keeper is the manager. The manager gets that node with each fault, and finds the client's bank in
//! it. Everything it needs is in the node, so that it forgets nothing in a crash.

use pebble_store_object::{Capability, Kind, ObjectKind, Rights};

use crate::bank::Banks;
use crate::rights::fetched;
use crate::space::{slots_of, HEIGHTS, KEEPER_SLOT, PAGE_HEIGHT};
use crate::{diminish, restrict, Contents, Error, World};

/// Slot of a copy's node: the bank from which pages and nodes are bought. Void once the space is frozen.
pub const COPY_BANK: usize = 17;

/// Makes a copy of a space: a node or a single page. `manager` is called when the copy is written to; `bank` pays.
/// The result can be used and not looked into.
///
/// # Errors
/// Those of [`Banks::allocate`]; [`Error::NotUnderstood`] for an original that is no memory, [`Error::NoHeight`] for one
/// that is no part of a space or too high to be copied.
pub fn copy(
    world: &mut World,
    banks: &mut Banks,
    bank: Capability,
    manager: Capability,
    original: Capability,
) -> Result<Capability, Error> {
    let original = world.current(original);
    let height = match original.kind {
        Kind::DataPage | Kind::CapabilityPage => PAGE_HEIGHT,
        Kind::Node => world.node(original)?.height,
        Kind::Void => return Err(Error::Void),
        other => return Err(Error::NotUnderstood(other)),
    };
    if height != PAGE_HEIGHT {
        slots_of(height)?;
    }
    let fits = |candidate: &u8| {
        slots_of(*candidate).is_ok_and(|(below, slots)| slots == KEEPER_SLOT && below >= height)
    };
    let own = HEIGHTS
        .into_iter()
        .find(fits)
        .ok_or(Error::NoHeight(height))?;
    let node = banks.allocate(world, bank, ObjectKind::Node)?;
    let contents = world.node_mut(node)?;
    contents.height = own;
    contents.slots[0] = diminish(original);
    contents.slots[KEEPER_SLOT] = manager;
    contents.slots[COPY_BANK] = bank;
    Ok(restrict(node, Rights::OPAQUE))
}

/// What the manager does about a write at an address: copies the page, and the nodes on the way to it that are the
/// original's, all bought from the copy's bank. `node` is the copy's node as the keeper gets it.
///
/// # Errors
/// [`Error::OutOfRange`] if there is nothing at the address: the fault is to be passed on. Those of
/// [`Banks::allocate`]; what was bought before is in place then, and is used by the next try.
pub fn write_fault(
    world: &mut World,
    banks: &mut Banks,
    node: Capability,
    address: u64,
) -> Result<(), Error> {
    let bank = world.current(world.node(node)?.slots[COPY_BANK]);
    let mut at = node;
    let mut rest = address;
    loop {
        let (below, _) = slots_of(world.node(at)?.height)?;
        if rest >> world.node(at)?.height != 0 {
            return Err(Error::OutOfRange(address));
        }
        let slot = (rest >> below) as usize;
        rest &= (1 << below) - 1;
        let mut child = world.current(world.node(at)?.slots[slot]);
        let height = match child.kind {
            Kind::DataPage => PAGE_HEIGHT,
            Kind::Node => world.node(child)?.height,
            _ => return Err(Error::OutOfRange(address)),
        };
        if height > below || rest >> height != 0 {
            return Err(Error::OutOfRange(address));
        }
        if child.rights.has(Rights::READ_ONLY) {
            child = buy_copy(world, banks, bank, child)?;
            world.node_mut(at)?.slots[slot] = child;
        }
        if child.kind == Kind::DataPage {
            return Ok(());
        }
        at = child;
    }
}

/// Buys an object like this one, with what can be read through this capability in it.
fn buy_copy(
    world: &mut World,
    banks: &mut Banks,
    bank: Capability,
    of: Capability,
) -> Result<Capability, Error> {
    let mut contents = world.contents(of)?.clone();
    let current: alloc::vec::Vec<_> = contents
        .slots()
        .iter()
        .map(|slot| fetched(of, world.current(*slot)))
        .collect();
    contents.slots_mut().copy_from_slice(&current);
    let bought = banks.allocate(world, bank, contents.kind())?;
    *world.contents_mut(bought)? = contents;
    Ok(bought)
}

/// Ends all writing to a copy, for everybody who has it: from now on it is a picture that can be copied in its turn.
/// Gives the picture in its weak form. `node` is the copy's node as the keeper gets it.
///
/// # Errors
/// [`Error::Void`], [`Error::Restricted`] for a node that is not as the keeper gets it.
pub fn freeze(world: &mut World, node: Capability) -> Result<Capability, Error> {
    if node.rights != Rights::FULL {
        return Err(Error::Restricted(node.rights));
    }
    let slots = &mut world.node_mut(node)?.slots;
    slots[KEEPER_SLOT] = Capability::VOID;
    slots[COPY_BANK] = Capability::VOID;
    // Slots above the keeper's are no part of the space.
    for slot in &mut slots[..KEEPER_SLOT] {
        *slot = diminish(*slot);
    }
    Ok(diminish(node))
}

/// The space that reads as zeros at every address below `1 << height`: one page, and one node for each height.
///
/// # Errors
/// Those of [`Banks::allocate`]; [`Error::NoHeight`].
pub fn zero_space(
    world: &mut World,
    banks: &mut Banks,
    bank: Capability,
    height: u8,
) -> Result<Capability, Error> {
    slots_of(height)?;
    let mut space = diminish(banks.allocate(world, bank, ObjectKind::DataPage)?);
    for level in HEIGHTS.into_iter().take_while(|level| *level <= height) {
        let (_, slots) = slots_of(level)?;
        let node = banks.allocate(world, bank, ObjectKind::Node)?;
        if let Contents::Node(contents) = world.contents_mut(node)? {
            contents.height = level;
            contents.slots[..slots].fill(space);
        }
        space = diminish(node);
    }
    Ok(space)
}
