//! An image that was built is read back: objects, graph, processes; and as a stream on another volume.

mod common;

use common::{build, frame, layout, newest, BASE};
use pebble_store_format::{node_id, page_id, FrameKind};
use pebble_store_image::{
    check, send, Builder, Error, Fault, Memory, Place, Received, Receiver, StreamProblem,
    VertexKind, Volume,
};
use pebble_store_object::{Kind, Version};

#[test]
fn what_was_built_is_read_back() -> Result<(), Error> {
    let mut volume = Volume::open(build(1)?)?;
    let (generations, snapshot) = newest(&mut volume)?;
    assert_eq!(
        (generations.len(), snapshot.generation, snapshot.time),
        (1, 1, layout().time)
    );
    let found: Vec<_> = snapshot
        .objects
        .iter()
        .map(|object| (object.frame.0 - BASE, object.tag.kind, object.place))
        .collect();
    assert_eq!(
        found,
        [
            (1, FrameKind::DataPage, Place::Home),
            (2, FrameKind::DataPage, Place::Null),
            (3, FrameKind::CapabilityPage, Place::Home),
            (4, FrameKind::Nodes, Place::Home),
            (260, FrameKind::DataPage, Place::Home),
        ]
    );
    assert_eq!(snapshot.objects[0].tag.version, Version(3));
    let contents = volume.contents(&snapshot.objects[0])?;
    assert_eq!(contents.as_deref(), Some(&[7; 4096]));
    assert_eq!(volume.contents(&snapshot.objects[1])?, None);
    let processes: Vec<_> = snapshot
        .restart
        .iter()
        .map(|entry| (entry.process, entry.priority))
        .collect();
    assert_eq!(
        processes,
        [(node_id(frame(4), 1), 5), (node_id(frame(4), 2), 6)]
    );
    let (report, error) = check(&mut volume, &mut |_, _| {});
    assert_eq!(error, None);
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    assert_eq!((report.objects, report.capabilities), (5, 9));
    Ok(())
}

#[test]
fn the_graph_has_processes_banks_and_capabilities() -> Result<(), Error> {
    let mut volume = Volume::open(build(1)?)?;
    let (_, snapshot) = newest(&mut volume)?;
    let graph = volume.graph(&snapshot, &mut |_, _| {})?;
    let kinds: Vec<_> = graph.vertices.iter().map(|vertex| vertex.kind).collect();
    use VertexKind::{CapabilityPage, DataPage, Node, Process};
    assert_eq!(
        kinds,
        [
            DataPage,
            DataPage,
            CapabilityPage,
            Node,
            Process,
            Process,
            Node,
            DataPage
        ]
    );
    assert_eq!(graph.banks.len(), 1);
    let bank = &graph.banks[0];
    assert_eq!(
        (graph.vertices[bank.vertex].id, bank.objects),
        (node_id(frame(4), 3), 7)
    );
    assert_eq!(bank.ranges, [(BASE * 8, (BASE + 254) * 8)]);
    assert_eq!(graph.edges.len(), 8);
    let rescinded: Vec<_> = graph.edges.iter().filter(|edge| !edge.valid).collect();
    assert_eq!(rescinded.len(), 1);
    assert_eq!(
        (rescinded[0].slot, rescinded[0].capability.object),
        (4, page_id(frame(1)))
    );
    assert!(graph
        .edges
        .iter()
        .any(|edge| edge.capability.kind == Kind::Entry));
    let order = graph.from_processes(&snapshot);
    assert_eq!(graph.vertices[order[0]].id, node_id(frame(4), 1));
    assert_eq!(order.len(), graph.vertices.len());
    Ok(())
}

/// The stream of an image's newest generation.
fn stream() -> Result<Vec<u8>, Error> {
    let mut volume = Volume::open(build(1)?)?;
    let (_, snapshot) = newest(&mut volume)?;
    let mut bytes = Vec::new();
    let sent = send(
        &mut volume,
        &snapshot,
        &mut |part| {
            bytes.extend_from_slice(part);
            Ok(())
        },
        &mut |_, _| {},
    );
    assert_eq!(sent, Ok(()));
    Ok(bytes)
}

type Outcome = Result<Vec<Memory>, (u64, u64, StreamProblem)>;

/// Builds a volume of what a stream holds.
fn receive(bytes: &[u8]) -> Outcome {
    let mut rest = bytes;
    let mut source = |buffer: &mut [u8]| {
        // Short reads, as from a pipe.
        let count = buffer.len().min(rest.len()).min(1000);
        buffer[..count].copy_from_slice(&rest[..count]);
        rest = &rest[count..];
        Ok::<usize, Fault>(count)
    };
    let seen =
        |error: pebble_store_image::StreamError| (error.position, error.record, error.problem);
    let (mut receiver, mut layout) = Receiver::begin(&mut source).map_err(seen)?;
    layout.volume = 99;
    let media = vec![Memory::zeros(layout.frames())];
    let mut builder = Builder::new(media, layout).expect("a layout that was sent");
    while let Some(received) = receiver.receive().map_err(seen)? {
        match received {
            Received::Start(entry) => builder.start(entry),
            Received::Object(frame, kind, version, contents) => {
                builder
                    .put(frame, kind, version, contents.as_deref())
                    .expect("inside");
            }
        }
    }
    Ok(builder.finish(&mut |_, _| {}).expect("room"))
}

#[test]
fn a_generation_arrives_on_another_volume() -> Result<(), Error> {
    let media = receive(&stream()?).expect("a whole stream");
    let mut copy = Volume::open(media)?;
    let mut volume = Volume::open(build(1)?)?;
    let ((_, sent), (_, received)) = (newest(&mut volume)?, newest(&mut copy)?);
    assert_eq!(sent.objects, received.objects);
    assert_eq!(
        (sent.generation, sent.time, sent.restart),
        (received.generation, received.time, received.restart)
    );
    for object in &sent.objects {
        assert_eq!(volume.contents(object)?, copy.contents(object)?);
    }
    assert_ne!(
        copy.disks[0].superblock.volume,
        volume.disks[0].superblock.volume
    );
    assert!(check(&mut copy, &mut |_, _| {}).0.is_clean());
    Ok(())
}

#[test]
fn a_torn_damaged_or_doubled_stream_is_refused_with_its_position() -> Result<(), Error> {
    let whole = stream()?;
    for cut in (0..whole.len())
        .step_by(331)
        .chain([1024, 1064, whole.len() - 1])
    {
        let (position, record, problem) = receive(&whole[..cut]).expect_err("torn");
        let StreamProblem::Ends { after } = problem else {
            panic!("cut at {cut}: {problem:?}")
        };
        assert_eq!((position + after, record > 0), (cut as u64, cut >= 1024));
    }
    for at in (0..whole.len()).step_by(97) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x10;
        assert!(receive(&damaged).is_err(), "byte {at} changed");
    }
    let object = 1024..1024 + 40 + 4096;
    let doubled = [&whole[..object.end], &whole[object.start..]].concat();
    assert_eq!(
        receive(&doubled),
        Err((object.end as u64, 2, StreamProblem::Checksum))
    );
    let missing = [&whole[..object.start], &whole[object.end..]].concat();
    assert_eq!(receive(&missing), Err((1024, 1, StreamProblem::Checksum)));
    let longer = [&whole[..], &[0]].concat();
    assert_eq!(
        receive(&longer).map_err(|error| error.2),
        Err(StreamProblem::Behind)
    );
    assert_eq!(
        receive(&[b'x'; 2000]),
        Err((0, 0, StreamProblem::NotAStream))
    );
    Ok(())
}
