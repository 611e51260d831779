//! Why a block was refused: where, which instruction, and what it would have broken.

use core::fmt;

use crate::decode::{decode, REGISTERS};

/// A refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offence {
    /// Address of the instruction.
    pub address: u64,
    /// The instruction.
    pub word: u32,
    /// What is wrong.
    pub reason: Reason,
}

/// What is wrong with a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The block's length, entry or address cannot be right.
    Shape,
    /// Portal code must not contain this word.
    Instruction,
    /// A branch that does not lead forward to an instruction of the block.
    Branch,
    /// The code goes on behind the last word of the block.
    End,
    /// No path from the entry or the return entry leads here.
    Unreachable,
    /// More paths, instructions or effects than a portal of this kind has.
    TooComplex,
    /// A load from memory that is not known to be there.
    Load,
    /// A load from a word that an earlier store may have changed.
    Alias,
    /// A store to memory that is not this portal's to change.
    Store,
    /// A control and status register that portal code must not access in this way.
    Csr,
    /// A value that must not be written to this control and status register (its name).
    CsrValue(&'static str),
    /// A floating-point access while the registers may be off.
    FloatsOff,
    /// A privileged instruction that this kind of portal has no use for.
    Privilege,
    /// The path leaves by a way that this kind of portal does not have.
    Exit,
    /// The path leaves although a check was not made, or not as it must come out (what should have been checked).
    Check(&'static str),
    /// At the exit a register does not hold what it must.
    Register(u8),
    /// At the exit something other than a register does not hold what it must (what).
    State(&'static str),
    /// At the exit a word of memory does not hold what it must (what).
    Memory(&'static str),
    /// A path stores more words than the portal may.
    ExtraStore,
    /// A translation that was changed is not flushed, or one that was not changed is.
    Flush,
    /// The VM server's template for page-table entries does not agree with the processor.
    Template,
    /// The block's literal for the return code does not point to code of the block.
    ReturnCode,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Shape => f.write_str("length, entry or alignment of the block cannot be right"),
            Reason::Instruction => f.write_str("portal code must not contain this instruction"),
            Reason::Branch => f.write_str("the branch does not lead forward within the block"),
            Reason::End => f.write_str("the code runs over the end of the block"),
            Reason::Unreachable => f.write_str("no path leads to this word"),
            Reason::TooComplex => f.write_str("more paths or effects than any portal has"),
            Reason::Load => f.write_str("loads from memory that is not known to be there"),
            Reason::Alias => f.write_str("loads a word that an earlier store may have changed"),
            Reason::Store => f.write_str("stores to memory that is not this portal's to change"),
            Reason::Csr => {
                f.write_str("accesses a control register in a way that portal code must not")
            }
            Reason::CsrValue(name) => {
                write!(f, "writes a value to {name} that is not allowed there")
            }
            Reason::FloatsOff => f.write_str("uses floating-point registers that may be off"),
            Reason::Privilege => f.write_str("this kind of portal has no use for the instruction"),
            Reason::Exit => f.write_str("this kind of portal does not leave in this way"),
            Reason::Check(what) => write!(f, "leaves without the right outcome of a check: {what}"),
            Reason::Register(register) => {
                write!(
                    f,
                    "at the exit {} does not hold what it must",
                    REGISTERS[*register as usize & 31]
                )
            }
            Reason::State(what) => write!(f, "at the exit the {what} is not as it must be"),
            Reason::Memory(what) => {
                write!(f, "at the exit memory does not hold what it must: {what}")
            }
            Reason::ExtraStore => f.write_str("stores a word that this path must leave alone"),
            Reason::Flush => f.write_str("flushes other translations than those that changed"),
            Reason::Template => f.write_str(
                "the template for page-table entries does not agree with the processor's rights bits",
            ),
            Reason::ReturnCode => {
                f.write_str("the first literal must be the address of the block's return code")
            }
        }
    }
}

impl fmt::Display for Offence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "portal code refused at {:#x}: ", self.address)?;
        match decode(self.word) {
            Some(instruction) => write!(f, "`{instruction}`: ")?,
            None => write!(f, "word {:#010x}: ", self.word)?,
        }
        write!(f, "{}", self.reason)
    }
}
