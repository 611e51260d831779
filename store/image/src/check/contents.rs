//! Objects: contents, capabilities, and the processes to start.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::vec::Vec;

use pebble_store_format::{
    decode_capability_page, index_of, node_id, object_frame, page_id, FrameKind, NODES_PER_POT,
};
use pebble_store_object::{Capability, Kind, ObjectId, Version};

use super::{Report, Severity};
use crate::snapshot::NodesError;
use crate::{Media, Object, Progress, Snapshot, Volume};

/// What is known of a frame without its contents: kind, and the versions of what is in it.
struct Known {
    kind: FrameKind,
    versions: [Version; NODES_PER_POT],
}

/// A capability and who holds it.
type Held = (ObjectId, usize, Capability);

pub fn check<M: Media>(
    volume: &mut Volume<M>,
    snapshot: &Snapshot,
    report: &mut Report,
    progress: Progress<'_>,
) {
    let mut known = BTreeMap::new();
    let mut held: Vec<Held> = Vec::new();
    let whole = snapshot.objects.len() as u64;
    for (done, object) in (0..).zip(&snapshot.objects) {
        progress(done, whole);
        report.objects += 1;
        let mut versions = [object.tag.version; NODES_PER_POT];
        if object.tag.kind == FrameKind::Nodes {
            match volume.nodes(object) {
                Ok(pot) => {
                    versions = core::array::from_fn(|index| pot.nodes[index].version);
                    if pot.version() != object.tag.version {
                        report.say(
                            Severity::Fault,
                            None,
                            format!(
                                "object frame {}: its tag says version {}, its nodes {}",
                                object.frame.0,
                                object.tag.version.0,
                                pot.version().0
                            ),
                            "a number may be used again that old capabilities still name",
                        );
                    }
                    for (index, node) in pot.nodes.iter().enumerate() {
                        hold(&mut held, node_id(object.frame, index), &node.slots);
                    }
                }
                Err(NodesError::Damaged(error)) => damaged(object, &format!("{error}"), report),
                Err(NodesError::Record(error)) => damaged(object, &format!("{error}"), report),
            }
        } else {
            match volume.contents(object) {
                Ok(None) => {}
                Ok(Some(_)) if object.tag.kind != FrameKind::CapabilityPage => {}
                Ok(Some(contents)) => match decode_capability_page(&contents) {
                    Ok(page) => hold(&mut held, page_id(object.frame), &page[..]),
                    Err(error) => damaged(object, &format!("{error}"), report),
                },
                Err(error) => damaged(object, &format!("{error}"), report),
            }
        }
        let kind = object.tag.kind;
        known.insert(object.frame, Known { kind, versions });
    }
    for (frame, version) in &snapshot.freed {
        let (kind, versions) = (FrameKind::Unused, [*version; NODES_PER_POT]);
        known.insert(*frame, Known { kind, versions });
    }
    report.frames += whole;
    for (holder, slot, capability) in held {
        report.capabilities += 1;
        if let Some(trouble) = trouble(volume, &known, &capability) {
            report.say(
                Severity::Fault,
                None,
                format!(
                    "object {} slot {slot}: a {:?} capability to object {} of version {}: {trouble}",
                    holder.0, capability.kind, capability.object.0, capability.version.0
                ),
                "no running system stores such a capability",
            );
        }
    }
    let mut started = BTreeSet::new();
    for entry in &snapshot.restart {
        let capability = Capability {
            kind: Kind::Process,
            object: entry.process,
            version: entry.version,
            ..Capability::VOID
        };
        let twice = !started.insert(entry.process);
        let stale =
            version_of(&known, entry.process).is_some_and(|(_, version)| version != entry.version);
        let trouble = trouble(volume, &known, &capability);
        let stale = stale.then_some("the process has been given back since");
        let twice = twice.then_some("it is listed twice");
        if let Some(trouble) = trouble.or(stale).or(twice) {
            report.say(
                Severity::Fault,
                None,
                format!(
                    "the list of processes to start names object {}: {trouble}",
                    entry.process.0
                ),
                "that process will not be started",
            );
        }
    }
}

fn hold(held: &mut Vec<Held>, holder: ObjectId, capabilities: &[Capability]) {
    for (slot, capability) in capabilities.iter().enumerate() {
        if !matches!(capability.kind, Kind::Void | Kind::Number) {
            held.push((holder, slot, *capability));
        }
    }
}

fn damaged(object: &Object, why: &str, report: &mut Report) {
    report.say(
        Severity::Loss,
        None,
        format!(
            "object frame {} ({:?}, {:?}): {why}",
            object.frame.0, object.tag.kind, object.place
        ),
        "its contents in the newest generation are lost; an older generation may have them",
    );
}

fn version_of(
    known: &BTreeMap<pebble_store_format::ObjectFrame, Known>,
    id: ObjectId,
) -> Option<(FrameKind, Version)> {
    let frame = known.get(&object_frame(id))?;
    let index = index_of(id);
    let places = match frame.kind {
        // What a free frame held is not known any more.
        FrameKind::Nodes | FrameKind::Unused => NODES_PER_POT,
        _ => 1,
    };
    (index < places).then(|| (frame.kind, frame.versions[index]))
}

/// What is impossible about a capability. One that is merely older than its object is what rescinding leaves behind.
fn trouble<M>(
    volume: &Volume<M>,
    known: &BTreeMap<pebble_store_format::ObjectFrame, Known>,
    capability: &Capability,
) -> Option<&'static str>
where
    M: Media,
{
    if capability.kind == Kind::Range {
        let end = capability.object.0.checked_add(capability.data);
        return end
            .is_none()
            .then_some("the range goes beyond the last number");
    }
    let frame = object_frame(capability.object);
    if volume.home(frame).is_none() {
        return Some("no range has that object");
    }
    let Some((kind, version)) = version_of(known, capability.object) else {
        return Some("that object was never allocated");
    };
    if capability.version > version {
        return Some("the object has not reached that version");
    }
    let right = match capability.kind {
        Kind::DataPage => FrameKind::DataPage,
        Kind::CapabilityPage => FrameKind::CapabilityPage,
        _ => FrameKind::Nodes,
    };
    (capability.version == version && kind != right).then_some("the object is of another kind")
}
