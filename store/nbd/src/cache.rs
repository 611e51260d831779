//! The volatile cache over an image file: what is stable, what is not, and what a power cut leaves.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use crate::random::Random;
use crate::SECTOR_SIZE;

type Sector = [u8; SECTOR_SIZE];

/// One write's contents for one sector.
struct Version {
    write: u64,
    bytes: Box<Sector>,
}

/// A disk: a file with what is stable, and in memory what is not.
pub struct Cache {
    file: File,
    sectors: u64,
    /// Per sector the contents that are not stable, oldest first.
    volatile: BTreeMap<u64, Vec<Version>>,
    /// Writes that were answered.
    answered: BTreeSet<u64>,
    /// Writes that a failed flush should have made stable.
    doomed: BTreeSet<u64>,
    next: u64,
}

/// What became of the sectors that were not stable when the power went.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Survivors {
    /// Sectors that hold what was written last.
    pub kept: u64,
    /// Sectors that hold something older.
    pub lost: u64,
    /// Sectors of which a part is new.
    pub torn: u64,
}

impl Cache {
    /// The disk in an image file. A rest behind the last whole sector is not part of it.
    pub fn new(file: File) -> io::Result<Self> {
        let sectors = file.metadata()?.len() / SECTOR_SIZE as u64;
        Ok(Self {
            file,
            sectors,
            volatile: BTreeMap::new(),
            answered: BTreeSet::new(),
            doomed: BTreeSet::new(),
            next: 0,
        })
    }

    /// Sectors of the disk.
    pub fn sectors(&self) -> u64 {
        self.sectors
    }

    /// Takes a write, which is not answered yet. The answer names it. The caller has checked that it is inside.
    pub fn write(&mut self, first: u64, bytes: &[u8]) -> u64 {
        let write = self.next;
        self.next += 1;
        for (sector, chunk) in (first..).zip(bytes.chunks_exact(SECTOR_SIZE)) {
            let mut bytes = Box::new([0; SECTOR_SIZE]);
            bytes.copy_from_slice(chunk);
            let versions = self.volatile.entry(sector).or_default();
            versions.push(Version { write, bytes });
        }
        write
    }

    /// The client has been told that the write is done.
    pub fn answer(&mut self, write: u64) {
        self.answered.insert(write);
    }

    /// Reads what was written last.
    pub fn read(&self, first: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(bytes, first * SECTOR_SIZE as u64)?;
        for (sector, chunk) in (first..).zip(bytes.chunks_exact_mut(SECTOR_SIZE)) {
            if let Some(newest) = self.volatile.get(&sector).and_then(|all| all.last()) {
                chunk.copy_from_slice(&newest.bytes[..]);
            }
        }
        Ok(())
    }

    /// The writes that a flush received now covers: those that were answered.
    pub fn covered(&self) -> BTreeSet<u64> {
        self.answered.difference(&self.doomed).copied().collect()
    }

    /// The flush is done: what it covers is stable.
    pub fn flush(&mut self, covered: &BTreeSet<u64>) -> io::Result<()> {
        let mut empty = Vec::new();
        for (sector, versions) in &mut self.volatile {
            let stable = |version: &Version| {
                covered.contains(&version.write) && !self.doomed.contains(&version.write)
            };
            if let Some(last) = versions.iter().rposition(stable) {
                let at = *sector * SECTOR_SIZE as u64;
                self.file.write_all_at(&versions[last].bytes[..], at)?;
                versions.drain(..=last);
                if versions.is_empty() {
                    empty.push(*sector);
                }
            }
        }
        for sector in empty {
            self.volatile.remove(&sector);
        }
        self.answered.retain(|write| !covered.contains(write));
        Ok(())
    }

    /// The flush failed: nobody knows what became of what it covers, and no later flush will tell.
    pub fn fail_flush(&mut self, covered: &BTreeSet<u64>) {
        self.doomed.extend(covered);
    }

    /// Everything gets into the file: the power did not go.
    pub fn keep(&mut self) -> io::Result<()> {
        for (sector, versions) in std::mem::take(&mut self.volatile) {
            if let Some(newest) = versions.last() {
                let at = sector * SECTOR_SIZE as u64;
                self.file.write_all_at(&newest.bytes[..], at)?;
            }
        }
        self.file.sync_data()
    }

    /// The power goes: the seed decides for what is not stable whether it got there.
    pub fn cut(&mut self, seed: u64) -> io::Result<Survivors> {
        let mut random = Random::new(seed);
        let mut survivors = Survivors::default();
        // A random choice per sector would hardly ever lose or keep everything, or a whole write.
        let manner = random.below(5);
        let torn_at = (manner == 4).then(|| random.below(self.volatile.len()));
        let mut fates = BTreeMap::new();
        for (index, (sector, versions)) in
            std::mem::take(&mut self.volatile).into_iter().enumerate()
        {
            let at = sector * SECTOR_SIZE as u64;
            let mut left = None;
            for (age, version) in versions.iter().enumerate() {
                let arrived = match manner {
                    0 => false,
                    1 => true,
                    2 => *fates.entry(version.write).or_insert_with(|| random.flip()),
                    _ => random.flip(),
                };
                if arrived {
                    left = Some(age);
                }
            }
            if let Some(age) = left {
                self.file.write_all_at(&versions[age].bytes[..], at)?;
            }
            let newest = versions.len() - 1;
            if torn_at == Some(index) {
                let end = 1 + random.below(SECTOR_SIZE - 1);
                self.file.write_all_at(&versions[newest].bytes[..end], at)?;
                survivors.torn += 1;
            } else if left == Some(newest) {
                survivors.kept += 1;
            } else {
                survivors.lost += 1;
            }
        }
        self.file.sync_data()?;
        Ok(survivors)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disk(sectors: u64) -> io::Result<Cache> {
        let file = tempfile::tempfile()?;
        file.set_len(sectors * SECTOR_SIZE as u64)?;
        Cache::new(file)
    }

    fn stable(cache: &Cache, sector: u64) -> io::Result<u8> {
        let mut byte = [0];
        let at = sector * SECTOR_SIZE as u64;
        cache.file.read_exact_at(&mut byte, at)?;
        Ok(byte[0])
    }

    fn read(cache: &Cache, sector: u64) -> io::Result<u8> {
        let mut bytes = [0; SECTOR_SIZE];
        cache.read(sector, &mut bytes)?;
        Ok(bytes[0])
    }

    #[test]
    fn a_flush_covers_what_was_answered_before_it_came() -> io::Result<()> {
        let mut cache = disk(4)?;
        let one = cache.write(0, &[1; SECTOR_SIZE]);
        cache.write(1, &[2; SECTOR_SIZE]);
        cache.answer(one);
        let covered = cache.covered();
        let three = cache.write(0, &[3; SECTOR_SIZE]);
        cache.answer(three);
        assert_eq!((read(&cache, 0)?, stable(&cache, 0)?), (3, 0));
        cache.flush(&covered)?;
        assert_eq!((read(&cache, 0)?, stable(&cache, 0)?), (3, 1));
        assert_eq!((read(&cache, 1)?, stable(&cache, 1)?), (2, 0));
        Ok(())
    }

    #[test]
    fn a_failed_flush_is_not_mended_by_a_good_one() -> io::Result<()> {
        let mut cache = disk(4)?;
        let one = cache.write(0, &[1; SECTOR_SIZE]);
        cache.answer(one);
        cache.fail_flush(&cache.covered());
        let two = cache.write(1, &[2; SECTOR_SIZE]);
        cache.answer(two);
        cache.flush(&cache.covered())?;
        assert_eq!((read(&cache, 0)?, stable(&cache, 0)?), (1, 0));
        assert_eq!((read(&cache, 1)?, stable(&cache, 1)?), (2, 2));
        // Written again and flushed, it is.
        let three = cache.write(0, &[3; SECTOR_SIZE]);
        cache.answer(three);
        cache.flush(&cache.covered())?;
        assert_eq!((read(&cache, 0)?, stable(&cache, 0)?), (3, 3));
        Ok(())
    }

    #[test]
    fn a_cut_leaves_old_new_or_torn_sectors_as_the_seed_says() -> io::Result<()> {
        let mut seen = [0_u64; 3];
        for seed in 0..64 {
            let run = || -> io::Result<(Survivors, Vec<u8>)> {
                let mut cache = disk(8)?;
                let first = cache.write(0, &[1; 8 * SECTOR_SIZE]);
                cache.answer(first);
                cache.flush(&cache.covered())?;
                for sector in 0..7 {
                    let write = cache.write(sector, &[2; 2 * SECTOR_SIZE]);
                    cache.answer(write);
                }
                let survivors = cache.cut(seed)?;
                let mut left = vec![0; 8 * SECTOR_SIZE];
                cache.file.read_exact_at(&mut left, 0)?;
                Ok((survivors, left))
            };
            let (survivors, left) = run()?;
            assert_eq!((survivors, left.clone()), run()?, "seed {seed}");
            assert!(left.iter().all(|byte| *byte == 1 || *byte == 2));
            assert_eq!(survivors.kept + survivors.lost + survivors.torn, 8);
            let mixed = left
                .chunks(SECTOR_SIZE)
                .filter(|sector| sector[0] != sector[SECTOR_SIZE - 1]);
            assert!(mixed.count() as u64 <= survivors.torn);
            seen[0] += u64::from(survivors.kept == 8);
            seen[1] += u64::from(survivors.lost == 8);
            seen[2] += u64::from(survivors.torn > 0);
        }
        assert!(seen.iter().all(|count| *count > 3), "{seen:?}");
        Ok(())
    }
}
