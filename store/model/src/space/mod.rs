//! Address spaces: trees of nodes with pages as leaves (EROS, section 3.1).
//!
//! How much a node spans is said in the node. A node's slots name nodes of less height, or pages; one that spans less
//! than its slot does is at the beginning of it, and the rest is a hole. So a walk goes down at every step, whatever
//! is in the slots, and a ring of nodes is no danger.

use pebble_store_object::{Capability, Kind, Rights};

use crate::rights::fetched;
use crate::{Error, World};

/// The heights that a node of an address space can have: the address bits that it and what is below it decide. Spans
/// of 32 and 16 slots alternate, so that every second level is one table of the processor (2 MiB, 1 GiB, 512 GiB).
pub const HEIGHTS: [u8; 6] = [17, 21, 26, 30, 35, 39];

/// The height of a page: the address bits within it.
pub const PAGE_HEIGHT: u8 = 12;

/// Slot of a node of 16: who is called when an access below it is not possible.
pub const KEEPER_SLOT: usize = 16;

/// Kinds of access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Bytes are read.
    Read,
    /// Bytes are written.
    Write,
}

/// Who is called, and about which part of the space.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Keeper {
    /// Who is called.
    pub entry: Capability,
    /// The node in which this keeper is, as its keeper gets it: unrestricted.
    pub node: Capability,
}

/// Why there is no page at an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Missing {
    /// Nothing is there.
    Hole,
    /// A slot names a node that is no part of an address space, or one that does not fit into the slot.
    Malformed,
}

/// What is at an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Translation {
    /// The page, restricted by all that is on the way to it.
    pub page: Result<Capability, Missing>,
    /// The innermost keeper on the way, if there is any.
    pub keeper: Option<Keeper>,
    /// Nodes passed.
    pub steps: usize,
}

impl Translation {
    /// The page, if a program may access it so. Capability pages are never mapped.
    pub fn allows(&self, access: Access) -> Option<Capability> {
        let page = self.page.ok().filter(|page| page.kind == Kind::DataPage)?;
        let writable = !page.rights.has(Rights::READ_ONLY);
        (access == Access::Read || writable).then_some(page)
    }
}

/// The address bits that a slot of a node of this height spans, and how many such slots there are.
///
/// # Errors
/// [`Error::NoHeight`].
pub fn slots_of(height: u8) -> Result<(u8, usize), Error> {
    let level = HEIGHTS.iter().position(|known| *known == height);
    let level = level.ok_or(Error::NoHeight(height))?;
    let below = if level == 0 {
        PAGE_HEIGHT
    } else {
        HEIGHTS[level - 1]
    };
    Ok((below, 1 << (height - below)))
}

impl World {
    /// What is at an address of a space: a node, or a single page.
    pub fn lookup(&self, space: Capability, address: u64) -> Translation {
        let mut found = Translation {
            page: Err(Missing::Hole),
            keeper: None,
            steps: 0,
        };
        let mut at = self.current(space);
        let mut rest = address;
        // More than any node's height; what is below must be lower.
        let mut room = u8::MAX;
        let mut so_far = Rights::FULL;
        loop {
            let read_only =
                Rights::from_bits(so_far.and(at.rights).bits() & Rights::READ_ONLY.bits());
            so_far = read_only.unwrap_or_default();
            match at.kind {
                Kind::DataPage | Kind::CapabilityPage => {
                    if rest >> PAGE_HEIGHT == 0 {
                        let rights = at.rights.and(so_far);
                        found.page = Ok(Capability { rights, ..at });
                    }
                    return found;
                }
                Kind::Node => {}
                _ => return found,
            }
            let Ok(node) = self.node(at) else {
                return found;
            };
            let Ok((below, slots)) = slots_of(node.height) else {
                found.page = Err(Missing::Malformed);
                return found;
            };
            if node.height > room {
                found.page = Err(Missing::Malformed);
                return found;
            }
            found.steps += 1;
            if rest >> node.height != 0 {
                return found;
            }
            let keeper = self.current(node.slots[KEEPER_SLOT]);
            let callable = matches!(keeper.kind, Kind::Entry | Kind::Indirector);
            // To have somebody called is more than to read: not through weak access.
            if slots == KEEPER_SLOT && callable && !at.rights.has(Rights::WEAK) {
                let rights = Rights::FULL;
                let node = Capability { rights, ..at };
                found.keeper = Some(Keeper {
                    entry: keeper,
                    node,
                });
            }
            let slot = (rest >> below) as usize;
            rest &= (1 << below) - 1;
            room = below;
            at = fetched(at, self.current(node.slots[slot]));
        }
    }
}
