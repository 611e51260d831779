//! Small images in memory.
#![allow(dead_code, reason = "each test file uses a part")]

use pebble_store_format::{node_id, page_id, FrameKind, Node, NodePot, ObjectFrame, RestartEntry};
use pebble_store_image::{Builder, Error, Generation, Layout, Memory, Snapshot, Volume};
use pebble_store_object::{CallCount, Capability, Kind, ObjectId, Rights, Version};

/// First object frame of the only range.
pub const BASE: u64 = 1000;

pub fn layout() -> Layout {
    Layout {
        volume: 0x0123_4567_89ab_cdef_0011_2233_4455_6677,
        boot: 2,
        log: 36,
        journal: 8,
        objects: vec![(BASE, 300)],
        generation: 1,
        time: 1_700_000_000_000_000_000,
    }
}

pub fn frame(number: u64) -> ObjectFrame {
    ObjectFrame(BASE + number)
}

pub fn capability(kind: Kind, object: ObjectId, version: u64) -> Capability {
    Capability {
        kind,
        object,
        version: Version(version),
        ..Capability::VOID
    }
}

/// Two processes that share a page, a space, a capability page, a bank, and an object in the second cluster.
pub fn build(disks: usize) -> Result<Vec<Memory>, Error> {
    let layout = layout();
    let media = vec![Memory::zeros(layout.frames()); disks];
    let mut builder = Builder::new(media, layout)?;
    let page = page_id(frame(1));
    builder.page(frame(1), FrameKind::DataPage, Version(3), &[7; 4096])?;
    builder.page(frame(2), FrameKind::DataPage, Version(0), &[0; 4096])?;
    builder.page(frame(260), FrameKind::DataPage, Version(0), &[9; 4096])?;
    let mut capabilities = [Capability::VOID; 170];
    capabilities[169] = capability(Kind::DataPage, page, 3);
    let contents = pebble_store_format::encode_capability_page(&capabilities);
    builder.page(frame(3), FrameKind::CapabilityPage, Version(0), &contents)?;
    let mut pot = NodePot::empty(Version(0));
    let [space, first, second, bank] = [0, 1, 2, 3].map(|index| node_id(frame(4), index));
    pot.nodes[0].height = 17;
    pot.nodes[0].slots[0] = capability(Kind::DataPage, page, 3);
    pot.nodes[0].slots[1] = capability(Kind::DataPage, page_id(frame(260)), 0);
    let weak = Capability {
        rights: Rights::READ_ONLY.and(Rights::WEAK),
        ..capability(Kind::Node, space, 0)
    };
    pot.nodes[1].slots[0] = weak;
    pot.nodes[1].slots[1] = capability(Kind::Entry, second, 0);
    pot.nodes[1].slots[2] = Capability::number(42);
    pot.nodes[2].slots[0] = capability(Kind::Node, space, 0);
    pot.nodes[2].slots[3] = capability(Kind::CapabilityPage, page_id(frame(3)), 0);
    // Rescinded: the page is at version 3 by now.
    pot.nodes[2].slots[4] = capability(Kind::DataPage, page, 2);
    pot.nodes[3] = Node::empty(Version(0));
    pot.nodes[3].slots[0] = Capability {
        data: 254 * 8,
        ..capability(Kind::Range, ObjectId(BASE * 8), 0)
    };
    builder.nodes(frame(4), &pot)?;
    for (process, priority) in [(first, 5), (second, 6)] {
        builder.start(RestartEntry {
            process,
            version: Version(0),
            call_count: CallCount(0),
            hazard: 0,
            priority,
        });
    }
    assert_eq!(bank.0 % 8, 3);
    builder.finish(&mut |_, _| {})
}

/// The newest generation of a volume.
pub fn newest(volume: &mut Volume<Memory>) -> Result<(Vec<Generation>, Snapshot), Error> {
    let generations = volume.generations()?;
    let snapshot = volume.snapshot(&generations, None, &mut |_, _| {})?;
    Ok((generations, snapshot))
}
