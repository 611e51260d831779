//! What servers offer: names, specifications and arguments, apart from who implements them.
//!
//! One module per service. A client opens [`Service::name`] and calls the portal with the arguments that the
//! constant's documentation names; a server registers the name with [`Service::specification`]. [`header`]
//! renders the same for C (`sdk/c/include/pebble/services.h`) and as `docs/reference/services.md`.
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

pub mod clock;
pub mod console;
pub mod header;
pub mod init;
pub mod name_server;
pub mod pager;
pub mod pipe;
pub mod power;

/// One portal that a server offers by name.
#[derive(Clone, Copy, Debug)]
pub struct Service {
    /// Name in C.
    pub c_name: &'static str,
    /// The name to open.
    pub name: &'static str,
    /// How arguments cross (see `docs/reference/portals.md`).
    pub specification: &'static str,
    /// Arguments and answer, for the reference.
    pub meaning: &'static str,
}

/// Every service with a fixed name.
pub const ALL: &[&[Service]] = &[
    console::ALL,
    clock::ALL,
    power::ALL,
    pipe::ALL,
    pager::ALL,
    name_server::ALL,
    init::ALL,
];
