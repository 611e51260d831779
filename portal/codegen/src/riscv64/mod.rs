//! Portal code for RISC-V: which block each kind of portal becomes.
//!
//! On entry to every block the trampoline has left: `tp` = the thread, `sscratch` = the program's `tp`, `t0` =
//! the block's entry, everything else as the program had it (after a trap that was not an environment call,
//! `t0` and `t1` of the program are in `Thread::scratch`). A block's return code is entered with `t1` = the
//! frame and `t0` = the block's entry.

pub mod asm;
mod call;
mod capability;
mod float;
mod gift;
mod scheduler;
mod short;
mod trap;
mod window;

use asm::{csr, registers::*, Assembler, Register};
use core::mem::offset_of;
use pebble_abi::object::{Domain, Frame, Thread, PARTIAL_REGISTERS};

use crate::{Error, Kind, Name, System};

/// A generated block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Words used in the buffer: literals, then code.
    pub words: usize,
    /// Word index of the entry, which is what a portal table slot points to.
    pub entry: usize,
}

/// Generates the portal `kind`, named `name`, into `words`, which will be executed at `address`.
///
/// # Errors
/// [`Error::Space`] when `words` is too short; [`Error::Unsupported`] for a letter that cannot work here.
pub fn generate(
    kind: &Kind<'_>,
    name: Name,
    system: &System,
    address: u64,
    words: &mut [u32],
) -> Result<Block, Error> {
    if words.len() < 2 * asm::MAX_LITERALS {
        return Err(Error::Space);
    }
    // So many that the code of what is made often need not be moved; what does not matter otherwise.
    let expected = match *kind {
        Kind::Call { specification, .. } => call::literals(specification),
        Kind::SemaphoreWait { .. } | Kind::SemaphorePost { .. } => 6,
        _ => 1,
    };
    let mut a = Assembler::new(words, expected);
    a.pages = system.pages;
    match *kind {
        Kind::Call {
            specification,
            target,
            constant,
        } => call::call(&mut a, specification, target, constant, name, system),
        Kind::Scheduler { entry } => scheduler::entry(&mut a, entry, name, system),
        Kind::SemaphoreWait { index } => scheduler::wait(&mut a, index, name, system),
        Kind::SemaphorePost { index } => scheduler::post(&mut a, index, name, system),
        Kind::SchedulerTail { entry } => scheduler::tail(&mut a, entry, system),
        Kind::StackFree => scheduler::stack_free(&mut a, name, system),
        Kind::StackWait => trap::stack_wait(&mut a, name, system),
        Kind::Switch => scheduler::switch(&mut a, system),
        Kind::Interrupt => trap::interrupt(&mut a, name, system),
        Kind::Fault => trap::fault(&mut a, name, system),
        Kind::WindowFault => trap::window_fault(&mut a, name, system),
        Kind::Illegal => float::illegal(&mut a, system),
        Kind::FloatPush => float::push(&mut a, name),
        Kind::Return => short::return_stub(&mut a),
        Kind::Empty => short::empty(&mut a),
        Kind::Dead => short::dead(&mut a),
        Kind::GetAsid => short::get_asid(&mut a),
        Kind::GetThread => short::get_thread(&mut a),
        Kind::HighResolutionTime => short::high_resolution_time(&mut a),
        Kind::TimeOfDay { scale, offset } => short::time_of_day(&mut a, scale, offset),
        Kind::SetTimer => short::set_timer(&mut a, system),
        Kind::WaitForInterrupt => short::wait_for_interrupt(&mut a),
        Kind::FlushDomain => short::flush_domain(&mut a, system),
        Kind::FlushPage => short::flush_page(&mut a),
        Kind::PutByte => short::put_byte(&mut a),
        Kind::FlushInstructions => short::flush_instructions(&mut a),
        Kind::Reset => short::reset(&mut a),
    }
    let (words, entry) = a.finish(address).ok_or(Error::Space)?;
    Ok(Block { words, entry })
}

/// Interrupts that user level takes: software, timer, external.
pub(crate) const INTERRUPTS: i32 = 0x222;

// Byte offsets that the blocks use.
pub(crate) const TABLE: i32 = offset_of!(Thread, table) as i32;
pub(crate) const INVOCATION: i32 = offset_of!(Thread, invocation) as i32;
pub(crate) const LIMIT: i32 = offset_of!(Thread, invocation_limit) as i32;
pub(crate) const SYSTEM_LIMIT: i32 = offset_of!(Thread, system_limit) as i32;
pub(crate) const DOMAIN: i32 = offset_of!(Thread, domain) as i32;
pub(crate) const STACK: i32 = offset_of!(Thread, stack) as i32;
pub(crate) const NUMBER: i32 = offset_of!(Thread, number) as i32;
pub(crate) const STATE: i32 = offset_of!(Thread, state) as i32;
pub(crate) const FLOAT_LIVE: i32 = offset_of!(Thread, fp_live) as i32;
pub(crate) const FRAME_PORTAL: i32 = offset_of!(Frame, portal) as i32;
pub(crate) const FRAME_NAME: i32 = offset_of!(Frame, name) as i32;
pub(crate) const FRAME_DOMAIN: i32 = offset_of!(Frame, domain) as i32;
pub(crate) const FRAME_PC: i32 = offset_of!(Frame, pc) as i32;
pub(crate) const FRAME_SP: i32 = offset_of!(Frame, sp) as i32;
pub(crate) const FRAME_STACK: i32 = offset_of!(Frame, stack) as i32;
pub(crate) const DOMAIN_SATP: i32 = offset_of!(Domain, satp) as i32;
pub(crate) const DOMAIN_TABLE: i32 = offset_of!(Domain, table) as i32;
pub(crate) const DOMAIN_STACKS: i32 = offset_of!(Domain, stacks) as i32;
pub(crate) const DOMAIN_WAITERS: i32 = offset_of!(Domain, stack_waiters) as i32;
pub(crate) const DOMAIN_ASID: i32 = offset_of!(Domain, asid) as i32;
pub(crate) const DOMAIN_ROOT: i32 = offset_of!(Domain, root) as i32;

/// Makes `domain` (a register with a `Domain` address) the thread's current domain. Uses `t3`.
pub(crate) fn enter_domain(a: &mut Assembler<'_>, domain: Register, system: &System) {
    a.sd(domain, DOMAIN, TP);
    a.ld(T3, DOMAIN_TABLE, domain);
    a.sd(T3, TABLE, TP);
    a.ld(T3, DOMAIN_SATP, domain);
    a.csrw(csr::SATP, T3);
    if !system.asid {
        // By number, although there is only one: that leaves the global translations, which are all of privileged mode.
        a.li(T3, 0);
        a.sfence(ZERO, T3);
    }
}

/// The invoker gets its result in `a0`, what C keeps, and nothing else that was in the registers.
pub(crate) fn clear_for_invoker(a: &mut Assembler<'_>) {
    for register in 5..32 {
        let kept = PARTIAL_REGISTERS.contains(&(register as u8));
        if !kept && register != A0.0 {
            a.li(Register(register), 0);
        }
    }
}

/// Leaves to user mode at `sepc`.
pub(crate) fn leave(a: &mut Assembler<'_>) {
    a.csrrw(TP, csr::SSCRATCH, TP);
    a.sret();
}

/// Answers `value` (a small negative error number) to the program, which has changed nothing.
pub(crate) fn answer(a: &mut Assembler<'_>, value: i32) {
    a.li(A0, value);
    a.csrw(csr::SEPC, RA);
    leave(a);
}
