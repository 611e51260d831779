//! The first portals: code that all tables share, and the tables of the core domains.

use core::slice;
use pebble_abi::layout::{PAGE, PHYSMAP, PORTAL_CODE};
use pebble_abi::object::{self, feature, role, BootInfo};
use pebble_abi::wiring::{self, Special};
use pebble_abi::{entry, semaphore, slot};
use pebble_portal_codegen::{generate as generate_block, Kind, Name, System, Target};
use pebble_portal_spec::Specification;
use pebble_portal_verify::{Policy, Workspace};

use super::domains::{Builder, FixedStacks};
use super::fail;
use super::machine::Machine;
use super::memory::pointer;

/// Shared blocks that thread creation needs.
pub(super) struct Code {
    /// An empty slot's answer.
    pub empty: u64,
    /// Interrupts; its return code restores a full frame.
    pub interrupt: u64,
}

/// Writes blocks one after the other into the code area.
struct Generator {
    system: System,
    verifier: Workspace,
    code: u64,
    used: u64,
}

impl Generator {
    /// Generates a block; answers the address for a portal table slot.
    fn block(&mut self, kind: &Kind<'_>, name: Name) -> u64 {
        let space = (object::CODE_BYTES - self.used) as usize / 4;
        // SAFETY: the unused part of the code area, which only this generator writes.
        let words = unsafe {
            slice::from_raw_parts_mut(pointer::<u32>(self.code + self.used), space.min(2048))
        };
        let address = PORTAL_CODE + self.used;
        let Ok(block) = generate_block(kind, name, &self.system, address, words) else {
            fail("a standard portal cannot be generated")
        };
        let policy = Policy {
            kind: *kind,
            name,
            system: &self.system,
        };
        let verified = self
            .verifier
            .verify(&words[..block.words], block.entry, address, &policy);
        if verified.is_err() {
            fail("the verifier refuses a standard portal")
        }
        self.used += (4 * block.words as u64).next_multiple_of(64);
        address + 4 * block.entry as u64
    }
}

/// Generates shared code and the portal tables of all core domains.
pub(super) fn generate(
    builder: &mut Builder,
    info: &mut BootInfo,
    stacks: &FixedStacks,
    machine: &Machine,
) -> Code {
    let address = |role: u32| builder.domain_address(role as u64);
    let entries = info.core.map(|core| core.entries);
    let at = |role: u32, entry: usize| entries[role as usize][entry];
    let mut g = Generator {
        verifier: Workspace::new(),
        system: System {
            threads: PHYSMAP + builder.objects + object::THREADS,
            domains: PHYSMAP + builder.objects + object::DOMAINS,
            hart: PHYSMAP + builder.objects + object::HART,
            semaphores: PHYSMAP + info.semaphores[1],
            asid: machine.features & feature::ASID != 0,
            sstc: machine.features & feature::SSTC != 0,
            scheduler: pebble_portal_codegen::SchedulerEntries {
                domain: address(role::SCHEDULER),
                stack: stacks.scheduler,
                p: at(role::SCHEDULER, entry::scheduler::P),
                v: at(role::SCHEDULER, entry::scheduler::V),
                stack_wait: at(role::SCHEDULER, entry::scheduler::STACK_WAIT),
                stack_free: at(role::SCHEDULER, entry::scheduler::STACK_FREE),
            },
            dispatcher: Target {
                domain: address(role::DISPATCHER),
                entry: at(role::DISPATCHER, entry::dispatcher::INTERRUPT),
                stack: stacks.interrupt,
            },
            vm: Target {
                domain: address(role::VM),
                entry: at(role::VM, entry::vm::FAULT),
                stack: 0,
            },
            ..System::default()
        },
        code: builder.objects + object::CODE,
        used: 0,
    };
    let shared = Name::default();
    let named = |slot: usize| Name {
        slot: slot as u64,
        ..shared
    };
    g.system.float_push = g.block(&Kind::FloatPush, shared);
    g.system.stack_free = g.block(&Kind::StackFree, shared);
    g.system.stack_wait = g.block(&Kind::StackWait, shared);
    g.system.fault = g.block(&Kind::Fault, named(slot::EXCEPTION + 12));
    let returns = g.block(&Kind::Return, shared);
    let empty = g.block(&Kind::Empty, shared);
    let illegal = g.block(&Kind::Illegal, named(slot::EXCEPTION + 2));
    let interrupt = g.block(&Kind::Interrupt, named(slot::INTERRUPT));
    let window_fault = g.block(&Kind::WindowFault, named(slot::WINDOW_FAULT));
    info.shared_code = [
        returns,
        empty,
        g.system.fault,
        illegal,
        interrupt,
        window_fault,
        g.system.float_push,
        g.system.stack_free,
    ];
    let stack_wait = g.system.stack_wait;
    info.stack_wait_code = stack_wait;

    for role in role::VM..role::CORE_END {
        let table = builder.domain_record(role as u64);
        // SAFETY: the record and its table page, which nothing uses yet.
        let slots =
            unsafe { slice::from_raw_parts_mut((*table).table as *mut u64, PAGE as usize / 8) };
        slots.fill(empty);
        slots[slot::RETURN] = returns;
        for cause in 1..16 {
            slots[slot::EXCEPTION + cause] = g.system.fault;
            slots[slot::INTERRUPT + cause] = interrupt;
        }
        slots[slot::INTERRUPT] = interrupt;
        slots[slot::EXCEPTION + 2] = illegal;
        slots[slot::WINDOW_FAULT] = window_fault;
        let mut put = |g: &mut Generator, slot: usize, kind: &Kind<'_>| {
            let name = Name {
                domain: role as u64,
                generation: 1,
                slot: slot as u64,
                system: true,
            };
            slots[slot] = g.block(kind, name);
        };
        let call = |server: u32, entry: usize| Target {
            domain: address(server),
            entry: at(server, entry),
            stack: 0,
        };
        let scheduler = |entry: usize| Kind::Scheduler {
            entry: at(role::SCHEDULER, entry),
        };
        let tail = |entry: usize| Kind::SchedulerTail {
            entry: at(role::SCHEDULER, entry),
        };
        let wait = |index: usize| Kind::SemaphoreWait {
            index: index as u64,
        };
        let post = |index: usize| Kind::SemaphorePost {
            index: index as u64,
        };
        put(&mut g, slot::PUTC, &Kind::PutByte);
        for &(_, slot, special) in wiring::SPECIAL.iter().filter(|special| special.0 == role) {
            let kind = match special {
                Special::PutByte => Kind::PutByte,
                Special::Switch => Kind::Switch,
                Special::SetTimer => Kind::SetTimer,
                Special::WaitForInterrupt => Kind::WaitForInterrupt,
                Special::FlushDomain => Kind::FlushDomain,
                Special::FlushPage => Kind::FlushPage,
                Special::FlushInstructions => Kind::FlushInstructions,
                Special::Reset => Kind::Reset,
                Special::Wait(index) => wait(index),
                Special::Post(index) => post(index),
                Special::Scheduler(entry) => scheduler(entry),
                Special::Tail(entry) => tail(entry),
            };
            put(&mut g, slot, &kind);
        }
        for wire in wiring::CORE.iter().filter(|wire| wire.client == role) {
            let Ok(specification) = Specification::parse(wire.specification.as_bytes()) else {
                fail("a core connection has a wrong specification")
            };
            let target = call(wire.server, wire.entry);
            put(
                &mut g,
                wire.slot,
                &Kind::Call {
                    specification: &specification,
                    target,
                    constant: 0,
                },
            );
        }
        if role == role::INIT {
            let standards = entry::STANDARD
                .iter()
                .filter(|standard| wiring::INIT_STANDARD.contains(&standard.slot));
            for standard in standards {
                let kind = match standard.slot {
                    slot::GET_ASID => Kind::GetAsid,
                    slot::GET_THREAD => Kind::GetThread,
                    slot::HRTIME => Kind::HighResolutionTime,
                    slot::TIME_OF_DAY => Kind::TimeOfDay {
                        scale: 1_000_000_000 / machine.timebase,
                        offset: 0,
                    },
                    _ if standard.server == role::SCHEDULER => scheduler(standard.entry),
                    _ => {
                        let Ok(specification) =
                            Specification::parse(standard.specification.as_bytes())
                        else {
                            fail("a standard portal has a wrong specification")
                        };
                        let target = call(standard.server, standard.entry);
                        let kind = Kind::Call {
                            specification: &specification,
                            target,
                            constant: 0,
                        };
                        put(&mut g, standard.slot, &kind);
                        continue;
                    }
                };
                put(&mut g, standard.slot, &kind);
            }
        }
    }
    let counters = PHYSMAP + info.semaphores[1];
    for (index, value) in semaphore::INITIAL.iter().enumerate() {
        // SAFETY: the scheduler's counters, page aligned in its image, with room for every semaphore.
        unsafe { (counters as *mut i32).add(index).write(*value) };
    }
    // SAFETY: orders the generated code before its first fetch.
    unsafe { core::arch::asm!("fence.i") };
    info.code_used = g.used;
    Code { empty, interrupt }
}
