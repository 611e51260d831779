//! What the system says about itself, with names for the numbers of an info record.

use alloc::string::String;

use pebble::abi::bundle;
use pebble::abi::object::{info, role, InfoRecord};
use pebble::abi::thread_state;
use pebble::interfaces::init::field;

/// The name in a record.
pub fn name(record: &InfoRecord) -> String {
    let end = record.name.iter().position(|&byte| byte == 0);
    let bytes = &record.name[..end.unwrap_or(record.name.len())];
    String::from_utf8_lossy(bytes).into_owned()
}

/// A protection domain.
#[derive(Clone, Debug)]
pub struct Domain {
    /// Its component's name.
    pub name: String,
    /// Number.
    pub asid: usize,
    /// The domain that made it, 0 for a component of the description.
    pub parent: usize,
    /// Portals in its table, the standard ones not counted.
    pub portals: u64,
    /// Pages in use.
    pub pages: u64,
    /// Most pages.
    pub limit: u64,
    /// It is alive, not only a number that threads still have to leave.
    pub alive: bool,
    /// Its end ends the system.
    pub critical: bool,
    /// Highest priority of its threads.
    pub priority: u64,
    /// Times that the number was used.
    pub generation: u64,
}

impl From<&InfoRecord> for Domain {
    fn from(record: &InfoRecord) -> Self {
        let [asid, parent, _, portals, pages, limit, state, generation] = record.values;
        let flags = state >> info::FLAGS_SHIFT & 0xff;
        Domain {
            name: name(record),
            asid: asid as usize,
            parent: parent as usize,
            portals,
            pages,
            limit,
            alive: state & info::ALIVE != 0,
            critical: flags & u64::from(bundle::CRITICAL) != 0,
            priority: state >> info::PRIORITY_SHIFT & 0xff,
            generation,
        }
    }
}

/// A thread.
#[derive(Clone, Debug)]
pub struct Thread {
    /// Number.
    pub number: u64,
    /// Domain that it was made in.
    pub home: usize,
    /// Domain that it executes in.
    pub place: usize,
    /// Priority.
    pub priority: u64,
    /// What it does, as a number of `abi::thread_state`.
    state: u64,
    /// Bytes on its invocation stack.
    pub depth: u64,
    /// Semaphore, or domain whose stack it waits for.
    pub waits_for: u64,
    /// Where it goes on.
    pub pc: u64,
}

impl From<&InfoRecord> for Thread {
    fn from(record: &InfoRecord) -> Self {
        let [number, home, place, priority, state, depth, waits_for, pc] = record.values;
        Thread {
            number,
            home: home as usize,
            place: place as usize,
            priority,
            state,
            depth,
            waits_for,
            pc,
        }
    }
}

impl Thread {
    /// What it does, in a word.
    pub fn state(&self) -> &'static str {
        let known = thread_state::NAMES.get(self.state as usize);
        known.copied().unwrap_or("unknown")
    }

    /// The semaphore that it waits for.
    pub fn semaphore(&self) -> Option<u64> {
        (self.state == u64::from(thread_state::WAITING)).then_some(self.waits_for)
    }

    /// The domain whose stack it waits for.
    pub fn stack_of(&self) -> Option<usize> {
        (self.state == u64::from(thread_state::STACK)).then_some(self.waits_for as usize)
    }
}

/// What a portal does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Calls into a domain.
    Call(usize),
    /// P on a semaphore.
    Wait(u64),
    /// V on a semaphore.
    Post(u64),
    /// Its callee died.
    Dead,
}

/// A portal.
#[derive(Clone, Debug)]
pub struct Portal {
    /// Domain whose table it is in.
    pub domain: usize,
    /// Slot.
    pub slot: u64,
    /// Specification.
    pub specification: String,
    /// What it does.
    pub action: Action,
    /// Bytes of its code.
    pub bytes: u64,
}

impl From<&InfoRecord> for Portal {
    fn from(record: &InfoRecord) -> Self {
        let [domain, slot, target, bytes, action, ..] = record.values;
        Portal {
            domain: domain as usize,
            slot,
            specification: name(record),
            action: match action {
                info::CALL => Action::Call(target as usize),
                info::SEMAPHORE_WAIT => Action::Wait(target),
                info::SEMAPHORE_POST => Action::Post(target),
                _ => Action::Dead,
            },
            bytes,
        }
    }
}

/// A component of the system description.
#[derive(Clone, Debug)]
pub struct Component {
    /// Name.
    pub name: String,
    /// Its domain, while it runs.
    pub domain: Option<usize>,
    /// Role.
    role: u64,
    /// Priority.
    pub priority: u64,
    /// Most pages.
    pub pages: u64,
    flags: u64,
    /// Number of arguments.
    pub arguments: u64,
    /// Number of devices.
    pub devices: u64,
    /// Bytes of its image.
    pub image: u64,
}

impl From<&InfoRecord> for Component {
    fn from(record: &InfoRecord) -> Self {
        let value = |index: usize| record.values[index];
        let domain = value(field::DOMAIN) as usize;
        Component {
            name: name(record),
            domain: (domain != 0).then_some(domain),
            role: value(field::ROLE),
            priority: value(field::PRIORITY),
            pages: value(field::PAGES),
            flags: value(field::FLAGS),
            arguments: value(field::ARGUMENTS),
            devices: value(field::DEVICES),
            image: value(field::IMAGE),
        }
    }
}

impl Component {
    /// Boot code placed it: it can be neither started nor stopped.
    pub fn is_core(&self) -> bool {
        self.role != u64::from(role::ORDINARY) && self.role < u64::from(role::CORE_END)
    }

    /// Its end ends the system.
    pub fn critical(&self) -> bool {
        self.flags & u64::from(bundle::CRITICAL) != 0
    }

    /// When it is started, and what its end means.
    pub fn kind(&self) -> &'static str {
        let flag = |flag: u32| self.flags & u64::from(flag) != 0;
        match (
            self.is_core(),
            flag(bundle::SHELL),
            flag(bundle::START),
            self.critical(),
        ) {
            (true, ..) => "core",
            (_, true, ..) => "shell",
            (_, _, true, true) => "at boot, critical",
            (_, _, true, false) => "at boot",
            (_, _, false, true) => "on demand, critical",
            (_, _, false, false) => "on demand",
        }
    }
}

/// A name, and the service behind it.
#[derive(Clone, Debug)]
pub struct Service {
    /// Name; none: this shell may not open it.
    pub name: Option<String>,
    /// Specification.
    pub specification: String,
    /// The domain that offers it.
    pub owner: usize,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::record;

    #[test]
    fn a_domain_s_state_is_taken_apart() {
        let state = info::ALIVE
            | u64::from(bundle::CRITICAL) << info::FLAGS_SHIFT
            | 52 << info::PRIORITY_SHIFT
            | u64::from(role::NAME_SERVER) << info::ROLE_SHIFT;
        let domain = Domain::from(&record("console", [9, 0, 1, 2, 3, 4, state, 5]));
        assert!(domain.alive && domain.critical);
        assert_eq!((domain.priority, domain.generation), (52, 5));
        let dead = Domain::from(&record(
            "x",
            [9, 8, 1, 2, 3, 4, 20 << info::PRIORITY_SHIFT, 5],
        ));
        assert!(!dead.alive && !dead.critical && dead.parent == 8);
    }

    #[test]
    fn what_a_thread_waits_for_depends_on_its_state() {
        let thread = |state: u8| Thread::from(&record("", [3, 8, 9, 30, state.into(), 0, 17, 0]));
        assert_eq!(thread(thread_state::WAITING).semaphore(), Some(17));
        assert_eq!(thread(thread_state::WAITING).stack_of(), None);
        assert_eq!(thread(thread_state::STACK).stack_of(), Some(17));
        assert_eq!(thread(thread_state::READY).semaphore(), None);
        assert_eq!(thread(thread_state::SLEEPING).state(), "sleeping");
        assert_eq!(thread(200).state(), "unknown");
    }

    #[test]
    fn names_end_at_their_padding_or_not_at_all() {
        assert_eq!(name(&record("idle", [0; 8])), "idle");
        assert_eq!(name(&record(&"x".repeat(32), [0; 8])).len(), 32);
    }
}
