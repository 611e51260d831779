//! Damage to what objects mean: contents, capabilities, restart entries, tags that do not fit. All checksums fit unless the
//! name says otherwise.

use pebble_store_format::{
    checksum, index_of, node_id, object_frame, page_id, FrameKind, NodePot, ObjectFrame, Tag,
};
use pebble_store_object::{Capability, Kind, ObjectId, Rights, Version};

use super::object::{entries, newest, put_capability, put_contents, put_entry};
use super::{Injector, Volume};

const fn injector(name: &'static str, inject: fn(&mut Volume) -> Option<()>) -> Injector {
    Injector { name, inject }
}

/// The number and version of an object frame of a kind that the log holds.
fn some(volume: &Volume, kind: FrameKind) -> Option<(ObjectFrame, Version)> {
    let (_, entry, _) = newest(volume, kind)?;
    Some((entry.frame, entry.tag.version))
}

fn capability(kind: Kind, object: ObjectId, version: Version) -> Capability {
    Capability {
        kind,
        rights: Rights::FULL,
        object,
        version,
        data: 0,
    }
}

/// A home frame with contents that no generation in the log hides, with its tag and disk frame.
fn at_home(volume: &Volume) -> Option<(ObjectFrame, Tag, u64)> {
    let range = volume.objects()?;
    let (_, pot) = volume.pots(&range, 0).into_iter().next()?;
    let hidden = entries(volume);
    let tags = pot.tags.iter().enumerate();
    let mut open = tags.filter(|(index, tag)| {
        let frame = ObjectFrame(range.object_base + *index as u64);
        !tag.null && !hidden.iter().any(|(_, entry)| entry.frame == frame)
    });
    let (index, tag) = open.next()?;
    let frame = ObjectFrame(range.object_base + index as u64);
    Some((frame, *tag, volume.home(frame)?.2))
}

/// Changes the tag of a home frame in both copies of its pot.
fn put_tag(volume: &mut Volume, frame: ObjectFrame, tag: Tag) -> Option<()> {
    let (range, place, _) = volume.home(frame)?;
    for (at, mut pot) in volume.pots(&range, place.cluster) {
        pot.tags[place.index] = tag;
        let encoded = pot.encode(volume.key(), range.number, place.cluster);
        volume.image.write(at, *encoded);
    }
    Some(())
}

/// Damage to meaning.
pub const INJECTORS: &[Injector] = &[
    injector("page in the log: a byte, its checksum left", |volume| {
        let (_, entry, _) = newest(volume, FrameKind::DataPage)?;
        let at = volume.log_frame(entry.log)?;
        volume.flip(at, 1000);
        Some(())
    }),
    injector("node in the log: a byte, its checksum left", |volume| {
        let (_, entry, _) = newest(volume, FrameKind::Nodes)?;
        let at = volume.log_frame(entry.log)?;
        volume.flip(at, 100);
        Some(())
    }),
    injector("node: the number of another", |volume| {
        let (place, entry, _) = newest(volume, FrameKind::Nodes)?;
        let contents = NodePot::empty(entry.tag.version).encode(ObjectFrame(entry.frame.0 + 1));
        put_contents(volume, place, entry, &contents)
    }),
    injector("node: a version above that of its pot", |volume| {
        let (place, entry, contents) = newest(volume, FrameKind::Nodes)?;
        let mut pot = NodePot::decode(entry.frame, &contents).ok()?;
        pot.nodes[0].version.0 = entry.tag.version.0 + 1;
        put_contents(volume, place, entry, &pot.encode(entry.frame))
    }),
    injector("node: a byte behind the last one", |volume| {
        let (place, entry, mut contents) = newest(volume, FrameKind::Nodes)?;
        contents[4095] = 1;
        put_contents(volume, place, entry, &contents)
    }),
    injector("capability: a kind that there is not", |volume| {
        let (place, entry, mut contents) = newest(volume, FrameKind::Nodes)?;
        contents[32 + 14] = 77;
        put_contents(volume, place, entry, &contents)
    }),
    injector("capability: rights that there are not", |volume| {
        let (place, entry, mut contents) = newest(volume, FrameKind::Nodes)?;
        contents[32 + 15] = 0x80;
        put_contents(volume, place, entry, &contents)
    }),
    injector(
        "capability: a version that its page has not reached",
        |volume| {
            let (frame, version) = some(volume, FrameKind::DataPage)?;
            let later = Version(version.0 + 1);
            put_capability(volume, capability(Kind::DataPage, page_id(frame), later))
        },
    ),
    injector(
        "capability: a version that its node has not reached",
        |volume| {
            let (frame, version) = some(volume, FrameKind::Nodes)?;
            let later = Version(version.0 + 1);
            put_capability(volume, capability(Kind::Node, node_id(frame, 0), later))
        },
    ),
    injector("capability: to a node, where a page is", |volume| {
        let (frame, version) = some(volume, FrameKind::DataPage)?;
        put_capability(volume, capability(Kind::Node, page_id(frame), version))
    }),
    injector("capability: to a page, where nodes are", |volume| {
        let (frame, version) = some(volume, FrameKind::Nodes)?;
        put_capability(volume, capability(Kind::DataPage, page_id(frame), version))
    }),
    injector(
        "capability: to a page of capabilities, where data are",
        |volume| {
            let (frame, version) = some(volume, FrameKind::DataPage)?;
            let wrong = capability(Kind::CapabilityPage, page_id(frame), version);
            put_capability(volume, wrong)
        },
    ),
    injector("capability: to an object outside all ranges", |volume| {
        let nowhere = page_id(ObjectFrame(1 << 50));
        put_capability(volume, capability(Kind::DataPage, nowhere, Version(0)))
    }),
    injector("capability: to a node that no pot has room for", |volume| {
        let (frame, version) = some(volume, FrameKind::Nodes)?;
        let sixth = ObjectId(page_id(frame).0 | 6);
        put_capability(volume, capability(Kind::Node, sixth, version))
    }),
    injector("directory entry: a page said to be nodes", |volume| {
        let (place, mut entry, _) = newest(volume, FrameKind::DataPage)?;
        entry.tag.kind = FrameKind::Nodes;
        put_entry(volume, place, entry)
    }),
    injector(
        "directory entry: nodes said to be a capability page",
        |volume| {
            let (place, mut entry, _) = newest(volume, FrameKind::Nodes)?;
            entry.tag.kind = FrameKind::CapabilityPage;
            put_entry(volume, place, entry)
        },
    ),
    injector(
        "directory entry: a version lower than its nodes'",
        |volume| {
            let (place, mut entry, contents) = newest(volume, FrameKind::Nodes)?;
            let mut pot = NodePot::decode(entry.frame, &contents).ok()?;
            pot.nodes[1].version.0 += 7;
            entry.tag.version = Version(pot.nodes[1].version.0 - 1);
            put_contents(volume, place, entry, &pot.encode(entry.frame))
        },
    ),
    injector("restart entry: a process where a page is", |volume| {
        let (frame, version) = some(volume, FrameKind::DataPage)?;
        restart(volume, page_id(frame), version)
    }),
    injector(
        "restart entry: a version that its process has not reached",
        |volume| {
            let (frame, version) = some(volume, FrameKind::Nodes)?;
            restart(volume, node_id(frame, 0), Version(version.0 + 1))
        },
    ),
    injector("restart entry: outside all ranges", |volume| {
        restart(volume, node_id(ObjectFrame(1 << 50), 1), Version(0))
    }),
    injector("restart entry: a process twice", |volume| {
        let generation = volume.generations.first()?.1;
        let mut frames = volume.restart(&generation);
        let list = &mut frames.first_mut()?.1.entries;
        let first = *list.first()?;
        list.push(first);
        volume.put_restart(0, &frames)
    }),
    injector("home: a byte of a page, its checksum left", |volume| {
        let (_, _, at) = at_home(volume)?;
        volume.flip(at, 2000);
        Some(())
    }),
    injector("home: a tag with another checksum", |volume| {
        let (frame, mut tag, _) = at_home(volume)?;
        tag.checksum ^= 1;
        put_tag(volume, frame, tag)
    }),
    injector("home: a tag of another kind", |volume| {
        let (frame, mut tag, _) = at_home(volume)?;
        tag.kind = match tag.kind {
            FrameKind::Nodes => FrameKind::CapabilityPage,
            _ => FrameKind::Nodes,
        };
        put_tag(volume, frame, tag)
    }),
    injector(
        "home: contents of another frame, with a tag that fits",
        |volume| {
            let (frame, mut tag, at) = at_home(volume)?;
            let mut contents = *volume.image.read(at);
            contents[9] ^= 1;
            // As a migration to the wrong place would do it: the checksum is that of the other frame.
            tag.checksum = checksum::of_object(ObjectFrame(frame.0 + 1), &contents);
            volume.image.write(at, contents);
            put_tag(volume, frame, tag)
        },
    ),
];

/// Makes the first restart entry name this process.
fn restart(volume: &mut Volume, process: ObjectId, version: Version) -> Option<()> {
    let generation = volume.generations.first()?.1;
    let mut frames = volume.restart(&generation);
    let entry = frames.first_mut()?.1.entries.first_mut()?;
    entry.process = process;
    entry.version = version;
    debug_assert!(index_of(process) < 8 && object_frame(process).0 > 0);
    volume.put_restart(0, &frames)
}
