//! Faults of a medium: what a disk does wrong, and when.

use crate::Random;

/// One thing that a disk does wrong with a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// A read fails.
    ReadError,
    /// A write fails; its frame is undefined from then on, as if it were in flight for ever.
    WriteError,
    /// A flush fails: what it was to make stable is unknown, and no later flush changes that.
    FlushError,
    /// A write is reported done, and went to another frame.
    MisdirectedWrite,
    /// A write is reported done, and went nowhere.
    LostWrite,
    /// A read answers with what the frame held before its last stable write.
    StaleRead,
    /// A read answers with another frame's contents.
    MisdirectedRead,
    /// A read answers with one bit wrong.
    FlippedBit,
}

impl Fault {
    /// Every fault.
    pub const ALL: [Fault; 8] = [
        Fault::ReadError,
        Fault::WriteError,
        Fault::FlushError,
        Fault::MisdirectedWrite,
        Fault::LostWrite,
        Fault::StaleRead,
        Fault::MisdirectedRead,
        Fault::FlippedBit,
    ];

    /// What kind of request it can happen to.
    pub(crate) fn strikes(self) -> Kind {
        match self {
            Fault::WriteError | Fault::MisdirectedWrite | Fault::LostWrite => Kind::Write,
            Fault::FlushError => Kind::Flush,
            _ => Kind::Read,
        }
    }
}

/// Kinds of requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Read,
    Write,
    Flush,
}

/// When a disk's faults happen.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    /// Faults that happen at random, each with the number of fitting requests that it strikes one of.
    pub random: Vec<(Fault, u64)>,
    /// Faults that happen once, each with the number of fitting requests that are spared before.
    pub once: Vec<(Fault, u64)>,
    /// Frames that cannot be read any more, from the first to before the last.
    pub unreadable: Vec<(u64, u64)>,
}

impl Faults {
    /// A disk without faults.
    pub fn none() -> Self {
        Self::default()
    }

    /// One fault, after this many fitting requests were spared.
    pub fn once(fault: Fault, spared: u64) -> Self {
        Self {
            once: vec![(fault, spared)],
            ..Self::default()
        }
    }

    /// The fault that strikes a request of this kind now.
    pub(crate) fn strike(&mut self, kind: Kind, random: &mut Random) -> Option<Fault> {
        let mut struck = None;
        self.once.retain_mut(|(fault, spared)| {
            if fault.strikes() != kind || struck.is_some() {
                return true;
            }
            if *spared == 0 {
                struck = Some(*fault);
                return false;
            }
            *spared -= 1;
            true
        });
        struck.or_else(|| {
            let fitting = self.random.iter().filter(|(f, _)| f.strikes() == kind);
            fitting
                .filter(|(_, times)| random.once_in(*times))
                .map(|(fault, _)| *fault)
                .next()
        })
    }

    /// Whether frame `at` cannot be read.
    pub(crate) fn unreadable(&self, at: u64) -> bool {
        let mut ranges = self.unreadable.iter();
        ranges.any(|(first, end)| (*first..*end).contains(&at))
    }
}
