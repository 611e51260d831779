//! Portal entries that call others on the way, without the lock: faults, and opening a pager.

use pebble_server::abi::errno::Errno;
use pebble_server::abi::object::{role, OUT_OF_MEMORY};
use pebble_server::abi::slot::{self, NAMELEN};
use pebble_server::invoke;
use virtual_memory::{Fault, Name, Outcome};

use crate::entries::{home, number, serve_component};
use crate::raw::{locked, read_name};

/// `fault(a0 = thread, a1 = domain, a2 = cause, a3 = address, a4 = pc)`: 0 to retry.
pub extern "C" fn fault(thread: u64, asid: usize, cause: usize, address: u64, pc: usize) -> isize {
    let fault = Fault {
        thread: number(thread),
        asid,
        cause,
        address,
    };
    // A fault of this server itself: its thread may hold the lock, so only the report is left.
    let own = asid == role::VM as usize;
    let mut outcome = if own {
        Ok(Outcome::Report)
    } else {
        locked(|server| server.fault(&fault))
    };
    loop {
        match outcome {
            Ok(Outcome::Retry) => return 0,
            Ok(Outcome::Refuse(error)) | Err(error) => return error.negated(),
            Ok(told @ (Outcome::Report | Outcome::OutOfMemory)) => {
                let cause = match told {
                    Outcome::OutOfMemory => cause | OUT_OF_MEMORY as usize,
                    _ => cause,
                };
                let (thread, address) = (fault.thread, address as usize);
                invoke(slot::vm::FAULT_REPORT, thread, asid, cause, address, pc);
                return Errno::Fault.negated();
            }
            Ok(Outcome::Ask(question)) => {
                let answer = invoke(
                    question.portal,
                    question.cookie as usize,
                    question.asid,
                    question.page as usize,
                    question.access as usize,
                    0,
                );
                // Answered once per fault: the next outcome is never a question.
                outcome = locked(|server| server.answered(&fault, &question, answer));
            }
        }
    }
}

/// How a pager is called: on a stack of its own, with nothing of this server's in the registers, with five words. Aligned,
/// so that a window of one page shows all of it.
#[repr(align(64))]
struct AsCalled([u8; NAMELEN]);
static AS_CALLED: AsCalled = {
    let mut text = [0; NAMELEN];
    let letters = b"npciiii";
    let mut index = 0;
    while index < letters.len() {
        text[index] = letters[index];
        index += 1;
    }
    AsCalled(text)
};

/// `vm_pager(a0 = d, a1 = bytes, a2 = window on the name, a3 = cookie, a4 = t)`.
pub extern "C" fn vm_pager(
    invoker: usize,
    bytes: u64,
    window: u64,
    cookie: u64,
    thread: u64,
) -> isize {
    let name = match Name::new(&read_name(window)) {
        Ok(name) => name,
        Err(error) => return error.negated(),
    };
    let map = |opened| {
        let mut is_missing = false;
        let result = serve_component(|server| {
            let made = server.vm_pager(invoker, home(thread), bytes, &name, cookie, opened)?;
            is_missing = made.is_none();
            Ok(made.unwrap_or(0))
        });
        (result, is_missing)
    };
    let (result, is_missing) = map(None);
    if !is_missing {
        return result;
    }
    let path = name.as_bytes().as_ptr() as usize;
    // What the portal would do to the arguments, and how far it would trust the pager, is not the pager's to say.
    let specification = AS_CALLED.0.as_ptr() as usize;
    let portal = invoke(slot::PORTAL_OPEN, path, specification, 0, 0, 0);
    match usize::try_from(portal) {
        Ok(portal) => {
            let (result, _) = map(Some(portal));
            if result == Errno::TableFull.negated() {
                invoke(slot::PORTAL_CLOSE, portal, 0, 0, 0, 0);
            }
            result
        }
        Err(_) => portal,
    }
}
