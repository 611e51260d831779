//! Banks, nodes and pages as the capability model has them, as a workload: what comes back must hold together, too.

use std::collections::BTreeMap;
use std::rc::Rc;

use pebble_store_format::{node_id, page_id, ObjectFrame, NODES_PER_POT};
use pebble_store_model::oracle::{check, Layout, Workload};
use pebble_store_model::{named_by, Contents as Modelled, Object as ModelObject};
use pebble_store_object::{CallCount, Capability, ObjectId, ObjectKind, Version, NODE_SLOTS};

use crate::object::{Contents, Node, Object, World};
use crate::subject::Action;
use crate::volume;

/// The frame of the first page, as in [`crate::real::Shape`]. Frame 0 is left alone: the model gives the number 0 to nobody.
const FIRST: u64 = 1;

/// Pages of the model, from frame [`FIRST`] on.
pub fn pages() -> u64 {
    Layout::SMALL.pages
}

/// Pots for the nodes of the model, behind the pages.
pub fn pots() -> u64 {
    Layout::SMALL.nodes.div_ceil(NODES_PER_POT as u64)
}

/// A history of the model, and where it was at each snapshot.
#[derive(Clone, Debug)]
pub struct Graph {
    now: Workload,
    saved: Vec<(u64, Workload)>,
}

impl Graph {
    /// The history of this seed, before its first step.
    pub fn new(seed: u64) -> Result<Self, String> {
        let now = Workload::new(seed, Layout::SMALL).map_err(|why| why.to_string())?;
        let saved = Vec::new();
        Ok(Self { now, saved })
    }

    /// Every object as the store must have it.
    fn objects(&self) -> impl Iterator<Item = (ObjectId, Object)> + '_ {
        let layout = self.now.layout();
        let ids = (0..layout.pages + layout.nodes).map(|place| layout.identity(place));
        ids.map(|id| self.object(id))
    }

    /// All objects with the versions that they have at first, and none of them in use.
    pub fn free_world(&self) -> World {
        let free = |(id, object): (ObjectId, Object)| {
            let node = object.kind == ObjectKind::Node;
            let free = Object {
                kind: if node {
                    ObjectKind::Node
                } else {
                    ObjectKind::DataPage
                },
                // Nodes get theirs as they are put, pages have theirs from the start.
                version: if node { Version(0) } else { object.version },
                call_count: CallCount(0),
                contents: Contents::Nothing,
            };
            (id, free)
        };
        World {
            objects: self.objects().map(free).collect(),
            restart: Vec::new(),
        }
    }

    /// What fills a store that has the objects of [`Self::free_world`], in as many steps as there are objects.
    pub fn put_each(&self) -> Vec<Action> {
        self.objects()
            .map(|object| Action::Put(vec![object]))
            .collect()
    }

    /// Does one operation of the model; the objects that it changed belong together.
    pub fn step(&mut self) -> Action {
        let step = self.now.step();
        let changed = step.changed.iter();
        Action::Put(changed.map(|id| self.object(*id)).collect())
    }

    /// A snapshot was taken of the state `before` a step, or of this one.
    pub fn snapshot(&mut self, generation: u64, before: Option<&Graph>) {
        let now = before.map_or(&self.now, |before| &before.now);
        self.saved.push((generation, now.clone()));
    }

    /// Goes back to the newest snapshot of a generation that looks like this world.
    pub fn go_back(&mut self, generation: u64, world: &World) -> Result<(), String> {
        let fitting = self.saved.iter().rev();
        let mut fitting = fitting.filter(|(number, _)| *number == generation);
        let found = fitting.find(|(_, workload)| {
            let graph = Graph {
                now: workload.clone(),
                saved: Vec::new(),
            };
            let mut all = graph.objects();
            all.all(|(id, object)| world.objects.get(&id) == Some(&object))
        });
        let (_, workload) = found.ok_or("no snapshot of the model looks like this")?;
        self.now = workload.clone();
        Ok(())
    }

    fn object(&self, id: ObjectId) -> (ObjectId, Object) {
        let layout = self.now.layout();
        let kind = if layout.suits(id, ObjectKind::Node) {
            ObjectKind::Node
        } else {
            ObjectKind::DataPage
        };
        let outward = |capability: &Capability| match named_by(capability.kind) {
            Some(_) => Capability {
                object: outward(layout, capability.object),
                ..*capability
            },
            None => *capability,
        };
        let free = ModelObject::default();
        let object = self.now.objects().get(&id).unwrap_or(&free);
        let contents = match &object.contents {
            None => Contents::Nothing,
            Some(Modelled::DataPage(bytes)) => Contents::Bytes(Rc::new(**bytes)),
            Some(Modelled::CapabilityPage(slots)) => {
                let used = slots.iter().rposition(|slot| *slot != Capability::VOID);
                let used = &slots[..used.map_or(0, |last| last + 1)];
                Contents::Slots(used.iter().map(outward).collect())
            }
            Some(Modelled::Node(node)) => Contents::Node(Rc::new(Node {
                height: node.height,
                guard: 0,
                slots: std::array::from_fn(|slot| outward(&node.slots[slot])),
            })),
        };
        let object = Object {
            kind: match contents {
                Contents::Slots(_) => ObjectKind::CapabilityPage,
                _ => kind,
            },
            version: object.version,
            call_count: object.calls,
            contents,
        };
        (self::outward(layout, id), object)
    }
}

/// The store's number of an object of the model.
fn outward(layout: &Layout, id: ObjectId) -> ObjectId {
    let place = layout.place(id).unwrap_or(0);
    if place < layout.pages {
        return page_id(ObjectFrame(FIRST + place));
    }
    let node = place - layout.pages;
    let pot = volume::pot(layout.pages, node / NODES_PER_POT as u64);
    node_id(pot, (node % NODES_PER_POT as u64) as usize)
}

/// Whether a world that came back holds together: the model's invariants.
pub fn holds_together(world: &World) -> Result<(), String> {
    let layout = Layout::SMALL;
    let places = (0..layout.pages + layout.nodes).map(|place| layout.identity(place));
    let inward: BTreeMap<_, _> = places.map(|id| (outward(&layout, id), id)).collect();
    let capability = |capability: &Capability| match named_by(capability.kind) {
        Some(_) => Capability {
            object: inward
                .get(&capability.object)
                .copied()
                .unwrap_or(ObjectId(u64::MAX)),
            ..*capability
        },
        None => *capability,
    };
    let mut objects = BTreeMap::new();
    for (id, object) in &world.objects {
        let Some(id) = inward.get(id) else { continue };
        let contents = match &object.contents {
            Contents::Nothing => None,
            Contents::Bytes(bytes) => Some(Modelled::DataPage(Box::new(**bytes))),
            Contents::Slots(slots) => {
                let slot = |at: usize| slots.get(at).map_or(Capability::VOID, &capability);
                Some(Modelled::CapabilityPage(Box::new(std::array::from_fn(
                    slot,
                ))))
            }
            Contents::Node(node) => {
                let slots: [Capability; NODE_SLOTS] =
                    std::array::from_fn(|slot| capability(&node.slots[slot]));
                let height = node.height;
                Some(Modelled::Node(Box::new(pebble_store_model::Node {
                    height,
                    slots,
                })))
            }
        };
        let (version, calls): (Version, CallCount) = (object.version, object.call_count);
        let object = ModelObject {
            version,
            calls,
            contents,
        };
        objects.insert(*id, object);
    }
    let census = check(&layout, &objects).map_err(|violation| violation.to_string())?;
    if census.banks == 0 {
        return Err("the prime bank is gone".into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_out_comes_in_and_damage_is_seen() {
        let mut graph = Graph::new(3).expect("the layout has room");
        let mut world = graph.free_world();
        world.objects.extend(graph.objects());
        for _ in 0..300 {
            if let Action::Put(changed) = graph.step() {
                world.objects.extend(changed);
            }
            assert_eq!(holds_together(&world), Ok(()));
        }
        assert_eq!(world.objects.len(), 64);
        // The last change alone, lost: counts, owners or versions do not fit then, sooner or later.
        let mut seen = 0;
        for _ in 0..100 {
            if let Action::Put(mut changed) = graph.step() {
                let lost = changed.pop();
                world.objects.extend(changed);
                seen += u32::from(holds_together(&world).is_err());
                world.objects.extend(lost);
            }
        }
        assert!(seen > 20, "{seen}");
    }
}
