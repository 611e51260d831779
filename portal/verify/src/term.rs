//! Terms: what a register or a word of memory holds, as an expression over the state at entry.
//!
//! Terms are kept once each, so that two of them are equal when their numbers are. Sums are flattened and
//! ordered, which makes `(a + b) + c` and `a + (c + b)` one term; nothing else is simplified, because a contract
//! builds what it expects with the same functions.

use crate::decode::Width;
use crate::parameter::{Parameter, PARAMETERS};

/// A term's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Term(u16);

impl Term {
    /// The number itself.
    pub fn index(self) -> u16 {
        self.0
    }
}

/// Nothing is known about the value.
pub const JUNK: Term = Term(0);
/// Zero.
pub const ZERO: Term = Term(1);
/// The current thread.
pub const THREAD: Term = Term(2);
/// The frame that a return code is entered with.
pub const FRAME: Term = Term(3);
/// The top of the invocation stack after the shared block that pushes floating-point registers was called.
pub const PUSHED: Term = Term(4);
/// Where a called block returns to.
pub const LINK: Term = Term(5);
/// The words of a floating-point frame that hold the invoker's registers after that block was called.
pub const SAVED: Term = Term(6);

/// The address of the block's entry.
pub const BLOCK: Term = Term(7);
/// The first of the numbers that a proof leaves open (`crate::parameter`).
const FIRST_PARAMETER: u16 = 8;
/// The program's register 0 at entry, which is [`ZERO`] instead; the others follow, then the floating-point registers.
const FIRST_REGISTER: u16 = FIRST_PARAMETER + PARAMETERS as u16;
const FIRST_FLOAT: u16 = FIRST_REGISTER + 32;
/// Terms that every verification begins with.
const FIXED: u16 = FIRST_FLOAT + 32;

impl Parameter {
    /// The number that a proof leaves open.
    pub(crate) const fn term(self) -> Term {
        Term(FIRST_PARAMETER + self as u16)
    }
}

/// What a term is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// See [`JUNK`] and the constants after it.
    Input(u8),
    /// A known number.
    Number(u64),
    /// The program's register at entry.
    Register(u8),
    /// The program's floating-point register at entry.
    Float(u8),
    /// A control and status register at entry.
    Csr(u16),
    /// Memory at entry.
    Load {
        base: Term,
        offset: i32,
        width: Width,
    },
    /// Memory after the one store since entry that may or may not have been to this place.
    Late { base: Term, offset: i32 },
    /// Sum of up to three terms (the rest is zero) and a number.
    Sum { parts: [Term; 3], number: i64 },
    /// Logical shift to the left.
    Left { of: Term, by: u8 },
    /// Logical shift to the right.
    Right { of: Term, by: u8 },
    /// Bitwise and with a number.
    And { of: Term, mask: i16 },
    /// Bitwise or with a number.
    Or { of: Term, mask: i16 },
    /// 32-bit sum with a number, sign extended.
    AddWord { of: Term, value: i16 },
    /// Product.
    Product { left: Term, right: Term },
    /// Difference of two terms of which the second is not a number.
    Difference { left: Term, right: Term },
}

const NODES: usize = 1024;
const BUCKETS: usize = 2048;

/// All terms of one verification. When it is full, further terms are [`JUNK`], which no contract accepts.
pub struct Terms {
    nodes: [Packed; NODES],
    used: usize,
    buckets: [u16; BUCKETS],
}

/// A node in two words, so that comparing and finding it is quick: kind in the lowest 8 bits, then terms and small numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Packed(u64, u64);

impl Packed {
    #[inline(always)]
    const fn new(node: Node) -> Packed {
        const fn pair(kind: u64, of: Term, other: u64) -> u64 {
            kind | (of.0 as u64) << 8 | other << 24
        }
        match node {
            Node::Input(input) => Packed((input as u64) << 8, 0),
            Node::Number(value) => Packed(1, value),
            Node::Register(register) => Packed(2 | (register as u64) << 8, 0),
            Node::Float(float) => Packed(3 | (float as u64) << 8, 0),
            Node::Csr(csr) => Packed(4 | (csr as u64) << 8, 0),
            Node::Load {
                base,
                offset,
                width,
            } => {
                let kind = match width {
                    Width::Word => 5,
                    Width::Double => 6,
                };
                Packed(pair(kind, base, 0), offset as u64)
            }
            Node::Late { base, offset } => Packed(pair(7, base, 0), offset as u64),
            Node::Sum {
                parts: [a, b, c],
                number,
            } => Packed(pair(8, a, b.0 as u64 | (c.0 as u64) << 16), number as u64),
            Node::Left { of, by } => Packed(pair(9, of, by as u64), 0),
            Node::Right { of, by } => Packed(pair(10, of, by as u64), 0),
            Node::And { of, mask } => Packed(pair(11, of, mask as u16 as u64), 0),
            Node::Or { of, mask } => Packed(pair(12, of, mask as u16 as u64), 0),
            Node::AddWord { of, value } => Packed(pair(13, of, value as u16 as u64), 0),
            Node::Product { left, right } => Packed(pair(14, left, right.0 as u64), 0),
            Node::Difference { left, right } => Packed(pair(15, left, right.0 as u64), 0),
        }
    }

    #[inline(always)]
    fn node(self) -> Node {
        let of = Term((self.0 >> 8) as u16);
        let other = (self.0 >> 24) as u16;
        let offset = self.1 as i32;
        match self.0 as u8 {
            0 => Node::Input(of.0 as u8),
            1 => Node::Number(self.1),
            2 => Node::Register(of.0 as u8),
            3 => Node::Float(of.0 as u8),
            4 => Node::Csr(of.0),
            5 => Node::Load {
                base: of,
                offset,
                width: Width::Word,
            },
            6 => Node::Load {
                base: of,
                offset,
                width: Width::Double,
            },
            7 => Node::Late { base: of, offset },
            8 => Node::Sum {
                parts: [of, Term(other), Term((self.0 >> 40) as u16)],
                number: self.1 as i64,
            },
            9 => Node::Left {
                of,
                by: other as u8,
            },
            10 => Node::Right {
                of,
                by: other as u8,
            },
            11 => Node::And {
                of,
                mask: other as i16,
            },
            12 => Node::Or {
                of,
                mask: other as i16,
            },
            13 => Node::AddWord {
                of,
                value: other as i16,
            },
            14 => Node::Product {
                left: of,
                right: Term(other),
            },
            _ => Node::Difference {
                left: of,
                right: Term(other),
            },
        }
    }

    /// Where to look for it: equal nodes share it, different ones mostly do not.
    #[inline(always)]
    fn bucket(self) -> usize {
        let mixed = (self.0 ^ self.1.rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> 48) as usize % BUCKETS
    }
}

impl Terms {
    /// No terms but the fixed ones.
    pub const fn new() -> Self {
        let mut nodes = [Packed(0, 0); NODES];
        let mut index = 0;
        while index < FIXED {
            let node = match index {
                1 => Node::Number(0),
                FIRST_REGISTER..FIRST_FLOAT => Node::Register((index - FIRST_REGISTER) as u8),
                FIRST_FLOAT.. => Node::Float((index - FIRST_FLOAT) as u8),
                _ => Node::Input(index as u8),
            };
            nodes[index as usize] = Packed::new(node);
            index += 1;
        }
        Terms {
            nodes,
            used: FIXED as usize,
            buckets: [0; BUCKETS],
        }
    }

    /// Forgets everything but the fixed terms.
    pub fn reset(&mut self) {
        self.used = FIXED as usize;
        self.buckets = [0; BUCKETS];
    }

    /// What `term` is.
    pub fn node(&self, term: Term) -> Node {
        self.nodes[term.0 as usize % NODES].node()
    }

    /// The term for `node`, which is none of the fixed ones.
    #[inline(always)]
    pub fn term(&mut self, node: Node) -> Term {
        self.find(Packed::new(node))
    }

    fn find(&mut self, node: Packed) -> Term {
        let mut bucket = node.bucket();
        // At most half of the buckets are in use: this ends at a free one.
        while self.buckets[bucket] != 0 {
            let index = self.buckets[bucket];
            if self.nodes[index as usize % NODES] == node {
                return Term(index);
            }
            bucket = (bucket + 1) % BUCKETS;
        }
        if self.used == NODES {
            return JUNK;
        }
        self.nodes[self.used] = node;
        self.buckets[bucket] = self.used as u16;
        self.used += 1;
        Term(self.used as u16 - 1)
    }

    /// A number.
    pub fn number(&mut self, value: u64) -> Term {
        match value {
            0 => ZERO,
            _ => self.term(Node::Number(value)),
        }
    }

    /// The program's register at entry.
    pub fn register(&self, register: u8) -> Term {
        match register {
            0 => ZERO,
            _ => Term(FIRST_REGISTER + register as u16 % 32),
        }
    }

    /// The program's floating-point register at entry.
    pub fn float(&self, float: u8) -> Term {
        Term(FIRST_FLOAT + float as u16 % 32)
    }

    /// A control and status register at entry.
    pub fn csr(&mut self, csr: u16) -> Term {
        self.term(Node::Csr(csr))
    }

    /// The double word at `offset` from `base` at entry.
    pub fn load(&mut self, base: Term, offset: i32) -> Term {
        self.term(Node::Load {
            base,
            offset,
            width: Width::Double,
        })
    }

    /// The parts of a term seen as a sum.
    fn parts(&self, term: Term) -> ([Term; 3], i64) {
        match self.node(term) {
            Node::Number(value) => ([ZERO; 3], value as i64),
            Node::Sum { parts, number } => (parts, number),
            _ => ([term, ZERO, ZERO], 0),
        }
    }

    /// `term + offset` without its number, and that number: a base and an offset.
    pub fn place(&mut self, term: Term, offset: i64) -> (Term, i64) {
        let (parts, number) = self.parts(term);
        (self.sum_of(parts, 0), number.wrapping_add(offset))
    }

    fn sum_of(&mut self, parts: [Term; 3], number: i64) -> Term {
        if parts[0] == ZERO {
            return self.number(number as u64);
        }
        if parts[1] == ZERO && number == 0 {
            return parts[0];
        }
        self.term(Node::Sum { parts, number })
    }

    /// `left + right`.
    pub fn add(&mut self, left: Term, right: Term) -> Term {
        if left == JUNK || right == JUNK {
            return JUNK;
        }
        let (a, x) = self.parts(left);
        let (b, y) = self.parts(right);
        if b[0] == ZERO {
            return self.sum_of(a, x.wrapping_add(y));
        }
        let mut all = [a[0], a[1], a[2], b[0], b[1], b[2]];
        // Zero, the smallest input, goes last.
        all.sort_unstable_by_key(|part| if *part == ZERO { Term(u16::MAX) } else { *part });
        if all[3] != ZERO {
            return JUNK;
        }
        self.sum_of([all[0], all[1], all[2]], x.wrapping_add(y))
    }

    /// `left + number`.
    pub fn add_number(&mut self, left: Term, number: i64) -> Term {
        if left == JUNK || number == 0 {
            return left;
        }
        let (parts, sum) = self.parts(left);
        self.sum_of(parts, sum.wrapping_add(number))
    }

    /// `left - right`.
    pub fn subtract(&mut self, left: Term, right: Term) -> Term {
        match self.node(right) {
            Node::Number(value) => self.add_number(left, (value as i64).wrapping_neg()),
            _ if left == JUNK || right == JUNK => JUNK,
            _ => self.term(Node::Difference { left, right }),
        }
    }

    /// `of << by`.
    pub fn left(&mut self, of: Term, by: u8) -> Term {
        match self.node(of) {
            Node::Number(value) => self.number(value << by),
            _ if of == JUNK => JUNK,
            _ => self.term(Node::Left { of, by }),
        }
    }

    /// `of >> by`, zeros from the left.
    pub fn right(&mut self, of: Term, by: u8) -> Term {
        match self.node(of) {
            Node::Number(value) => self.number(value >> by),
            _ if of == JUNK => JUNK,
            _ => self.term(Node::Right { of, by }),
        }
    }

    /// `of & mask`.
    pub fn and(&mut self, of: Term, mask: i16) -> Term {
        match self.node(of) {
            Node::Number(value) => self.number(value & mask as i64 as u64),
            _ if of == JUNK => JUNK,
            _ => self.term(Node::And { of, mask }),
        }
    }

    /// `of | mask`.
    pub fn or(&mut self, of: Term, mask: i16) -> Term {
        match self.node(of) {
            Node::Number(value) => self.number(value | mask as i64 as u64),
            _ if of == JUNK => JUNK,
            _ => self.term(Node::Or { of, mask }),
        }
    }

    /// Low 32 bits of `of + value`, sign extended.
    pub fn add_word(&mut self, of: Term, value: i16) -> Term {
        match self.node(of) {
            Node::Number(number) => {
                self.number((number as i32).wrapping_add(value as i32) as i64 as u64)
            }
            _ if of == JUNK => JUNK,
            _ => self.term(Node::AddWord { of, value }),
        }
    }

    /// `left * right`.
    pub fn product(&mut self, left: Term, right: Term) -> Term {
        if left == JUNK || right == JUNK {
            return JUNK;
        }
        self.term(Node::Product {
            left: left.min(right),
            right: left.max(right),
        })
    }
}

impl Default for Terms {
    fn default() -> Self {
        Self::new()
    }
}
