//! What the tests of the model have in common.
#![allow(dead_code, reason = "each test uses a part")]

use pebble_store_model::invoke::{Operation, Reply};
use pebble_store_model::process::Part;
use pebble_store_model::{Error, World};
use pebble_store_object::{Capability, Kind, ObjectId, ObjectKind, Rights};

pub fn node(world: &mut World, id: u64) -> Capability {
    world.create(ObjectId(id), ObjectKind::Node).unwrap()
}

pub fn data_page(world: &mut World, id: u64) -> Capability {
    world.create(ObjectId(id), ObjectKind::DataPage).unwrap()
}

pub fn capability_page(world: &mut World, id: u64) -> Capability {
    world
        .create(ObjectId(id), ObjectKind::CapabilityPage)
        .unwrap()
}

/// A process of three new nodes, available.
pub fn process(world: &mut World, first: u64) -> Capability {
    let nodes = [0, 1, 2].map(|offset| node(world, first + offset));
    world.make_process(nodes[0], nodes[1], nodes[2]).unwrap()
}

/// A process that runs, with these in its capability registers from 8 on.
pub fn running(world: &mut World, first: u64, registers: &[Capability]) -> Capability {
    let process = process(world, first);
    for (number, capability) in registers.iter().enumerate() {
        world
            .invoke(process, Operation::StoreRegister(8 + number, *capability))
            .unwrap();
    }
    world.invoke(process, Operation::Start).unwrap();
    process
}

pub fn entry(process: Capability, data: u64) -> Capability {
    let kind = Kind::Entry;
    Capability {
        kind,
        data,
        ..process
    }
}

pub fn with(capability: Capability, rights: Rights) -> Capability {
    Capability {
        rights,
        ..capability
    }
}

pub fn all_rights() -> impl Iterator<Item = Rights> {
    (0..8).map(|bits| Rights::from_bits(bits).unwrap())
}

/// A capability from an answer.
pub fn capability(reply: Result<Reply, Error>) -> Result<Capability, Error> {
    match reply? {
        Reply::Capability(capability) => Ok(capability),
        other => panic!("{other:?}"),
    }
}

pub fn fetch(world: &mut World, holder: Capability, slot: usize) -> Result<Capability, Error> {
    capability(world.invoke(holder, Operation::Fetch(slot)))
}

pub fn store(world: &mut World, holder: Capability, slot: usize, what: Capability) {
    world.invoke(holder, Operation::Store(slot, what)).unwrap();
}

pub fn register(world: &mut World, process: Capability, number: usize) -> Capability {
    capability(world.invoke(process, Operation::FetchRegister(number))).unwrap()
}

pub fn word(world: &mut World, process: Capability, number: usize) -> u64 {
    match world.invoke(process, Operation::ReadRegister(number)) {
        Ok(Reply::Number(word)) => word,
        other => panic!("{other:?}"),
    }
}

pub fn set_part(world: &mut World, process: Capability, part: Part, what: Capability) {
    world
        .invoke(process, Operation::StorePart(part, what))
        .unwrap();
}

pub fn read(world: &mut World, page: Capability, offset: usize, length: usize) -> Vec<u8> {
    match world.invoke(page, Operation::ReadBytes(offset, length)) {
        Ok(Reply::Bytes(bytes)) => bytes,
        other => panic!("{other:?}"),
    }
}
