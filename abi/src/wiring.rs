//! The portals between core domains, which boot code makes before any component runs.
//!
//! Locks, scheduler entries and short circuits are made beside these; every later connection is made by name.

use crate::entry::{dispatcher, loader, portal_manager, vm};
use crate::object::role;
use crate::slot;

/// A portal between two core domains, made by boot code.
#[derive(Clone, Copy, Debug)]
pub struct Core {
    /// The client ([`role`]).
    pub client: u32,
    /// Slot in the client's table.
    pub slot: usize,
    /// The server.
    pub server: u32,
    /// Entry of the server.
    pub entry: usize,
    /// Specification.
    pub specification: &'static str,
}

const fn core(
    client: u32,
    slot: usize,
    server: u32,
    entry: usize,
    specification: &'static str,
) -> Core {
    Core {
        client,
        slot,
        server,
        entry,
        specification,
    }
}

/// All portals between core domains that are calls (locks, scheduler entries and short circuits are made beside).
pub const CORE: &[Core] = &[
    core(
        role::LOADER,
        slot::loader::PORTAL_MANAGER + portal_manager::DOMAIN_KILL,
        role::PORTAL_MANAGER,
        portal_manager::DOMAIN_KILL,
        "nmcidt",
    ),
    core(
        role::INIT,
        slot::init::LOADER + loader::LOAD,
        role::LOADER,
        loader::LOAD,
        "nmci",
    ),
    core(
        role::INIT,
        slot::init::LOADER + loader::START,
        role::LOADER,
        loader::START,
        "nmci",
    ),
    core(
        role::VM,
        slot::vm::TEMPLATE,
        role::PORTAL_MANAGER,
        portal_manager::TEMPLATE,
        "nmcr",
    ),
    core(
        role::VM,
        slot::vm::FAULT_REPORT,
        role::PORTAL_MANAGER,
        portal_manager::FAULT_REPORT,
        "nmciiiii",
    ),
    core(
        role::VM,
        slot::PORTAL_OPEN,
        role::PORTAL_MANAGER,
        portal_manager::PORTAL_OPEN,
        "nmtrd",
    ),
    core(
        role::PORTAL_MANAGER,
        slot::portal_manager::VM + vm::SPACE_CREATE,
        role::VM,
        vm::SPACE_CREATE,
        "nmcii",
    ),
    core(
        role::PORTAL_MANAGER,
        slot::portal_manager::VM + vm::SPACE_CLONE,
        role::VM,
        vm::SPACE_CLONE,
        "nmcii",
    ),
    core(
        role::PORTAL_MANAGER,
        slot::portal_manager::VM + vm::SPACE_DESTROY,
        role::VM,
        vm::SPACE_DESTROY,
        "nmci",
    ),
    core(
        role::PORTAL_MANAGER,
        slot::portal_manager::VM + vm::STACK_PREPARE,
        role::VM,
        vm::STACK_PREPARE,
        "nmciii",
    ),
    core(
        role::PORTAL_MANAGER,
        slot::portal_manager::VM + vm::STACK_SHARE,
        role::VM,
        vm::STACK_SHARE,
        "nmcii",
    ),
    core(
        role::PORTAL_MANAGER,
        slot::portal_manager::VM + vm::MEMORY_INFO,
        role::VM,
        vm::MEMORY_INFO,
        "nmci",
    ),
    core(
        role::PORTAL_MANAGER,
        slot::portal_manager::VM + vm::GIFT_PREPARE,
        role::VM,
        vm::GIFT_PREPARE,
        "nmci",
    ),
    core(
        role::PORTAL_MANAGER,
        slot::portal_manager::DISPATCHER + dispatcher::ATTACH,
        role::DISPATCHER,
        dispatcher::ATTACH,
        "nmcii",
    ),
    core(
        role::INIT,
        slot::init::PORTAL_MANAGER + portal_manager::START,
        role::PORTAL_MANAGER,
        portal_manager::START,
        "nmc",
    ),
    core(
        role::LOADER,
        slot::loader::PORTAL_MANAGER + portal_manager::DOMAIN_CREATE,
        role::PORTAL_MANAGER,
        portal_manager::DOMAIN_CREATE,
        "nmcr",
    ),
    core(
        role::LOADER,
        slot::loader::PORTAL_MANAGER + portal_manager::DOMAIN_START,
        role::PORTAL_MANAGER,
        portal_manager::DOMAIN_START,
        "nmciiii",
    ),
    core(
        role::INIT,
        slot::init::PORTAL_MANAGER + portal_manager::DEATH,
        role::PORTAL_MANAGER,
        portal_manager::DEATH,
        "nmcw",
    ),
    core(
        role::INIT,
        slot::init::VM + vm::START,
        role::VM,
        vm::START,
        "nmc",
    ),
    core(
        role::LOADER,
        slot::loader::VM + vm::IMAGE_MAP,
        role::VM,
        vm::IMAGE_MAP,
        "nmciiiii",
    ),
    core(
        role::LOADER,
        slot::loader::VM + vm::START_INFO,
        role::VM,
        vm::START_INFO,
        "nmcir",
    ),
    core(
        role::LOADER,
        slot::loader::VM + vm::DEVICE_MAP,
        role::VM,
        vm::DEVICE_MAP,
        "nmciii",
    ),
    core(
        role::LOADER,
        slot::loader::VM + vm::IMAGE_END,
        role::VM,
        vm::IMAGE_END,
        "nmcii",
    ),
];
