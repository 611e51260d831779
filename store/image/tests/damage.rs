//! Damage of every kind: what is said about it, what can be mended, and that mending loses nothing.

mod common;

use common::{build, frame, layout, newest};
use pebble_store_format::{RangeKind, TagPot, VolumeKey};
use pebble_store_image::{check, Error, Finding, Media, Memory, Place, Severity, Volume};

// Frames of the image: superblocks, boot images, log range, journal, objects.
const LOG: u64 = 6;
const OBJECTS: u64 = LOG + 36 + 8;

fn spoil(media: &mut Memory, at: u64, byte: usize) {
    media.0[at as usize * 4096 + byte] ^= 0x5a;
}

fn findings(media: Vec<Memory>) -> Result<Vec<Finding>, Error> {
    let (report, _) = check(&mut Volume::open(media)?, &mut |_, _| {});
    assert_eq!(
        report.worst,
        report.findings.iter().map(|finding| finding.severity).max()
    );
    Ok(report.findings)
}

/// Damages one frame of an image on one disk; gives the finding.
fn one(at: u64, byte: usize) -> Result<Finding, Error> {
    let mut media = build(1)?;
    spoil(&mut media[0], at, byte);
    let mut found = findings(media)?;
    assert_eq!(found.len(), 1, "{found:?}");
    Ok(found.remove(0))
}

#[test]
fn a_copy_of_the_superblock_is_mended_from_the_other() -> Result<(), Error> {
    for at in 0..2 {
        let finding = one(at, 100)?;
        assert_eq!(
            (finding.severity, finding.place),
            (Severity::Fault, Some((0, at)))
        );
        let mending = finding.mending.expect("the other copy is good");
        let whole = build(1)?;
        assert_eq!(
            mending.contents[..],
            whole[0].0[at as usize * 4096..][..4096]
        );
    }
    let mut media = build(1)?;
    for at in 0..2 {
        spoil(&mut media[0], at, 100);
    }
    let error = Volume::open(media).err();
    assert!(
        matches!(
            error,
            Some(Error::NotAVolume {
                disk: 0,
                first: Some(_),
                ..
            })
        ),
        "{error:?}"
    );
    Ok(())
}

#[test]
fn a_foreign_or_short_image_is_refused_with_what_was_found() -> Result<(), Error> {
    let foreign = Volume::open(vec![Memory(b"#!/bin/sh\n".repeat(2000))]).err();
    let said = foreign.map(|error| error.to_string()).unwrap_or_default();
    assert!(
        said.contains("not an image of a store") && said.contains("mark is missing"),
        "{said}"
    );
    let mut short = build(1)?;
    short[0].0.truncate(200 * 4096);
    assert!(matches!(
        Volume::open(short),
        Err(Error::Ranges { disk: 0, .. })
    ));
    assert!(matches!(
        Volume::open(vec![Memory::zeros(1)]),
        Err(Error::NotAVolume { frames: 1, .. })
    ));
    let mut other = build(1)?;
    other.extend(build(1)?);
    assert!(
        matches!(Volume::open(other), Err(Error::ForeignDisk { disk: 1, .. })),
        "the same disk twice"
    );
    assert_eq!(
        Volume::<Memory>::open(Vec::new()).err(),
        Some(Error::NoDisk)
    );
    Ok(())
}

#[test]
fn without_its_only_header_an_image_cannot_be_read() -> Result<(), Error> {
    let mut media = build(1)?;
    spoil(&mut media[0], LOG + 1, 20);
    let error = Volume::open(media).err();
    assert_eq!(
        error,
        Some(Error::NoCheckpoint {
            at: LOG,
            first: None
        })
    );
    Ok(())
}

#[test]
fn a_torn_header_is_left_alone_while_its_twin_is_good() -> Result<(), Error> {
    let finding = one(LOG, 20)?;
    assert_eq!(
        (finding.severity, finding.place),
        (Severity::Fault, Some((0, LOG)))
    );
    assert!(finding.mending.is_none() && finding.what.contains("the other slot has header 1"));
    Ok(())
}

#[test]
fn one_copy_of_a_tag_pot_is_enough() -> Result<(), Error> {
    let finding = one(OBJECTS + 1, 50)?;
    assert_eq!(
        (finding.severity, finding.place),
        (Severity::Note, Some((0, OBJECTS + 1)))
    );
    let mut media = build(1)?;
    for copy in 0..2 {
        spoil(&mut media[0], OBJECTS + copy, 50);
    }
    let found = findings(media)?;
    assert_eq!(
        found.last().map(|finding| finding.severity),
        Some(Severity::Loss)
    );
    Ok(())
}

#[test]
fn lost_records_of_the_log_are_named() -> Result<(), Error> {
    // Log number 1 is the list of processes, 2 the generation header; number n lies in frame 4 + n mod 32.
    for (at, record) in [
        (LOG + 4 + 1, "restart directory"),
        (LOG + 4 + 2, "generation header"),
    ] {
        let mut media = build(1)?;
        spoil(&mut media[0], at, 70);
        let mut volume = Volume::open(media)?;
        let (report, error) = check(&mut volume, &mut |_, _| {});
        let error = error.expect("no generation");
        assert!(
            matches!(&error, Error::Record { at: found, record: name, .. } if *found == at && *name == record),
            "{error:?}"
        );
        assert_eq!(report.worst, Some(Severity::Loss));
    }
    Ok(())
}

#[test]
fn damaged_objects_are_losses_on_one_disk_and_mended_on_two() -> Result<(), Error> {
    // The first frames of an object range are the tag pots.
    let at = OBJECTS + 2 + 1;
    let finding = one(at, 4000)?;
    assert_eq!(finding.severity, Severity::Loss);
    assert!(
        finding
            .what
            .starts_with("object frame 1001 (DataPage, Home)"),
        "{}",
        finding.what
    );
    let mut media = build(2)?;
    spoil(&mut media[1], at, 4000);
    let found = findings(media.clone())?;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(
        (found[0].severity, found[0].place),
        (Severity::Fault, Some((1, at)))
    );
    let mending = found[0].mending.clone().expect("the other disk has it");
    assert_eq!(
        media[mending.disk].write(mending.at, &mending.contents),
        Ok(())
    );
    assert_eq!(media, build(2)?);
    // On both: lost, and nothing is offered.
    for medium in &mut media {
        spoil(medium, at, 4000);
    }
    let found = findings(media)?;
    assert!(
        found.iter().all(|finding| finding.mending.is_none())
            && found[0].severity == Severity::Loss
    );
    Ok(())
}

#[test]
fn every_frame_of_one_disk_of_two_can_be_damaged() -> Result<(), Error> {
    let whole = build(2)?;
    let mut volume = Volume::open(whole.clone())?;
    let (_, snapshot) = newest(&mut volume)?;
    for at in 0..layout().frames() {
        let mut media = whole.clone();
        for byte in (0..4096).step_by(511) {
            spoil(&mut media[1], at, byte);
        }
        let mut volume = Volume::open(media)?;
        let (_, found) = newest(&mut volume)?;
        assert_eq!(found.objects, snapshot.objects, "frame {at}");
        for object in &found.objects {
            volume.contents(object)?;
        }
        let (report, error) = check(&mut volume, &mut |_, _| {});
        assert_eq!(error, None);
        assert!(
            report.worst < Some(Severity::Loss),
            "frame {at}: {:?}",
            report.findings
        );
        // Whatever is offered makes the disk what it was.
        for finding in report.findings {
            if let Some(mending) = finding.mending {
                let right = &whole[mending.disk].0[mending.at as usize * 4096..][..4096];
                assert_eq!(mending.contents[..], *right, "frame {at}");
            }
        }
    }
    Ok(())
}

#[test]
fn one_disk_of_two_is_enough_and_the_other_is_missed() -> Result<(), Error> {
    let mut media = build(2)?;
    let second = media.split_off(1);
    for media in [media, second] {
        let found = findings(media)?;
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].severity, Severity::Note);
    }
    Ok(())
}

#[test]
fn impossible_capabilities_are_found() -> Result<(), Error> {
    use pebble_store_format::{node_id, page_id, FrameKind, NodePot};
    use pebble_store_image::Builder;
    use pebble_store_object::{Capability, Kind, ObjectId, Version};
    let layout = layout();
    let mut builder = Builder::new(vec![Memory::zeros(layout.frames())], layout)?;
    let page = page_id(frame(1));
    builder.page(frame(1), FrameKind::DataPage, Version(3), &[7; 4096])?;
    let mut pot = NodePot::empty(Version(0));
    let impossible = [
        (
            common::capability(Kind::DataPage, page, 4),
            "not reached that version",
        ),
        (common::capability(Kind::Node, page, 3), "of another kind"),
        (
            common::capability(Kind::Node, node_id(frame(9), 0), 0),
            "never allocated",
        ),
        (
            common::capability(Kind::Node, ObjectId(8), 0),
            "no range has that object",
        ),
        (
            Capability {
                data: u64::MAX,
                ..common::capability(Kind::Range, page, 0)
            },
            "beyond the last number",
        ),
    ];
    for (slot, (capability, _)) in impossible.iter().enumerate() {
        pot.nodes[0].slots[slot] = *capability;
    }
    builder.nodes(frame(4), &pot)?;
    builder.start(pebble_store_format::RestartEntry {
        process: node_id(frame(4), 0),
        version: Version(1),
        ..Default::default()
    });
    let found = findings(builder.finish(&mut |_, _| {})?)?;
    let said: Vec<&str> = found.iter().map(|finding| finding.what.as_str()).collect();
    assert_eq!(said.len(), 6, "{said:?}");
    for ((_, wanted), said) in impossible.iter().zip(&said) {
        assert!(said.ends_with(wanted), "{said}");
    }
    assert!(
        said[5].starts_with("the list of processes to start names object"),
        "{}",
        said[5]
    );
    Ok(())
}

/// As the store leaves it when an object was lost in the log on every disk.
#[test]
fn an_object_that_is_marked_as_lost_is_told_as_such() -> Result<(), Error> {
    let mut media = build(1)?;
    let volume = Volume::open(media.clone())?;
    let key = VolumeKey::of(layout().volume);
    let mut ranges = volume.ranges.iter().map(|range| range.range);
    let objects = ranges.find(|range| range.kind == RangeKind::Object);
    let range = objects.expect("objects").number;
    let read = |at: u64| {
        let mut contents = [0; 4096];
        contents.copy_from_slice(&media[0].0[at as usize * 4096..][..4096]);
        TagPot::decode(key, range, 0, &contents)
    };
    let copies = [0, 1].map(|copy| read(OBJECTS + copy));
    let latest = copies.into_iter().flatten().max_by_key(|pot| pot.sequence);
    let mut pot = latest.expect("a tag pot");
    pot.tags[1].lost = true;
    let at = OBJECTS + pot.sequence % 2;
    let marked = pot.encode(key, range, 0);
    media[0].0[at as usize * 4096..][..4096].copy_from_slice(&marked[..]);
    let mut volume = Volume::open(media.clone())?;
    let (_, snapshot) = newest(&mut volume)?;
    let object = snapshot
        .objects
        .iter()
        .find(|object| object.frame == frame(1))
        .expect("the page");
    assert_eq!(object.place, Place::Lost);
    assert_eq!(
        volume.contents(object),
        Err(Error::Lost { frame: frame(1) })
    );
    let found = findings(media)?;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].severity, Severity::Loss);
    assert!(
        found[0].what.contains("lost on every disk"),
        "{}",
        found[0].what
    );
    Ok(())
}
