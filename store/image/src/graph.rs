//! The capability graph of a snapshot: nodes and pages, who names whom, and the banks.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use pebble_store_format::{decode_capability_page, node_id, object_frame, page_id, FrameKind};
use pebble_store_object::{Capability, Kind, ObjectId, Version};

use crate::snapshot::NodesError;
use crate::{Error, Media, Progress, Snapshot, Volume};

/// What a vertex is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum VertexKind {
    /// A page of bytes.
    DataPage,
    /// A page of capabilities.
    CapabilityPage,
    /// A node.
    Node,
    /// A node that is the root of a process: some capability or the restart list says so.
    Process,
}

/// An object of the graph.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Vertex {
    /// Which.
    pub id: ObjectId,
    /// What it is.
    pub kind: VertexKind,
    /// Its version.
    pub version: Version,
}

/// A capability that names an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Edge {
    /// The vertex that holds it, by its place in the list.
    pub from: usize,
    /// The slot that it is in.
    pub slot: usize,
    /// The vertex that it names; none: no object with that number exists.
    pub to: Option<usize>,
    /// It.
    pub capability: Capability,
    /// It conveys something: the object's version is the one that it is good for.
    pub valid: bool,
}

/// A node with the power to make and destroy objects.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bank {
    /// The vertex, by its place in the list.
    pub vertex: usize,
    /// The object numbers of its ranges: first, and behind the last.
    pub ranges: Vec<(u64, u64)>,
    /// Objects in use within them.
    pub objects: u64,
}

/// Who can reach what.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Graph {
    /// Every page, and every node that holds something or is named.
    pub vertices: Vec<Vertex>,
    /// The capabilities, by holder and slot.
    pub edges: Vec<Edge>,
    /// The banks.
    pub banks: Vec<Bank>,
}

/// Capabilities of an object, with their slots.
type Slots = Vec<(usize, Capability)>;

impl<M: Media> Volume<M> {
    /// The graph of a snapshot. Reads every node and capability page.
    pub fn graph(&mut self, snapshot: &Snapshot, progress: Progress<'_>) -> Result<Graph, Error> {
        let mut vertices: BTreeMap<ObjectId, Vertex> = BTreeMap::new();
        let mut held: Vec<(ObjectId, Slots)> = Vec::new();
        let mut bare: BTreeMap<ObjectId, Version> = BTreeMap::new();
        let whole = snapshot.objects.len() as u64;
        for (done, object) in (0..).zip(&snapshot.objects) {
            progress(done, whole);
            let page = |kind| Vertex {
                id: page_id(object.frame),
                kind,
                version: object.tag.version,
            };
            match object.tag.kind {
                FrameKind::Unused => {}
                FrameKind::DataPage => {
                    let vertex = page(VertexKind::DataPage);
                    vertices.insert(vertex.id, vertex);
                }
                FrameKind::CapabilityPage => {
                    let vertex = page(VertexKind::CapabilityPage);
                    vertices.insert(vertex.id, vertex);
                    if let Some(contents) = self.contents(object)? {
                        let page = decode_capability_page(&contents);
                        let page = page.map_err(|error| self.bad_object(object, error))?;
                        held.push((vertex.id, slots(&page[..])));
                    }
                }
                FrameKind::Nodes => {
                    let pot = self.nodes(object).map_err(|error| match error {
                        NodesError::Damaged(error) => error,
                        NodesError::Record(error) => self.bad_object(object, error),
                    })?;
                    for (index, node) in pot.nodes.iter().enumerate() {
                        let id = node_id(object.frame, index);
                        let slots = slots(&node.slots);
                        if slots.is_empty() && node.height == 0 && node.call_count.0 == 0 {
                            bare.insert(id, node.version);
                            continue;
                        }
                        let vertex = Vertex {
                            id,
                            kind: VertexKind::Node,
                            version: node.version,
                        };
                        vertices.insert(id, vertex);
                        held.push((id, slots));
                    }
                }
            }
        }
        Ok(assemble(snapshot, vertices, held, &bare))
    }

    fn bad_object(&self, object: &crate::Object, error: pebble_store_format::DecodeError) -> Error {
        let place = self.contents_at(object);
        Error::Record {
            at: place.map_or(0, |(range, frame)| self.first_at(range, frame)),
            record: "object of its kind",
            error: Some(error),
        }
    }
}

fn slots(capabilities: &[Capability]) -> Slots {
    let all = capabilities.iter().copied().enumerate();
    all.filter(|(_, capability)| capability.kind != Kind::Void)
        .collect()
}

/// Whether the kind names an object by its number.
fn names_object(kind: Kind) -> bool {
    !matches!(kind, Kind::Void | Kind::Number | Kind::Range)
}

fn assemble(
    snapshot: &Snapshot,
    mut vertices: BTreeMap<ObjectId, Vertex>,
    held: Vec<(ObjectId, Slots)>,
    bare: &BTreeMap<ObjectId, Version>,
) -> Graph {
    let mut named: Vec<(ObjectId, bool)> = Vec::new();
    named.extend(snapshot.restart.iter().map(|entry| (entry.process, true)));
    for (_, capability) in held.iter().flat_map(|(_, slots)| slots) {
        if names_object(capability.kind) {
            let process = matches!(
                capability.kind,
                Kind::Process | Kind::Entry | Kind::Resume | Kind::Fault
            );
            named.push((capability.object, process));
        }
    }
    for (id, process) in named {
        let vertex = match (vertices.get_mut(&id), bare.get(&id)) {
            (Some(vertex), _) => vertex,
            (None, Some(version)) => vertices.entry(id).or_insert(Vertex {
                id,
                kind: VertexKind::Node,
                version: *version,
            }),
            (None, None) => continue,
        };
        if process && vertex.kind == VertexKind::Node {
            vertex.kind = VertexKind::Process;
        }
    }
    let vertices: Vec<Vertex> = vertices.into_values().collect();
    let place = |id: ObjectId| vertices.binary_search_by_key(&id, |vertex| vertex.id).ok();
    let mut graph = Graph::default();
    for (holder, slots) in held {
        let Some(from) = place(holder) else {
            continue;
        };
        let mut ranges = Vec::new();
        for (slot, capability) in slots {
            if capability.kind == Kind::Range {
                let first = capability.object.0;
                ranges.push((first, first.saturating_add(capability.data)));
            }
            if names_object(capability.kind) {
                let to = place(capability.object);
                let version = to.map(|to| vertices[to].version);
                graph.edges.push(Edge {
                    from,
                    slot,
                    to,
                    capability,
                    valid: version == Some(capability.version),
                });
            }
        }
        if !ranges.is_empty() {
            let inside = |vertex: &&Vertex| {
                ranges
                    .iter()
                    .any(|(first, end)| (*first..*end).contains(&vertex.id.0))
            };
            let objects = vertices.iter().filter(inside).count() as u64;
            graph.banks.push(Bank {
                vertex: from,
                ranges,
                objects,
            });
        }
    }
    graph.vertices = vertices;
    graph
}

impl Graph {
    /// The vertices in the order in which they are reached from the processes to start, then the rest.
    pub fn from_processes(&self, snapshot: &Snapshot) -> Vec<usize> {
        let mut order = Vec::new();
        let mut seen = alloc::vec![false; self.vertices.len()];
        let mut targets = alloc::vec![Vec::new(); self.vertices.len()];
        for edge in &self.edges {
            targets[edge.from].extend(edge.to);
        }
        let place = |id: ObjectId| {
            self.vertices
                .binary_search_by_key(&id, |vertex| vertex.id)
                .ok()
        };
        let roots = snapshot
            .restart
            .iter()
            .filter_map(|entry| place(entry.process));
        for root in roots.chain(0..self.vertices.len()) {
            if core::mem::replace(&mut seen[root], true) {
                continue;
            }
            let mut next = order.len();
            order.push(root);
            while let Some(vertex) = order.get(next).copied() {
                for to in &targets[vertex] {
                    if !core::mem::replace(&mut seen[*to], true) {
                        order.push(*to);
                    }
                }
                next += 1;
            }
        }
        order
    }

    /// The object frame that a vertex lives in.
    pub fn frame_of(&self, vertex: usize) -> u64 {
        object_frame(self.vertices[vertex].id).0
    }
}
