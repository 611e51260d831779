//! What becomes of each write that a power cut decides over.

use core::fmt;

use crate::{Cut, Random};

/// Which parts of a torn write reached the medium.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sectors {
    /// Bit `n`: sector `n` of the frame did.
    pub written: u8,
    /// The sector of this byte of the frame is itself torn: new before the byte, old from there.
    pub within: Option<u16>,
}

/// What becomes of one write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// Nothing of it reached the medium.
    Lost,
    /// All of it did.
    Kept,
    /// Some sectors did.
    Torn(Sectors),
}

/// What becomes of all writes of a [`Cut`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fates {
    /// Bit `n`: write `n` is kept. Writes behind the 64th are kept as the last bit says.
    kept: u64,
    /// Writes that are torn, at most two.
    torn: [Option<(usize, Sectors)>; 2],
}

impl Fates {
    /// Write `n` is kept if bit `n` is set; from the 64th on as bit 63 says.
    pub fn subset(kept: u64) -> Self {
        Self {
            kept,
            torn: [None; 2],
        }
    }

    /// As these, but one write is torn.
    pub fn tear(mut self, write: usize, sectors: Sectors) -> Self {
        if let Some(free) = self.torn.iter_mut().find(|torn| torn.is_none()) {
            *free = Some((write, sectors));
        }
        self
    }

    /// The fate of a write.
    pub fn of(&self, write: usize) -> Fate {
        let torn = self.torn.iter().flatten();
        for (number, sectors) in torn {
            if *number == write {
                return Fate::Torn(*sectors);
            }
        }
        match self.kept >> write.min(63) & 1 {
            0 => Fate::Lost,
            _ => Fate::Kept,
        }
    }

    /// Every way in which writes are lost or kept and the newest one is not lost, each once; then the tears of
    /// [`Self::samples`]. For cuts of fewer than 32 writes that are not stable.
    pub fn every(cut: &Cut, random: &mut Random) -> Vec<Fates> {
        let writes = cut.volatile();
        assert!(writes < 32, "{writes} writes are too many to try all");
        let fresh = cut.fresh.map_or(0, |write| 1 << write);
        let mut all: Vec<_> = (0..1_u64 << writes)
            .filter(|kept| kept & fresh == fresh)
            .map(Fates::subset)
            .collect();
        tears(cut, random, &mut all);
        all
    }

    /// All lost, all kept, each one missing, each one alone, each one torn in several ways, and `more` random subsets with
    /// and without tears. Where an event added a write, only what differs from the cut before.
    pub fn samples(cut: &Cut, random: &mut Random, more: usize) -> Vec<Fates> {
        let writes = cut.volatile();
        let whole = if writes >= 64 {
            u64::MAX
        } else {
            (1 << writes) - 1
        };
        let bit = |write: usize| 1_u64 << write.min(63);
        let fresh = cut.fresh.map_or(0, bit);
        let mut all = vec![whole];
        if cut.fresh.is_none() {
            all.push(0);
        }
        for write in 0..writes {
            all.push(whole & !bit(write));
            all.push(bit(write) | fresh);
        }
        for _ in 0..more {
            all.push(random.word() & whole | fresh);
        }
        let unfit = |kept: &u64| kept & fresh != fresh;
        all.retain(|kept| !unfit(kept));
        all.sort_unstable();
        all.dedup();
        let mut all: Vec<_> = all.into_iter().map(Fates::subset).collect();
        tears(cut, random, &mut all);
        for _ in 0..more.min(writes) {
            let write = random.below(writes as u64) as usize;
            let other = random.below(writes as u64) as usize;
            let torn = Fates::subset(random.word() & whole | fresh).tear(write, any(random));
            all.push(if other != write {
                torn.tear(other, any(random))
            } else {
                torn
            });
        }
        all
    }
}

/// Tears of the newest write, or of each one: its beginning, its end, one sector, torn inside a sector, and anything; each
/// with all others kept and with all others lost.
fn tears(cut: &Cut, random: &mut Random, all: &mut Vec<Fates>) {
    let writes = match cut.fresh {
        Some(write) => write..write + 1,
        None => 0..cut.volatile(),
    };
    for write in writes {
        let middle = 1 + random.below(7);
        let sectors = |written: u8, within| Sectors { written, within };
        for torn in [
            sectors((1 << middle) - 1, None),
            sectors(!((1 << middle) - 1), None),
            sectors(1 << random.below(8), None),
            sectors(0, Some(1 + random.below(511) as u16)),
            any(random),
        ] {
            all.push(Fates::subset(0).tear(write, torn));
            all.push(Fates::subset(u64::MAX).tear(write, torn));
        }
    }
}

/// Any tear.
fn any(random: &mut Random) -> Sectors {
    Sectors {
        written: random.word() as u8,
        within: random
            .once_in(2)
            .then(|| random.below(pebble_store_device::FRAME_SIZE as u64) as u16),
    }
}

impl fmt::Display for Fates {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "writes kept {:#b}", self.kept)?;
        for (write, sectors) in self.torn.iter().flatten() {
            write!(out, ", {write} torn (sectors {:#010b}", sectors.written)?;
            if let Some(at) = sectors.within {
                write!(out, ", within one at byte {at}")?;
            }
            write!(out, ")")?;
        }
        Ok(())
    }
}
