//! Shares: what one component of the system description may hold together with everything that it forked, so that
//! what it exhausts only it misses.

use pebble_abi::errno::Errno;
use pebble_abi::layout::MAX_DOMAINS;
use pebble_abi::object::role;

use crate::code::Placed;
use crate::domains::Life;
use crate::state::{used, State};
use crate::tables::MAX_OF_DOMAIN;

/// Domains: the component and its descendants, dead ones that threads have not left yet included.
const DOMAINS: usize = 17;
/// Threads.
const THREADS: u32 = 64;
/// Portals, the standard ones not counted.
const PORTALS: usize = 1024;
/// Portal code in units of 64 bytes.
const CODE_UNITS: usize = 8192;
/// Stack records.
const STACKS: usize = 256;

/// How many more portals a domain may have.
#[derive(Clone, Copy, Debug)]
pub struct PortalRoom {
    /// In its own table.
    here: usize,
    /// With all of its component.
    portals: usize,
    /// Units of code with all of its component.
    units: usize,
}

impl PortalRoom {
    /// `-EMFILE` when there is no room for another portal.
    pub fn check(&self) -> Result<(), Errno> {
        match self.here > 0 && self.portals > 0 && self.units > 0 {
            true => Ok(()),
            false => Err(Errno::TooManyOpen),
        }
    }

    /// A portal was added.
    pub fn take(&mut self, code: &Placed) {
        self.here -= 1;
        self.portals = self.portals.saturating_sub(1);
        self.units = self.units.saturating_sub(code.units as usize);
    }
}

impl State {
    /// The component that a domain belongs to: itself, or the ancestor that init started.
    fn component(&self, asid: usize) -> usize {
        let mut at = asid;
        // Bounded: a chain of parents is at most as long as there are domains.
        for _ in 0..MAX_DOMAINS {
            match self.domains[at].parent {
                0 => break,
                parent => at = parent,
            }
        }
        at
    }

    /// Sums `what` over all domains of the component of `asid`.
    fn sum(&self, asid: usize, what: impl FnMut(usize) -> usize) -> usize {
        let component = self.component(asid);
        (1..MAX_DOMAINS)
            .filter(|&other| self.domains[other].life != Life::Free)
            .filter(|&other| self.component(other) == component)
            .map(what)
            .sum()
    }

    fn is_core(asid: usize) -> bool {
        asid < role::CORE_END as usize
    }

    /// `-EAGAIN` when `parent` may not fork another domain.
    pub fn may_fork(&self, parent: usize) -> Result<(), Errno> {
        match self.sum(parent, |_| 1) < DOMAINS {
            true => Ok(()),
            false => Err(Errno::Again),
        }
    }

    /// `-EAGAIN` when `asid` may not have another thread.
    pub fn may_add_thread(&self, asid: usize) -> Result<(), Errno> {
        let domain = &self.domains[asid];
        let of_component = self.sum(asid, |other| self.domains[other].threads as usize);
        match domain.threads < domain.description.threads && of_component < THREADS as usize {
            true => Ok(()),
            false => Err(Errno::Again),
        }
    }

    /// What is left for portals of the table of `domain`.
    pub fn room_for_portals(&self, domain: usize) -> PortalRoom {
        let mut room = PortalRoom {
            here: MAX_OF_DOMAIN.saturating_sub(self.tables.count[domain] as usize),
            portals: PORTALS,
            units: CODE_UNITS,
        };
        // Core servers have shares of their own.
        if !Self::is_core(domain) {
            self.sum(domain, |other| {
                room.portals = room
                    .portals
                    .saturating_sub(self.tables.count[other] as usize);
                room.units = room.units.saturating_sub(self.tables.units[other] as usize);
                0
            });
        }
        room
    }

    /// `-ENFILE` when the component of `asid` may not have another stack.
    pub fn may_add_stack(&self, asid: usize) -> Result<(), Errno> {
        let objects = self.objects();
        let component = self.component(asid);
        let stacks = used(&self.stacks)
            .map(|index| objects.read_stack(objects.stack(index)).domain as usize)
            .filter(|&owner| owner < MAX_DOMAINS && self.component(owner) == component)
            .count();
        match stacks < STACKS {
            true => Ok(()),
            false => Err(Errno::TableFull),
        }
    }
}
