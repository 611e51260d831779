//! Core domains: page tables, images, stacks, and the nucleus objects that describe them.

use elf::{abi::PT_LOAD, endian::LittleEndian, ElfBytes};
use pebble_abi::bundle::Component;
use pebble_abi::entry::{self, EntryTable};
use pebble_abi::layout::{self, PAGE, PAGE_SHIFT, PHYSMAP};
use pebble_abi::object::{self, role, BootInfo, Domain, Range, Stack};

use super::bundle::Bundle;
use super::machine::Machine;
use super::memory::{pointer, Memory};
use super::pages::{self, Space};
use super::{fail, physical};

/// Pages mapped at boot for each stack of a core server.
const STACK_PAGES: u64 = 4;
/// Stacks in the queue of the VM server and of the portal manager.
const QUEUE: u64 = 12;

/// Everything that boot code is putting together.
pub(super) struct Builder {
    /// Physical memory.
    pub memory: Memory,
    /// Physical address of the object region.
    pub objects: u64,
    /// Pages used of the object pool.
    pub pool_used: u64,
    /// Stack records used.
    pub stacks_used: u64,
    upper: u64,
    gate: u64,
    info_page: u64,
    spaces: [Option<Space>; 8],
}

/// Stack pointers of the two servers that run with interrupts off.
pub(super) struct FixedStacks {
    /// The scheduler's.
    pub scheduler: u64,
    /// The interrupt dispatcher's.
    pub interrupt: u64,
}

impl Builder {
    pub(super) fn new(
        memory: Memory,
        objects: u64,
        upper: u64,
        gate: u64,
        info_page: u64,
    ) -> Builder {
        Builder {
            memory,
            objects,
            pool_used: 0,
            stacks_used: 0,
            upper,
            gate,
            info_page,
            spaces: [None; 8],
        }
    }

    /// Privileged address of a domain's record.
    pub(super) fn domain_address(&self, asid: u64) -> u64 {
        PHYSMAP + self.objects + object::DOMAINS + asid * object::DOMAIN_BYTES
    }

    /// The record of domain `asid`.
    pub(super) fn domain_record(&self, asid: u64) -> *mut Domain {
        self.domain_address(asid) as *mut Domain
    }

    /// Takes `pages` pages of the object pool; answers their privileged address.
    pub(super) fn pool(&mut self, pages: u64) -> u64 {
        let address = PHYSMAP + self.objects + object::POOL + self.pool_used * PAGE;
        self.pool_used += pages;
        address
    }

    /// Makes the domain of `role` from its component.
    pub(super) fn domain(
        &mut self,
        role: u32,
        (index, component): &(usize, Component),
        bundle: &Bundle,
        machine: &Machine,
        info: &mut BootInfo,
    ) {
        let memory = &mut self.memory;
        let space = Space::new(memory, self.upper);
        // The same in every space, so global: without ASIDs it survives the flush of each switch.
        space.map(
            memory,
            layout::GATE,
            self.gate,
            pages::READ | pages::EXECUTE | pages::GLOBAL,
        );
        space.map(memory, layout::BOOT_INFO, self.info_page, pages::READ);
        let image_end = load(memory, space, bundle.image(component));
        for device in component.device.iter().take(component.devices as usize) {
            for offset in (0..device.bytes).step_by(PAGE as usize) {
                let address = device.base + offset;
                space.map(
                    memory,
                    layout::DEVICE + address,
                    address,
                    pages::READ | pages::WRITE,
                );
            }
        }
        match role {
            role::VM => {
                let mut address = machine.ram.start;
                while address < machine.ram.end {
                    let place = layout::PHYSICAL + (address - layout::RAM);
                    space.map_huge(memory, place, address, pages::READ | pages::WRITE);
                    address += 1 << 21;
                }
            }
            role::PORTAL_MANAGER => {
                for offset in (0..object::REGION).step_by(1 << 21) {
                    let place = layout::OBJECTS + offset;
                    space.map_huge(
                        memory,
                        place,
                        self.objects + offset,
                        pages::READ | pages::WRITE,
                    );
                }
            }
            // The loader reads images, init what is to run.
            role::INIT | role::LOADER => {
                let length = (machine.bundle.end - machine.bundle.start).next_multiple_of(PAGE);
                for offset in (0..length).step_by(PAGE as usize) {
                    space.map(
                        memory,
                        layout::BUNDLE + offset,
                        machine.bundle.start + offset,
                        pages::READ,
                    );
                }
            }
            _ => {}
        }
        let asid = role as u64;
        let table = self.pool(1);
        let record = Domain {
            satp: 8 << 60 | asid << 44 | space.root >> PAGE_SHIFT,
            table,
            stacks: 0,
            stack_waiters: 0,
            asid,
            root: PHYSMAP + space.root,
            generation: 1,
            dead: 0,
            gift: [0; 2],
            gift_address: 0,
            leaf_span: object::NO_SPAN,
            leaf_bias: 0,
            reserved: [0; 3],
        };
        // SAFETY: the record of this number, which nothing uses yet.
        unsafe { self.domain_record(asid).write(record) };
        let core = &mut info.core[role as usize];
        core.role = role;
        core.priority = component.priority;
        core.root = space.root;
        core.image_end = image_end;
        core.image = *index as u64;
        self.spaces[role as usize] = Some(space);
        self.read_entries(role, info);
    }

    /// Copies the server's entry table from the start of its image.
    fn read_entries(&mut self, role: u32, info: &mut BootInfo) {
        let table = self.translate(role, layout::IMAGE);
        let word = |index: usize| {
            // SAFETY: the first image page of the domain that was just loaded; the table fits a page.
            unsafe { pointer::<u64>(table).add(index).read() }
        };
        debug_assert!(core::mem::size_of::<EntryTable>() <= PAGE as usize);
        if word(0) != entry::MAGIC {
            fail("a core component has no entry table at the start of its image");
        }
        let count = (word(1) as usize).min(entry::MAX);
        for index in 0..count {
            info.core[role as usize].entries[index] = word(3 + index);
        }
        if role == role::SCHEDULER {
            let data = word(2);
            info.semaphores = [data, self.translate(role, data)];
        }
    }

    /// Physical address behind a mapped address of a core domain.
    pub(super) fn translate(&mut self, role: u32, address: u64) -> u64 {
        let Some(space) = self.spaces[role as usize] else {
            fail("a core domain is missing")
        };
        let place = space.entry_address(&mut self.memory, address);
        // SAFETY: an entry of that space's tables.
        let entry = unsafe { pointer::<u64>(place).read() };
        if entry & pages::VALID == 0 {
            fail("a core component's image does not contain an address that it names");
        }
        ((entry >> 10) << PAGE_SHIFT) | (address % PAGE)
    }

    /// Maps stack `slot` of a core domain, `pages` pages deep; answers its record's privileged address.
    pub(super) fn stack(&mut self, role: u32, slot: u64, pages: u64) -> u64 {
        let Some(space) = self.spaces[role as usize] else {
            fail("a core domain is missing")
        };
        let area = layout::STACKS + role as u64 * layout::STACK_AREA;
        let top = layout::stack_top(area, slot);
        for page in 1..=pages {
            let frame = self.memory.page();
            space.map(
                &mut self.memory,
                top - page * PAGE,
                frame,
                pages::READ | pages::WRITE,
            );
        }
        let window = layout::stack_slot(area, slot);
        let entry = PHYSMAP + space.entry_address(&mut self.memory, window);
        let record = Stack::new(role as u64, top, window, entry);
        let address =
            PHYSMAP + self.objects + object::STACKS + self.stacks_used * object::STACK_BYTES;
        self.stacks_used += 1;
        // SAFETY: a fresh record of the stack table.
        unsafe { (address as *mut Stack).write(record) };
        address
    }

    /// Makes the stacks that servers have from the start and fills their stack queues.
    pub(super) fn stacks(&mut self, _info: &BootInfo) -> FixedStacks {
        let top = |address: u64| {
            // SAFETY: a record that `stack` just wrote.
            unsafe { (*(address as *const Stack)).top }
        };
        let scheduler = self.stack(role::SCHEDULER, 0, STACK_PAGES);
        let interrupt = self.stack(role::DISPATCHER, 0, STACK_PAGES);
        for (role, count) in [
            (role::VM, QUEUE),
            (role::PORTAL_MANAGER, QUEUE),
            (role::DISPATCHER, 1),
            // One call at a time.
            (role::LOADER, 1),
        ] {
            for slot in 1..=count {
                let stack = self.stack(role, slot, STACK_PAGES);
                let domain = self.domain_record(role as u64);
                // SAFETY: records of a domain and a stack that only boot code knows yet.
                unsafe {
                    (*(stack as *mut Stack)).next = (*domain).stacks;
                    (*domain).stacks = stack;
                }
            }
        }
        FixedStacks {
            scheduler: top(scheduler),
            interrupt: top(interrupt),
        }
    }

    /// Writes down what is used and what is free.
    pub(super) fn finish(
        &mut self,
        info: &mut BootInfo,
        machine: &Machine,
        boot_start: u64,
        image_end: u64,
    ) {
        info.pool_used = self.pool_used;
        info.stacks_used = self.stacks_used;
        info.boot_discarded = (image_end - boot_start) / PAGE;
        let mut rest = [
            Range {
                start: self.memory.next,
                end: machine.ram.end,
            },
            Range::default(),
            Range::default(),
            Range::default(),
        ];
        // What the bundle and the device tree occupy splits the rest; the device tree is of no more use.
        let bundle = Range {
            start: machine.bundle.start & !(PAGE - 1),
            end: machine.bundle.end.next_multiple_of(PAGE),
        };
        if bundle.start >= rest[0].start && bundle.end <= rest[0].end {
            rest[1] = Range {
                start: bundle.end,
                end: rest[0].end,
            };
            rest[0].end = bundle.start;
        }
        info.free[0] = Range {
            start: boot_start,
            end: image_end,
        };
        info.free[1] = self.memory.gap;
        info.free[2] = rest[0];
        info.free[3] = rest[1];
        let _ = physical;
    }
}

/// Loads an ELF image; answers its end.
fn load(memory: &mut Memory, space: Space, file: &[u8]) -> u64 {
    let Ok(image) = ElfBytes::<LittleEndian>::minimal_parse(file) else {
        fail("a core component's image is not an ELF file")
    };
    let Some(segments) = image.segments() else {
        fail("a core component's image has no segments")
    };
    let mut end = layout::IMAGE;
    for segment in segments
        .iter()
        .filter(|segment| segment.p_type == PT_LOAD && segment.p_memsz > 0)
    {
        let Ok(content) = image.segment_data(&segment) else {
            fail("a core component's segment lies outside its file")
        };
        let mut rights = 0;
        for (flag, right) in [(4, pages::READ), (2, pages::WRITE), (1, pages::EXECUTE)] {
            if segment.p_flags & flag != 0 {
                rights |= right;
            }
        }
        let first = segment.p_vaddr & !(PAGE - 1);
        let last = segment.p_vaddr + segment.p_memsz;
        if first < layout::IMAGE || last > layout::HEAP_LIMIT {
            fail(
                "a core component's segment lies outside the image area; link it with sdk/user.ld",
            );
        }
        for page in (first..last).step_by(PAGE as usize) {
            let frame = memory.page();
            space.map(memory, page, frame, rights);
            // Part of the file's content that belongs to this page.
            let from = page.max(segment.p_vaddr);
            let to = (page + PAGE).min(segment.p_vaddr + content.len() as u64);
            if from < to {
                let source =
                    &content[(from - segment.p_vaddr) as usize..(to - segment.p_vaddr) as usize];
                // SAFETY: the destination is within the fresh page.
                unsafe {
                    pointer::<u8>(frame + from % PAGE)
                        .copy_from_nonoverlapping(source.as_ptr(), source.len());
                }
            }
        }
        end = end.max(last.next_multiple_of(PAGE));
    }
    end
}
