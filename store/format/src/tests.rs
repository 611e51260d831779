//! Round trips, foreign places, changed bytes and arbitrary contents, for every record.

use alloc::boxed::Box;
use alloc::vec::Vec;

use pebble_store_device::{Frame, FRAME_SIZE};
use pebble_store_object::{CallCount, Capability, Kind, ObjectId, Rights, Version, COUNTER_LIMIT};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::bytes::zero_frame;
use crate::*;

const KEY: VolumeKey = VolumeKey::from_word(7);

fn frame_of(bytes: &[u8]) -> Box<Frame> {
    let mut frame = zero_frame();
    frame[..bytes.len()].copy_from_slice(bytes);
    frame
}

/// Whether a record decodes: the same question for all of them.
type Decoder = fn(VolumeKey, u64, &Frame) -> Result<(), DecodeError>;

const DECODERS: [(&str, usize, Decoder); 8] = [
    ("header", 512, |key, at, frame| {
        CheckpointHeader::decode(key, at, frame).map(drop)
    }),
    ("generation", 512, |key, at, frame| {
        GenerationHeader::decode(key, at, frame).map(drop)
    }),
    ("boot", 512, |key, at, frame| {
        BootRecord::decode(key, at, frame).map(drop)
    }),
    ("directory", FRAME_SIZE, |key, at, frame| {
        DirectoryFrame::decode(key, at, frame).map(drop)
    }),
    ("restart", FRAME_SIZE, |key, at, frame| {
        RestartFrame::decode(key, at, frame).map(drop)
    }),
    ("journal", FRAME_SIZE, |key, at, frame| {
        JournalRecord::decode(key, at, frame).map(drop)
    }),
    ("tags", FRAME_SIZE, |key, at, frame| {
        TagPot::decode(key, 0, at, frame).map(drop)
    }),
    ("superblock", FRAME_SIZE, |_, _, frame| {
        Superblock::decode(frame).map(drop)
    }),
];

fn samples() -> [(u64, Box<Frame>); 8] {
    let header = CheckpointHeader {
        sequence: 9,
        generation: 5,
        next_log: 40,
        oldest_log: 3,
        restart: 2,
        time: 77,
        replica_sequence: 1,
        in_sync: 3,
        bootable_from: 4,
        generations: [39, 12]
            .map(|log| GenerationReference {
                log,
                checksum: log * 3,
            })
            .to_vec(),
    };
    let generation = GenerationHeader {
        generation: 5,
        parent: 3,
        first_log: 30,
        end_log: 41,
        objects: DirectoryExtent {
            first: 36,
            frames: 2,
            entries: 127,
            checksum: 8,
        },
        restart: DirectoryExtent {
            first: 38,
            frames: 1,
            entries: 168,
            checksum: 9,
        },
        journal_sequence: 4,
        journal_position: 6,
        time: 77,
        generator: 1,
    };
    let tag = Tag {
        version: Version(3),
        kind: FrameKind::DataPage,
        null: false,
        lost: false,
        checksum: 11,
    };
    let entry = DirectoryEntry {
        frame: ObjectFrame(21),
        log: 31,
        tag,
    };
    let directory = DirectoryFrame {
        generation: 5,
        index: 1,
        entries: [entry; 3].to_vec(),
    };
    let process = RestartEntry {
        process: ObjectId(8),
        priority: 3,
        ..RestartEntry::default()
    };
    let restart = RestartFrame {
        generation: 5,
        index: 0,
        entries: [process; 2].to_vec(),
    };
    let page = JournalPage {
        frame: ObjectFrame(2),
        version: Version(1),
        checksum: 5,
    };
    let journal = JournalRecord {
        sequence: 3,
        position: 17,
        pages: [page; 2].to_vec(),
        ..JournalRecord::default()
    };
    let mut pot = TagPot::unused();
    pot.tags[200] = tag;
    let range = |kind, number, first, frames| Range {
        kind,
        number,
        first,
        frames,
        object_base: 0,
        replica_sequence: 0,
    };
    let ranges = [
        range(RangeKind::Log, 0, 2, 50),
        range(RangeKind::Object, 1, 52, 512),
    ]
    .to_vec();
    let superblock = Superblock {
        volume: 7,
        disk: 1,
        ranges,
    };
    let boot = BootRecord {
        sequence: 4,
        header: 9,
        generation: 5,
        attempts: 1,
        restart: 3,
        journal_sequence: 0,
    };
    [
        (1, header.encode(KEY)),
        (40, generation.encode(KEY, 40).0),
        (2, boot.encode(KEY)),
        (36, directory.encode(KEY, 36).0),
        (38, restart.encode(KEY, 38).0),
        (3, journal.encode(KEY, 3)),
        (6, pot.encode(KEY, 0, 6)),
        (0, superblock.encode()),
    ]
}

#[test]
fn samples_decode_and_no_other_record_does() {
    for (index, (at, frame)) in samples().iter().enumerate() {
        for (other, (name, _, decode)) in DECODERS.iter().enumerate() {
            assert_eq!(
                decode(KEY, *at, frame).is_ok(),
                index == other,
                "{name} of sample {index}"
            );
        }
    }
}

#[test]
fn another_place_or_volume_is_refused() {
    for ((at, frame), (name, _, decode)) in samples().iter().zip(DECODERS) {
        if name != "superblock" {
            assert!(decode(KEY, at + 1, frame).is_err(), "{name} elsewhere");
            assert!(
                decode(VolumeKey::from_word(8), *at, frame).is_err(),
                "{name} of another volume"
            );
        }
    }
}

#[test]
fn every_changed_byte_is_noticed() {
    for ((at, frame), (name, extent, decode)) in samples().iter().zip(DECODERS) {
        for byte in 0..extent {
            let mut torn = frame.clone();
            torn[byte] ^= 0x10;
            assert!(
                decode(KEY, *at, &torn).is_err(),
                "{name} with byte {byte} changed"
            );
        }
    }
}

#[test]
fn errors_say_where_and_what() {
    let (at, mut frame) = samples().into_iter().nth(1).unwrap();
    frame[20] ^= 1;
    let text = alloc::format!("{}", GenerationHeader::decode(KEY, at, &frame).unwrap_err());
    assert!(
        text.starts_with("generation header: at byte 8, the checksum is 0x"),
        "{text}"
    );
    let text = alloc::format!("{}", Superblock::decode(&frame).unwrap_err());
    assert!(
        text.starts_with("superblock: at byte 0, the record's mark is missing"),
        "{text}"
    );
}

fn capability() -> impl Strategy<Value = Capability> {
    let parts = (
        0..Kind::ALL.len(),
        0..8u8,
        any::<u64>(),
        0..=COUNTER_LIMIT,
        any::<u64>(),
    );
    parts.prop_map(|(kind, rights, object, version, data)| Capability {
        kind: Kind::ALL[kind],
        rights: Rights::from_bits(rights).unwrap(),
        object: ObjectId(object),
        version: Version(version),
        data,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]

    #[test]
    fn nodes_and_capability_pages_round_trip(
        capabilities in vec(capability(), 170),
        version in 0..=COUNTER_LIMIT,
        calls in 0..=COUNTER_LIMIT,
        height in 0..=64u8,
        guard: u64,
        place in 0..1u64 << 60,
    ) {
        let mut pot = NodePot::empty(Version(version));
        for (slot, capability) in capabilities.iter().take(160).enumerate() {
            pot.nodes[slot / 32].slots[slot % 32] = *capability;
        }
        pot.nodes[3].call_count = CallCount(calls);
        pot.nodes[4].height = height;
        pot.nodes[0].guard = guard;
        let frame = pot.encode(ObjectFrame(place));
        prop_assert_eq!(NodePot::decode(ObjectFrame(place), &frame), Ok(pot.clone()));
        prop_assert_eq!(pot.version(), Version(version));
        prop_assert!(NodePot::decode(ObjectFrame(place ^ 1), &frame).is_err());
        let page: CapabilityPage = capabilities.try_into().unwrap();
        prop_assert_eq!(*decode_capability_page(&encode_capability_page(&page)).unwrap(), page);
    }

    #[test]
    fn arbitrary_bytes_are_refused_or_decode_without_panic(bytes in vec(any::<u8>(), FRAME_SIZE), at: u64) {
        let frame = frame_of(&bytes);
        for (name, _, decode) in DECODERS {
            prop_assert!(decode(KEY, at, &frame).is_err(), "{}", name);
        }
        prop_assert!(NodePot::decode(ObjectFrame(at >> 4), &frame).is_err());
        let _ = decode_capability_page(&frame);
    }

    /// The same with the checksum made right: what is left is the judgement of the fields.
    #[test]
    fn sealed_nonsense_does_not_panic(
        which in 0..8usize,
        changes in vec((16..512usize, any::<u8>()), 1..40),
        large in vec((16..FRAME_SIZE, any::<u8>()), 0..40),
    ) {
        let (at, mut frame) = samples().into_iter().nth(which).unwrap();
        for (byte, value) in changes.into_iter().chain(large) {
            frame[byte] = value;
        }
        let seed = if which == 7 { 0 } else { KEY.seed(at) };
        let sum = checksum::of_bytes(seed, &frame[16..DECODERS[which].1]);
        frame[8..16].copy_from_slice(&sum.to_le_bytes());
        // What decodes must encode to what it was decoded from, where the record keeps nothing else.
        let decoded: Option<Vec<u8>> = match which {
            0 => CheckpointHeader::decode(KEY, at, &frame).ok().map(|header| header.encode(KEY)[16..96].to_vec()),
            2 => BootRecord::decode(KEY, at, &frame).ok().map(|boot| boot.encode(KEY)[16..64].to_vec()),
            _ => DECODERS[which].2(KEY, at, &frame).ok().map(|()| frame[16..64].to_vec()),
        };
        if let Some(bytes) = decoded {
            prop_assert_eq!(&bytes[..], &frame[16..16 + bytes.len()]);
        }
    }

    #[test]
    fn directories_round_trip(words in vec((any::<u64>(), 1..u64::MAX, 0..=COUNTER_LIMIT, 0..4u8, any::<u64>()), 1..126)) {
        let entries = words.into_iter().map(|(frame, log, version, kind, sum)| {
            let kind = FrameKind::from_number(kind).unwrap();
            let null = kind == FrameKind::Unused || sum % 5 == 0;
            let tag = Tag { version: Version(version), kind, null, lost: false, checksum: if null { 0 } else { sum } };
            DirectoryEntry { frame: ObjectFrame(frame), log: if null { 0 } else { log }, tag }
        });
        let directory = DirectoryFrame { generation: 3, index: 2, entries: entries.collect() };
        let (frame, sum) = directory.encode(KEY, 99);
        prop_assert_eq!(DirectoryFrame::decode(KEY, 99, &frame), Ok((directory, sum)));
    }
}

/// Only the tag of an object at home says that the object is lost.
#[test]
fn the_mark_of_a_lost_object_belongs_to_tag_pots() {
    let tag = Tag {
        version: Version(3),
        kind: FrameKind::CapabilityPage,
        null: false,
        lost: true,
        checksum: 11,
    };
    let mut pot = TagPot::unused();
    pot.tags[7] = tag;
    let found = TagPot::decode(KEY, 1, 2, &pot.encode(KEY, 1, 2)).map(|pot| pot.tags[7]);
    assert_eq!(found, Ok(tag));
    assert!(!tag.pack().is_null() && tag.pack().is_sound());
    let entry = DirectoryEntry {
        frame: ObjectFrame(21),
        log: 31,
        tag,
    };
    let directory = DirectoryFrame {
        generation: 5,
        index: 0,
        entries: [entry].to_vec(),
    };
    let (frame, _) = directory.encode(KEY, 40);
    let refused = DirectoryFrame::decode(KEY, 40, &frame).map(drop);
    assert!(refused.is_err());
    let reader = DirectoryReader::open(KEY, 40, &frame);
    assert!(reader.is_ok_and(|reader| reader.entries().all(|entry| !entry.is_sound())));
    // Lost, and without contents: one of the two cannot be.
    pot.tags[7] = Tag {
        null: true,
        checksum: 0,
        ..tag
    };
    assert!(TagPot::decode(KEY, 1, 2, &pot.encode(KEY, 1, 2)).is_err());
}
