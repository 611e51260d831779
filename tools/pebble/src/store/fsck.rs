//! `pebble store fsck`: everything is read; what is wrong is told, and what is certain can be mended.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use pebble_store_device::FRAME_SIZE;
use pebble_store_image::{check, Finding, Media, Mending, Report as Found, Severity};
use serde::Serialize;

use super::file::{names, volume, Image};
use crate::arguments::CheckImage;
use crate::report::Report;

#[derive(Serialize)]
struct Answer<'a> {
    images: &'a [PathBuf],
    clean: bool,
    generation: u64,
    frames: u64,
    objects: u64,
    capabilities: u64,
    not_listed: usize,
    findings: Vec<Said<'a>>,
}

#[derive(Serialize)]
struct Said<'a> {
    severity: &'static str,
    disk: Option<usize>,
    frame: Option<u64>,
    what: &'a str,
    meaning: &'a str,
    mended_because: Option<&'static str>,
    mended: bool,
}

fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Note => "note",
        Severity::Fault => "fault",
        Severity::Loss => "LOSS",
    }
}

/// Checks; the status is 0 only if nothing is wrong, or everything was mended.
pub fn command(report: &Report, options: &CheckImage) -> Result<u8> {
    let mut volume = volume(&options.images, false)?;
    let (found, error) = check(&mut volume, &mut super::progress(report, "checking"));
    report.clear();
    let mended = if options.repair {
        repair(&options.images, &found)?
    } else {
        0
    };
    let mendable = found
        .findings
        .iter()
        .filter(|finding| finding.mending.is_some())
        .count();
    let answer = Answer {
        images: &options.images,
        clean: found.is_clean(),
        generation: volume.header.generation,
        frames: found.frames,
        objects: found.objects,
        capabilities: found.capabilities,
        not_listed: found.dropped,
        findings: found
            .findings
            .iter()
            .map(|finding| said(finding, options.repair))
            .collect(),
    };
    if report.json() {
        println!("{}", serde_json::to_string_pretty(&answer)?);
    } else {
        print(&answer, mendable, mended);
    }
    if let Some(error) = error {
        anyhow::bail!("{}: {error}", names(&options.images));
    }
    let bad = found
        .findings
        .iter()
        .filter(|finding| finding.severity > Severity::Note)
        .count();
    Ok(u8::from(bad + found.dropped > mended))
}

fn said(finding: &Finding, repair: bool) -> Said<'_> {
    Said {
        severity: word(finding.severity),
        disk: finding.place.map(|(disk, _)| disk),
        frame: finding.place.map(|(_, frame)| frame),
        what: &finding.what,
        meaning: finding.meaning,
        mended_because: finding.mending.as_ref().map(|mending| mending.because),
        mended: repair && finding.mending.is_some(),
    }
}

fn print(answer: &Answer<'_>, mendable: usize, mended: usize) {
    for finding in &answer.findings {
        let place = match (finding.disk, finding.frame) {
            (Some(disk), Some(frame)) => format!("disk {disk} frame {frame}"),
            _ => String::new(),
        };
        println!("{:5}  {place:24}  {}", finding.severity, finding.what);
        println!("{:31}  {}", "", finding.meaning);
        if let Some(because) = finding.mended_because {
            let done = if finding.mended {
                "mended"
            } else {
                "can be mended"
            };
            println!("{:31}  {done}: {because}", "");
        }
    }
    if answer.not_listed > 0 {
        println!("and {} more", answer.not_listed);
    }
    println!(
        "generation {}: {} frames, {} objects, {} capabilities checked; {}",
        answer.generation,
        answer.frames,
        answer.objects,
        answer.capabilities,
        match (answer.clean, mendable, mended) {
            (true, ..) => "nothing is wrong".to_string(),
            (false, _, 1..) => format!("{mended} frames mended"),
            (false, 0, _) => "nothing of this can be mended with certainty".to_string(),
            (false, ..) => format!("{mendable} frames can be mended with --repair"),
        }
    );
}

/// Writes what is certain. What was there before goes into a file beside the image first: frame number, 8 bytes, then the
/// frame, one behind the other.
fn repair(images: &[PathBuf], found: &Found) -> Result<usize> {
    let mut mended = 0;
    for (disk, path) in images.iter().enumerate() {
        let mendings = found
            .findings
            .iter()
            .filter_map(|finding| finding.mending.as_ref());
        let mendings: Vec<&Mending> = mendings.filter(|mending| mending.disk == disk).collect();
        if mendings.is_empty() {
            continue;
        }
        let mut image = Image::open(path, true)?;
        keep_old(path, &mut image, &mendings)?;
        for mending in mendings {
            let written = image.write(mending.at, &mending.contents);
            written.ok().with_context(|| {
                format!("{}: frame {} cannot be written", path.display(), mending.at)
            })?;
            mended += 1;
        }
        image.sync().with_context(|| path.display().to_string())?;
    }
    Ok(mended)
}

fn keep_old(path: &Path, image: &mut Image, mendings: &[&Mending]) -> Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(".before-repair");
    let name = PathBuf::from(name);
    let kept = OpenOptions::new().append(true).create(true).open(&name);
    let mut kept = kept.with_context(|| format!("cannot write {}", name.display()))?;
    for mending in mendings {
        let mut old = Box::new([0; FRAME_SIZE]);
        // What cannot be read cannot be kept, and is not lost by being written over.
        if image.read(mending.at, &mut old).is_ok() {
            kept.write_all(&mending.at.to_le_bytes())?;
            kept.write_all(&old[..])?;
        }
    }
    kept.sync_data().with_context(|| name.display().to_string())
}
