//! Register and open: portals by name, with the name server deciding who may (USENIX paper, "The Portal Manager").

use pebble_abi::errno::Errno;
use pebble_abi::object::role;
use pebble_abi::slot::{portal_manager as own, FIRST_DYNAMIC, NAMELEN};
use pebble_interfaces::{self as interface, name_server};
use pebble_portal_spec::Specification;
use pebble_server::invoke;

use crate::domains::Life;
use crate::fork::announce;
use crate::state::{State, STATE};
use crate::tables::{Action, Text};

/// Registrations at one time.
pub const MAX_SERVICES: usize = 512;
/// Most registrations of one domain.
const MAX_OF_DOMAIN: usize = 64;

/// The portal manager's own slots for the name server's three entries.
const BIND: usize = own::OWN;
const LOOKUP: usize = own::OWN + 1;
const UNBIND: usize = own::OWN + 2;
/// What the portal manager itself calls of the name server.
const CALLED: [(&interface::Service, usize); 3] = [
    (&name_server::BIND, BIND),
    (&name_server::LOOKUP, LOOKUP),
    (&name_server::UNBIND, UNBIND),
];
/// Names under here are the name server's own: it cannot be asked about them before it is known.
const RESERVED: &[u8] = b"/name-server/";

/// A portal that a server offers.
#[derive(Clone, Copy, Debug)]
pub struct Service {
    /// The server's domain.
    pub owner: u16,
    /// Specification.
    pub text: Text,
    /// Entry in the server.
    pub entry: u64,
    /// Constant for the letter `c`.
    pub constant: u64,
}

/// All registrations; the index is what the name server binds a name to.
pub struct Services {
    offered: [Option<Service>; MAX_SERVICES],
    /// The name server's own names, with their registrations.
    reserved: [Option<([u8; NAMELEN], usize)>; 8],
}

impl Services {
    /// None.
    pub const fn new() -> Self {
        Services {
            offered: [const { None }; MAX_SERVICES],
            reserved: [const { None }; 8],
        }
    }

    /// The registration with this index.
    pub fn get(&self, index: usize) -> Option<&Service> {
        self.offered.get(index)?.as_ref()
    }

    fn add(&mut self, service: Service) -> Result<usize, Errno> {
        let of_owner = self
            .offered
            .iter()
            .flatten()
            .filter(|other| other.owner == service.owner)
            .count();
        let free = self.offered.iter().position(Option::is_none);
        match free {
            Some(index) if of_owner < MAX_OF_DOMAIN => {
                self.offered[index] = Some(service);
                Ok(index)
            }
            _ => Err(Errno::TableFull),
        }
    }

    /// The registration of one of the name server's own names.
    fn reserved(&self, name: &[u8; NAMELEN]) -> Option<usize> {
        self.reserved
            .iter()
            .flatten()
            .find(|(reserved, _)| reserved == name)
            .map(|&(_, index)| index)
    }

    /// Forgets what `owner` offered.
    pub fn forget(&mut self, owner: usize) {
        self.offered
            .iter_mut()
            .filter(|s| s.is_some_and(|s| s.owner as usize == owner))
            .for_each(|s| *s = None);
    }
}

/// A name on its way to the name server: on this thread's stack, 64-byte aligned so that it never straddles a page.
#[repr(align(64))]
struct Name([u8; NAMELEN]);

/// Copies a NUL-terminated string out of a caller's window.
pub fn string(address: usize) -> Result<([u8; NAMELEN], usize), Errno> {
    let mut text = [0; NAMELEN];
    let bytes = crate::objects::window(address, NAMELEN);
    for (place, byte) in text.iter_mut().zip(bytes) {
        *place = *byte;
    }
    match text.iter().position(|&byte| byte == 0) {
        // A string that ends with its page has no NUL within the window.
        Some(length) if length < bytes.len() => {
            // What follows the NUL is no part of the name: names are compared whole.
            text[length..].fill(0);
            Ok((text, length))
        }
        _ if bytes.len() < NAMELEN => Err(Errno::Fault),
        _ => Err(Errno::NameTooLong),
    }
}

/// Refuses what is no specification. Init tells where it is wrong, for the first few of a domain.
pub fn check_specification(owner: usize, text: &[u8]) -> Result<(), Errno> {
    if Specification::parse(text).is_ok() {
        return Ok(());
    }
    STATE.with(|state| state.report_specification(owner, text));
    crate::calls::death_post();
    Err(Errno::Invalid)
}

/// `portal_register`: offers `entry` under `name`; answers 0.
pub fn register(
    owner: usize,
    name: usize,
    text: usize,
    constant: u64,
    entry: u64,
) -> Result<isize, Errno> {
    let (name, name_length) = string(name)?;
    let (text, text_length) = string(text)?;
    let text = &text[..text_length];
    check_specification(owner, text)?;
    let service = Service {
        owner: owner as u16,
        text: Text::new(text),
        entry,
        constant,
    };
    let name_server = STATE.with(|state| {
        state.alive(owner)?;
        if name.starts_with(RESERVED) {
            return state
                .reserve(name, &name[..name_length], service)
                .map(|()| None);
        }
        state
            .services
            .add(service)
            .map(|index| Some((index, state.name_server)))
    })?;
    let Some((index, name_server)) = name_server else {
        return Ok(0);
    };
    let answer = if name_server == 0 {
        Errno::Again.negated()
    } else {
        let name = Name(name);
        invoke(BIND, name.0.as_ptr() as usize, index, owner, 0, 0)
    };
    if answer < 0 {
        STATE.with(|state| state.services.offered[index] = None);
    }
    Ok(answer)
}

/// A core server's portal to one that is not: everything depends on the one, so it trusts the other with neither its
/// stack nor its registers, whatever the other's specification says.
fn without_trust(text: &Text) -> Text {
    let mut bytes = [0; 15];
    let length = text.as_bytes().len();
    bytes[..length].copy_from_slice(text.as_bytes());
    bytes[..2].copy_from_slice(b"np");
    Text::new(&bytes[..length])
}

/// `portal_open`: answers the slot of a new portal to the service called `name`. With `wanted`, its argument letters must
/// be those, and the first two letters are that one's.
pub fn open(
    client: usize,
    name: usize,
    wanted: Option<(&Specification, &[u8])>,
) -> Result<isize, Errno> {
    let (name, _) = string(name)?;
    if STATE.with(|state| state.name_server) == 0 {
        return Err(Errno::Again);
    }
    // The portal appears in the table, so the table's owner must be allowed to have it.
    let (reserved, client) = STATE.with(|state| {
        let reserved = state.services.reserved(&name);
        (reserved, state.domains[client].table_of)
    });
    let name = Name(name);
    let index = match reserved {
        // Everyone may open them: the name server checks its callers itself.
        Some(index) => index as isize,
        None => invoke(LOOKUP, name.0.as_ptr() as usize, client, 0, 0, 0),
    };
    if index < 0 {
        return Ok(index);
    }
    let slot = STATE.with(|state| {
        let service = *state.services.get(index as usize).ok_or(Errno::NoEntry)?;
        state.alive(service.owner as usize)?;
        let slot = state.free_slots(client, 1)?;
        let text = match wanted {
            Some((wanted, text)) => {
                let offered = Specification::parse(service.text.as_bytes());
                if !offered.is_ok_and(|offered| offered.arguments() == wanted.arguments()) {
                    return Err(Errno::Invalid);
                }
                Text::new(text)
            }
            None if client < role::CORE_END as usize => without_trust(&service.text),
            None => service.text,
        };
        let action = Action::Call {
            target: service.owner,
            entry: service.entry,
            constant: service.constant,
        };
        state.put(client, slot, text.as_bytes(), action)?;
        Ok(slot)
    })?;
    announce(client, slot, 1);
    Ok(slot as isize)
}

/// `portal_close`.
pub fn close(client: usize, slot: usize) -> Result<isize, Errno> {
    if slot < FIRST_DYNAMIC {
        return Err(Errno::BadDescriptor);
    }
    STATE.with(|state| {
        let (objects, empty) = (state.objects(), state.empty());
        let table = state.domains[client].table_of;
        let portal = state
            .tables
            .remove(objects, table, slot, empty)
            .ok_or(Errno::BadDescriptor)?;
        state.retire(portal.code);
        Ok(0)
    })
}

/// Forgets everything that a dead domain offered, here and in the name server.
pub fn forget(owner: usize) {
    let name_server = STATE.with(|state| {
        state.services.forget(owner);
        if state.name_server == owner {
            state.name_server = 0;
        }
        state.name_server
    });
    if name_server != 0 {
        invoke(UNBIND, owner, 0, 0, 0, 0);
    }
}

impl State {
    /// Takes one of the name server's own names.
    fn reserve(&mut self, name: [u8; NAMELEN], text: &[u8], service: Service) -> Result<(), Errno> {
        let owner = service.owner as usize;
        if self.domains[owner].description.role != role::NAME_SERVER {
            return Err(Errno::Access);
        }
        let manager = role::PORTAL_MANAGER as usize;
        if let Some(&(called, slot)) = CALLED
            .iter()
            .find(|(called, _)| called.name.as_bytes() == text)
        {
            if service.text.as_bytes() != called.specification.as_bytes() {
                return Err(Errno::Invalid);
            }
            let (objects, empty) = (self.objects(), self.empty());
            if let Some(old) = self.tables.remove(objects, manager, slot, empty) {
                self.retire(old.code);
            }
            let action = Action::Call {
                target: service.owner,
                entry: service.entry,
                constant: service.constant,
            };
            let text = without_trust(&service.text);
            self.put(manager, slot, text.as_bytes(), action)?;
            if slot == LOOKUP {
                self.name_server = owner;
            }
        }
        let index = self.services.add(service)?;
        let places = &mut self.services.reserved;
        let place = places
            .iter()
            .position(|place| place.is_none_or(|(taken, _)| taken == name));
        places[place.ok_or(Errno::TableFull)?] = Some((name, index));
        Ok(())
    }

    /// The first free slots for portals that are given out.
    pub fn free_slots(&self, domain: usize, count: usize) -> Result<usize, Errno> {
        let first = match domain as u32 {
            role::INIT => pebble_abi::slot::init::FIRST_DYNAMIC,
            role::PORTAL_MANAGER => own::OWN + 3,
            _ => FIRST_DYNAMIC,
        };
        debug_assert!(self.domains[domain].life != Life::Free);
        self.tables
            .free_slots(self.domains[domain].table_of, first, count)
    }
}
