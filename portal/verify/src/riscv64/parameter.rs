//! What portals of one shape differ in: numbers of the wish that a proof leaves open, and what they are in one of them.

use pebble_abi::layout::MAX_SEMAPHORES;
use pebble_portal_spec::portal::Kind;
use pebble_portal_spec::Argument;

use crate::contract::frame_name;
use crate::decode::{Immediate, Instruction};
use crate::state::register;
use crate::Policy;

/// A number that a proof can leave open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parameter {
    /// Address of the callee's domain record.
    Domain,
    /// Address of the callee's entry.
    Target,
    /// What letter `c` stands for.
    Constant,
    /// What the block's frames are named.
    Name,
    /// What letter `=` stands for.
    Slot,
    /// Address of the semaphore's counter.
    Counter,
    /// Index of the semaphore.
    Index,
}

/// How many there are.
pub(crate) const PARAMETERS: usize = 7;

use Parameter as P;
const ALL: [Parameter; PARAMETERS] = [
    P::Domain,
    P::Target,
    P::Constant,
    P::Name,
    P::Slot,
    P::Counter,
    P::Index,
];

/// The numbers of one wish, and which of them a proof leaves open.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parameters {
    values: [u64; PARAMETERS],
    open: u8,
    /// Registers that get a number which may stand in an instruction (`Slot`, `Index`), one bit each.
    registers: u32,
    /// What has the same form in all portals of one shape, 0 when the kind is not made more than once.
    pub shape: u64,
}

impl Parameters {
    /// The numbers of `policy`, open if proofs for this kind may leave them open.
    pub(crate) fn new(policy: &Policy<'_>) -> Self {
        let mut this = Parameters {
            values: [0; PARAMETERS],
            open: 0,
            registers: 0,
            shape: 0,
        };
        this.values[P::Name as usize] = frame_name(&policy.kind, policy.name);
        match policy.kind {
            Kind::Call {
                specification,
                target,
                constant,
            } => {
                this.values[P::Domain as usize] = target.domain;
                this.values[P::Target as usize] = target.entry;
                this.values[P::Constant as usize] = constant;
                this.values[P::Slot as usize] = policy.name.slot;
                let mut form = specification.stack as u64 | (specification.state as u64) << 1;
                form |= (specification.arguments().len() as u64) << 2;
                let mut constants = 0;
                for (index, argument) in specification.arguments().iter().enumerate() {
                    // Another number for every letter, and eight bits for each argument: one form, one specification.
                    let (letter, pages) = match *argument {
                        Argument::Word => (0, 0),
                        Argument::Constant => (1, 0),
                        Argument::Slot => (2, 0),
                        Argument::Thread => (3, 0),
                        Argument::Domain => (4, 0),
                        Argument::Time => (5, 0),
                        Argument::Window(pages) => (6, pages),
                        Argument::ReadWindow(pages) => (7, pages),
                        Argument::OpenWindow(pages) => (8, pages),
                        Argument::Give(pages) => (9, pages),
                        Argument::Take(pages) => (10, pages),
                        Argument::Capability => (11, 0),
                    };
                    if pages > 15 {
                        return this;
                    }
                    form |= (letter | (pages as u64) << 4) << (8 + 8 * index);
                    match argument {
                        Argument::Constant => constants = 1 << P::Constant as u8,
                        Argument::Slot => this.registers |= 1 << (register::A0 as usize + index),
                        _ => {}
                    }
                }
                this.shape = 1 | (policy.name.system as u64) << 2 | form << 8;
                this.open = 1 << P::Domain as u8 | 1 << P::Target as u8 | 1 << P::Name as u8;
                this.open |= constants;
                if this.registers != 0 {
                    this.open |= 1 << P::Slot as u8;
                }
                // A call to nowhere is no call; a slot that no instruction can name is none that a shape has.
                if target.domain == 0 || policy.name.slot >= IMMEDIATES {
                    this.close();
                }
            }
            Kind::SemaphoreWait { index } | Kind::SemaphorePost { index } => {
                let counters = policy.system.semaphores;
                this.values[P::Counter as usize] = counters.wrapping_add(index.wrapping_mul(4));
                this.values[P::Index as usize] = index;
                let post = matches!(policy.kind, Kind::SemaphorePost { .. });
                // `t4`: a V that is left for later.
                this.registers = 1 << register::A1 | 1 << register::T4;
                this.shape = 2 | (policy.name.system as u64) << 2 | (post as u64) << 3;
                this.open = 1 << P::Counter as u8 | 1 << P::Index as u8 | 1 << P::Name as u8;
                if index >= (MAX_SEMAPHORES as u64).min(IMMEDIATES) {
                    this.close();
                }
            }
            _ => {}
        }
        this
    }

    /// Leaves nothing open.
    pub(crate) fn close(&mut self) {
        self.open = 0;
        self.shape = 0;
    }

    /// What the number is in this wish.
    pub(crate) fn value(&self, parameter: Parameter) -> u64 {
        self.values[parameter as usize]
    }

    /// Whether a proof leaves the number open.
    pub(crate) fn is_open(&self, parameter: Parameter) -> bool {
        self.open >> parameter as u8 & 1 != 0
    }

    /// The open number that a literal with this value stands for. When two have the same value it is the first: if the
    /// code means the other one, the open proof fails.
    pub(crate) fn literal(&self, value: u64) -> Option<Parameter> {
        let stands =
            |parameter: &Parameter| self.is_open(*parameter) && self.value(*parameter) == value;
        ALL.into_iter().find(stands)
    }

    /// Whether `word` may be an instruction that [`Parameters::immediate`] has an answer for.
    pub(crate) fn may_be_immediate(&self, word: u32) -> bool {
        // addi rd, zero, ...
        word & 0x000f_f07f == 0x13 && self.registers >> (word >> 7 & 31) & 1 != 0
    }

    /// The open number that `instruction` puts into its register: `li` of a slot or a semaphore's index.
    pub(crate) fn immediate(&self, instruction: Instruction) -> Option<Parameter> {
        let Instruction::Immediate {
            operation: Immediate::Add,
            to,
            from: 0,
            value,
        } = instruction
        else {
            return None;
        };
        if self.registers >> to & 1 == 0 {
            return None;
        }
        let stands = |parameter: &Parameter| {
            self.is_open(*parameter) && self.value(*parameter) == value as u64
        };
        [P::Slot, P::Index].into_iter().find(stands)
    }
}

/// Numbers from 0 that the immediate of an instruction can be.
pub(crate) const IMMEDIATES: u64 = 2048;

/// The literal in words `index` and the next.
pub(crate) fn literal(words: &[u32], index: usize) -> Option<u64> {
    let low = *words.get(index)?;
    let high = *words.get(index + 1)?;
    Some((high as u64) << 32 | low as u64)
}
