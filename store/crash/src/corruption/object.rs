//! Changing one object of an image, with every checksum above it made to fit: damage that only sense can find.

use pebble_store_device::Frame;
use pebble_store_format::{
    checksum, decode_capability_page, encode_capability_page, DirectoryEntry, FrameKind, NodePot,
    ObjectFrame,
};
use pebble_store_object::Capability;

use super::volume::Volume;

/// Where an object frame that is in the log is listed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Listed {
    /// Which of the volume's generations, 0 is the newest.
    pub generation: usize,
    /// Which frame of its directory.
    pub frame: usize,
    /// Which entry of that.
    pub entry: usize,
}

/// The entries of all directories, newest generation first.
pub fn entries(volume: &Volume) -> Vec<(Listed, DirectoryEntry)> {
    let mut found = Vec::new();
    for (generation, (_, header)) in volume.generations.iter().enumerate() {
        for (frame, (_, directory)) in volume.directory(header).iter().enumerate() {
            for (entry, listed) in directory.entries.iter().enumerate() {
                let place = Listed {
                    generation,
                    frame,
                    entry,
                };
                found.push((place, *listed));
            }
        }
    }
    found
}

/// The newest entry of an object frame of this kind with contents, and the contents.
pub fn newest(volume: &Volume, kind: FrameKind) -> Option<(Listed, DirectoryEntry, Frame)> {
    let mut seen: Vec<ObjectFrame> = Vec::new();
    for (place, entry) in entries(volume) {
        if entry.tag.kind == kind && !entry.tag.null && !seen.contains(&entry.frame) {
            let at = volume.log_frame(entry.log)?;
            return Some((place, entry, *volume.image.read(at)));
        }
        seen.push(entry.frame);
    }
    None
}

/// Changes an entry, and seals everything above it.
pub fn put_entry(volume: &mut Volume, place: Listed, entry: DirectoryEntry) -> Option<()> {
    let (_, header) = *volume.generations.get(place.generation)?;
    let mut frames = volume.directory(&header);
    *frames
        .get_mut(place.frame)?
        .1
        .entries
        .get_mut(place.entry)? = entry;
    volume.put_directory(place.generation, &frames)
}

/// Changes the contents of an object in the log, and seals everything above them.
pub fn put_contents(
    volume: &mut Volume,
    place: Listed,
    mut entry: DirectoryEntry,
    contents: &Frame,
) -> Option<()> {
    volume.write_log(entry.log, contents)?;
    entry.tag.checksum = checksum::of_object(entry.frame, contents);
    put_entry(volume, place, entry)
}

/// Puts a capability into the first slot of the first node, or of the first capability page, that the log holds.
pub fn put_capability(volume: &mut Volume, capability: Capability) -> Option<()> {
    if let Some((place, entry, contents)) = newest(volume, FrameKind::Nodes) {
        let mut pot = NodePot::decode(entry.frame, &contents).ok()?;
        pot.nodes[0].slots[0] = capability;
        return put_contents(volume, place, entry, &pot.encode(entry.frame));
    }
    let (place, entry, contents) = newest(volume, FrameKind::CapabilityPage)?;
    let mut page = decode_capability_page(&contents).ok()?;
    page[0] = capability;
    put_contents(volume, place, entry, &encode_capability_page(&page))
}
