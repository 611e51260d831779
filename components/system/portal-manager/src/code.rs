//! Space for portal code: units of 64 bytes, first fit from where the last search ended. Nothing is placed that the
//! verifier does not accept.

use pebble_abi::layout::PORTAL_CODE;
use pebble_abi::object::CODE_BYTES;
use pebble_portal_codegen::{generate, Error, Kind, Name, System};
use pebble_portal_verify::{Offence, Policy, Workspace};

use crate::objects::Objects;

const UNIT: usize = 64;
const UNITS: usize = CODE_BYTES as usize / UNIT;
/// Largest block: eight window pages with partial state.
const LARGEST: usize = 4096;

/// Which units are taken.
pub struct CodeSpace {
    taken: [u64; UNITS / 64],
    next: usize,
    /// Units in use.
    pub used: usize,
    /// Room for the verifier, whose terms would not fit a server's stack.
    verifier: Workspace,
}

/// Why a block was not placed.
#[derive(Clone, Copy, Debug)]
pub enum Refusal {
    /// The generator's error.
    Generator(Error),
    /// The verifier's. Its words are in code space, but nothing leads to them.
    Verifier(Offence),
}

/// A block in place.
#[derive(Clone, Copy, Debug, Default)]
pub struct Placed {
    /// What the portal table slot holds.
    pub address: u64,
    /// First unit.
    pub unit: u16,
    /// Units.
    pub units: u16,
    /// Most instructions of a call and its return together, as the verifier proved.
    pub worst: u16,
}

impl CodeSpace {
    /// Nothing taken.
    pub const fn new() -> Self {
        CodeSpace {
            taken: [0; UNITS / 64],
            next: 0,
            used: 0,
            verifier: Workspace::new(),
        }
    }

    fn is_taken(&self, unit: usize) -> bool {
        self.taken[unit / 64] >> (unit % 64) & 1 != 0
    }

    fn mark(&mut self, first: usize, count: usize, taken: bool) {
        for unit in first..first + count {
            let bit = 1 << (unit % 64);
            if taken {
                self.taken[unit / 64] |= bit;
            } else {
                self.taken[unit / 64] &= !bit;
            }
        }
        if taken {
            self.used += count;
        } else {
            self.used -= count;
        }
    }

    /// Boot code's blocks, at the start, stay.
    pub fn reserve(&mut self, bytes: u64) {
        self.mark(0, (bytes as usize).div_ceil(UNIT), true);
    }

    /// The first of `count` units in a row that are free, if that is found at the first glance: they begin where the last
    /// search ended.
    fn next_is_free(&self, count: usize) -> bool {
        let (word, bit) = (self.next / 64, self.next % 64);
        let Some(&[low, high]) = self.taken.get(word..word + 2) else {
            return false;
        };
        let taken = (low as u128 | (high as u128) << 64) >> bit;
        count <= 64 && taken & ((1 << count) - 1) == 0
    }

    fn find(&mut self, count: usize) -> Option<usize> {
        if self.next_is_free(count) {
            return Some(self.next);
        }
        let mut run = 0;
        for step in 0..2 * UNITS {
            let unit = (self.next + step) % UNITS;
            if unit == 0 {
                run = 0;
            }
            run = if self.is_taken(unit) { 0 } else { run + 1 };
            if run == count {
                self.next = (unit + 1) % UNITS;
                return Some(unit + 1 - count);
            }
        }
        None
    }

    /// Generates `kind` and puts it in place.
    pub fn place(
        &mut self,
        objects: Objects,
        system: &System,
        kind: &Kind<'_>,
        name: Name,
    ) -> Result<Placed, Refusal> {
        let unit = self
            .find(LARGEST / UNIT)
            .ok_or(Refusal::Generator(Error::Space))?;
        let address = PORTAL_CODE + (unit * UNIT) as u64;
        let words = objects.code(unit * UNIT / 4, LARGEST / 4);
        let policy = Policy {
            kind: *kind,
            name,
            system,
        };
        // Of a shape that the verifier knows it writes the block itself; the first one is generated and proved.
        let (length, entry, report) = match self.verifier.fill(&policy, address, words) {
            Some(filled) => (filled.words, filled.entry, filled.report),
            None => {
                let block =
                    generate(kind, name, system, address, words).map_err(Refusal::Generator)?;
                let report = self
                    .verifier
                    .verify(&words[..block.words], block.entry, address, &policy)
                    .map_err(Refusal::Verifier)?;
                (block.words, block.entry, report)
            }
        };
        let units = (4 * length).div_ceil(UNIT);
        self.mark(unit, units, true);
        self.next = (unit + units) % UNITS;
        crate::calls::flush_instructions();
        Ok(Placed {
            address: address + 4 * entry as u64,
            unit: unit as u16,
            units: units as u16,
            worst: (report.call + report.back) as u16,
        })
    }

    /// Gives a block back. No table and no frame may lead to it any more.
    pub fn free(&mut self, block: Placed) {
        self.mark(block.unit as usize, block.units as usize, false);
    }
}
