//! A small RISC-V assembler: the instructions that portal code uses, forward labels, a literal pool.

use core::cell::Cell;
use core::slice;
use pebble_abi::page_table::PageTemplate;

/// An integer register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register(pub u32);

#[allow(missing_docs)]
pub mod registers {
    use super::Register;
    pub const ZERO: Register = Register(0);
    pub const RA: Register = Register(1);
    pub const SP: Register = Register(2);
    pub const GP: Register = Register(3);
    pub const TP: Register = Register(4);
    pub const T0: Register = Register(5);
    pub const T1: Register = Register(6);
    pub const T2: Register = Register(7);
    pub const S0: Register = Register(8);
    pub const S1: Register = Register(9);
    pub const A0: Register = Register(10);
    pub const A1: Register = Register(11);
    pub const A2: Register = Register(12);
    pub const A3: Register = Register(13);
    pub const A4: Register = Register(14);
    pub const A6: Register = Register(16);
    pub const A7: Register = Register(17);
    pub const T3: Register = Register(28);
    pub const T4: Register = Register(29);
    pub const T5: Register = Register(30);
    pub const T6: Register = Register(31);
}
use registers::*;

/// Control and status registers that portal code touches.
#[allow(missing_docs)]
pub mod csr {
    pub const FCSR: u32 = 0x003;
    pub const SSTATUS: u32 = 0x100;
    pub const SIE: u32 = 0x104;
    pub const SSCRATCH: u32 = 0x140;
    pub const SEPC: u32 = 0x141;
    pub const SCAUSE: u32 = 0x142;
    pub const STVAL: u32 = 0x143;
    pub const STIMECMP: u32 = 0x14d;
    pub const SATP: u32 = 0x180;
    pub const CYCLE: u32 = 0xc00;
    pub const TIME: u32 = 0xc01;
}

/// A place that forward branches lead to: the last of them, 0 when there is none yet. Until the label is bound, the
/// offset bits of each branch hold the word index of the one before it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Label(u32);

impl Label {
    /// A label nobody branches to yet.
    pub const fn new() -> Self {
        Label(0)
    }
}

/// Most literals of one block.
pub const MAX_LITERALS: usize = 12;

/// Emits code into `words`; an overflow is remembered and reported once at the end.
pub struct Assembler<'a> {
    /// What the VM server said about page-table entries.
    pub pages: PageTemplate,
    words: &'a [Cell<u32>],
    /// Those behind the last instruction.
    rest: slice::Iter<'a, Cell<u32>>,
    /// Word index of the first instruction.
    start: usize,
    literals: [u64; MAX_LITERALS],
    literal_count: usize,
    /// Word index of the return code, once [`Assembler::mark_return`] was called.
    return_index: Option<usize>,
    overflow: bool,
}

/// Literal 0 of every block: the address of its return code.
pub const RETURN_LITERAL: i32 = -8;

/// Twelve bits in the places of a branch's offset.
const fn spread(bits: u32) -> u32 {
    (bits >> 5 & 0x7f) << 25 | (bits & 0x1f) << 7
}

/// The bits that [`spread`] put there.
const fn gathered(word: u32) -> u32 {
    (word >> 25) << 5 | word >> 7 & 0x1f
}

/// A branch's offset bits for a distance of `halves` times two bytes.
const fn distance(halves: u32) -> u32 {
    (halves >> 11 & 1) << 31
        | (halves >> 4 & 0x3f) << 25
        | (halves & 0xf) << 8
        | (halves >> 10 & 1) << 7
}

impl<'a> Assembler<'a> {
    /// An empty block over `words`. Its code is put behind room for `expected` literals, the one of the return code among
    /// them, and moved at the end if there are more or fewer.
    pub fn new(words: &'a mut [u32], expected: usize) -> Self {
        let start = 2 * expected;
        // A branch has room for the number of any of these words, see [`Label`].
        let most = words.len().min(1 << 12);
        let words = Cell::from_mut(&mut words[..most]).as_slice_of_cells();
        Assembler {
            pages: PageTemplate::default(),
            words,
            rest: words[start.min(most)..].iter(),
            start,
            literals: [0; MAX_LITERALS],
            literal_count: 1,
            return_index: None,
            overflow: false,
        }
    }

    #[inline(always)]
    fn emit(&mut self, word: u32) {
        match self.rest.next() {
            Some(place) => place.set(word),
            None => self.overflow = true,
        }
    }

    /// Word index of the next instruction.
    fn used(&self) -> usize {
        self.words.len() - self.rest.len()
    }

    #[inline(always)]
    fn i_type(&mut self, opcode: u32, funct3: u32, rd: Register, rs1: Register, immediate: i32) {
        debug_assert!((-2048..2048).contains(&immediate), "immediate {immediate}");
        self.emit(
            (immediate as u32 & 0xfff) << 20 | rs1.0 << 15 | funct3 << 12 | rd.0 << 7 | opcode,
        );
    }

    #[inline(always)]
    fn s_type(&mut self, opcode: u32, funct3: u32, rs1: Register, rs2: Register, immediate: i32) {
        debug_assert!((-2048..2048).contains(&immediate), "immediate {immediate}");
        let bits = immediate as u32;
        self.emit(
            (bits >> 5 & 0x7f) << 25
                | rs2.0 << 20
                | rs1.0 << 15
                | funct3 << 12
                | (bits & 0x1f) << 7
                | opcode,
        );
    }

    #[inline(always)]
    fn r_type(
        &mut self,
        opcode: u32,
        funct3: u32,
        funct7: u32,
        rd: Register,
        rs1: Register,
        rs2: Register,
    ) {
        self.emit(funct7 << 25 | rs2.0 << 20 | rs1.0 << 15 | funct3 << 12 | rd.0 << 7 | opcode);
    }

    /// `ld rd, offset(base)`.
    #[inline(always)]
    pub fn ld(&mut self, rd: Register, offset: i32, base: Register) {
        self.i_type(0x03, 3, rd, base, offset);
    }
    /// `lw rd, offset(base)`.
    #[inline(always)]
    pub fn lw(&mut self, rd: Register, offset: i32, base: Register) {
        self.i_type(0x03, 2, rd, base, offset);
    }
    /// `sd source, offset(base)`: the one store primitive of portal code (design invariant I6).
    #[inline(always)]
    pub fn sd(&mut self, source: Register, offset: i32, base: Register) {
        self.s_type(0x23, 3, base, source, offset);
    }
    /// `sw source, offset(base)`: semaphore counters only.
    #[inline(always)]
    pub fn sw(&mut self, source: Register, offset: i32, base: Register) {
        self.s_type(0x23, 2, base, source, offset);
    }
    /// `fsd f, offset(base)`.
    #[inline(always)]
    pub fn fsd(&mut self, f: u32, offset: i32, base: Register) {
        self.s_type(0x27, 3, base, Register(f), offset);
    }
    /// `fld f, offset(base)`.
    #[inline(always)]
    pub fn fld(&mut self, f: u32, offset: i32, base: Register) {
        self.i_type(0x07, 3, Register(f), base, offset);
    }
    /// `fmv.d.x f, zero`.
    #[inline(always)]
    pub fn clear_float(&mut self, f: u32) {
        self.r_type(0x53, 0, 0x79, Register(f), ZERO, ZERO);
    }
    /// `addi`.
    #[inline(always)]
    pub fn addi(&mut self, rd: Register, rs1: Register, immediate: i32) {
        self.i_type(0x13, 0, rd, rs1, immediate);
    }
    /// `addiw`.
    #[inline(always)]
    pub fn addiw(&mut self, rd: Register, rs1: Register, immediate: i32) {
        self.i_type(0x1b, 0, rd, rs1, immediate);
    }
    /// `andi`.
    #[inline(always)]
    pub fn andi(&mut self, rd: Register, rs1: Register, immediate: i32) {
        self.i_type(0x13, 7, rd, rs1, immediate);
    }
    /// `ori`.
    #[inline(always)]
    pub fn ori(&mut self, rd: Register, rs1: Register, immediate: i32) {
        self.i_type(0x13, 6, rd, rs1, immediate);
    }
    /// `slli`.
    #[inline(always)]
    pub fn slli(&mut self, rd: Register, rs1: Register, shift: u32) {
        self.i_type(0x13, 1, rd, rs1, shift as i32);
    }
    /// `srli`.
    #[inline(always)]
    pub fn srli(&mut self, rd: Register, rs1: Register, shift: u32) {
        self.i_type(0x13, 5, rd, rs1, shift as i32);
    }
    /// `add`.
    #[inline(always)]
    pub fn add(&mut self, rd: Register, rs1: Register, rs2: Register) {
        self.r_type(0x33, 0, 0, rd, rs1, rs2);
    }
    /// `sub`.
    #[inline(always)]
    pub fn sub(&mut self, rd: Register, rs1: Register, rs2: Register) {
        self.r_type(0x33, 0, 0x20, rd, rs1, rs2);
    }
    /// `mul`.
    #[inline(always)]
    pub fn mul(&mut self, rd: Register, rs1: Register, rs2: Register) {
        self.r_type(0x33, 0, 1, rd, rs1, rs2);
    }
    /// `mv`.
    #[inline(always)]
    pub fn mv(&mut self, rd: Register, rs: Register) {
        self.addi(rd, rs, 0);
    }
    /// `li` for values of 12 bits.
    #[inline(always)]
    pub fn li(&mut self, rd: Register, value: i32) {
        self.addi(rd, ZERO, value);
    }
    /// `lui` with the upper 20 bits of `value` (its low 12 bits are zero).
    #[inline(always)]
    pub fn lui(&mut self, rd: Register, value: u32) {
        self.emit(value & 0xffff_f000 | rd.0 << 7 | 0x37);
    }
    /// `csrrw rd, csr, rs`.
    #[inline(always)]
    pub fn csrrw(&mut self, rd: Register, csr: u32, rs: Register) {
        self.emit(csr << 20 | rs.0 << 15 | 1 << 12 | rd.0 << 7 | 0x73);
    }
    /// `csrw csr, rs`.
    #[inline(always)]
    pub fn csrw(&mut self, csr: u32, rs: Register) {
        self.csrrw(ZERO, csr, rs);
    }
    /// `csrr rd, csr`.
    #[inline(always)]
    pub fn csrr(&mut self, rd: Register, csr: u32) {
        self.emit(csr << 20 | 2 << 12 | rd.0 << 7 | 0x73);
    }
    /// `csrs csr, rs`.
    #[inline(always)]
    pub fn csrs(&mut self, csr: u32, rs: Register) {
        self.emit(csr << 20 | rs.0 << 15 | 2 << 12 | 0x73);
    }
    /// `csrc csr, rs`.
    #[inline(always)]
    pub fn csrc(&mut self, csr: u32, rs: Register) {
        self.emit(csr << 20 | rs.0 << 15 | 3 << 12 | 0x73);
    }
    /// `sret`.
    #[inline(always)]
    pub fn sret(&mut self) {
        self.emit(0x1020_0073);
    }
    /// `wfi`.
    #[inline(always)]
    pub fn wfi(&mut self) {
        self.emit(0x1050_0073);
    }
    /// `ecall`, from supervisor mode: to the firmware.
    #[inline(always)]
    pub fn ecall(&mut self) {
        self.emit(0x0000_0073);
    }
    /// `fence.i`.
    #[inline(always)]
    pub fn fence_i(&mut self) {
        self.emit(0x0000_100f);
    }
    /// `sfence.vma address, asid`.
    #[inline(always)]
    pub fn sfence(&mut self, address: Register, asid: Register) {
        self.emit(0x09 << 25 | asid.0 << 20 | address.0 << 15 | 0x73);
    }
    /// `sc.d zero, zero, (base)`: ends a load reservation of the thread that leaves.
    #[inline(always)]
    pub fn end_reservation(&mut self, base: Register) {
        self.emit(0x0c << 25 | base.0 << 15 | 3 << 12 | 0x2f);
    }
    /// `jr rs`.
    #[inline(always)]
    pub fn jr(&mut self, rs: Register) {
        self.i_type(0x67, 0, ZERO, rs, 0);
    }
    /// `jalr link, rs`.
    #[inline(always)]
    pub fn jalr(&mut self, link: Register, rs: Register) {
        self.i_type(0x67, 0, link, rs, 0);
    }

    #[inline(always)]
    fn branch(&mut self, funct3: u32, rs1: Register, rs2: Register, label: &mut Label) {
        let previous = label.0;
        label.0 = self.used() as u32;
        self.emit(spread(previous) | rs2.0 << 20 | rs1.0 << 15 | funct3 << 12 | 0x63);
    }
    /// `beq`.
    #[inline(always)]
    pub fn beq(&mut self, rs1: Register, rs2: Register, label: &mut Label) {
        self.branch(0, rs1, rs2, label);
    }
    /// `bne`.
    #[inline(always)]
    pub fn bne(&mut self, rs1: Register, rs2: Register, label: &mut Label) {
        self.branch(1, rs1, rs2, label);
    }
    /// `blt`.
    #[inline(always)]
    pub fn blt(&mut self, rs1: Register, rs2: Register, label: &mut Label) {
        self.branch(4, rs1, rs2, label);
    }
    /// `bge`.
    #[inline(always)]
    pub fn bge(&mut self, rs1: Register, rs2: Register, label: &mut Label) {
        self.branch(5, rs1, rs2, label);
    }
    /// `bltu`.
    #[inline(always)]
    pub fn bltu(&mut self, rs1: Register, rs2: Register, label: &mut Label) {
        self.branch(6, rs1, rs2, label);
    }
    /// `bgeu`.
    #[inline(always)]
    pub fn bgeu(&mut self, rs1: Register, rs2: Register, label: &mut Label) {
        self.branch(7, rs1, rs2, label);
    }

    /// Binds `label` here: all its branches lead to the next instruction.
    pub fn bind(&mut self, label: &Label) {
        let mut source = label.0 as usize;
        while source != 0 {
            // A branch that did not fit is an overflow, which is reported at the end.
            let Some(place) = self.words.get(source) else {
                return;
            };
            let word = place.get();
            let halves = ((self.used() - source) * 2) as u32;
            place.set(word & !spread(0xfff) | distance(halves));
            source = gathered(word) as usize;
        }
    }

    /// Whether a branch leads to `label`.
    pub fn is_used(label: &Label) -> bool {
        label.0 != 0
    }

    /// Puts `value` into the literal pool; answers its offset from the block's entry.
    pub fn literal(&mut self, value: u64) -> i32 {
        let known = self.literals[1..self.literal_count]
            .iter()
            .position(|&v| v == value);
        let index = match known {
            Some(index) => index + 1,
            None if self.literal_count < MAX_LITERALS => {
                self.literals[self.literal_count] = value;
                self.literal_count += 1;
                self.literal_count - 1
            }
            None => {
                self.overflow = true;
                0
            }
        };
        -8 * (index as i32 + 1)
    }

    /// `ld rd, literal(T0)`: `T0` holds the block's entry from the trampoline on.
    pub fn load_literal(&mut self, rd: Register, value: u64) {
        let offset = self.literal(value);
        self.ld(rd, offset, T0);
    }

    /// The return code starts here.
    pub fn mark_return(&mut self) {
        self.return_index = Some(self.used());
    }

    /// Places the literals before the code. `address` is where `words[0]` will be executed.
    /// Answers (words used, word index of the entry), or `None` when the block did not fit.
    pub fn finish(self, address: u64) -> Option<(usize, usize)> {
        if self.overflow {
            return None;
        }
        let start = self.start;
        let entry = 2 * self.literal_count;
        let used = self.used();
        if used - start + entry > self.words.len() {
            return None;
        }
        if entry < start {
            for index in start..used {
                self.words[index - start + entry].set(self.words[index].get());
            }
        } else if entry > start {
            for index in (start..used).rev() {
                self.words[index - start + entry].set(self.words[index].get());
            }
        }
        let return_index = self
            .return_index
            .map_or(entry, |index| index - start + entry);
        let mut literals = self.literals;
        literals[0] = address + 4 * return_index as u64;
        for (index, literal) in literals[..self.literal_count].iter().enumerate() {
            let place = entry - 2 * (index + 1);
            self.words[place].set(*literal as u32);
            self.words[place + 1].set((*literal >> 32) as u32);
        }
        Some((used - start + entry, entry))
    }
}
