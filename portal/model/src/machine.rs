//! The machine as a program and its portals see it: registers, control registers, records in memory.

use std::collections::BTreeSet;

use core::mem::offset_of;
use pebble_abi::errno::Errno;
use pebble_abi::object::{Domain, Frame, Thread};
use pebble_portal_spec::portal::System;

/// Byte offset of a field.
macro_rules! field {
    ($record:ident . $name:ident) => {
        offset_of!($record, $name) as u64
    };
}
pub(crate) use field;

/// Numbers of the registers that have a part in calls.
#[allow(missing_docs)]
pub mod register {
    pub const RA: usize = 1;
    pub const SP: usize = 2;
    pub const TP: usize = 4;
    pub const T0: usize = 5;
    pub const T1: usize = 6;
    pub const A0: usize = 10;
    pub const A1: usize = 11;
    pub const A2: usize = 12;
    pub const A3: usize = 13;
    pub const A4: usize = 14;
    pub const A6: usize = 16;
    pub const A7: usize = 17;
}
use register::*;

/// A register that must hold a reading of a clock taken during the portal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stamp {
    /// Cycles, halved.
    HalfCycles {
        /// The register.
        register: usize,
    },
    /// Ticks of the timebase, scaled and moved.
    Ticks {
        /// The register.
        register: usize,
        /// Factor.
        scale: u64,
        /// Summand.
        offset: u64,
    },
}

/// A machine in the middle of a program that traps, or of one that goes on.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    /// The program's registers.
    pub x: [u64; 32],
    /// Floating-point registers, and `fcsr`.
    pub f: [u64; 32],
    /// Floating-point control and status.
    pub fcsr: u64,
    /// The program may use floating-point registers.
    pub float_on: bool,
    /// Address of the running thread's record.
    pub thread: u64,
    /// Where the program was interrupted, or goes on.
    pub pc: u64,
    /// Address space.
    pub satp: u64,
    /// Interrupts that user level takes.
    pub sie: u64,
    /// Why the program trapped.
    pub scause: u64,
    /// The address that it faulted at.
    pub stval: u64,
    /// Next timer interrupt.
    pub stimecmp: u64,
    /// Address of the first word of `memory`.
    pub base: u64,
    /// Privileged memory.
    pub memory: Vec<u64>,
    /// Words of memory that may hold anything.
    pub forgotten: BTreeSet<u64>,
    /// Calls of the firmware: a7, a6, a0, a1.
    pub firmware: Vec<[u64; 4]>,
    /// Registers that hold readings of clocks.
    pub stamps: Vec<Stamp>,
    /// Registers beside the temporaries that may hold anything.
    pub open_registers: BTreeSet<usize>,
    /// The temporaries hold what the model says; otherwise they may hold anything.
    pub temporaries: bool,
}

impl Machine {
    fn index(&self, address: u64) -> usize {
        assert_eq!(address % 8, 0, "{address:#x} is not aligned");
        let index = (address.wrapping_sub(self.base) / 8) as usize;
        assert!(
            index < self.memory.len(),
            "{address:#x} is outside of the model's memory"
        );
        index
    }
    /// The word at an address.
    pub fn get(&self, address: u64) -> u64 {
        self.memory[self.index(address)]
    }
    /// Changes a word.
    pub fn set(&mut self, address: u64, value: u64) {
        let index = self.index(address);
        self.memory[index] = value;
        self.forgotten.remove(&address);
    }
    /// The word may hold anything from now on.
    pub fn forget(&mut self, address: u64) {
        let _ = self.index(address);
        self.forgotten.insert(address);
    }
    /// Half a word, sign extended.
    pub fn get_half(&self, address: u64) -> i32 {
        (self.get(address & !7) >> (8 * (address & 4))) as i32
    }
    /// Changes half a word.
    pub fn set_half(&mut self, address: u64, value: i32) {
        let shift = 8 * (address & 4);
        let word =
            self.get(address & !7) & !(0xffff_ffff << shift) | (value as u32 as u64) << shift;
        self.set(address & !7, word);
    }
    /// The top of the invocation stack.
    pub fn frame(&self) -> u64 {
        self.get(self.thread + field!(Thread.invocation))
    }
    /// The domain that the thread executes in.
    pub fn domain(&self) -> u64 {
        self.get(self.thread + field!(Thread.domain))
    }
    /// The stack that it executes on.
    pub fn stack(&self) -> u64 {
        self.get(self.thread + field!(Thread.stack))
    }
    /// Makes a domain the current one: its portal table, its address space.
    pub fn enter_domain(&mut self, domain: u64) {
        self.set(self.thread + field!(Thread.domain), domain);
        self.set(
            self.thread + field!(Thread.table),
            self.get(domain + field!(Domain.table)),
        );
        self.satp = self.get(domain + field!(Domain.satp));
    }
    /// Takes a free stack of `domain` for the thread.
    pub fn take_stack(&mut self, domain: u64, stack: u64) {
        let next = self.get(stack + offset_of!(pebble_abi::object::Stack, next) as u64);
        self.set(domain + field!(Domain.stacks), next);
        self.set(self.thread + field!(Thread.stack), stack);
        self.x[SP] = self.get(stack + offset_of!(pebble_abi::object::Stack, top) as u64);
        self.x[TP] = self.get(stack + offset_of!(pebble_abi::object::Stack, tp) as u64);
    }
    /// Gives the thread's stack back to the domain that the thread is in, and goes back to the frame's stack.
    pub fn give_stack_back(&mut self, frame: u64) {
        let (stack, domain) = (self.stack(), self.domain());
        let first = self.get(domain + field!(Domain.stacks));
        self.set(
            stack + offset_of!(pebble_abi::object::Stack, next) as u64,
            first,
        );
        self.set(domain + field!(Domain.stacks), stack);
        let previous = self.get(frame + field!(Frame.stack));
        self.set(self.thread + field!(Thread.stack), previous);
    }
    /// Threads that wait for a stack of `domain`.
    pub fn waiters(&self, domain: u64) -> u64 {
        self.get(domain + field!(Domain.stack_waiters))
    }
    /// One more or one fewer of them.
    pub fn change_waiters(&mut self, domain: u64, by: i64) {
        let waiters = self.waiters(domain).wrapping_add_signed(by);
        self.set(domain + field!(Domain.stack_waiters), waiters);
    }
    /// The program goes on where it called from, with `result`.
    pub fn answer(&mut self, result: u64) {
        self.x[A0] = result;
        self.pc = self.x[RA];
    }
    /// The program goes on with an error.
    pub fn fail(&mut self, error: Errno) {
        self.answer(error.negated() as u64);
    }
    /// Whether the invocation stack is too full for a portal named so.
    pub fn is_too_deep(&self, system: bool) -> bool {
        let limit = if system {
            field!(Thread.system_limit)
        } else {
            field!(Thread.invocation_limit)
        };
        self.frame() < self.get(self.thread + limit)
    }
    /// The number of the thread as a 32-bit load leaves it.
    pub fn thread_number(&self) -> u64 {
        self.get_half(self.thread + field!(Thread.number)) as i64 as u64
    }
    /// The semaphore's counter.
    pub fn counter(system: &System, index: u64) -> u64 {
        system.semaphores + 4 * index
    }
}
