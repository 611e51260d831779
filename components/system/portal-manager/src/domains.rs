//! Domains: a page table from the VM server, a portal table from here.

use pebble_abi::bundle;
use pebble_abi::errno::Errno;
use pebble_abi::layout::{self, MAX_DOMAINS, PAGE_SHIFT, PHYSMAP};
use pebble_abi::object::{self, role, shared_code, Domain, DomainDescription};
use pebble_abi::{entry, slot};
use pebble_portal_codegen::{Kind, Name, Target};
use pebble_portal_spec::{Specification, Stack};

use crate::calls;
use crate::objects::boot_info;
use crate::shares::PortalRoom;
use crate::state::State;
use crate::tables::{Action, Portal, Text};

/// Number of the domain whose address space holds nothing but the gate page.
pub const LIMBO: usize = MAX_DOMAINS - 1;

/// A domain's stage of life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// The number is free.
    Free,
    /// It runs.
    Alive,
    /// It died; threads still have to leave it.
    Dead,
}

/// What the portal manager knows of a domain.
#[derive(Clone, Copy)]
pub struct DomainState {
    /// Stage of life.
    pub life: Life,
    /// The domain that made it by `domain_fork`, 0 for a component of the system description.
    pub parent: usize,
    /// Times this number was used.
    pub generation: u64,
    /// The domain whose portal table it uses: its own, or its parent's when the table is shared.
    pub table_of: usize,
    /// The number's stack area (a fork keeps its parent's).
    pub stack_area: u64,
    /// Slot in the portal manager's own table that calls the domain's notification function, 0 for none.
    pub notify: usize,
    /// As init described it.
    pub description: DomainDescription,
    /// Threads whose home it is.
    pub threads: u32,
    /// Specifications of the domain that were refused.
    pub refusals: u8,
}

impl DomainState {
    /// A free number.
    pub const NONE: DomainState = DomainState {
        life: Life::Free,
        parent: 0,
        generation: 0,
        table_of: 0,
        stack_area: 0,
        notify: 0,
        description: DomainDescription {
            name: [0; 32],
            role: 0,
            priority: 0,
            memory_pages: 0,
            quantum: 0,
            budget: 0,
            flags: 0,
            interrupts: [0; 4],
            threads: 0,
            reserved: 0,
        },
        threads: 0,
        refusals: 0,
    };

    /// A domain that boot code made.
    pub fn core(role: u32, priority: u32) -> DomainState {
        let names = [
            "",
            "virtual-memory",
            "portal-manager",
            "scheduler",
            "interrupt-dispatcher",
            "idle",
            "init",
            "loader",
        ];
        let mut state = DomainState {
            life: Life::Alive,
            generation: 1,
            ..DomainState::NONE
        };
        state.stack_area = layout::STACKS + role as u64 * layout::STACK_AREA;
        state.table_of = role as usize;
        state.description.role = role;
        state.description.priority = priority;
        state.description.flags = bundle::CRITICAL;
        state.description.threads = 8;
        if let Some(name) = names.get(role as usize) {
            state.description.name[..name.len()].copy_from_slice(name.as_bytes());
        }
        state
    }

    /// The name without its padding.
    pub fn name(&self) -> &[u8] {
        let name = &self.description.name;
        &name[..name
            .iter()
            .position(|&byte| byte == 0)
            .unwrap_or(name.len())]
    }
}

impl State {
    /// The domain `asid`, if it is alive.
    pub fn alive(&self, asid: usize) -> Result<&DomainState, Errno> {
        self.domains
            .get(asid)
            .filter(|domain| domain.life == Life::Alive)
            .ok_or(Errno::NoSuchProcess)
    }

    /// Whether `ancestor` made `domain`, directly or through others.
    pub fn is_ancestor(&self, ancestor: usize, domain: usize) -> bool {
        let mut at = domain;
        // Bounded: a parent's chain is at most as long as there are domains.
        for _ in 0..MAX_DOMAINS {
            at = self.domains[at].parent;
            if at == 0 || at == ancestor {
                return at != 0;
            }
        }
        false
    }

    /// Whom a service acts on that changes "the caller" (design, section 4): the thread's home if the invoking domain is
    /// home itself or interposes on it, otherwise the invoking domain.
    pub fn subject(&self, invoker: usize, home: usize) -> usize {
        if home < MAX_DOMAINS && self.is_ancestor(invoker, home) {
            home
        } else {
            invoker
        }
    }

    /// Finds a free number for a domain.
    fn free_number(&mut self) -> Result<usize, Errno> {
        let first = role::CORE_END as usize;
        if let Some(asid) = (first..LIMBO).find(|&asid| self.domains[asid].life == Life::Free) {
            return Ok(asid);
        }
        self.collect_dead();
        (first..LIMBO)
            .find(|&asid| self.domains[asid].life == Life::Free)
            .ok_or(Errno::TableFull)
    }

    /// Makes a domain with the standard portals. `parent` is 0 unless it is a fork, which copies the parent's space;
    /// `shares` lets it use the parent's portal table instead of one of its own.
    pub fn create(
        &mut self,
        description: DomainDescription,
        parent: usize,
        shares: bool,
    ) -> Result<usize, Errno> {
        let asid = self.free_number()?;
        let table_of = if shares {
            self.domains[parent].table_of
        } else {
            asid
        };
        let table = match shares {
            true => self.objects().read_domain(table_of).table,
            false => self.take_pages(1)?,
        };
        let root = if parent == 0 {
            calls::space_create(asid, description.memory_pages as usize)
        } else {
            calls::space_clone(parent, asid)
        };
        if root <= 0 {
            if !shares {
                self.give_pages(table, 1);
            }
            return Err(Errno::NoMemory);
        }
        let generation = self.domains[asid].generation + 1;
        let objects = self.objects();
        objects.write(
            objects.domain(asid),
            Domain {
                satp: satp(asid, root as u64),
                table,
                stacks: 0,
                stack_waiters: 0,
                asid: asid as u64,
                root: PHYSMAP + root as u64,
                generation,
                dead: 0,
                gift: [0; 2],
                gift_address: 0,
                leaf_span: object::NO_SPAN,
                leaf_bias: 0,
                reserved: [0; 3],
            },
        );
        self.domains[asid] = DomainState {
            life: Life::Alive,
            parent,
            generation,
            table_of,
            stack_area: match parent {
                0 => layout::STACKS + asid as u64 * layout::STACK_AREA,
                _ => self.domains[parent].stack_area,
            },
            notify: 0,
            description,
            threads: 0,
            refusals: 0,
        };
        if !shares {
            self.fill_table(table, parent == 0);
        }
        Ok(asid)
    }

    /// Traps and, for a component of its own, the standard portals.
    fn fill_table(&mut self, table: u64, standard: bool) {
        let objects = self.objects();
        let shared = boot_info().shared_code;
        let empty = self.empty();
        objects.fill_page(table, empty);
        for slot in 0..slot::FIRST_DYNAMIC {
            let code = match slot {
                slot::RETURN => shared[shared_code::RETURN],
                slot::WINDOW_FAULT => shared[shared_code::WINDOW_FAULT],
                2 => shared[shared_code::ILLEGAL],
                1..slot::INTERRUPT => shared[shared_code::FAULT],
                slot::INTERRUPT..32 => shared[shared_code::INTERRUPT],
                _ if standard && self.standard[slot] != 0 => self.standard[slot],
                _ => continue,
            };
            objects.write(table + 8 * slot as u64, code);
        }
    }

    /// What drivers have besides: an interrupt to wait for, or the clock to set.
    pub fn driver_portals(&mut self, asid: usize) -> Result<(), Errno> {
        let core = |role: u32, entry: usize| Action::Call {
            target: role as u16,
            entry: boot_info().core[role as usize].entries[entry],
            constant: 0,
        };
        use entry::portal_manager as pm;
        let interrupts = self.domains[asid].description.interrupts;
        if let Some(&interrupt) = interrupts.iter().find(|&&interrupt| interrupt != 0) {
            let make = core(role::PORTAL_MANAGER, pm::INTERRUPT_SEMAPHORE);
            self.put(asid, slot::driver::INTERRUPT_SEMAPHORE, b"nmcid", make)?;
            // The interrupt is embedded: a driver cannot acknowledge another's.
            let acknowledge = Action::Call {
                target: role::DISPATCHER as u16,
                entry: boot_info().core[role::DISPATCHER as usize].entries
                    [entry::dispatcher::ACKNOWLEDGE],
                constant: interrupt as u64,
            };
            self.put(asid, slot::driver::ACKNOWLEDGE, b"nmcc", acknowledge)?;
        }
        if self.domains[asid].name().starts_with(b"clock") {
            self.put(
                asid,
                slot::driver::TIME_OFFSET,
                b"nmci",
                core(role::PORTAL_MANAGER, pm::TIME_OFFSET),
            )?;
        }
        Ok(())
    }

    /// Generates a portal and puts it into a free slot. Letter `s` falls back to `n` when the stacks cannot be shared.
    pub fn put(
        &mut self,
        domain: usize,
        slot: usize,
        text: &[u8],
        action: Action,
    ) -> Result<(), Errno> {
        let domain = self.domains[domain].table_of;
        let mut room = self.room_for_portals(domain);
        self.put_within(domain, slot, text, action, &mut room)
    }

    /// The same into the table of `domain` itself, while there is `room` in it.
    pub fn put_within(
        &mut self,
        domain: usize,
        slot: usize,
        text: &[u8],
        action: Action,
        room: &mut PortalRoom,
    ) -> Result<(), Errno> {
        room.check()?;
        let objects = self.objects();
        let mut text = Text::new(text);
        let mut specification;
        let kind = match action {
            Action::Call {
                target,
                entry,
                constant,
            } => {
                specification =
                    Specification::parse(text.as_bytes()).map_err(|_| Errno::Invalid)?;
                let shares = specification.stack == Stack::Shared;
                if shares && domain != target as usize && !self.share_stacks(domain, target) {
                    specification.stack = Stack::New;
                    let mut with_new = [0; 15];
                    let length = text.as_bytes().len();
                    with_new[..length].copy_from_slice(text.as_bytes());
                    with_new[0] = b'n';
                    text = Text::new(&with_new[..length]);
                }
                if specification.gives() {
                    self.prepare_gifts(target as usize)?;
                }
                let target = Target {
                    domain: objects.domain(target as usize),
                    entry,
                    stack: 0,
                };
                Kind::Call {
                    specification: &specification,
                    target,
                    constant,
                }
            }
            Action::SemaphoreWait { index, .. } => Kind::SemaphoreWait {
                index: index as u64,
            },
            Action::SemaphorePost { index, .. } => Kind::SemaphorePost {
                index: index as u64,
            },
            Action::Dead => Kind::Dead,
        };
        let name = Name {
            domain: domain as u64,
            generation: self.domains[domain].generation,
            slot: slot as u64,
            system: domain < role::CORE_END as usize,
        };
        let code = self.place(&kind, name)?;
        let portal = Portal {
            domain: domain as u16,
            slot: slot as u16,
            action,
            text,
            code,
        };
        self.tables
            .enter(objects, portal)
            .inspect_err(|_| self.code.free(code))?;
        room.take(&code);
        Ok(())
    }

    /// Lets the stacks of `domain` appear in `target`, if they can.
    fn share_stacks(&self, domain: usize, target: u16) -> bool {
        let target = target as usize;
        // A fork and its parent have different stacks at the same addresses, and so have two domains with one table.
        let alike = self.domains[domain].stack_area == self.domains[target].stack_area;
        !alike && !self.is_table_shared(domain) && calls::stack_share(domain, target) >= 0
    }

    /// Makes room in the gift area of `asid` for pages that portals give it, if it has none yet or little left.
    fn prepare_gifts(&mut self, asid: usize) -> Result<(), Errno> {
        let objects = self.objects();
        let domain = objects.read_domain(asid);
        if domain.gift[0] + 8 * pebble_portal_spec::MAX_WINDOW_PAGES as u64 <= domain.gift[1] {
            return Ok(());
        }
        let entry = calls::gift_prepare(asid);
        if entry <= 0 {
            return Err(Errno::NoMemory);
        }
        let entry = entry as u64;
        self.undisturbed(|_| {
            let record = objects.domain(asid);
            let domain = objects.read::<Domain>(record);
            let end = (entry & !(layout::PAGE - 1)) + layout::PAGE;
            let gift = [PHYSMAP + entry, PHYSMAP + end];
            let gift_address = layout::GIFT + (entry % layout::PAGE) / 8 * layout::PAGE;
            objects.write(
                record,
                Domain {
                    gift,
                    gift_address,
                    ..domain
                },
            );
        });
        Ok(())
    }

    /// Whether another domain uses this domain's table.
    pub fn is_table_shared(&self, owner: usize) -> bool {
        let uses = |asid: usize| {
            self.domains[asid].life == Life::Alive && self.domains[asid].table_of == owner
        };
        (1..MAX_DOMAINS).any(|asid| asid != owner && uses(asid))
    }

    /// The address space in which threads leave dead domains, nothing but the gate page, and the table that they find
    /// there: the way back, and the end of a thread. Made once.
    pub fn make_limbo(&mut self) -> Result<(), Errno> {
        let table = self.take_pages(1)?;
        self.fill_table(table, false);
        let thread_exit = self.standard[slot::THREAD_EXIT];
        self.objects()
            .write(table + 8 * slot::THREAD_EXIT as u64, thread_exit);
        self.limbo_table = table;
        let root = calls::space_create(LIMBO, 0);
        if root <= 0 {
            return Err(Errno::NoMemory);
        }
        self.limbo = root as u64;
        Ok(())
    }
}

/// The value of `satp` for domain `asid` with its root table at physical address `root`.
pub fn satp(asid: usize, root: u64) -> u64 {
    8 << 60 | (asid as u64) << 44 | root >> PAGE_SHIFT
}
