//! Decides whether a block of portal code may run in privileged mode, from its machine code alone.
//!
//! The verifier knows what was wanted (a [`Policy`]: kind of portal, specification, name, the system around it)
//! and the words that are to be installed. It shares no code with the generator: it decodes the words strictly,
//! follows every path with terms for values, and compares the state at each way out with a contract.
//!
//! # What acceptance guarantees
//! For every state of the machine that meets the assumptions below, the block, entered at its entry or at its
//! return code,
//! 1. ends after at most [`Report::call`] or [`Report::back`] instructions: it branches forward only;
//! 2. loads only words of records that are known to be there, so it does not fault;
//! 3. stores only what the contract of its kind names: the same words with the same values, on each path all of
//!    them or, when a check fails, none but unused words beneath the top of the thread's own invocation stack;
//! 4. writes `satp` only with the value of a domain's record, `sie` only with 0 or the interrupts of user level,
//!    `sstatus` only its FS field, and leaves each control register as the contract says;
//! 5. leaves by `sret` to user mode at the address that the contract names, with `sscratch` = the thread and `tp`
//!    = the program's, or by a jump to the return code of the top frame, to the window-fault portal of the
//!    thread's own table, or to a shared block of the system;
//! 6. has put into each argument register what the specification's letter says; a window's entry is a page of the
//!    invoker that the invoker may use in this way, with at most the letter's rights, never executable; the
//!    return code clears as many entries as the call wrote, and flushes each; with `p` no register of the invoker
//!    reaches the callee but the arguments, and none of the callee the invoker but the result.
//!
//! # What it assumes
//! - The block is entered as trampoline, slot 0, the switch, or another verified block enter it, with interrupts
//!   off and on one hart; the literals before the entry and the code do not change while it is installed.
//! - Records are well formed: a thread's pointers lead to its table, its domain, its stack, its hart, `fp_live` (unless 0) to
//!   33 words of its own record or of a floating-point frame of its own; page tables
//!   have tables only above the last level; a free stack is nobody's current one. Those who write records (boot
//!   code, the portal manager, verified blocks) keep this.
//! - The invocation stack has `INVOCATION_RESERVE` bytes beneath `invocation_limit`, and each frame on it was
//!   pushed by a verified block, with at least a header above the last.
//! - All domains map privileged memory alike, so that a change of `satp` does not move the code or its records.
//! - What the policy says is what was wanted: its addresses are those of the records and blocks it names.
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod offence;
mod riscv64;
mod term;

pub use offence::{Offence, Reason};
pub use riscv64::decode;
use riscv64::{contract, machine, parameter, proven, record, state, walk};

use pebble_portal_spec::portal::{Kind, Name, System};

use contract::Pages;
use machine::Machine;
use parameter::Parameters;
use proven::{Candidate, Proven};
use state::Log;
use term::Terms;

/// Most words of a block.
pub const MAX_WORDS: usize = 2048;

/// What a block must be.
#[derive(Clone, Copy, Debug)]
pub struct Policy<'a> {
    /// The kind of portal, with its specification, callee and constant.
    pub kind: Kind<'a>,
    /// What its frames are named after.
    pub name: Name,
    /// The system around it.
    pub system: &'a System,
}

/// What was found out about an accepted block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// Words of the block, literals and code.
    pub words: u32,
    /// Instructions of the longest path from the entry to a way out.
    pub call: u32,
    /// The same for the return code, 0 when there is none.
    pub back: u32,
    /// A path leads into the scheduler, where the thread may block.
    pub scheduler: bool,
    /// A path calls the shared block that moves live floating-point registers, whose own instructions come on top.
    pub floats: bool,
}

/// A block that [`Workspace::fill`] wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filled {
    /// Words used.
    pub words: usize,
    /// Word index of the entry.
    pub entry: usize,
    /// What was proved of it.
    pub report: Report,
}

/// Room for one verification after the other, and the proofs that were made: about 60 KiB, for those whose stacks are
/// small.
pub struct Workspace {
    terms: Terms,
    log: Log,
    pages: Pages,
    proven: Proven,
}

impl Workspace {
    /// Room, and no proofs.
    pub const fn new() -> Self {
        Workspace {
            terms: Terms::new(),
            log: Log::new(),
            pages: Pages::new(),
            proven: Proven::new(),
        }
    }

    /// Forgets what was proved: the next block is judged on its own.
    pub fn forget(&mut self) {
        self.proven.forget();
    }

    /// Writes the block that `policy` wishes for to the beginning of `words`, which will be executed at `address`, if
    /// a block of the same shape was verified here: that one's words with the wish's own numbers, so that its proof
    /// holds. `None` when there was none yet, it was forgotten, or the block does not fit: then it has to be generated.
    pub fn fill(&self, policy: &Policy<'_>, address: u64, words: &mut [u32]) -> Option<Filled> {
        if !is_place(address) {
            return None;
        }
        let filled = self.proven.fill(policy, address, words)?;
        Some(Filled {
            report: filled.report.of(policy),
            ..filled
        })
    }

    /// Verifies the block `words`, entered at word `entry`, that will be executed at `address`.
    ///
    /// # Errors
    /// The first [`Offence`] that was found.
    pub fn verify(
        &mut self,
        words: &[u32],
        entry: usize,
        address: u64,
        policy: &Policy<'_>,
    ) -> Result<Report, Offence> {
        let refuse = |index: usize, reason| {
            Err(Offence {
                address: address.wrapping_add(4 * index as u64),
                word: words.get(index).copied().unwrap_or(0),
                reason,
            })
        };
        let fits = words.len() <= MAX_WORDS
            && entry >= 2
            && entry.is_multiple_of(2)
            && entry < words.len();
        if !fits || !is_place(address) {
            return refuse(0, Reason::Shape);
        }
        let candidate = Candidate {
            words,
            entry,
            address,
        };
        let parameters = Parameters::new(policy);
        let proven = self.proven.find(candidate, policy, &parameters);
        if let Some(report) = proven {
            return Ok(report.of(policy));
        }
        let windows = matches!(policy.kind, Kind::Call { specification, .. } if contract::names_pages(specification));
        if windows && !contract::is_sound(&policy.system.pages) {
            return refuse(entry, Reason::Template);
        }
        // Literal 0 names the return code; a block without one names its entry, where a frame would go on.
        let literal = (words[entry - 1] as u64) << 32 | words[entry - 2] as u64;
        let index = literal.wrapping_sub(address) / 4;
        let inside =
            literal.is_multiple_of(4) && index >= entry as u64 && index < words.len() as u64;
        let pushes = contract::frame_bytes(&policy.kind) != 0;
        if !inside || !pushes && index != entry as u64 {
            return refuse(entry - 2, Reason::ReturnCode);
        }
        let mut machine = Machine {
            policy,
            words,
            entry,
            address,
            terms: &mut self.terms,
            log: &mut self.log,
            pages: &mut self.pages,
            parameters,
        };
        let back = pushes.then_some(index as usize);
        let answer = walk::walk(&mut machine, back);
        if parameters.shape == 0 {
            return answer;
        }
        if let Ok(report) = answer {
            self.proven.keep(candidate, policy, &parameters, report);
            return Ok(report.of(policy));
        }
        // With these numbers the block may be right all the same: two of them are equal, and share a literal.
        machine.parameters.close();
        walk::walk(&mut machine, back)
    }
}

/// Whether a block can be at this address: its literals are aligned, and all of it is there.
fn is_place(address: u64) -> bool {
    address.is_multiple_of(8) && address.checked_add(4 * MAX_WORDS as u64).is_some()
}

impl Report {
    /// The report on one block of a shape: a proof that leaves the callee open does not know the scheduler in it.
    fn of(mut self, policy: &Policy<'_>) -> Report {
        if let Kind::Call { target, .. } = policy.kind {
            self.scheduler |= target.domain == policy.system.scheduler.domain;
        }
        self
    }
}

impl Default for Workspace {
    fn default() -> Self {
        Self::new()
    }
}

/// Verifies a block with room on the stack: see [`Workspace::verify`].
///
/// # Errors
/// The first [`Offence`] that was found.
pub fn verify(
    words: &[u32],
    entry: usize,
    address: u64,
    policy: &Policy<'_>,
) -> Result<Report, Offence> {
    Workspace::new().verify(words, entry, address, policy)
}
