//! All workloads of a few operations.

use std::rc::Rc;

use pebble_store_object::{CallCount, ObjectId, ObjectKind, PAGE_SIZE};

use crate::object::{Contents, Node, Object, Restart, World};
use crate::subject::Action;
use crate::workload::Step;

/// An operation that a program or the system may do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    /// New contents for the first page.
    WriteFirst,
    /// New contents for the second page.
    WriteSecond,
    /// New contents for the first node.
    WriteNode,
    /// The first page is given back, or taken into use again.
    Free,
    /// The first page goes to the journal.
    Journal,
    /// Another restart list.
    Restart,
    /// A checkpoint begins; the next operation does not wait for it.
    Begin,
    /// A checkpoint begins and ends.
    Checkpoint,
}

impl Operation {
    /// Every operation.
    pub const ALL: [Operation; 8] = [
        Operation::WriteFirst,
        Operation::WriteSecond,
        Operation::WriteNode,
        Operation::Free,
        Operation::Journal,
        Operation::Restart,
        Operation::Begin,
        Operation::Checkpoint,
    ];
}

/// Every sequence of these operations of a length from 1 to `length`.
pub fn sequences(operations: &[Operation], length: u32) -> Vec<Vec<Operation>> {
    let mut all: Vec<Vec<Operation>> = Vec::new();
    let mut last = vec![Vec::new()];
    for _ in 0..length {
        let longer = last.iter().flat_map(|before: &Vec<Operation>| {
            operations.iter().map(|operation| {
                let mut sequence = before.clone();
                sequence.push(*operation);
                sequence
            })
        });
        last = longer.collect();
        all.extend(last.iter().cloned());
    }
    all
}

/// The steps of a sequence on a store with this world, with a checkpoint behind them.
pub fn script(world: &World, operations: &[Operation]) -> Vec<Step> {
    let mut world = world.clone();
    let mut steps = Vec::new();
    for (number, operation) in operations.iter().enumerate() {
        let byte = 1 + number as u8;
        let some = |node: bool, nth: usize| {
            let kinds = world.objects.iter();
            let mut fitting = kinds.filter(|(_, o)| (o.kind == ObjectKind::Node) == node);
            fitting.nth(nth).map(|(id, object)| (*id, object.clone()))
        };
        let changed = match operation {
            Operation::WriteFirst => some(false, 0).map(|page| filled(page, byte)),
            Operation::WriteSecond => some(false, 1).map(|page| filled(page, byte)),
            Operation::WriteNode => some(true, 0).map(|node| counted(node, byte)),
            Operation::Free => some(false, 0).map(|page| match page.1.contents {
                Contents::Nothing => filled(page, byte),
                _ => freed(page),
            }),
            Operation::Journal => {
                let page = some(false, 0).filter(|(_, o)| o.contents != Contents::Nothing);
                steps.extend(page.map(|(id, _)| Step::Act(Action::Journal(vec![id]))));
                None
            }
            Operation::Restart => {
                let entry = |(thread, object): (ObjectId, Object)| Restart {
                    thread,
                    version: object.version,
                    call_count: object.call_count,
                    hazard: byte,
                    priority: byte,
                };
                let list = some(true, 0).map(entry).into_iter().collect();
                steps.push(Step::Restart(list));
                None
            }
            Operation::Begin => {
                steps.push(Step::Checkpoint);
                None
            }
            Operation::Checkpoint => {
                steps.push(Step::Checkpoint);
                steps.push(Step::Settle);
                None
            }
        };
        if let Some((id, object)) = changed {
            world.objects.insert(id, object.clone());
            steps.push(Step::Act(Action::Put(vec![(id, object)])));
        }
    }
    steps.push(Step::Checkpoint);
    steps
}

fn filled((id, mut object): (ObjectId, Object), byte: u8) -> (ObjectId, Object) {
    object.kind = ObjectKind::DataPage;
    object.contents = Contents::Bytes(Rc::new([byte; PAGE_SIZE]));
    (id, object)
}

fn counted((id, mut object): (ObjectId, Object), byte: u8) -> (ObjectId, Object) {
    object.call_count = CallCount(object.call_count.0 + 1);
    if let Contents::Node(node) = &object.contents {
        let mut node = Node::clone(node);
        node.guard += u64::from(byte);
        object.contents = Contents::Node(Rc::new(node));
    }
    (id, object)
}

fn freed((id, mut object): (ObjectId, Object)) -> (ObjectId, Object) {
    object.version.0 += 1;
    object.contents = Contents::Nothing;
    (id, object)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_sequences_are_there_once() {
        let all = sequences(&Operation::ALL, 3);
        assert_eq!(all.len(), 8 + 64 + 512);
        let once = |one: &Vec<Operation>| all.iter().filter(|other| *other == one).count() == 1;
        assert!(all.iter().all(once));
    }
}
