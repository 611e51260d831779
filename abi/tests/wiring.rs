//! The portals of core servers: no slot twice, every specification readable, least privilege where it matters most.

use std::collections::BTreeSet;

use pebble_abi::object::role;
use pebble_abi::wiring::{Special, CORE, INIT_STANDARD, SPECIAL};
use pebble_abi::{entry, slot};

fn slots() -> Vec<(u32, usize)> {
    let special = SPECIAL.iter().map(|&(client, slot, _)| (client, slot));
    let calls = CORE.iter().map(|wire| (wire.client, wire.slot));
    let standard = INIT_STANDARD.iter().map(|&slot| (role::INIT, slot));
    special.chain(calls).chain(standard).collect()
}

#[test]
fn no_slot_is_taken_twice() {
    let all = slots();
    let different: BTreeSet<_> = all.iter().collect();
    assert_eq!(different.len(), all.len());
    assert!(all
        .iter()
        .all(|&(_, slot)| slot != slot::PUTC && slot < slot::NPORTALS));
}

#[test]
fn only_the_scheduler_switches_and_only_the_vm_server_flushes() {
    for &(client, _, special) in SPECIAL {
        let owner = match special {
            Special::Switch | Special::SetTimer => role::SCHEDULER,
            Special::FlushDomain | Special::FlushPage => role::VM,
            Special::FlushInstructions | Special::Reset => role::PORTAL_MANAGER,
            Special::Tail(_) => role::DISPATCHER,
            Special::WaitForInterrupt => role::IDLE,
            _ => continue,
        };
        assert_eq!(client, owner, "{special:?}");
    }
}

#[test]
fn servers_without_a_need_to_call_call_nobody() {
    for client in [role::SCHEDULER, role::DISPATCHER, role::IDLE] {
        assert!(CORE.iter().all(|wire| wire.client != client));
    }
    // Domains are made by the loader alone, and filled by it alone.
    let makes = |wire: &&pebble_abi::wiring::Core| {
        wire.server == role::PORTAL_MANAGER && wire.entry == entry::portal_manager::DOMAIN_CREATE
            || wire.server == role::VM && wire.entry == entry::vm::IMAGE_MAP
    };
    assert!(CORE
        .iter()
        .filter(makes)
        .all(|wire| wire.client == role::LOADER));
}
