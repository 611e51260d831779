//! Loads and stores of portal code: what a word holds at this point of a path, and whether it may be touched at all.

use core::mem::offset_of;
use pebble_abi::object::{Hart, Thread};

use crate::decode::Width;
use crate::machine::Machine;
use crate::offence::Reason;
use crate::parameter::literal;
use crate::record::{field, loadable, storable, Record, RETURN_LITERAL};
use crate::state::{Event, State};
use crate::term::{Node, Term, BLOCK, JUNK, PUSHED, SAVED, THREAD};

impl Machine<'_> {
    /// The literal at `offset` bytes from the block's entry: a number that the proof leaves open, or what it is.
    fn literal(&mut self, offset: i64) -> Option<Term> {
        if offset == RETURN_LITERAL as i64 {
            // An address, which depends on where the block is; its own code has no use for it.
            return Some(JUNK);
        }
        if offset >= 0 || offset % 8 != 0 {
            return None;
        }
        let index = (self.entry as i64).checked_add(offset / 4)?;
        let value = literal(self.words, usize::try_from(index).ok()?)?;
        Some(match self.parameters.literal(value) {
            Some(parameter) => parameter.term(),
            None => self.terms.number(value),
        })
    }

    /// What is in memory now.
    pub(crate) fn load(
        &mut self,
        state: &State,
        base: Term,
        offset: i32,
        width: Width,
    ) -> Result<Term, Reason> {
        if let ((BLOCK, number), Width::Double) = (self.terms.place(base, offset as i64), width) {
            return self.literal(number).ok_or(Reason::Load);
        }
        let bytes = if width == Width::Double { 8 } else { 4 };
        let (record, base, offset) = self.locate(state, base, offset).ok_or(Reason::Load)?;
        if !loadable(state, record, base, offset, bytes) {
            return Err(Reason::Load);
        }
        // The store that may have been there is not known any more.
        if state.settled && record == Record::Hart && offset == field!(Hart.fp_owner) {
            return Err(Reason::Alias);
        }
        let mut late = false;
        let events = match self.log.may_have_stored(record, offset) {
            true => self.log.events(),
            false => &[],
        };
        for event in events.iter().rev() {
            let Event::Store {
                record: other,
                base: place,
                offset: at,
                value,
                ..
            } = *event
            else {
                continue;
            };
            // An entry may be in any page table, the one that is being walked among them.
            let entry = matches!(
                other,
                Record::WindowEntry | Record::GiftEntry | Record::PageTable
            );
            if entry && record == Record::PageTable {
                return Err(Reason::Alias);
            }
            // Floating-point registers may be in a frame, or in a thread's record, word by word.
            if record == Record::Floats {
                let floats = field!(Thread.fp)..core::mem::size_of::<Thread>() as i32;
                match other {
                    Record::Frame => return Err(Reason::Alias),
                    Record::Thread if floats.contains(&at) => {
                        late |= (at - floats.start - offset).abs() < 8
                    }
                    _ => {}
                }
                continue;
            }
            if other != record || (at - offset).abs() >= 8 {
                continue;
            }
            if place == base
                && at == offset
                && (width == Width::Double || record == Record::Counter)
            {
                return Ok(value);
            }
            late = true;
        }
        if late {
            // The thread whose registers were saved may be this one: the value is the current one.
            if record == Record::Floats {
                return Ok(self.terms.term(Node::Late { base, offset }));
            }
            return Err(Reason::Alias);
        }
        if state.pushed && base == THREAD {
            let now = match offset & !7 {
                o if o == field!(Thread.invocation) => Some(PUSHED),
                o if o == field!(Thread.fp_live) => Some(SAVED),
                _ => None,
            };
            match (now, width) {
                (Some(now), Width::Double) => return Ok(now),
                // Half of a word that is not what it was.
                (Some(_), Width::Word) => return Err(Reason::Load),
                (None, _) => {}
            }
        }
        Ok(self.terms.term(Node::Load {
            base,
            offset,
            width,
        }))
    }

    pub(crate) fn store(
        &mut self,
        state: &State,
        base: Term,
        offset: i32,
        width: Width,
        value: Term,
    ) -> Result<(), Reason> {
        let bytes = if width == Width::Double { 8 } else { 4 };
        let (record, base, offset) = self.locate(state, base, offset).ok_or(Reason::Store)?;
        // Words that are half of a field have no store: only counters are that short.
        let half = width == Width::Word && record != Record::Counter;
        if half || !storable(state, record, base, offset, bytes) {
            return Err(Reason::Store);
        }
        self.log.push(Event::Store {
            record,
            base,
            offset,
            value,
            again: false,
        })
    }
}
