//! Portals: offering services, opening them, and putting portals into a child.

use pebble_abi::slot;

use crate::error::answer;
use crate::name::Name;
use crate::{invoke_portal, stack, Error};

/// Address of a portal's entry: any `extern "C"` function, `function as Entry`. Its arguments are what the portal's
/// specification makes of the caller's.
pub type Entry = *const ();

/// Offers a service: whoever opens `name` gets a portal to `entry`, as `specification` says. Adds stacks to the
/// domain's queue when it has none.
pub fn portal_register(
    name: &str,
    specification: &str,
    constant: usize,
    entry: Entry,
) -> Result<(), Error> {
    stack::ensure()?;
    let (name, specification) = (Name::new(name)?, Name::new(specification)?);
    answer(invoke_portal(
        slot::PORTAL_REGISTER,
        name.address(),
        specification.address(),
        constant,
        entry as usize,
        0,
    ))
    .map(drop)
}

/// Opens a service by name; answers its (first) slot.
pub fn portal_open(name: &str) -> Result<usize, Error> {
    let name = Name::new(name)?;
    answer(invoke_portal(slot::PORTAL_OPEN, name.address(), 0, 0, 0, 0))
}

/// Takes over a portal that the caller passed as `word` (letter `k`), while its call lasts; answers its slot here.
/// `specification` is what the caller said it is: its argument letters must be the portal's; stack and state letter say
/// how far this domain trusts the portal's callee. Possession is the authority: the name server is not asked.
///
/// # Errors
/// `EPERM`: no slot `word` was passed in the call that this thread serves. `EBADF`: the slot holds nothing that can
/// be passed. `EOWNERDEAD`: the caller died, or the portal's callee. `EINVAL`: other letters.
pub fn portal_accept(word: usize, specification: &str) -> Result<usize, Error> {
    let specification = Name::new(specification)?;
    answer(invoke_portal(
        slot::PORTAL_ACCEPT,
        word,
        specification.address(),
        0,
        0,
        0,
    ))
}

/// Empties a slot.
pub fn portal_close(portal: usize) -> Result<(), Error> {
    answer(invoke_portal(slot::PORTAL_CLOSE, portal, 0, 0, 0, 0)).map(drop)
}

/// Puts a portal to a function of this domain into `slot` of the child domain `asid`.
pub fn portal_create_child(
    asid: usize,
    portal: usize,
    specification: &str,
    constant: usize,
    entry: Entry,
) -> Result<(), Error> {
    let specification = Name::new(specification)?;
    answer(invoke_portal(
        slot::PORTAL_CREATE_CHILD,
        asid,
        portal,
        specification.address(),
        constant,
        entry as usize,
    ))
    .map(drop)
}

/// From now on `function(asid, slot, specification)` runs for every portal that appears in this domain's table,
/// before the call that made it returns. `specification` is NUL-terminated and valid during the call.
pub fn portal_notify(
    function: extern "C" fn(usize, usize, *const u8) -> isize,
) -> Result<(), Error> {
    stack::ensure()?;
    answer(invoke_portal(
        slot::PORTAL_NOTIFY,
        function as usize,
        0,
        0,
        0,
        0,
    ))
    .map(drop)
}
