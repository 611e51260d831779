//! Threads: an invocation stack plus a place to start.

use pebble_abi::errno::Errno;
use pebble_abi::layout::{self, MAX_THREADS, PAGE};
use pebble_abi::object::{
    self, full_offset, shared_code, Domain, Frame, FrameKind, FrameName, Stack, Thread,
};

use crate::calls;
use crate::objects::boot_info;
use crate::state::{used, State, ThreadState};

/// Where a new thread starts.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// First instruction.
    pub pc: u64,
    /// Stack pointer, within a stack slot of the domain.
    pub sp: u64,
    /// Thread pointer.
    pub tp: u64,
    /// `a0`.
    pub argument: u64,
}

/// The stack record's slot that `sp` lies in (a top counts to the slot below it).
pub fn slot_of(area: u64, sp: u64) -> Option<u64> {
    let offset = sp.checked_sub(area + 1)?;
    let slot = offset / layout::STACK_SLOT;
    (slot < layout::STACK_SLOTS && offset % layout::STACK_SLOT >= layout::STACK_BOTTOM)
        .then_some(slot)
}

impl State {
    /// A stack record for `slot` of the domain's stack area.
    pub fn make_stack(&mut self, asid: usize, slot: u64, tp: u64) -> Result<u64, Errno> {
        let area = self.domains[asid].stack_area;
        let window = layout::stack_slot(area, slot);
        let entry = calls::stack_prepare(asid, window);
        if entry <= 0 {
            return Err(Errno::NoMemory);
        }
        self.may_add_stack(asid)?;
        let address = self.take_stack()?;
        let top = layout::stack_top(area, slot);
        // A thread pointer within the slot: the block it points to lies above the stack.
        let top = if tp > window && tp < top {
            tp & !15
        } else {
            top
        };
        let entry = layout::PHYSMAP + entry as u64;
        let record = Stack {
            tp,
            ..Stack::new(asid as u64, top, window, entry)
        };
        self.objects().write(address, record);
        Ok(address)
    }

    /// Puts a stack into the domain's stack queue.
    pub fn add_stack(&mut self, asid: usize, slot: usize, tp: u64) -> Result<(), Errno> {
        if slot as u64 >= layout::STACK_SLOTS {
            return Err(Errno::Invalid);
        }
        let window = layout::stack_slot(self.domains[asid].stack_area, slot as u64);
        if self.stack_in_use(asid, window) {
            return Err(Errno::Exists);
        }
        let address = self.make_stack(asid, slot as u64, tp)?;
        let objects = self.objects();
        // Portal code takes stacks from the queue: read, link and store without another thread in between is not
        // possible here, so the queue is changed while no other thread runs.
        self.undisturbed(|_| {
            let mut stack: Stack = objects.read(address);
            let mut domain: Domain = objects.read_domain(asid);
            stack.next = domain.stacks;
            objects.write(address, stack);
            domain.stacks = address;
            objects.write(objects.domain(asid), domain);
        });
        Ok(())
    }

    fn stack_in_use(&self, asid: usize, window: u64) -> bool {
        let objects = self.objects();
        used(&self.stacks).any(|index| {
            let stack: Stack = objects.read(objects.stack(index));
            stack.domain == asid as u64 && stack.window() == window
        })
    }

    /// Runs `work` at the highest priority, which no component may have: no other thread runs meanwhile, so nothing
    /// changes but by `work`. Interrupts are taken, their threads wait. Not to be nested.
    pub fn undisturbed<R>(&mut self, work: impl FnOnce(&mut State) -> R) -> R {
        let before = calls::thread_force(layout::PRIORITIES - 1);
        assert!(before >= 0, "the scheduler refuses the portal manager");
        let result = work(self);
        calls::thread_force(before as usize);
        result
    }

    /// Makes a thread record for domain `asid` on the stack record `stack`; it is parked, the scheduler does not know it yet.
    pub fn make_thread(&mut self, asid: usize, stack: u64, start: Start) -> Result<usize, Errno> {
        self.may_add_thread(asid)?;
        let number = (0..MAX_THREADS)
            .find(|&number| !self.threads[number].used)
            .ok_or(Errno::TableFull)?;
        let record =
            self.take_pages(object::THREAD_PAGES as usize)? + object::thread_offset(number as u64);
        let objects = self.objects();
        let domain: Domain = objects.read_domain(asid);
        let generation = self.threads[number].generation + 1;
        let system_limit = record + size_of::<Thread>() as u64 + object::INVOCATION_RESERVE;
        let sentinel = record + object::THREAD_BYTES - object::FRAME_HEADER;
        let frame = sentinel - object::FULL_FRAME;
        let shared = boot_info().shared_code;
        objects.write(
            record,
            Thread {
                scratch: [0; 2],
                table: domain.table,
                invocation: frame,
                invocation_limit: system_limit + object::SYSTEM_RESERVE,
                system_limit,
                domain: objects.domain(asid),
                stack,
                number: number as u32,
                home: asid as u32,
                state: object::PARKED,
                fp_live: 0,
                hart: objects.hart(),
                generation,
                float_scratch: [0; 2],
                reserved: 0,
                fp: [0; 33],
            },
        );
        // Beneath everything: a frame whose return answers an error, for a thread that returns once too often.
        objects.write(
            sentinel,
            Frame {
                portal: shared[shared_code::EMPTY],
                name: FrameName::new(0, 0, 0, FrameKind::Minimal, object::FRAME_HEADER).0,
                domain: objects.domain(asid),
                pc: 0,
                sp: 0,
                stack: 0,
            },
        );
        objects.write(
            frame,
            Frame {
                portal: shared[shared_code::INTERRUPT],
                name: FrameName::new(0, 0, 0, FrameKind::Full, object::FULL_FRAME).0,
                domain: objects.domain(asid),
                pc: start.pc,
                sp: start.sp,
                stack,
            },
        );
        objects.write(
            frame + full_offset(1),
            layout::GATE + layout::GATE_THREAD_EXIT,
        );
        objects.write(frame + full_offset(4), start.tp);
        objects.write(frame + full_offset(10), start.argument);
        objects.set_thread(number, record);
        self.threads[number] = ThreadState {
            used: true,
            dying: false,
            generation,
            stack,
        };
        self.domains[asid].threads += 1;
        Ok(number)
    }

    /// Makes the scheduler know a thread: from now on it runs.
    pub fn release(&mut self, number: usize, asid: usize) -> Result<(), Errno> {
        let description = self.domains[asid].description;
        let shares = (description.quantum as usize) << 32 | description.budget as usize;
        if calls::thread_add(number, description.priority as usize, asid, shares) < 0 {
            self.drop_thread(number);
            return Err(Errno::Busy);
        }
        Ok(())
    }

    /// A thread of `asid`, on the stack slot that `start.sp` lies in.
    pub fn create_thread(&mut self, asid: usize, start: Start) -> Result<usize, Errno> {
        self.alive(asid)?;
        let slot = slot_of(self.domains[asid].stack_area, start.sp).ok_or(Errno::Invalid)?;
        let window = layout::stack_slot(self.domains[asid].stack_area, slot);
        if self.stack_in_use(asid, window) {
            return Err(Errno::Exists);
        }
        let stack = self.make_stack(asid, slot, start.tp)?;
        let number = self
            .make_thread(asid, stack, start)
            .inspect_err(|_| self.give_stack(stack))?;
        self.release(number, asid)?;
        Ok(number)
    }

    /// Gives the records of a thread back that is not known to the scheduler (any more).
    pub fn drop_thread(&mut self, number: usize) {
        let objects = self.objects();
        let record = objects.thread(number);
        if record == 0 {
            return;
        }
        let thread: Thread = objects.read(record);
        if objects.float_owner() == record {
            objects.write(objects.hart(), 0u64);
        }
        let home = thread.home as usize;
        self.domains[home].threads = self.domains[home].threads.saturating_sub(1);
        objects.set_thread(number, 0);
        self.give_pages(record & !(PAGE - 1), object::THREAD_PAGES as usize);
        let stack = core::mem::take(&mut self.threads[number].stack);
        if stack != 0 && objects.read_stack(stack).domain == thread.home as u64 {
            self.give_stack(stack);
        }
        self.threads[number].used = false;
        self.threads[number].dying = false;
    }
}
