//! The name server: hierarchical names and who may offer or open them.
//!
//! It calls nobody: the portal manager asks it during registrations and openings, init gives first rules. Tables are
//! behind one lock, and no call waits while holding it.
#![cfg_attr(target_os = "none", no_std, no_main)]

use name_server::{parse_rule, rules, Names, Pattern, Policy, Rule, Text};
use pebble::abi::object::role;
use pebble::abi::slot::NAMELEN;
use pebble::interfaces::name_server::{self as interface, Right};
use pebble::{code, Entry, Errno, Error, Mutex};

pebble::main!(run);

struct State {
    names: Names,
    policy: Policy,
}

static STATE: Mutex<State> = Mutex::new(State {
    names: Names::new(),
    policy: Policy::new(),
});

fn run() -> Result<(), Error> {
    for (service, entry) in [
        (interface::BIND, bind as *const () as Entry),
        (interface::LOOKUP, lookup as *const () as Entry),
        (interface::UNBIND, unbind as *const () as Entry),
        (interface::ALLOW, allow as *const () as Entry),
        (interface::GRANT, grant as *const () as Entry),
        (interface::DELEGATE, delegate as *const () as Entry),
        (interface::LIST, list as *const () as Entry),
    ] {
        pebble::portal_register(service.name, service.specification, 0, entry)?;
    }
    pebble::serve()
}

/// Core domains were placed by boot code and are trusted with every name: nobody could give them rules.
fn trusted(domain: usize) -> bool {
    (1..role::CORE_END as usize).contains(&domain)
}

fn require(caller: usize, role: u32) -> Result<(), Error> {
    if caller == role as usize {
        Ok(())
    } else {
        Err(Errno::PermissionDenied.into())
    }
}

/// Bytes of a text in a window, up to NUL or the end of the page, copied so that the caller cannot change them.
///
/// # Safety
/// The portal shows the page of `address` for the duration of the call.
unsafe fn window<const MOST: usize>(address: usize, copy: &mut [u8; MOST]) -> Result<usize, Error> {
    let most = MOST.min(4096 - address % 4096);
    for (index, byte) in copy.iter_mut().take(most).enumerate() {
        // SAFETY: within the page, by `most`.
        *byte = unsafe { (address as *const u8).add(index).read_volatile() };
    }
    Ok(most)
}

/// # Safety
/// As for [`window`].
unsafe fn line<const MOST: usize>(address: usize, copy: &mut [u8; MOST]) -> Result<&[u8], Error> {
    // SAFETY: the caller's promise.
    let most = unsafe { window(address, copy) }?;
    let end = copy[..most]
        .iter()
        .position(|&byte| byte == 0)
        .ok_or(Errno::NameTooLong)?;
    Ok(&copy[..end])
}

/// # Safety
/// As for [`window`].
unsafe fn name_at(address: usize) -> Result<Text, Error> {
    let mut copy = [0; NAMELEN];
    // SAFETY: the caller's promise.
    Text::name(unsafe { line(address, &mut copy) }?)
}

/// # Safety
/// The portal shows the page of `name`.
unsafe extern "C" fn bind(caller: usize, name: usize, portal: usize, owner: usize) -> isize {
    // SAFETY: the portal's promise.
    code(
        require(caller, role::PORTAL_MANAGER)
            .and_then(|()| unsafe { name_at(name) })
            .and_then(|name| {
                let mut state = STATE.lock();
                if !trusted(owner) && !state.policy.may(owner, Right::Register, &name) {
                    return Err(Errno::Access.into());
                }
                state.names.bind(name, portal, owner).map(|()| 0)
            }),
    )
}

/// Who may not open a name does not learn whether it exists.
///
/// # Safety
/// The portal shows the page of `name`.
unsafe extern "C" fn lookup(caller: usize, name: usize, client: usize) -> isize {
    // SAFETY: the portal's promise.
    code(
        require(caller, role::PORTAL_MANAGER)
            .and_then(|()| unsafe { name_at(name) })
            .and_then(|name| {
                let state = STATE.lock();
                if !trusted(client) && !state.policy.may(client, Right::Open, &name) {
                    return Err(Errno::Access.into());
                }
                state.names.find(&name)
            }),
    )
}

extern "C" fn unbind(caller: usize, domain: usize) -> isize {
    code(require(caller, role::PORTAL_MANAGER).map(|()| {
        let mut state = STATE.lock();
        state.policy.forget(domain);
        state.names.unbind(domain)
    }))
}

/// The component's name is for messages of later policies; rules go to its domain. All or none: a rule that cannot
/// be taken leaves the domain without any.
///
/// # Safety
/// The portal shows the pages of `component` and `text`.
unsafe extern "C" fn allow(caller: usize, domain: usize, _component: usize, text: usize) -> isize {
    let mut copy = [0; 4096];
    let result = require(caller, role::INIT).and_then(|()| {
        // SAFETY: the portal's promise.
        let most = unsafe { window(text, &mut copy) }?;
        let mut state = STATE.lock();
        for rule in rules(&copy[..most]) {
            if let Err(error) = rule.and_then(|rule| state.policy.allow(domain, rule)) {
                state.policy.forget(domain);
                return Err(error);
            }
        }
        Ok(0)
    });
    code(result)
}

/// # Safety
/// The portal shows the page of `text`.
unsafe extern "C" fn grant(caller: usize, domain: usize, text: usize) -> isize {
    // Room for the word before the pattern.
    let mut copy = [0; NAMELEN + 16];
    // SAFETY: the portal's promise.
    code(
        unsafe { line(text, &mut copy) }
            .and_then(parse_rule)
            .and_then(|rule| give(caller, domain, rule)),
    )
}

/// # Safety
/// The portal shows the page of `text`.
unsafe extern "C" fn delegate(caller: usize, domain: usize, text: usize) -> isize {
    let mut copy = [0; NAMELEN];
    // SAFETY: the portal's promise.
    code(
        unsafe { line(text, &mut copy) }
            .and_then(Pattern::new)
            .and_then(|pattern| {
                give(
                    caller,
                    domain,
                    Rule {
                        right: Right::Decide,
                        pattern,
                    },
                )
            }),
    )
}

/// Shows only what the caller may open, so that policy also decides who learns of a name.
///
/// # Safety
/// The portal shows the page of `buffer`, writable, for the duration of the call.
unsafe extern "C" fn list(caller: usize, index: usize, buffer: usize) -> isize {
    if buffer % 4096 > 4096 - NAMELEN {
        return Errno::Invalid.negated();
    }
    let state = STATE.lock();
    code(state.names.at(index).and_then(|place| {
        let visible = |name: &&(&Text, usize)| {
            trusted(caller) || state.policy.may(caller, Right::Open, name.0)
        };
        let (text, portal) = place.as_ref().filter(visible).ok_or(Errno::NoEntry)?;
        for place in 0..NAMELEN {
            let byte = text.bytes().get(place).copied().unwrap_or(0);
            // SAFETY: within the window's page, by the check above.
            unsafe { (buffer as *mut u8).add(place).write_volatile(byte) };
        }
        Ok(*portal)
    }))
}

fn give(caller: usize, domain: usize, rule: Rule) -> Result<usize, Error> {
    STATE.lock().policy.grant(caller, domain, rule).map(|()| 0)
}
