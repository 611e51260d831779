//! Gives everything in a description its number, and turns names into capabilities.

use std::collections::BTreeMap;
use std::ops::Range;

use pebble_store_format::{node_id, page_id, ObjectFrame, NODES_PER_POT, PAGE_CAPABILITIES};
use pebble_store_object::{Capability, Kind, ObjectId, Rights, Version, NODE_SLOTS};
use toml::Spanned;

use super::description::{Description, Slot, Slots, Table};
use crate::system::diagnostic::{Problem, Source};

/// What a name stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Thing {
    Process,
    Node,
    Page,
    CapabilityPage,
}

impl Thing {
    /// What a capability to it is if nothing is said.
    fn usual(self) -> Kind {
        match self {
            Thing::Process => Kind::Process,
            Thing::Node => Kind::Node,
            Thing::Page => Kind::DataPage,
            Thing::CapabilityPage => Kind::CapabilityPage,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Thing::Process => "a process",
            Thing::Node => "a node",
            Thing::Page => "a page",
            Thing::CapabilityPage => "a capability page",
        }
    }
}

/// Words for kinds, and what they fit.
const KINDS: [(&str, Kind, &[Thing]); 6] = [
    ("process", Kind::Process, &[Thing::Process]),
    ("entry", Kind::Entry, &[Thing::Process]),
    ("node", Kind::Node, &[Thing::Node, Thing::Process]),
    ("indirector", Kind::Indirector, &[Thing::Node]),
    ("page", Kind::DataPage, &[Thing::Page]),
    (
        "capability-page",
        Kind::CapabilityPage,
        &[Thing::CapabilityPage],
    ),
];

/// Numbers that are given out one after the other: nodes together, then pages.
pub struct Places {
    next: u64,
    nodes_left: Option<(ObjectFrame, usize)>,
    names: BTreeMap<String, (Thing, ObjectId)>,
    /// Behind the last object of the range.
    end: u64,
}

impl Places {
    /// Gives out frames from `first` on; number 0 is left alone, since it names nothing.
    pub fn new(first: u64, capacity: u64) -> Self {
        Self {
            next: first.max(1),
            nodes_left: None,
            names: BTreeMap::new(),
            end: (first + capacity) * 8,
        }
    }

    /// A new frame.
    pub fn frame(&mut self) -> ObjectFrame {
        self.next += 1;
        ObjectFrame(self.next - 1)
    }

    /// A new node.
    pub fn node(&mut self) -> ObjectId {
        let (frame, index) = match self.nodes_left.take() {
            Some(left) => left,
            None => (self.frame(), 0),
        };
        if index + 1 < NODES_PER_POT {
            self.nodes_left = Some((frame, index + 1));
        }
        node_id(frame, index)
    }

    /// Frames given out that there is no room for.
    pub fn missing(&self) -> u64 {
        (self.next * 8).saturating_sub(self.end) / 8
    }

    /// Names something.
    pub fn name(
        &mut self,
        source: &Source<'_>,
        name: &Spanned<String>,
        thing: Thing,
        id: ObjectId,
    ) -> Result<(), Problem> {
        let known = self.names.insert(name.get_ref().clone(), (thing, id));
        match known {
            None => Ok(()),
            Some(_) => {
                let message = format!("there are two things called `{}`", name.get_ref());
                Err(source
                    .problem(name.span(), message)
                    .hint("give every process, node, page and space a name of its own"))
            }
        }
    }

    /// The number of what has this name.
    pub fn id(&self, name: &Spanned<String>) -> ObjectId {
        self.names
            .get(name.get_ref())
            .map_or(ObjectId(0), |(_, id)| *id)
    }

    /// The capabilities of a node.
    pub fn node_slots(
        &self,
        source: &Source<'_>,
        slots: &Slots,
    ) -> Result<[Capability; NODE_SLOTS], Problem> {
        let mut capabilities = [Capability::VOID; NODE_SLOTS];
        self.fill(source, slots, &mut capabilities)?;
        Ok(capabilities)
    }

    /// The capabilities of a capability page.
    pub fn page_slots(
        &self,
        source: &Source<'_>,
        slots: &Slots,
    ) -> Result<[Capability; PAGE_CAPABILITIES], Problem> {
        let mut capabilities = [Capability::VOID; PAGE_CAPABILITIES];
        self.fill(source, slots, &mut capabilities)?;
        Ok(capabilities)
    }

    fn fill(
        &self,
        source: &Source<'_>,
        slots: &Slots,
        capabilities: &mut [Capability],
    ) -> Result<(), Problem> {
        let count = capabilities.len();
        for (number, slot) in slots {
            let place = number
                .parse()
                .ok()
                .and_then(|number: usize| capabilities.get_mut(number));
            let Some(place) = place else {
                let message = format!("there is no slot `{number}`; slots are 0 to {}", count - 1);
                return Err(source.problem(slot.span(), message));
            };
            *place = self.capability(source, slot)?;
        }
        Ok(())
    }

    fn capability(&self, source: &Source<'_>, slot: &Spanned<Slot>) -> Result<Capability, Problem> {
        let span = slot.span();
        match slot.get_ref() {
            Slot::Name(name) => {
                let (thing, id) = self.find(source, &span, name)?;
                Ok(to(thing.usual(), id))
            }
            Slot::Table(table) => self.table(source, &span, table),
        }
    }

    fn find(
        &self,
        source: &Source<'_>,
        span: &Range<usize>,
        name: &str,
    ) -> Result<(Thing, ObjectId), Problem> {
        self.names.get(name).copied().ok_or_else(|| {
            let message = format!("nothing here is called `{name}`");
            let near = self
                .names
                .keys()
                .find(|known| known.starts_with(name) || name.starts_with(*known));
            let problem = source.problem(span.clone(), message);
            match near {
                Some(near) => problem.hint(format!("`{near}`")),
                None => problem,
            }
        })
    }

    fn table(
        &self,
        source: &Source<'_>,
        span: &Range<usize>,
        table: &Table,
    ) -> Result<Capability, Problem> {
        let problem = |message: String| source.problem(span.clone(), message);
        let given = [
            table.to.is_some(),
            table.number.is_some(),
            table.range.is_some(),
        ];
        if given.iter().filter(|given| **given).count() != 1 {
            return Err(problem(
                "a capability has one of `to`, `number` and `range`".into(),
            ));
        }
        if let Some(number) = table.number {
            return Ok(Capability::number(number));
        }
        let mut capability = if let Some(range) = &table.range {
            if range != "free" {
                let message = format!("there is no range `{range}`");
                return Err(
                    problem(message).hint("`free`: everything behind what is described here")
                );
            }
            let first = self.next * 8;
            Capability {
                data: self.end.saturating_sub(first),
                ..to(Kind::Range, ObjectId(first))
            }
        } else {
            let name = table.to.as_deref().unwrap_or_default();
            let (thing, id) = self.find(source, span, name)?;
            let kind = match &table.kind {
                None => thing.usual(),
                Some(word) => kind_of(word, thing)
                    .map_err(|message| problem(format!("`{name}`: {message}")))?,
            };
            Capability {
                data: table.data.unwrap_or(0),
                ..to(kind, id)
            }
        };
        for right in &table.rights {
            let rights = match right.as_str() {
                "read-only" => Rights::READ_ONLY,
                "weak" => Rights::WEAK,
                "opaque" => Rights::OPAQUE,
                _ => {
                    let message = format!("there is no restriction `{right}`");
                    return Err(problem(message).hint("`read-only`, `weak` or `opaque`"));
                }
            };
            capability.rights = capability.rights.and(rights);
        }
        Ok(capability)
    }
}

fn kind_of(word: &str, thing: Thing) -> Result<Kind, String> {
    let known = KINDS.iter().find(|(name, ..)| *name == word);
    match known {
        Some((_, kind, fits)) if fits.contains(&thing) => Ok(*kind),
        Some(_) => Err(format!("{} is not had as `{word}`", thing.word())),
        None => {
            let words: Vec<&str> = KINDS.iter().map(|(name, ..)| *name).collect();
            Err(format!(
                "there is no kind `{word}`; there are {}",
                words.join(", ")
            ))
        }
    }
}

fn to(kind: Kind, object: ObjectId) -> Capability {
    Capability {
        kind,
        object,
        version: Version(0),
        ..Capability::VOID
    }
}

/// Names everything in the order in which it is given numbers. Spaces are named when they are built.
pub fn name_all(
    source: &Source<'_>,
    description: &Description,
    places: &mut Places,
) -> Result<(), Problem> {
    for process in &description.process {
        let id = places.node();
        places.name(source, &process.name, Thing::Process, id)?;
    }
    for node in &description.node {
        let id = places.node();
        places.name(source, &node.name, Thing::Node, id)?;
    }
    for page in &description.page {
        let id = page_id(places.frame());
        places.name(source, &page.name, Thing::Page, id)?;
    }
    for page in &description.capability_page {
        let id = page_id(places.frame());
        places.name(source, &page.name, Thing::CapabilityPage, id)?;
    }
    Ok(())
}
