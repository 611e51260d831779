//! `pebble store mkimage`: a description becomes an image that the store starts from.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{anyhow, Context, Result};
use pebble_store_device::{Frame, FRAME_SIZE};
use pebble_store_format::{
    encode_capability_page, index_of, object_frame, page_id, FrameKind, Node, NodePot, ObjectFrame,
    RestartEntry,
};
use pebble_store_image::{Builder, Layout};
use pebble_store_object::{Capability, Kind, ObjectId, Version, NODE_SLOTS};
use toml::Spanned;

use super::description::{self, Description, Space};
use super::file::{identity, Image, NewImages};
use super::place::{name_all, Places, Thing};
use crate::arguments::MakeImage;
use crate::report::Report;
use crate::system::diagnostic::{Problem, Source};

/// Heights of the nodes of a space, and how many parts each has: 128 KiB, 2 MiB, 64 MiB, 1 GiB.
const HEIGHTS: [(u8, usize); 4] = [(17, 32), (21, 16), (26, 32), (30, 16)];

/// Frames of the smallest log range that the store opens with its usual parameters (`pebble_store::Parameters`).
const LEAST_LOG: u64 = 40;

/// Makes the image.
pub fn command(report: &Report, options: &MakeImage) -> Result<u8> {
    let shown = options.description.display().to_string();
    let text = std::fs::read_to_string(&options.description)
        .with_context(|| format!("cannot read {shown}"))?;
    let source = Source::new(&shown, &text);
    let complain = |problem: Problem| anyhow!("{problem}");
    let description = description::read(&source).map_err(complain)?;
    let layout = layout(&source, &description)?;
    let images = NewImages::create(&options.output, &options.replica, &layout)?;
    let volume = source.problem(description.volume.objects.span(), "[volume]");
    let builder =
        Builder::new(images.media()?, layout).map_err(|error| anyhow!("{volume}: {error}"))?;
    let room = builder.room()[0];
    let mut work = Work {
        source: &source,
        folder: options
            .description
            .parent()
            .unwrap_or(Path::new("."))
            .to_path_buf(),
        places: Places::new(room.0, room.1),
        builder,
        pots: BTreeMap::new(),
    };
    let processes = work.everything(&description)?;
    let missing = work.places.missing();
    if missing > 0 {
        let problem = source.problem(
            description.volume.objects.span(),
            format!("{missing} more frames are described than there is room for"),
        );
        return Err(anyhow!("{}", problem.hint("more `objects`")));
    }
    let pots = std::mem::take(&mut work.pots);
    for (frame, pot) in pots {
        work.builder.nodes(frame, &pot)?;
    }
    for process in processes {
        work.builder.start(process);
    }
    work.builder
        .finish(&mut super::progress(report, "writing"))?;
    images.keep()?;
    Ok(0)
}

fn layout(source: &Source<'_>, description: &Description) -> Result<Layout> {
    let volume = &description.volume;
    let identity = match &volume.identity {
        None => identity()?,
        Some(text) => u128::from_str_radix(text.get_ref(), 16).map_err(|_| {
            let problem = source.problem(text.span(), "an identity is up to 32 hexadecimal digits");
            anyhow!("{problem}")
        })?,
    };
    if *volume.log.get_ref() < LEAST_LOG {
        let message = format!(
            "a log has {LEAST_LOG} frames at least: two small checkpoints, and room to retire them"
        );
        return Err(anyhow!("{}", source.problem(volume.log.span(), message)));
    }
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    Ok(Layout {
        volume: identity,
        boot: volume.boot,
        log: *volume.log.get_ref(),
        journal: volume.journal,
        objects: vec![(volume.first, *volume.objects.get_ref())],
        generation: 1,
        time: volume.time.unwrap_or(u64::try_from(now.as_nanos())?),
    })
}

struct Work<'a> {
    source: &'a Source<'a>,
    folder: PathBuf,
    places: Places,
    builder: Builder<Image>,
    pots: BTreeMap<ObjectFrame, NodePot>,
}

impl Work<'_> {
    /// Builds everything but pots of nodes; gives the processes to start.
    fn everything(&mut self, description: &Description) -> Result<Vec<RestartEntry>> {
        let source = self.source;
        let complain = |problem: Problem| anyhow!("{problem}");
        name_all(source, description, &mut self.places).map_err(complain)?;
        for space in &description.space {
            self.space(space)?;
        }
        for page in &description.page {
            let bytes = match (&page.file, &page.text) {
                (Some(file), Some(_)) => {
                    let problem = source.problem(file.span(), "a page has a file or a text");
                    return Err(complain(problem));
                }
                (Some(file), None) => self.read(file)?,
                (None, Some(text)) => text.get_ref().clone().into_bytes(),
                (None, None) => Vec::new(),
            };
            if bytes.len() > FRAME_SIZE {
                let place = page
                    .file
                    .as_ref()
                    .or(page.text.as_ref())
                    .unwrap_or(&page.name);
                let message = format!(
                    "{} bytes do not fit into a page of {FRAME_SIZE}",
                    bytes.len()
                );
                let problem = source.problem(place.span(), message);
                return Err(complain(
                    problem.hint("a [[space]], which takes as many pages as it needs"),
                ));
            }
            let id = self.places.id(&page.name);
            self.page(id, &bytes)?;
        }
        for page in &description.capability_page {
            let slots = self
                .places
                .page_slots(source, &page.slots)
                .map_err(complain)?;
            let frame = object_frame(self.places.id(&page.name));
            let contents = encode_capability_page(&slots);
            self.builder
                .page(frame, FrameKind::CapabilityPage, Version(0), &contents)?;
        }
        for node in &description.node {
            let id = self.places.id(&node.name);
            let slots = self
                .places
                .node_slots(source, &node.slots)
                .map_err(complain)?;
            let height = node.height.as_ref().map_or(0, |height| *height.get_ref());
            if let Some(written) = node
                .height
                .as_ref()
                .filter(|_| height != 0 && !(12..=64).contains(&height))
            {
                let message = "a height is the logarithm of the bytes spanned: 12 to 64, or 0 for a node that is no address space";
                return Err(complain(source.problem(written.span(), message)));
            }
            self.node(id, height, node.guard, slots);
        }
        let mut processes = Vec::new();
        for process in &description.process {
            let id = self.places.id(&process.name);
            let slots = self
                .places
                .node_slots(source, &process.slots)
                .map_err(complain)?;
            self.node(id, 0, 0, slots);
            if process.start {
                processes.push(RestartEntry {
                    process: id,
                    priority: process.priority,
                    ..RestartEntry::default()
                });
            }
        }
        Ok(processes)
    }

    fn read(&self, file: &Spanned<String>) -> Result<Vec<u8>> {
        let path = self.folder.join(file.get_ref());
        std::fs::read(&path).map_err(|error| {
            let message = format!("cannot read {}: {error}", path.display());
            anyhow!("{}", self.source.problem(file.span(), message))
        })
    }

    fn page(&mut self, id: ObjectId, bytes: &[u8]) -> Result<()> {
        let mut contents: Box<Frame> = Box::new([0; FRAME_SIZE]);
        contents[..bytes.len()].copy_from_slice(bytes);
        let frame = object_frame(id);
        // Out of room is told once, for everything together.
        if self.places.missing() == 0 {
            self.builder
                .page(frame, FrameKind::DataPage, Version(0), &contents)?;
        }
        Ok(())
    }

    fn node(&mut self, id: ObjectId, height: u8, guard: u64, slots: [Capability; NODE_SLOTS]) {
        let pot = self.pots.entry(object_frame(id));
        let pot = pot.or_insert_with(|| NodePot::empty(Version(0)));
        if let Some(node) = pot.nodes.get_mut(index_of(id)) {
            *node = Node {
                height,
                guard,
                slots,
                ..Node::empty(Version(0))
            };
        }
    }

    /// Pages, then nodes over them until there is one on top, which gets the space's name.
    fn space(&mut self, space: &Space) -> Result<()> {
        let source = self.source;
        let bytes = match &space.file {
            Some(file) => self.read(file)?,
            None => Vec::new(),
        };
        let asked = space.pages.as_ref().map_or(0, |pages| *pages.get_ref());
        let needed = bytes.len().div_ceil(FRAME_SIZE) as u64;
        let count = asked.max(needed).max(1);
        let limit = HEIGHTS
            .iter()
            .map(|(_, parts)| *parts as u64)
            .product::<u64>();
        if count > limit {
            let message = format!("a space has at most {limit} pages here");
            return Err(anyhow!("{}", source.problem(space.name.span(), message)));
        }
        if let Some(pages) = space.pages.as_ref().filter(|_| asked < needed) {
            let message = format!("the file needs {needed} pages");
            return Err(anyhow!("{}", source.problem(pages.span(), message)));
        }
        let mut parts = Vec::new();
        for number in 0..count as usize {
            let id = page_id(self.places.frame());
            let rest = bytes.get(number * FRAME_SIZE..).unwrap_or_default();
            self.page(id, &rest[..rest.len().min(FRAME_SIZE)])?;
            parts.push((Kind::DataPage, id));
        }
        for (height, width) in HEIGHTS {
            let mut above = Vec::new();
            for parts in parts.chunks(width) {
                let id = self.places.node();
                let mut slots = [Capability::VOID; NODE_SLOTS];
                for (slot, (kind, object)) in slots.iter_mut().zip(parts) {
                    slot.kind = *kind;
                    slot.object = *object;
                }
                self.node(id, height, 0, slots);
                above.push((Kind::Node, id));
            }
            parts = above;
            if let [(_, top)] = parts[..] {
                let named = self.places.name(source, &space.name, Thing::Node, top);
                return named.map_err(|problem| anyhow!("{problem}"));
            }
        }
        Ok(())
    }
}
