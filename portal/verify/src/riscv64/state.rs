//! What a path knows: registers, control registers, and everything that happened on it so far.

use crate::offence::Reason;
use crate::record::Record;
use crate::term::Term;

/// Control and status registers that portal code may access.
pub(crate) mod csr {
    pub const FCSR: u16 = 0x003;
    pub const SSTATUS: u16 = 0x100;
    pub const SIE: u16 = 0x104;
    pub const SSCRATCH: u16 = 0x140;
    pub const SEPC: u16 = 0x141;
    pub const SCAUSE: u16 = 0x142;
    pub const STVAL: u16 = 0x143;
    pub const STIMECMP: u16 = 0x14d;
    pub const SATP: u16 = 0x180;
    pub const CYCLE: u16 = 0xc00;
    pub const TIME: u16 = 0xc01;
}

/// Numbers of the registers that contracts name.
#[allow(missing_docs)]
pub(crate) mod register {
    pub const RA: u8 = 1;
    pub const SP: u8 = 2;
    pub const TP: u8 = 4;
    pub const T0: u8 = 5;
    pub const T1: u8 = 6;
    pub const T2: u8 = 7;
    pub const A0: u8 = 10;
    pub const A1: u8 = 11;
    pub const A2: u8 = 12;
    pub const A3: u8 = 13;
    pub const A4: u8 = 14;
    pub const A6: u8 = 16;
    pub const A7: u8 = 17;
    pub const T3: u8 = 28;
    pub const T4: u8 = 29;
    pub const T5: u8 = 30;
    pub const T6: u8 = 31;
}

/// Interrupts that user level takes: software, timer, external.
pub(crate) const INTERRUPTS: u64 = 0x222;
/// `sstatus.FS`.
pub(crate) const FLOAT_STATUS: u64 = 0x6000;

/// The floating-point unit, as far as a path changed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FloatUnit {
    Unchanged,
    On,
    Off,
    /// As the contract's part about floating point wants it, which was checked (`contract::settle`).
    Settled,
}

/// What a comparison in a branch is about; every branch condition is one of these or its opposite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Test {
    Equal,
    Less,
    LessUnsigned,
}

/// Something that happened on the path so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    Store {
        record: Record,
        base: Term,
        offset: i32,
        value: Term,
        /// The path has stored to this place before.
        again: bool,
    },
    /// `None`: all of them.
    Flush {
        address: Option<Term>,
        asid: Option<Term>,
    },
    /// `satp` was written.
    Space,
    /// Call of the firmware with `a7`, `a6`, `a0`, `a1`.
    Firmware([Term; 4]),
    FenceInstructions,
    Wait,
    EndReservation(Term),
}

/// Registers at one point of a path.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct State {
    pub registers: [Term; 32],
    pub floats: [Term; 32],
    pub fcsr: Term,
    pub unit: FloatUnit,
    pub sscratch: Term,
    pub sepc: Term,
    pub satp: Term,
    pub sie: Term,
    pub stval: Term,
    pub stimecmp: Term,
    /// The shared block that pushes live floating-point registers was called, or need not be.
    pub pushed: bool,
    /// What the contract says about floating point was checked, and holds.
    pub settled: bool,
    /// Word index where paths with and without live floating-point registers come together, 0 for none.
    pub settles_at: u16,
    /// Number of the first fact about them.
    pub settled_from: u16,
    /// Bytes of the frame at the top that this code knows to be there.
    pub frame_bytes: i32,
    /// The frame on top was found to be a floating-point frame.
    pub floating_checked: bool,
}

/// Most effects on one path.
const EVENTS: usize = 192;
/// Most comparisons on one path.
const FACTS: usize = 192;

/// Outcome of a comparison, in one number so that looking for it is quick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fact(u64);

impl Fact {
    pub(crate) fn new(test: Test, left: Term, right: Term, truth: bool) -> Self {
        let terms = (left.index() as u64) << 16 | right.index() as u64;
        Fact((test as u64) << 33 | (truth as u64) << 32 | terms)
    }
}

/// What happened on the current path; a path that branches off cuts it back to where it began.
pub(crate) struct Log {
    events: [Event; EVENTS],
    used: usize,
    facts: [Fact; FACTS],
    known: usize,
    hidden: Hidden,
    stored: Stored,
}

/// Where stores on the path so far went, roughly: most loads need not look through all of them.
#[derive(Clone, Copy, Default)]
struct Stored {
    /// One bit for each double word of a record, by its offset modulo 64 double words.
    offsets: u64,
    /// Some went to page-table entries.
    entries: bool,
}

/// The bit for the double word at `offset`.
fn bit(offset: i32) -> u64 {
    1 << (offset >> 3 & 63)
}

/// What a path knew and does not use any more, so that it can be compared with another path.
#[derive(Clone, Copy, Default)]
struct Hidden {
    /// Events before this one.
    events: usize,
    /// Facts from the first of these to before the second.
    facts: (usize, usize),
}

/// A point of a path to cut back to.
#[derive(Clone, Copy, Default)]
pub(crate) struct Mark {
    used: usize,
    known: usize,
    hidden: Hidden,
    stored: Stored,
}

impl Log {
    pub(crate) const fn new() -> Self {
        Log {
            events: [Event::Space; EVENTS],
            used: 0,
            facts: [Fact(0); FACTS],
            known: 0,
            hidden: Hidden {
                events: 0,
                facts: (0, 0),
            },
            stored: Stored {
                offsets: 0,
                entries: false,
            },
        }
    }
    pub(crate) fn mark(&self) -> Mark {
        Mark {
            used: self.used,
            known: self.known,
            hidden: self.hidden,
            stored: self.stored,
        }
    }
    pub(crate) fn cut(&mut self, mark: Mark) {
        self.used = mark.used.min(self.used);
        self.known = mark.known.min(self.known);
        self.hidden = mark.hidden;
        self.stored = mark.stored;
    }
    /// Hides all events, and the facts from number `first` on.
    pub(crate) fn hide(&mut self, first: usize) {
        self.hidden = Hidden {
            events: self.used,
            facts: (first, self.known),
        };
    }
    /// How many facts there are.
    pub(crate) fn known(&self) -> usize {
        self.known
    }
    /// Facts that are not hidden; all of them are before the hidden ones if these were just hidden.
    pub(crate) fn facts(&self) -> impl Iterator<Item = Fact> + '_ {
        let (first, end) = self.hidden.facts;
        let (before, after) = (&self.facts[..first], &self.facts[end..self.known]);
        before.iter().chain(after).copied()
    }
    pub(crate) fn events(&self) -> &[Event] {
        &self.events[self.hidden.events..self.used]
    }
    pub(crate) fn push(&mut self, mut event: Event) -> Result<(), Reason> {
        if let Event::Store {
            base,
            offset,
            ref mut again,
            ..
        } = event
        {
            let same = |event: &Event| matches!(event, Event::Store { base: b, offset: o, .. } if *b == base && *o == offset);
            *again = self.stored.offsets & bit(offset) != 0 && self.events().iter().any(same);
        }
        *self.events.get_mut(self.used).ok_or(Reason::TooComplex)? = event;
        if let Event::Store { record, offset, .. } = event {
            self.stored.offsets |= bit(offset);
            self.stored.entries |= matches!(
                record,
                Record::WindowEntry | Record::GiftEntry | Record::PageTable
            );
        }
        self.used += 1;
        Ok(())
    }
    /// Whether a load from `offset` of `record` has to look at the stores before it.
    pub(crate) fn may_have_stored(&self, record: Record, offset: i32) -> bool {
        match record {
            Record::Floats => true,
            Record::PageTable => self.stored.entries,
            _ => self.stored.offsets & bit(offset) != 0,
        }
    }
    pub(crate) fn note(&mut self, fact: Fact) -> Result<(), Reason> {
        *self.facts.get_mut(self.known).ok_or(Reason::TooComplex)? = fact;
        self.known += 1;
        Ok(())
    }
    pub(crate) fn has(&self, fact: Fact) -> bool {
        self.facts().any(|known| known == fact)
    }
}
