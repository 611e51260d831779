//! Blocks that were proved with their numbers left open: another block of the same words, whose literals are what its own
//! wish says, needs no second proof.

use pebble_portal_spec::portal::System;

use crate::decode::decode;
use crate::parameter::{literal, Parameter, Parameters, IMMEDIATES};
use crate::{Filled, Policy, Report};

/// Most shapes that are kept.
const SHAPES: usize = 64;
/// Most words of all kept shapes together.
const WORDS: usize = 5120;
/// Most literals of a shape, and most instructions with a number of the wish in them.
const LITERALS: usize = 16;
const HOLES: usize = 8;

/// A block under judgement.
#[derive(Clone, Copy)]
pub(crate) struct Candidate<'a> {
    pub words: &'a [u32],
    /// Word index of its entry.
    pub entry: usize,
    /// Where it will be executed.
    pub address: u64,
}

/// A proof: what it is about is in [`Proven::words`].
#[derive(Clone, Copy)]
struct Shape {
    form: u64,
    /// First of its words, how many, index of the entry and of the return code.
    start: u16,
    words: u16,
    entry: u16,
    back: u16,
    /// For each literal but the last, which has the return code's address: the number of the wish that it is, if any.
    literals: [Option<Parameter>; LITERALS],
    /// Instructions with a number of the wish as their immediate.
    holes: [Option<(u16, Parameter)>; HOLES],
    report: Report,
}

/// Memory of proofs. All are about one system; whoever asks about another one finds it empty.
pub(crate) struct Proven {
    system: System,
    shapes: [Shape; SHAPES],
    /// Shapes behind this many are empty.
    count: usize,
    /// The words of one shape after the other, round and round.
    words: [u32; WORDS],
    next: usize,
    /// The shape that goes when all are taken.
    victim: usize,
}

impl Proven {
    pub(crate) const fn new() -> Self {
        Proven {
            system: System::NONE,
            shapes: [Shape::NONE; SHAPES],
            count: 0,
            words: [0; WORDS],
            next: 0,
            victim: 0,
        }
    }

    /// What was proved of a block that `candidate` differs from only where the wish does.
    pub(crate) fn find(
        &self,
        candidate: Candidate<'_>,
        policy: &Policy<'_>,
        parameters: &Parameters,
    ) -> Option<Report> {
        self.shapes(policy, parameters)
            .find(|shape| shape.is_of(candidate, self.of(shape), parameters))
            .map(|shape| shape.report)
    }

    /// Writes the block that `policy` wishes for, to be executed at `address`, if one of its shape was proved: the proved
    /// words with the wish's numbers in their places. `None` without such a proof, or without room.
    pub(crate) fn fill(
        &self,
        policy: &Policy<'_>,
        address: u64,
        words: &mut [u32],
    ) -> Option<Filled> {
        let parameters = Parameters::new(policy);
        let shape = self.shapes(policy, &parameters).next()?;
        shape.fill(self.of(shape), address, &parameters, words)?;
        Some(Filled {
            words: shape.words as usize,
            entry: shape.entry as usize,
            report: shape.report,
        })
    }

    /// Proofs of blocks for the system of `policy` and of its shape.
    fn shapes<'s>(
        &'s self,
        policy: &Policy<'_>,
        parameters: &Parameters,
    ) -> impl Iterator<Item = &'s Shape> {
        let form = parameters.shape;
        let here = self.count > 0 && form != 0 && self.system == *policy.system;
        let count = if here { self.count } else { 0 };
        self.shapes[..count]
            .iter()
            .filter(move |shape| shape.form == form)
    }

    /// The words that were proved.
    fn of(&self, shape: &Shape) -> &[u32] {
        let start = shape.start as usize;
        &self.words[start..start + shape.words as usize]
    }

    /// Forgets everything.
    pub(crate) fn forget(&mut self) {
        self.count = 0;
        self.next = 0;
    }

    /// Keeps what was proved of `candidate` with the numbers of `parameters` left open. Without room the oldest proofs
    /// are forgotten: they can be made again.
    pub(crate) fn keep(
        &mut self,
        candidate: Candidate<'_>,
        policy: &Policy<'_>,
        parameters: &Parameters,
        report: Report,
    ) {
        let Some(mut shape) = Shape::new(candidate, parameters, report) else {
            return;
        };
        let words = candidate.words;
        if self.system != *policy.system {
            self.system = *policy.system;
            self.forget();
        }
        // Beginning where eight bytes do: blocks are copied from here.
        let mut start = self.next.next_multiple_of(2);
        if start + words.len() > WORDS {
            start = 0;
        }
        let end = start + words.len();
        let Some(place) = self.words.get_mut(start..end) else {
            return;
        };
        // What was proved of other words that were there is forgotten with them.
        for old in &mut self.shapes[..self.count] {
            if (old.start as usize) < end && start < (old.start + old.words) as usize {
                *old = Shape::NONE;
            }
        }
        place.copy_from_slice(words);
        self.next = end;
        shape.start = start as u16;
        let known = &self.shapes[..self.count];
        let free = known.iter().position(|old| old.form == 0);
        let index = match free {
            Some(index) => index,
            None if self.count < SHAPES => {
                self.count += 1;
                self.count - 1
            }
            None => {
                self.victim = (self.victim + 1) % SHAPES;
                self.victim
            }
        };
        self.shapes[index] = shape;
    }
}

impl Shape {
    /// No proof: no wish has this form.
    const NONE: Shape = Shape {
        form: 0,
        start: 0,
        words: 0,
        entry: 0,
        back: 0,
        literals: [None; LITERALS],
        holes: [None; HOLES],
        report: Report {
            words: 0,
            call: 0,
            back: 0,
            scheduler: false,
            floats: false,
        },
    };

    /// The shape of a block that was proved; `None` for one with more numbers than there is room for.
    fn new(candidate: Candidate<'_>, parameters: &Parameters, report: Report) -> Option<Shape> {
        let Candidate {
            words,
            entry,
            address,
        } = candidate;
        let back = (literal(words, entry - 2)?.wrapping_sub(address) / 4) as u16;
        let mut shape = Shape {
            form: parameters.shape,
            start: 0,
            words: words.len() as u16,
            entry: entry as u16,
            back,
            literals: [None; LITERALS],
            holes: [None; HOLES],
            report,
        };
        for index in 0..entry / 2 - 1 {
            let value = literal(words, 2 * index)?;
            *shape.literals.get_mut(index)? = parameters.literal(value);
        }
        let mut holes = 0;
        for (index, &word) in words.iter().enumerate().skip(entry) {
            // The walk asked the same question about each instruction.
            if !parameters.may_be_immediate(word) {
                continue;
            }
            if let Some(parameter) = parameters.immediate(decode(word)?) {
                *shape.holes.get_mut(holes)? = Some((index as u16, parameter));
                holes += 1;
            }
        }
        Some(shape)
    }

    /// Writes the block `proven` with the numbers of `parameters` in its places to the beginning of `words`.
    fn fill(
        &self,
        proven: &[u32],
        address: u64,
        parameters: &Parameters,
        words: &mut [u32],
    ) -> Option<()> {
        let words = words.get_mut(..proven.len())?;
        words.copy_from_slice(proven);
        let literals = self.entry as usize / 2 - 1;
        let mut put = |index: usize, value: u64| {
            words[2 * index] = value as u32;
            words[2 * index + 1] = (value >> 32) as u32;
        };
        for (index, parameter) in self.literals[..literals].iter().enumerate() {
            if let Some(parameter) = parameter {
                put(index, parameters.value(*parameter));
            }
        }
        put(literals, address.wrapping_add(4 * self.back as u64));
        for &(hole, parameter) in self.holes.iter().flatten() {
            let word = &mut words[hole as usize];
            *word = with_immediate(*word, parameters.value(parameter))?;
        }
        Some(())
    }

    /// Whether `candidate` is the block `proven` with the numbers of `parameters` in its places.
    fn is_of(&self, candidate: Candidate<'_>, proven: &[u32], parameters: &Parameters) -> bool {
        let Candidate {
            words,
            entry,
            address,
        } = candidate;
        if words.len() != proven.len() || entry != self.entry as usize {
            return false;
        }
        let literals = entry / 2 - 1;
        let back = address.wrapping_add(4 * self.back as u64);
        if literal(words, 2 * literals) != Some(back) {
            return false;
        }
        for (index, parameter) in self.literals[..literals].iter().enumerate() {
            let expected = match parameter {
                Some(parameter) => Some(parameters.value(*parameter)),
                None => literal(proven, 2 * index),
            };
            if literal(words, 2 * index) != expected {
                return false;
            }
        }
        let mut from = entry;
        for &(hole, parameter) in self.holes.iter().flatten() {
            let hole = hole as usize;
            let value = parameters.value(parameter);
            if with_immediate(proven[hole], value) != Some(words[hole])
                || !equal(&words[from..hole], &proven[from..hole])
            {
                return false;
            }
            from = hole + 1;
        }
        equal(&words[from..], &proven[from..])
    }
}

/// The instruction `word` with `value` as its immediate.
fn with_immediate(word: u32, value: u64) -> Option<u32> {
    (value < IMMEDIATES).then_some(word & 0x000f_ffff | (value as u32) << 20)
}

/// Whether two pieces of code are the same, eight words at a time.
fn equal(left: &[u32], right: &[u32]) -> bool {
    if left.len() != right.len() {
        return false;
    }
    let (left, left_rest) = left.as_chunks::<8>();
    let (right, right_rest) = right.as_chunks::<8>();
    let same = |a: &[u32], b: &[u32]| a.iter().zip(b).fold(0, |bits, (a, b)| bits | a ^ b) == 0;
    left.iter().zip(right).all(|(a, b)| same(a, b)) && same(left_rest, right_rest)
}
