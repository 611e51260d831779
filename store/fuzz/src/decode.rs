//! Arbitrary frames for every decoder; what decodes encodes to the same again.

use pebble_store_device::{Frame, FRAME_SIZE};
use pebble_store_format::{
    decode_capability_page, encode_capability_page, BootRecord, CheckpointHeader, DirectoryFrame,
    GenerationHeader, JournalRecord, NodePot, ObjectFrame, RestartFrame, Superblock, TagPot,
    VolumeKey,
};

use crate::base::{images, LOG, OBJECT_RANGE, VOLUME};
use crate::edit::Input;
use crate::seal::{right_seed, seal};

/// A frame of a good image with changes goes to every decoder.
pub fn decode(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let image = &images(1)[0].0;
    let first = input.byte();
    let at = u64::from(input.byte());
    let start = at as usize * FRAME_SIZE;
    let mut frame: Box<Frame> = Box::new([0; FRAME_SIZE]);
    frame.copy_from_slice(&image[start..start + FRAME_SIZE]);
    let right = right_seed(at, &frame[..]);
    for _ in 0..16 {
        if input.is_empty() {
            break;
        }
        input.change(&mut frame[..]);
    }
    if let (0, Some((extent, seed))) = (first & 1, right) {
        seal(&mut frame[..], extent, seed);
    }
    everything(at, &frame);
}

fn everything(at: u64, frame: &Frame) {
    let key = VolumeKey::of(VOLUME);
    let slot = at.saturating_sub(LOG.0);
    if let Ok(superblock) = Superblock::decode(frame) {
        assert_eq!(Superblock::decode(&superblock.encode()), Ok(superblock));
    }
    if let Ok(header) = CheckpointHeader::decode(key, slot, frame) {
        assert_eq!(
            CheckpointHeader::decode(key, slot, &header.encode(key)),
            Ok(header)
        );
    }
    if let Ok(boot) = BootRecord::decode(key, slot, frame) {
        assert_eq!(BootRecord::decode(key, slot, &boot.encode(key)), Ok(boot));
    }
    for round in 0..4 {
        let log = slot.wrapping_sub(4) % (LOG.1 - 4) + round * (LOG.1 - 4);
        if let Ok((header, sum)) = GenerationHeader::decode(key, log, frame) {
            let (again, _) = header.encode(key, log);
            assert!(
                GenerationHeader::decode(key, log, &again).is_ok_and(|(same, _)| same == header)
            );
            assert_ne!(sum, 0);
        }
        if let Ok((directory, _)) = DirectoryFrame::decode(key, log, frame) {
            let (again, _) = directory.encode(key, log);
            assert!(
                DirectoryFrame::decode(key, log, &again).is_ok_and(|(same, _)| same == directory)
            );
        }
        if let Ok((restart, _)) = RestartFrame::decode(key, log, frame) {
            let (again, _) = restart.encode(key, log);
            assert!(RestartFrame::decode(key, log, &again).is_ok_and(|(same, _)| same == restart));
        }
    }
    let journal = at.saturating_sub(crate::base::JOURNAL.0);
    if let Ok(record) = JournalRecord::decode(key, journal, frame) {
        assert_eq!(
            JournalRecord::decode(key, journal, &record.encode(key, journal)),
            Ok(record)
        );
    }
    if let Ok(pot) = TagPot::decode(key, OBJECT_RANGE, 0, frame) {
        let again = pot.encode(key, OBJECT_RANGE, 0);
        assert!(TagPot::decode(key, OBJECT_RANGE, 0, &again).is_ok_and(|same| same == pot));
    }
    if let Ok(page) = decode_capability_page(frame) {
        assert_eq!(encode_capability_page(&page)[..], frame[..]);
    }
    for place in [3, at] {
        if let Ok(pot) = NodePot::decode(ObjectFrame(place), frame) {
            assert_eq!(pot.encode(ObjectFrame(place))[..], frame[..]);
        }
    }
}
