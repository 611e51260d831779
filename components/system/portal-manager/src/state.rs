//! The portal manager's state, and what is made of it when the system starts.

use core::fmt::Write;

use pebble_abi::entry::{self, STANDARD};
use pebble_abi::errno::Errno;
use pebble_abi::layout::{MAX_DOMAINS, MAX_STACKS, MAX_THREADS, PHYSMAP};
use pebble_abi::object::{self, feature, role, shared_code, Death};
use pebble_abi::page_table::PageTemplate;
use pebble_abi::slot::{self, FIRST_DYNAMIC};
use pebble_portal_codegen::{Kind, Name, SchedulerEntries, System, Target};
use pebble_portal_spec::Specification;

use crate::code::{CodeSpace, Placed, Refusal};
use crate::domains::DomainState;
use crate::names::Services;
use crate::objects::{boot_info, Guarded, Objects};
use crate::tables::Tables;

/// The state, behind the lock.
pub static STATE: Guarded<State> = Guarded::new(State::new());

/// Pages in the object pool.
pub const POOL_PAGES: usize = ((object::REGION - object::POOL) / 4096) as usize;

/// What the portal manager knows of a thread.
#[derive(Clone, Copy)]
pub struct ThreadState {
    /// The record exists.
    pub used: bool,
    /// It has ended and waits to be reaped.
    pub dying: bool,
    /// Times this number was used.
    pub generation: u64,
    /// Its own stack's record, 0 for the threads that boot code made.
    pub stack: u64,
}

/// Everything.
pub struct State {
    /// The object region.
    pub objects: Option<Objects>,
    /// What all generated code shares.
    pub system: System,
    /// What the VM server registered for the window letters.
    pub pages: Option<PageTemplate>,
    /// Code space.
    pub code: CodeSpace,
    /// Portal tables.
    pub tables: Tables,
    /// Domains by number.
    pub domains: [DomainState; MAX_DOMAINS],
    /// Threads by number.
    pub threads: [ThreadState; MAX_THREADS],
    /// Registered portals.
    pub services: Services,
    /// The name server's domain, 0 until it has registered itself.
    pub name_server: usize,
    /// Code of the standard portals, by slot.
    pub standard: [u64; FIRST_DYNAMIC],
    /// The time-of-day portal, which the clock driver's offset changes in place.
    pub time_of_day: Placed,
    /// That offset in nanoseconds: when the counter started.
    pub time_offset: u64,
    /// Code of a portal whose callee died.
    pub dead: u64,
    /// Root page of the address space in which threads leave dead domains.
    pub limbo: u64,
    /// Portal table of dead domains.
    pub limbo_table: u64,
    /// Code that no table leads to but a frame may still return through.
    pub retired: [Placed; 256],
    /// Pool pages in use.
    pub pool: [u64; POOL_PAGES.div_ceil(64)],
    /// Stack records in use.
    pub stacks: [u64; MAX_STACKS / 64],
    /// Deaths that init has not heard of.
    pub deaths: [Option<Death>; 32],
}

impl State {
    const fn new() -> State {
        State {
            objects: None,
            system: System::NONE,
            pages: None,
            code: CodeSpace::new(),
            tables: Tables::new(),
            domains: [DomainState::NONE; MAX_DOMAINS],
            threads: [ThreadState {
                used: false,
                dying: false,
                generation: 0,
                stack: 0,
            }; MAX_THREADS],
            services: Services::new(),
            name_server: 0,
            standard: [0; FIRST_DYNAMIC],
            time_of_day: Placed {
                address: 0,
                unit: 0,
                units: 0,
                worst: 0,
            },
            time_offset: 0,
            dead: 0,
            limbo: 0,
            limbo_table: 0,
            retired: [const {
                Placed {
                    address: 0,
                    unit: 0,
                    units: 0,
                    worst: 0,
                }
            }; 256],
            pool: [0; POOL_PAGES.div_ceil(64)],
            stacks: [0; MAX_STACKS / 64],
            deaths: [const { None }; 32],
        }
    }

    /// The object region.
    pub fn objects(&self) -> Objects {
        self.objects.expect("start() comes first")
    }

    /// Takes up what boot code made and generates the portals that all components start with.
    pub fn start(&mut self) -> Result<(), Errno> {
        let info = boot_info();
        let objects = Objects::new();
        self.objects = Some(objects);
        let base = PHYSMAP + info.objects;
        let core = |role: u32, entry: usize| Target {
            domain: objects.domain(role as usize),
            entry: info.core[role as usize].entries[entry],
            stack: 0,
        };
        let scheduler = |entry: usize| core(role::SCHEDULER, entry).entry;
        // Nothing can be generated for a window letter that the VM server has not explained.
        let pages = self.pages.ok_or(Errno::Invalid)?;
        self.system = System {
            pages,
            threads: base + object::THREADS,
            domains: base + object::DOMAINS,
            hart: base + object::HART,
            semaphores: PHYSMAP + info.semaphores[1],
            asid: info.features & feature::ASID != 0,
            sstc: info.features & feature::SSTC != 0,
            scheduler: SchedulerEntries {
                domain: objects.domain(role::SCHEDULER as usize),
                stack: info.fixed_stacks[0],
                p: scheduler(entry::scheduler::P),
                v: scheduler(entry::scheduler::V),
                stack_wait: scheduler(entry::scheduler::STACK_WAIT),
                stack_free: scheduler(entry::scheduler::STACK_FREE),
            },
            dispatcher: Target {
                stack: info.fixed_stacks[1],
                ..core(role::DISPATCHER, entry::dispatcher::INTERRUPT)
            },
            vm: core(role::VM, entry::vm::FAULT),
            float_push: info.shared_code[shared_code::FLOAT_PUSH],
            stack_free: info.shared_code[shared_code::STACK_FREE],
            stack_wait: info.stack_wait_code,
            fault: info.shared_code[shared_code::FAULT],
        };
        self.code.reserve(info.code_used);
        (0..info.pool_used as usize).for_each(|page| set(&mut self.pool, page, true));
        (0..info.stacks_used as usize).for_each(|stack| set(&mut self.stacks, stack, true));
        self.threads[..info.threads_used as usize]
            .iter_mut()
            .for_each(|thread| {
                *thread = ThreadState {
                    used: true,
                    dying: false,
                    generation: 1,
                    stack: 0,
                }
            });
        for role in role::VM..role::CORE_END {
            self.domains[role as usize] =
                DomainState::core(role, info.core[role as usize].priority);
        }
        self.standard_portals(&core)?;
        self.dead = self.place(&Kind::Dead, Name::default())?.address;
        self.make_limbo()
    }

    /// One block for each standard portal serves every component: nothing in it depends on the caller.
    fn standard_portals(&mut self, core: &dyn Fn(u32, usize) -> Target) -> Result<(), Errno> {
        let timebase = boot_info().timebase;
        for standard in STANDARD {
            let specification;
            let kind = match standard.slot {
                slot::GET_ASID => Kind::GetAsid,
                slot::GET_THREAD => Kind::GetThread,
                slot::HRTIME => Kind::HighResolutionTime,
                slot::TIME_OF_DAY => Kind::TimeOfDay {
                    scale: 1_000_000_000 / timebase,
                    offset: 0,
                },
                _ if standard.server == role::SCHEDULER => Kind::Scheduler {
                    entry: core(role::SCHEDULER, standard.entry).entry,
                },
                _ => {
                    specification = Specification::parse(standard.specification.as_bytes())
                        .map_err(|_| Errno::Invalid)?;
                    let target = core(standard.server, standard.entry);
                    Kind::Call {
                        specification: &specification,
                        target,
                        constant: 0,
                    }
                }
            };
            let name = Name {
                slot: standard.slot as u64,
                ..Name::default()
            };
            let placed = self.place(&kind, name)?;
            self.standard[standard.slot] = placed.address;
            if standard.slot == slot::TIME_OF_DAY {
                self.time_of_day = placed;
            }
        }
        Ok(())
    }

    /// Generates a block.
    pub fn place(&mut self, kind: &Kind<'_>, name: Name) -> Result<Placed, Errno> {
        let objects = self.objects();
        self.code
            .place(objects, &self.system, kind, name)
            .map_err(|refusal| match refusal {
                Refusal::Generator(pebble_portal_codegen::Error::Space) => Errno::TableFull,
                Refusal::Generator(pebble_portal_codegen::Error::Unsupported(_)) => Errno::Invalid,
                // The generator is wrong: nothing leads to the code, and somebody has to know.
                Refusal::Verifier(offence) => {
                    let _ = writeln!(
                        pebble_server::LastWords,
                        "\x100error: portal manager: generated code is refused: {offence}"
                    );
                    Errno::Io
                }
            })
    }

    /// What an empty slot leads to.
    pub fn empty(&self) -> u64 {
        boot_info().shared_code[shared_code::EMPTY]
    }

    /// Takes `count` consecutive pool pages, zeroed; answers their privileged address.
    pub fn take_pages(&mut self, count: usize) -> Result<u64, Errno> {
        let first = (0..=POOL_PAGES - count)
            .find(|&first| (first..first + count).all(|page| !get(&self.pool, page)))
            .ok_or(Errno::TableFull)?;
        (first..first + count).for_each(|page| set(&mut self.pool, page, true));
        let address = self.objects().pool(first);
        for page in 0..count as u64 {
            self.objects().fill_page(address + 4096 * page, 0);
        }
        Ok(address)
    }

    /// Gives pool pages back.
    pub fn give_pages(&mut self, address: u64, count: usize) {
        let first = self.objects().pool_index(address);
        (first..first + count).for_each(|page| set(&mut self.pool, page, false));
    }

    /// Takes a stack record.
    pub fn take_stack(&mut self) -> Result<u64, Errno> {
        let word = self.stacks.iter().position(|&word| word != u64::MAX);
        let word = word.ok_or(Errno::TableFull)?;
        let index = 64 * word + self.stacks[word].trailing_ones() as usize;
        set(&mut self.stacks, index, true);
        Ok(self.objects().stack(index))
    }

    /// Gives every stack record of a domain back.
    pub fn give_stacks(&mut self, asid: usize) {
        let objects = self.objects();
        for index in used(&{ self.stacks }) {
            if objects.read_stack(objects.stack(index)).domain == asid as u64 {
                set(&mut self.stacks, index, false);
            }
        }
    }

    /// Gives one stack record back.
    pub fn give_stack(&mut self, address: u64) {
        let objects = self.objects();
        let offset = address.wrapping_sub(objects.stack(0));
        let index = (offset / object::STACK_BYTES) as usize;
        if offset.is_multiple_of(object::STACK_BYTES) && index < MAX_STACKS {
            set(&mut self.stacks, index, false);
        }
    }
}

/// Numbers of the bits that are set.
pub fn used(bits: &[u64]) -> impl Iterator<Item = usize> + '_ {
    bits.iter().enumerate().flat_map(|(index, &word)| {
        let mut left = word;
        core::iter::from_fn(move || {
            let bit = left.trailing_zeros() as usize;
            left &= left.wrapping_sub(1);
            (bit < 64).then_some(64 * index + bit)
        })
    })
}

fn get(bits: &[u64], index: usize) -> bool {
    bits[index / 64] >> (index % 64) & 1 != 0
}

fn set(bits: &mut [u64], index: usize, value: bool) {
    bits[index / 64] = bits[index / 64] & !(1 << (index % 64)) | (value as u64) << (index % 64);
}
