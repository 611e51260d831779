//! Tag pots in memory, and their reading: two copies on disk, of which the newer valid one counts.

use alloc::boxed::Box;
use alloc::vec::Vec;

use pebble_store_format::TagPot;

use crate::Error;

/// Which pot: the range's place in the geometry, and the cluster.
pub(crate) type PotName = (usize, u64);

/// A pot that is being read.
pub(crate) struct PotLoad {
    pub name: PotName,
    /// What the two copies turned out to be.
    pub copies: [Option<Result<Box<TagPot>, Error>>; 2],
    /// Disks that gave a wrong answer, for each copy.
    pub tried: [u32; 2],
}

pub(crate) struct Pots {
    pots: Vec<(PotName, Box<TagPot>)>,
    limit: usize,
    hand: usize,
    pub loads: Vec<Option<PotLoad>>,
    /// Pots of which no copy could be believed.
    pub lost: Vec<(PotName, Error)>,
}

impl Pots {
    pub fn new(limit: usize) -> Self {
        Self {
            pots: Vec::new(),
            limit: limit.max(2),
            hand: 0,
            loads: Vec::new(),
            lost: Vec::new(),
        }
    }

    pub fn get(&self, name: PotName) -> Option<&TagPot> {
        let found = self.pots.iter().find(|(known, _)| *known == name);
        found.map(|(_, pot)| &**pot)
    }

    pub fn put(&mut self, name: PotName, pot: Box<TagPot>) {
        if let Some(known) = self.pots.iter_mut().find(|(known, _)| *known == name) {
            known.1 = pot;
        } else if self.pots.len() < self.limit {
            self.pots.push((name, pot));
        } else {
            self.hand = (self.hand + 1) % self.limit;
            self.pots[self.hand] = (name, pot);
        }
    }

    pub fn is_loading(&self, name: PotName) -> bool {
        self.loads.iter().flatten().any(|load| load.name == name)
    }

    /// Enters a load; the answer is its number.
    pub fn begin(&mut self, name: PotName) -> usize {
        let load = PotLoad {
            name,
            copies: [None, None],
            tried: [0, 0],
        };
        let number = match self.loads.iter().position(Option::is_none) {
            Some(free) => free,
            None => {
                self.loads.push(None);
                self.loads.len() - 1
            }
        };
        self.loads[number] = Some(load);
        number
    }

    /// Ends a load whose two copies are known: the newer valid one is kept.
    pub fn finish(&mut self, number: usize) {
        let Some(load) = self.loads[number].take() else {
            return;
        };
        let mut best: Option<Box<TagPot>> = None;
        let mut problem = None;
        for copy in load.copies.into_iter().flatten() {
            match copy {
                Ok(pot)
                    if best
                        .as_ref()
                        .is_none_or(|best| pot.sequence > best.sequence) =>
                {
                    best = Some(pot);
                }
                Ok(_) => {}
                Err(error) => problem = Some(error),
            }
        }
        match (best, problem) {
            (Some(pot), _) => self.put(load.name, pot),
            (None, Some(error)) => self.lost.push((load.name, error)),
            (None, None) => {}
        }
    }

    /// Whether no copy of a pot could be believed; forgets it, so that a later attempt reads again.
    pub fn take_lost(&mut self, name: PotName) -> Option<Error> {
        let place = self.lost.iter().position(|(lost, _)| *lost == name)?;
        Some(self.lost.swap_remove(place).1)
    }
}
