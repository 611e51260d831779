//! What a power cut at one moment finds, and what it can leave behind.

use std::rc::Rc;

use pebble_store_device::{Frame, SECTOR_SIZE};

use crate::fates::{Fate, Fates, Sectors};
use crate::state::State;
use crate::Image;

/// One disk at the moment of a cut.
#[derive(Clone, Debug)]
pub(crate) struct DiskCut {
    stable: Image,
    /// Writes that are not stable, in the order in which they take effect if they do.
    volatile: Vec<(u64, Rc<Frame>)>,
    gone: bool,
}

impl DiskCut {
    pub fn of(disk: &State) -> Self {
        let completed = disk.completed.iter();
        let mut volatile: Vec<_> = completed
            .map(|write| (write.at, write.contents.clone()))
            .collect();
        for pending in &disk.pending {
            if let Some((Some(at), contents)) = &pending.write {
                volatile.push((*at, contents.clone()));
            }
        }
        Self {
            stable: disk.stable.clone(),
            volatile,
            gone: disk.gone,
        }
    }

    pub fn len(&self) -> usize {
        self.volatile.len()
    }
}

/// The disks of a machine at one moment, and every write that a power cut at that moment decides over.
///
/// Writes are numbered through the disks, first those of disk 0.
#[derive(Clone, Debug)]
pub struct Cut {
    /// The event after which this is.
    pub event: u64,
    pub(crate) disks: Vec<DiskCut>,
    /// The write that the event added. What a cut can leave without it, an earlier cut could leave too.
    pub fresh: Option<usize>,
}

impl Cut {
    /// Writes that are not stable, over all disks.
    pub fn volatile(&self) -> usize {
        self.disks.iter().map(DiskCut::len).sum()
    }

    /// Disks of the machine.
    pub fn disks(&self) -> usize {
        self.disks.len()
    }

    /// Whether this disk was gone before the power was.
    pub fn gone(&self, disk: usize) -> bool {
        self.disks[disk].gone
    }

    /// Frame and disk of a write that is not stable, for messages.
    pub fn place(&self, write: usize) -> Option<(usize, u64)> {
        let mut index = write;
        for (disk, cut) in self.disks.iter().enumerate() {
            if let Some((at, _)) = cut.volatile.get(index) {
                return Some((disk, *at));
            }
            index -= cut.len();
        }
        None
    }

    /// What is on each disk if the writes meet these fates.
    pub fn images(&self, fates: &Fates) -> Vec<Image> {
        let mut number = 0;
        self.disks
            .iter()
            .map(|disk| {
                let mut image = disk.stable.clone();
                for (at, contents) in &disk.volatile {
                    match fates.of(number) {
                        Fate::Lost => {}
                        Fate::Kept => image.put(*at, Some(contents.clone())),
                        Fate::Torn(sectors) => {
                            let torn = tear(image.read(*at), contents, sectors);
                            image.put(*at, Some(Rc::new(torn)));
                        }
                    }
                    number += 1;
                }
                image
            })
            .collect()
    }
}

/// What a frame holds of which some sectors were written, and perhaps one of them in part.
fn tear(old: &Frame, new: &Frame, sectors: Sectors) -> Frame {
    let mut torn = *old;
    for sector in 0..8 {
        if sectors.written & 1 << sector != 0 {
            let first = sector * SECTOR_SIZE;
            let whole = first..first + SECTOR_SIZE;
            torn[whole.clone()].copy_from_slice(&new[whole]);
        }
    }
    if let Some(at) = sectors.within {
        // The sector of this byte: new before it, old behind it.
        let at = usize::from(at);
        let first = at - at % SECTOR_SIZE;
        torn[first..at].copy_from_slice(&new[first..at]);
        torn[at..first + SECTOR_SIZE].copy_from_slice(&old[at..first + SECTOR_SIZE]);
    }
    torn
}
