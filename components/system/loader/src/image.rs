//! From a component's ELF file to a domain, and its first thread.

use elf::abi::{EM_RISCV, ET_EXEC, PT_LOAD};
use elf::endian::LittleEndian;
use elf::ElfBytes;
use pebble_abi::bundle::{Component, Device};
use pebble_abi::entry::{portal_manager, vm};
use pebble_abi::errno::Errno;
use pebble_abi::layout::{HEAP_LIMIT, IMAGE, PAGE, STACKS, STACK_AREA};
use pebble_abi::loader::Reason;
use pebble_abi::object::{self, DomainDescription, StartInfo};
use pebble_abi::slot::loader as slot;
use pebble_server::invoke;

use bundle::Bundle;

/// Threads that one component may have.
const MAX_THREADS_OF_COMPONENT: u32 = 32;

/// What was wrong, and the server's answer or the loader's own error.
pub type Refusal = (Reason, isize);

fn refuse(reason: Reason, errno: Errno) -> Refusal {
    (reason, errno.negated())
}

fn done(reason: Reason, answer: isize) -> Result<usize, Refusal> {
    if answer < 0 {
        Err((reason, answer))
    } else {
        Ok(answer as usize)
    }
}

fn manager(entry: usize, a: usize, b: usize, c: usize) -> isize {
    invoke(slot::PORTAL_MANAGER + entry, a, b, c, 0, 0)
}

fn memory(entry: usize, a: usize, b: usize, c: usize, d: usize, e: usize) -> isize {
    invoke(slot::VM + entry, a, b, c, d, e)
}

/// A record that a window shows: aligned so that it never straddles a page.
#[repr(align(128))]
struct Shown<T>(T);

/// The start page, which a window shows whole.
#[repr(C, align(4096))]
struct StartPage {
    bytes: [u8; PAGE as usize],
}

/// Makes the domain; the caller gives it names' rules, then calls [`start`]. Answers its number and entry point.
pub fn load(bundle: &Bundle, component: &Component) -> Result<(usize, u64), Refusal> {
    let image = bundle
        .image(component)
        .ok_or(refuse(Reason::OutsideBundle, Errno::NoExec))?;
    let file = check(image)?;
    let mut interrupts = [0; 4];
    let devices = &component.device[..(component.devices as usize).min(4)];
    for (place, device) in interrupts.iter_mut().zip(devices) {
        *place = device.interrupt;
    }
    let description = Shown(DomainDescription {
        name: component.name,
        role: component.role,
        priority: component.priority,
        memory_pages: component.memory_pages,
        quantum: component.quantum,
        budget: component.budget,
        flags: component.flags,
        interrupts,
        threads: MAX_THREADS_OF_COMPONENT,
        reserved: 0,
    });
    let address = core::ptr::from_ref(&description.0) as usize;
    let asid = done(
        Reason::Domain,
        manager(portal_manager::DOMAIN_CREATE, address, 0, 0),
    )?;
    match fill(bundle, component, &file, asid, devices) {
        Ok(()) => Ok((asid, file.ehdr.e_entry)),
        Err(refusal) => {
            manager(portal_manager::DOMAIN_KILL, asid, 0, 0);
            Err(refusal)
        }
    }
}

/// Lets the first thread of a loaded domain run from `entry`.
pub fn start(asid: usize, entry: u64) -> Result<(), Refusal> {
    done(
        Reason::Thread,
        manager(portal_manager::DOMAIN_START, asid, entry as usize, 0),
    )
    .map(|_| ())
}

/// Refuses what is not an executable of this system.
fn check(image: &'static [u8]) -> Result<ElfBytes<'static, LittleEndian>, Refusal> {
    let file = ElfBytes::<LittleEndian>::minimal_parse(image)
        .map_err(|_| refuse(Reason::NotElf, Errno::NoExec))?;
    if file.ehdr.e_machine != EM_RISCV || file.ehdr.e_type != ET_EXEC {
        return Err(refuse(Reason::NotExecutable, Errno::NoExec));
    }
    let segments = file
        .segments()
        .ok_or(refuse(Reason::NoSegments, Errno::NoExec))?;
    let mut entry_is_code = false;
    for segment in segments.iter().filter(|segment| segment.p_type == PT_LOAD) {
        let end = segment.p_vaddr.checked_add(segment.p_memsz);
        let inside = segment.p_vaddr >= IMAGE && end.is_some_and(|end| end <= HEAP_LIMIT);
        let same_offset = segment.p_offset % PAGE == segment.p_vaddr % PAGE;
        if segment.p_memsz > 0 && !inside || segment.p_filesz > segment.p_memsz {
            return Err(refuse(Reason::OutsideArea, Errno::NoExec));
        }
        if segment.p_flags & 3 == 3 {
            return Err(refuse(Reason::WritableCode, Errno::NoExec));
        }
        if file.segment_data(&segment).is_err() || segment.p_filesz > 0 && !same_offset {
            return Err(refuse(Reason::OutsideFile, Errno::NoExec));
        }
        let range = segment.p_vaddr..segment.p_vaddr + segment.p_filesz;
        entry_is_code |= segment.p_flags & 1 != 0 && range.contains(&file.ehdr.e_entry);
    }
    if !entry_is_code {
        return Err(refuse(Reason::Entry, Errno::NoExec));
    }
    Ok(file)
}

fn fill(
    bundle: &Bundle,
    component: &Component,
    file: &ElfBytes<'static, LittleEndian>,
    asid: usize,
    devices: &[Device],
) -> Result<(), Refusal> {
    let mut end = IMAGE;
    let Some(segments) = file.segments() else {
        return Err(refuse(Reason::NoSegments, Errno::NoExec));
    };
    for segment in segments
        .iter()
        .filter(|segment| segment.p_type == PT_LOAD && segment.p_memsz > 0)
    {
        let offset = component.image + segment.p_offset;
        let size_and_rights = segment.p_filesz | (segment.p_flags as u64 & 7) << 56;
        done(
            Reason::Memory,
            memory(
                vm::IMAGE_MAP,
                asid,
                segment.p_vaddr as usize,
                segment.p_memsz as usize,
                offset as usize,
                size_and_rights as usize,
            ),
        )?;
        end = end.max((segment.p_vaddr + segment.p_memsz).next_multiple_of(PAGE));
    }
    done(
        Reason::Heap,
        memory(vm::IMAGE_END, asid, end as usize, 0, 0, 0),
    )?;
    for device in devices.iter().filter(|device| device.bytes > 0) {
        done(
            Reason::Device,
            memory(
                vm::DEVICE_MAP,
                asid,
                device.base as usize,
                device.bytes as usize,
                0,
                0,
            ),
        )?;
    }
    start_info(bundle, component, asid, end)
}

/// Fills the page that tells the component about itself.
fn start_info(
    bundle: &Bundle,
    component: &Component,
    asid: usize,
    end: u64,
) -> Result<(), Refusal> {
    let mut page = StartPage {
        bytes: [0; PAGE as usize],
    };
    let arguments = bundle
        .strings(component.args, component.argc as usize)
        .ok_or(refuse(Reason::Arguments, Errno::Invalid))?;
    // The component's own name, the zeroth argument, is in the record.
    let offset = size_of::<StartInfo>();
    let strings = offset + arguments.len();
    if strings > page.bytes.len() {
        return Err(refuse(Reason::Arguments, Errno::TooBig));
    }
    page.bytes[offset..strings].copy_from_slice(arguments);
    let info = StartInfo {
        magic: object::START_MAGIC,
        asid: asid as u64,
        stack_area: STACKS + asid as u64 * STACK_AREA,
        flags: bundle.flags() & 1 | (component.flags as u64 & pebble_abi::bundle::PROGRAM as u64),
        argc: component.argc as u64,
        argv_offset: offset as u64,
        image_end: end,
        name: component.name,
        devices: component.device,
    };
    // SAFETY: the page is aligned and larger than the record, which is plain numbers.
    unsafe { page.bytes.as_mut_ptr().cast::<StartInfo>().write(info) };
    done(
        Reason::StartPage,
        memory(vm::START_INFO, asid, page.bytes.as_ptr() as usize, 0, 0, 0),
    )
    .map(|_| ())
}
