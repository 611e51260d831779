//! What is shown, in the form in which it is written as JSON.

use pebble_store_device::FRAME_SIZE;
use pebble_store_format::{FrameKind, RangeKind};
use pebble_store_image::{Generation, Graph, Media, Place, Snapshot, VertexKind, Volume};
use pebble_store_object::{Kind, Rights};
use serde::Serialize;

/// Everything.
#[derive(Serialize)]
pub struct Facts {
    pub volume: String,
    pub header: u64,
    pub disks: Vec<Disk>,
    pub ranges: Vec<Range>,
    pub generations: Vec<Listed>,
    pub generation: u64,
    pub time: u64,
    pub objects: Vec<Object>,
    pub processes: Vec<Process>,
    pub banks: Vec<Bank>,
    pub holders: Vec<Holder>,
}

#[derive(Serialize)]
pub struct Disk {
    pub number: u8,
    pub frames: u64,
    pub bytes: u64,
    pub header: Option<u64>,
    pub counts: bool,
}

#[derive(Serialize)]
pub struct Range {
    pub number: u16,
    pub kind: &'static str,
    pub frames: u64,
    /// The first object frame.
    pub base: Option<u64>,
    /// On each disk.
    pub first: Vec<Option<u64>>,
}

#[derive(Serialize)]
pub struct Listed {
    pub number: u64,
    pub parent: u64,
    pub time: u64,
    pub objects: u64,
    pub processes: u64,
    pub first_log: u64,
    pub end_log: u64,
    /// It can be started from.
    pub complete: bool,
}

#[derive(Serialize)]
pub struct Object {
    pub frame: u64,
    pub kind: &'static str,
    pub version: u64,
    /// null, log, journal, home or lost.
    pub place: &'static str,
    /// Log number or journal position.
    pub at: Option<u64>,
    /// The generation that it was saved in; none: it has been brought home.
    pub generation: Option<u64>,
    pub checksum: String,
}

#[derive(Serialize)]
pub struct Process {
    pub object: u64,
    pub version: u64,
    pub call_count: u64,
    pub priority: u8,
    pub hazard: u8,
}

#[derive(Serialize)]
pub struct Bank {
    pub object: u64,
    /// First number, and behind the last.
    pub ranges: Vec<(u64, u64)>,
    pub objects: u64,
}

#[derive(Serialize)]
pub struct Holder {
    pub object: u64,
    pub kind: &'static str,
    pub version: u64,
    pub capabilities: Vec<Capability>,
}

#[derive(Serialize)]
pub struct Capability {
    pub slot: usize,
    pub kind: &'static str,
    pub object: u64,
    pub version: u64,
    pub data: u64,
    pub rights: Vec<&'static str>,
    /// It conveys something.
    pub valid: bool,
}

impl Facts {
    pub fn new<M: Media>(
        volume: &Volume<M>,
        generations: &[Generation],
        snapshot: &Snapshot,
        graph: &Graph,
    ) -> Self {
        let disks = volume.disks.iter().map(|disk| {
            let frames = disk
                .superblock
                .ranges
                .iter()
                .map(|range| range.end())
                .max()
                .unwrap_or(2);
            Disk {
                number: disk.number,
                frames,
                bytes: frames * FRAME_SIZE as u64,
                header: disk.newest().map(|header| header.sequence),
                counts: disk.believed,
            }
        });
        let oldest = volume.oldest(generations);
        let listed = generations.iter().map(|generation| Listed {
            number: generation.header.generation,
            parent: generation.header.parent,
            time: generation.header.time,
            objects: generation.header.objects.entries,
            processes: generation.header.restart.entries,
            first_log: generation.header.first_log,
            end_log: generation.header.end_log,
            complete: generation.header.generation >= oldest,
        });
        let identity = volume
            .disks
            .first()
            .map_or(0, |disk| disk.superblock.volume);
        Self {
            volume: format!("{identity:032x}"),
            header: volume.header.sequence,
            disks: disks.collect(),
            ranges: ranges(volume),
            generations: listed.collect(),
            generation: snapshot.generation,
            time: snapshot.time,
            objects: objects(snapshot),
            processes: processes(snapshot),
            banks: banks(graph),
            holders: holders(graph),
        }
    }
}

fn ranges<M: Media>(volume: &Volume<M>) -> Vec<Range> {
    let range = |range: &pebble_store_image::VolumeRange| Range {
        number: range.range.number,
        kind: match range.range.kind {
            RangeKind::BootA => "boot A",
            RangeKind::BootB => "boot B",
            RangeKind::Log => "log",
            RangeKind::Object => "objects",
            RangeKind::Journal => "journal",
        },
        frames: range.range.frames,
        base: (range.range.kind == RangeKind::Object).then_some(range.range.object_base),
        first: range.first.clone(),
    };
    volume.ranges.iter().map(range).collect()
}

fn objects(snapshot: &Snapshot) -> Vec<Object> {
    let object = |object: &pebble_store_image::Object| {
        let (place, at) = match object.place {
            Place::Null => ("null", None),
            Place::Log(number) => ("log", Some(number)),
            Place::Journal(position) => ("journal", Some(position)),
            Place::Home => ("home", None),
            Place::Lost => ("lost", None),
        };
        Object {
            frame: object.frame.0,
            kind: match object.tag.kind {
                FrameKind::Unused => "unused",
                FrameKind::DataPage => "data page",
                FrameKind::CapabilityPage => "capability page",
                FrameKind::Nodes => "nodes",
            },
            version: object.tag.version.0,
            place,
            at,
            generation: (object.generation > 0).then_some(object.generation),
            checksum: format!("{:016x}", object.tag.checksum),
        }
    };
    snapshot.objects.iter().map(object).collect()
}

fn processes(snapshot: &Snapshot) -> Vec<Process> {
    let process = |entry: &pebble_store_format::RestartEntry| Process {
        object: entry.process.0,
        version: entry.version.0,
        call_count: entry.call_count.0,
        priority: entry.priority,
        hazard: entry.hazard,
    };
    snapshot.restart.iter().map(process).collect()
}

fn banks(graph: &Graph) -> Vec<Bank> {
    let bank = |bank: &pebble_store_image::Bank| Bank {
        object: graph.vertices[bank.vertex].id.0,
        ranges: bank.ranges.clone(),
        objects: bank.objects,
    };
    graph.banks.iter().map(bank).collect()
}

/// The word for a vertex.
pub fn vertex_word(kind: VertexKind) -> &'static str {
    match kind {
        VertexKind::DataPage => "data page",
        VertexKind::CapabilityPage => "capability page",
        VertexKind::Node => "node",
        VertexKind::Process => "process",
    }
}

/// The word for a capability.
pub fn kind_word(kind: Kind) -> &'static str {
    match kind {
        Kind::Void => "void",
        Kind::Number => "number",
        Kind::Node => "node",
        Kind::DataPage => "data page",
        Kind::CapabilityPage => "capability page",
        Kind::Process => "process",
        Kind::Entry => "entry",
        Kind::Resume => "resume",
        Kind::Fault => "fault",
        Kind::Indirector => "indirector",
        Kind::Range => "range",
    }
}

/// The words for restrictions.
pub fn rights_words(rights: Rights) -> Vec<&'static str> {
    let words = [
        (Rights::READ_ONLY, "read-only"),
        (Rights::WEAK, "weak"),
        (Rights::OPAQUE, "opaque"),
    ];
    let held = words.into_iter().filter(|(right, _)| rights.has(*right));
    held.map(|(_, word)| word).collect()
}

fn holders(graph: &Graph) -> Vec<Holder> {
    let mut holders: Vec<Holder> = Vec::new();
    for edge in &graph.edges {
        let vertex = &graph.vertices[edge.from];
        if holders.last().map(|holder| holder.object) != Some(vertex.id.0) {
            holders.push(Holder {
                object: vertex.id.0,
                kind: vertex_word(vertex.kind),
                version: vertex.version.0,
                capabilities: Vec::new(),
            });
        }
        if let Some(holder) = holders.last_mut() {
            holder.capabilities.push(Capability {
                slot: edge.slot,
                kind: kind_word(edge.capability.kind),
                object: edge.capability.object.0,
                version: edge.capability.version.0,
                data: edge.capability.data,
                rights: rights_words(edge.capability.rights),
                valid: edge.valid,
            });
        }
    }
    holders
}
