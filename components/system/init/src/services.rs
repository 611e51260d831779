//! What init offers: starting, stopping and listing the components of the description.
//!
//! A component runs at most once. A core server cannot be started or stopped: the portal manager would not do without
//! it. Stopping a critical component ends the system, so it must be asked for by force; init then switches the machine
//! off itself, because the component may be the one that could do so.

use pebble_abi::bundle::{CRITICAL, INTERACTIVE, SHELL};
use pebble_abi::errno::Errno;
use pebble_abi::layout;
use pebble_abi::object::{info, role, InfoRecord};
use pebble_abi::slot;
use pebble_interfaces::init::{self, field};
use pebble_server::invoke;

use crate::{call, locked, Name};
use bundle::{name_of, Bundle};

/// Registers them.
pub fn offer() {
    // Two stacks, so that one caller's fault in between does not stop the next.
    for stack in 1..=2 {
        call(slot::STACK_ADD, stack, 0);
    }
    for (service, entry) in [
        (init::START, start_by_name as *const ()),
        (init::STOP, stop_by_name as *const ()),
        (init::COMPONENT, component as *const ()),
    ] {
        let specification = Name::new(service.specification.as_bytes());
        let name = Name::new(service.name.as_bytes());
        invoke(
            slot::PORTAL_REGISTER,
            name.address(),
            specification.address(),
            0,
            entry as usize,
            0,
        );
    }
}

/// The name in a caller's window.
fn window_name(address: usize) -> Option<([u8; 32], usize)> {
    let mut name = [0; 32];
    let room = (layout::PAGE as usize - address % layout::PAGE as usize).min(name.len());
    for (index, place) in name.iter_mut().take(room).enumerate() {
        // SAFETY: within the page that the portal shows for the length of this call.
        *place = unsafe { (address as *const u8).add(index).read_volatile() };
    }
    let length = name[..room].iter().position(|&byte| byte == 0)?;
    Some((name, length))
}

/// The living domain of the component called `name`; copies that it made of itself by `domain_fork` do not count.
fn domain_of(name: &[u8]) -> Option<usize> {
    #[repr(align(128))]
    struct Shown(InfoRecord);
    let mut shown = Shown(InfoRecord::default());
    (0..layout::MAX_DOMAINS).find(|&index| {
        let address = core::ptr::from_mut(&mut shown.0) as usize;
        let answer = invoke(slot::INFO, info::DOMAIN, index, address, 0, 0);
        let [_, parent, _, _, _, _, state, _] = shown.0.values;
        answer == 0 && parent == 0 && state & info::ALIVE != 0 && name_of(&shown.0.name) == name
    })
}

fn is_core(role: u32) -> bool {
    role != role::ORDINARY && role < role::CORE_END
}

extern "C" fn start_by_name(_: usize, name: usize) -> isize {
    let Some((name, length)) = window_name(name) else {
        return Errno::NameTooLong.negated();
    };
    locked(|| {
        let bundle = Bundle::new();
        let Some(index) = bundle.find(&name[..length]) else {
            return Errno::NoEntry.negated();
        };
        if is_core(bundle.component(index).role) {
            return Errno::PermissionDenied.negated();
        }
        if domain_of(&name[..length]).is_some() {
            return Errno::Exists.negated();
        }
        crate::start(&bundle, index).map_or_else(|error| error, |asid| asid as isize)
    })
}

extern "C" fn stop_by_name(_: usize, name: usize, force: usize) -> isize {
    let Some((name, length)) = window_name(name) else {
        return Errno::NameTooLong.negated();
    };
    let name = &name[..length];
    locked(|| {
        let bundle = Bundle::new();
        let Some(index) = bundle.find(name) else {
            return Errno::NoEntry.negated();
        };
        let component = bundle.component(index);
        if is_core(component.role) {
            return Errno::PermissionDenied.negated();
        }
        let Some(asid) = domain_of(name) else {
            return Errno::NoSuchProcess.negated();
        };
        let is_shell = component.flags & SHELL != 0 && bundle.flags() & INTERACTIVE != 0;
        if (component.flags & CRITICAL != 0 || is_shell) && force == 0 {
            return Errno::Busy.negated();
        }
        if component.flags & CRITICAL != 0 {
            crate::end_without(core::str::from_utf8(name).unwrap_or("?"));
        }
        call(slot::DOMAIN_KILL, asid, 0)
    })
}

extern "C" fn component(_: usize, index: usize, buffer: usize) -> isize {
    let bundle = Bundle::new();
    if index >= bundle.count() {
        return Errno::Invalid.negated();
    }
    if buffer % layout::PAGE as usize > layout::PAGE as usize - size_of::<InfoRecord>() {
        return Errno::Fault.negated();
    }
    let component = bundle.component(index);
    let mut record = InfoRecord {
        name: component.name,
        values: [0; 8],
    };
    let running = locked(|| domain_of(name_of(&component.name)));
    record.values[field::DOMAIN] = running.unwrap_or(0) as u64;
    record.values[field::ROLE] = component.role.into();
    record.values[field::PRIORITY] = component.priority.into();
    record.values[field::PAGES] = component.memory_pages.into();
    record.values[field::FLAGS] = component.flags.into();
    record.values[field::ARGUMENTS] = component.argc.into();
    record.values[field::DEVICES] = component.devices.into();
    record.values[field::IMAGE] = component.image_bytes;
    // SAFETY: the portal shows the page, writable, for the length of this call, and the record lies within it.
    unsafe { (buffer as *mut InfoRecord).write_unaligned(record) };
    0
}
