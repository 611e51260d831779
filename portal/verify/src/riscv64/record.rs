//! Privileged memory as the verifier knows it: which records there are, how a term is known to be the address of
//! one, and which of their words portal code may touch.

use core::mem::{offset_of, size_of};
use pebble_abi::layout::{MAX_DOMAINS, MAX_SEMAPHORES, MAX_THREADS, PAGE, PHYSMAP};
use pebble_abi::object::{self, Domain, Frame, Hart, Stack, Thread};
use pebble_portal_spec::portal::Kind;

use crate::decode::Width;
use crate::machine::Machine;
use crate::parameter::Parameter;
use crate::state::State;
use crate::term::{Node, Term, FRAME, PUSHED, THREAD, ZERO};

/// Byte offset of a field.
macro_rules! field {
    ($record:ident . $name:ident) => {
        offset_of!($record, $name) as i32
    };
}
pub(crate) use field;

/// Literal 0 of a block, relative to its entry: the address of its return code.
pub(crate) const RETURN_LITERAL: i32 = -8;
/// Bits of an upper page-table entry that tell a table (valid alone) from a page.
pub(crate) const TABLE_OR_LEAF: i16 = 0xf;

/// The callee's domain, where a proof leaves open which one it is.
const CALLEE: Term = Parameter::Domain.term();
/// The counter of a semaphore, where a proof leaves open which one it is.
const COUNTER: Term = Parameter::Counter.term();

/// A kind of record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Record {
    Thread,
    Frame,
    Domain,
    Stack,
    Hart,
    /// A portal table.
    Table,
    /// A block: only the literal before its entry is read through a term.
    Block,
    /// The thread table, indexed by a checked number.
    Threads,
    /// A semaphore's counter.
    Counter,
    /// A page-table page of the invoker, indexed by 9 bits of an address.
    PageTable,
    /// Entries for window pages of a stack's slot.
    WindowEntry,
    /// Entries for pages that are given to a domain.
    GiftEntry,
    /// The words that `fp_live` of the thread names: f0 to f31, fcsr, in its record or in a frame.
    Floats,
}

impl Machine<'_> {
    /// The record that the address `term` points into, its base, and the offset in it.
    pub(crate) fn locate(
        &mut self,
        state: &State,
        term: Term,
        offset: i32,
    ) -> Option<(Record, Term, i32)> {
        let (base, number) = self.terms.place(term, offset as i64);
        if base == ZERO {
            return self.known(number as u64);
        }
        let offset = i32::try_from(number).ok();
        if let Some(offset) = offset {
            if let Some(record) = self.record(state, base) {
                return Some((record, base, offset));
            }
        }
        self.indexed(state, base, number)
    }

    /// A record whose address is a number that the system description names.
    fn known(&mut self, address: u64) -> Option<(Record, Term, i32)> {
        let system = self.policy.system;
        let callee = match self.policy.kind {
            Kind::Call { target, .. } => target.domain,
            _ => system.vm.domain,
        };
        let domain = size_of::<Domain>() as u64;
        let records = [
            (Record::Domain, callee, domain),
            (Record::Domain, system.vm.domain, domain),
            (Record::Domain, system.scheduler.domain, domain),
            (Record::Domain, system.dispatcher.domain, domain),
            (Record::Hart, system.hart, size_of::<Hart>() as u64),
        ];
        for (record, start, bytes) in records {
            if start != 0 && address >= start && address - start < bytes {
                return Some((record, self.terms.number(start), (address - start) as i32));
            }
        }
        let counters = system.semaphores;
        if address >= counters && address - counters < 4 * MAX_SEMAPHORES as u64 {
            return Some((Record::Counter, self.terms.number(address), 0));
        }
        None
    }

    /// A record whose address was loaded from another record, as deep as that goes.
    fn record(&mut self, state: &State, term: Term) -> Option<Record> {
        match term {
            THREAD => return Some(Record::Thread),
            FRAME | PUSHED => return Some(Record::Frame),
            CALLEE => return Some(Record::Domain),
            COUNTER => return Some(Record::Counter),
            _ => {}
        }
        match self.terms.node(term) {
            // The registers that hand a domain to a shared block.
            Node::Register(register) => match (self.policy.kind, register) {
                (Kind::StackFree, 30) | (Kind::StackWait, 31) => Some(Record::Domain),
                _ => None,
            },
            Node::Load {
                base,
                offset,
                width: Width::Double,
            } => {
                let (record, base, offset) = self.locate(state, base, offset)?;
                self.pointer(state, term, record, base, offset)
            }
            _ => None,
        }
    }

    /// What the word at `offset` of `record` points to; `term` is that word.
    fn pointer(
        &mut self,
        state: &State,
        term: Term,
        record: Record,
        base: Term,
        offset: i32,
    ) -> Option<Record> {
        let present = |machine: &mut Self| machine.is_not_zero(term);
        match record {
            Record::Thread => match offset {
                o if o == field!(Thread.table) => Some(Record::Table),
                o if o == field!(Thread.invocation) => Some(Record::Frame),
                o if o == field!(Thread.domain) => Some(Record::Domain),
                o if o == field!(Thread.stack) => Some(Record::Stack),
                o if o == field!(Thread.hart) => Some(Record::Hart),
                o if o == field!(Thread.fp_live) && present(self) => Some(Record::Floats),
                _ => None,
            },
            Record::Frame => {
                // The frame above is reached only by the return code that drops a floating-point frame.
                let offset = match base {
                    FRAME if offset >= state.frame_bytes => offset - state.frame_bytes,
                    _ => offset,
                };
                match offset {
                    o if o == field!(Frame.portal) => Some(Record::Block),
                    o if o == field!(Frame.domain) => Some(Record::Domain),
                    o if o == field!(Frame.stack) && base == FRAME => Some(Record::Stack),
                    _ => None,
                }
            }
            Record::Domain => match offset {
                o if o == field!(Domain.table) => Some(Record::Table),
                o if o == field!(Domain.gift) => Some(Record::GiftEntry),
                o if o == field!(Domain.stacks) && present(self) => Some(Record::Stack),
                _ => None,
            },
            Record::Hart if offset == field!(Hart.fp_owner) && present(self) => {
                Some(Record::Thread)
            }
            Record::Table => Some(Record::Block),
            Record::Threads if present(self) => Some(Record::Thread),
            _ => None,
        }
    }

    /// Records that are reached by an index: the thread table, page tables, window entries.
    fn indexed(&mut self, state: &State, base: Term, number: i64) -> Option<(Record, Term, i32)> {
        let Node::Sum {
            parts: [left, right, none],
            ..
        } = self.terms.node(base)
        else {
            return self
                .thread_slot(base, number)
                .or_else(|| self.numbered_domain(base, number));
        };
        if none != ZERO {
            return None;
        }
        for (table, index) in [(left, right), (right, left)] {
            if let Node::Load {
                base: stack,
                offset,
                ..
            } = self.terms.node(table)
            {
                let entries = offset == field!(Stack.window_bias);
                if entries && self.record(state, stack) == Some(Record::Stack) {
                    return Some((Record::WindowEntry, base, i32::try_from(number).ok()?));
                }
            }
            if number == 0 && self.is_leaf_entry(state, table, index) {
                return Some((Record::PageTable, base, 0));
            }
            if self.is_page_table(state, table, number) && self.is_page_index(index) {
                return Some((Record::PageTable, self.terms.add_number(base, number), 0));
            }
        }
        None
    }

    /// `threads + 8 * number`, the number checked.
    fn thread_slot(&mut self, base: Term, number: i64) -> Option<(Record, Term, i32)> {
        let Node::Left { of, by: 3 } = self.terms.node(base) else {
            return None;
        };
        let bounded =
            matches!(self.terms.node(of), Node::And { mask, .. } if mask == MAX_THREADS as i16 - 1);
        let base = self.terms.add_number(base, number);
        (number as u64 == self.policy.system.threads && bounded).then_some((
            Record::Threads,
            base,
            0,
        ))
    }

    /// `domains + 128 * number + offset`, the number checked.
    fn numbered_domain(&mut self, base: Term, number: i64) -> Option<(Record, Term, i32)> {
        const BYTES: u64 = object::DOMAIN_BYTES;
        let Node::Left { of, by } = self.terms.node(base) else {
            return None;
        };
        let limit = self.terms.number(MAX_DOMAINS as u64);
        let bounded = self.holds(crate::state::Test::LessUnsigned, of, limit, true);
        let offset = (number as u64).wrapping_sub(self.policy.system.domains);
        if !bounded || 1 << by != BYTES || offset >= BYTES {
            return None;
        }
        let record = self.terms.add_number(base, number - offset as i64);
        Some((Record::Domain, record, offset as i32))
    }

    /// Whether `table + number` is a page-table page: the root in a domain's record, or the table that a checked
    /// entry of the level above leads to.
    fn is_page_table(&mut self, state: &State, table: Term, number: i64) -> bool {
        match self.terms.node(table) {
            Node::Load { base, offset, .. } if number == 0 => {
                matches!(self.locate(state, base, offset), Some((Record::Domain, _, o)) if o == field!(Domain.root))
            }
            Node::Left { of, by: 12 } if number as u64 == PHYSMAP => {
                let Node::Right { of: entry, by: 10 } = self.terms.node(of) else {
                    return false;
                };
                let Node::Load { base, offset, .. } = self.terms.node(entry) else {
                    return false;
                };
                matches!(
                    self.locate(state, base, offset),
                    Some((Record::PageTable, ..))
                ) && self.leads_to_table(entry)
            }
            _ => false,
        }
    }

    /// Whether `bias + index` is the entry of an address in a page-table page: the table less 4096 times the number of
    /// its span, as the domain's record has it for that span or as it was worked out from the table itself, and eight
    /// times the number of the address's page.
    fn is_leaf_entry(&mut self, state: &State, bias: Term, index: Term) -> bool {
        let Node::And { of, mask: -8 } = self.terms.node(index) else {
            return false;
        };
        let Node::Right { of: address, by: 9 } = self.terms.node(of) else {
            return false;
        };
        let span = self.terms.right(address, 21);
        match self.terms.node(bias) {
            Node::Load {
                base,
                offset,
                width: Width::Double,
            } => match self.locate(state, base, offset) {
                Some((Record::Domain, domain, o)) if o == field!(Domain.leaf_bias) => {
                    let known = self.terms.load(domain, field!(Domain.leaf_span));
                    self.holds(crate::state::Test::Equal, known, span, true)
                }
                _ => false,
            },
            Node::Difference { left, right } => {
                let above = self.terms.left(span, 12);
                let (table, number) = self.terms.place(left, 0);
                right == above && self.is_page_table(state, table, number)
            }
            _ => false,
        }
    }

    /// The entry was found valid and without rights of its own: a large page is not a table.
    pub(crate) fn leads_to_table(&mut self, entry: Term) -> bool {
        let bits = self.terms.and(entry, TABLE_OR_LEAF);
        let difference = self.terms.add_number(bits, -1);
        self.is_zero(difference)
    }

    /// Eight times a number below 512.
    fn is_page_index(&mut self, index: Term) -> bool {
        let Node::Left { of, by: 3 } = self.terms.node(index) else {
            return false;
        };
        let Node::Right { of: shifted, by } = self.terms.node(of) else {
            return false;
        };
        if by >= 55 {
            return true;
        }
        // Bits 30 and up of an address that was found to be below 2^38.
        let high = self.terms.right(shifted, 38);
        by == 30 && self.is_zero(high)
    }
}

/// Whether a load of `bytes` at `offset` of a record stays within it.
pub(crate) fn loadable(state: &State, record: Record, base: Term, offset: i32, bytes: i32) -> bool {
    let (start, end) = match record {
        Record::Thread => (0, size_of::<Thread>() as i32),
        Record::Domain => (0, size_of::<Domain>() as i32),
        Record::Stack => (0, size_of::<Stack>() as i32),
        Record::Hart => (0, size_of::<Hart>() as i32),
        Record::Table => (0, PAGE as i32),
        Record::Block => (RETURN_LITERAL, 0),
        Record::Counter => (0, 4),
        Record::Threads | Record::PageTable => (0, 8),
        Record::WindowEntry | Record::GiftEntry => (0, 0),
        Record::Floats => (0, (object::FLOATING_FRAME - object::FRAME_HEADER) as i32),
        // Beneath a frame there is another one, if only the sentinel, which is a header long.
        Record::Frame => {
            let known = base == FRAME || state.floating_checked;
            let own = if known { state.frame_bytes } else { 0 };
            (
                -(object::INVOCATION_RESERVE as i32),
                own + object::FRAME_HEADER as i32,
            )
        }
    };
    let width = match record {
        Record::Counter => bytes == 4,
        Record::Thread => true,
        _ => bytes == 8,
    };
    width && offset % bytes == 0 && offset >= start && offset + bytes <= end
}

/// Whether a store may be made there at all; which value ends up where is for the contract.
pub(crate) fn storable(state: &State, record: Record, base: Term, offset: i32, bytes: i32) -> bool {
    match record {
        Record::WindowEntry | Record::GiftEntry => bytes == 8 && offset >= 0 && offset % 8 == 0,
        Record::Thread
        | Record::Domain
        | Record::Stack
        | Record::Hart
        | Record::Counter
        | Record::PageTable
        | Record::Frame => loadable(state, record, base, offset, bytes),
        Record::Table | Record::Block | Record::Threads | Record::Floats => false,
    }
}
