//! Virtual copies: they read as the original, pay for what they write, and never change it (EROS, section 5.2).

mod support;

use std::collections::{BTreeMap, BTreeSet};

use pebble_store_model::bank::{Banks, Destroy};
use pebble_store_model::copy::{copy, freeze, write_fault, zero_space, COPY_BANK};
use pebble_store_model::invoke::Operation;
use pebble_store_model::process::{Part, Touch};
use pebble_store_model::random::Random;
use pebble_store_model::space::Access;
use pebble_store_model::{Error, World, DIMINISHED};
use pebble_store_object::{Capability, Kind, ObjectId, ObjectKind, Rights};
use support::*;

/// A world with a bank, a manager of copies, and an original of 2 MiB with a page in every fourth place of its first
/// two nodes.
struct Stage {
    world: World,
    banks: Banks,
    bank: Capability,
    manager: Capability,
    original: Capability,
}

fn stage() -> Stage {
    let mut world = World::new();
    let mut banks = Banks::new(
        &mut world,
        (ObjectId(0x1_0000), 4_000),
        (ObjectId(0x2_0000), 4_000),
    )
    .unwrap();
    let prime = banks.prime();
    let bank = banks.make_bank(&mut world, prime, None).unwrap();
    let manager = process(&mut world, 10);
    let original = banks.allocate(&mut world, prime, ObjectKind::Node).unwrap();
    world.invoke(original, Operation::SetHeight(21)).unwrap();
    for leaf in 0..2 {
        let node = banks.allocate(&mut world, prime, ObjectKind::Node).unwrap();
        world.invoke(node, Operation::SetHeight(17)).unwrap();
        store(&mut world, original, leaf, node);
        for slot in (0..32).step_by(4) {
            let page = banks
                .allocate(&mut world, prime, ObjectKind::DataPage)
                .unwrap();
            world
                .invoke(page, Operation::WriteBytes(0, &[leaf as u8, slot as u8, 9]))
                .unwrap();
            store(&mut world, node, slot, page);
        }
    }
    Stage {
        world,
        banks,
        bank,
        manager,
        original,
    }
}

impl Stage {
    fn copy_of(&mut self, original: Capability) -> Capability {
        let manager = entry(self.manager, 0);
        copy(
            &mut self.world,
            &mut self.banks,
            self.bank,
            manager,
            original,
        )
        .unwrap()
    }

    fn charged(&self) -> u64 {
        self.banks.banks()[&self.bank.object].total
    }

    /// What is at an address, as a program that only reads sees it.
    fn see(&mut self, space: Capability, address: u64) -> Option<Vec<u8>> {
        let page = self.world.lookup(space, address).allows(Access::Read)?;
        Some(read(&mut self.world, page, 0, 3))
    }

    /// Writes as a program does: touch, fault, manager, restart, touch again. Gives whether it could, and how often
    /// somebody else had to run.
    fn write(&mut self, program: Capability, address: u64, bytes: &[u8]) -> Result<u32, Error> {
        let mut switches = 0;
        loop {
            match self.world.touch(program, address, Access::Write)? {
                Touch::Page(page) => {
                    self.world.invoke(page, Operation::WriteBytes(0, bytes))?;
                    return Ok(switches);
                }
                Touch::Fault(delivery) => {
                    assert_eq!(delivery.to, self.manager.object);
                    assert!(switches < 2, "the manager has repaired it");
                    switches += 2;
                    let node = register(&mut self.world, self.manager, 0);
                    let fault = register(&mut self.world, self.manager, 3);
                    let repaired = write_fault(&mut self.world, &mut self.banks, node, address);
                    self.world.invoke(fault, Operation::Restart)?;
                    self.world.listen(self.manager)?;
                    repaired?;
                }
            }
        }
    }
}

fn addresses() -> Vec<u64> {
    (0..1 << 18).step_by(4096).collect()
}

#[test]
fn a_copy_is_one_node_and_reads_as_the_original() {
    let mut stage = stage();
    let before = stage.charged();
    let copied = stage.copy_of(stage.original);
    assert_eq!(stage.charged(), before + 1);
    let mut pages = 0;
    for address in addresses() {
        let original = stage.original;
        let seen = stage.see(original, address);
        pages += u64::from(seen.is_some());
        assert_eq!(stage.see(copied, address), seen);
        assert_eq!(
            stage.world.lookup(copied, address).allows(Access::Write),
            None
        );
    }
    assert_eq!(pages, 16);
    // What is written to the original is seen, as long as the page was not copied.
    let page = stage.world.lookup(stage.original, 0x4000).page.unwrap();
    stage
        .world
        .invoke(page, Operation::WriteBytes(0, b"new"))
        .unwrap();
    assert_eq!(stage.see(copied, 0x4000).unwrap(), b"new");
}

/// The client cannot look into its copy, and the manager holds the original weakly.
#[test]
fn nobody_gets_the_original_by_way_of_its_copy() {
    let mut stage = stage();
    let copied = stage.copy_of(stage.original);
    for slot in 0..32 {
        let refused = fetch(&mut stage.world, copied, slot);
        assert_eq!(refused, Err(Error::Restricted(Rights::OPAQUE)));
    }
    for operation in [
        Operation::Clear,
        Operation::MakeProcess,
        Operation::Store(0, Capability::VOID),
    ] {
        assert!(stage.world.invoke(copied, operation).is_err());
    }
    let managers = with(copied, Rights::FULL);
    let held = fetch(&mut stage.world, managers, 0).unwrap();
    assert_eq!(held, with(stage.original, DIMINISHED));
}

#[test]
fn what_is_charged_is_what_was_written() {
    let mut stage = stage();
    let copied = stage.copy_of(stage.original);
    let program = running(&mut stage.world, 20, &[]);
    set_part(&mut stage.world, program, Part::Space, copied);
    let base = stage.charged();
    // The first page takes the page, the leaf above it, and the node above that.
    assert_eq!(stage.write(program, 0x4000, b"one"), Ok(2));
    assert_eq!(stage.charged(), base + 3);
    // The next in the same leaf is one page more; writing again costs nothing and calls nobody.
    assert_eq!(stage.write(program, 0x8000, b"two"), Ok(2));
    assert_eq!(stage.charged(), base + 4);
    assert_eq!(stage.write(program, 0x8000, b"two"), Ok(0));
    assert_eq!(stage.charged(), base + 4);
    // In another leaf: a page and a node.
    assert_eq!(stage.write(program, (1 << 17) + 0x4000, b"tre"), Ok(2));
    assert_eq!(stage.charged(), base + 6);
    // Nothing is where the original has nothing.
    assert_eq!(
        stage.write(program, 0x1000, b"no!"),
        Err(Error::OutOfRange(0x1000))
    );
    assert_eq!(stage.charged(), base + 6);
}

#[test]
fn a_bank_without_room_stops_the_copy_and_nothing_else() {
    for limit in 0..6u64 {
        let mut stage = stage();
        let copied = stage.copy_of(stage.original);
        let program = running(&mut stage.world, 20, &[]);
        set_part(&mut stage.world, program, Part::Space, copied);
        let total = stage.charged();
        stage
            .banks
            .set_limit(&stage.world, stage.bank, Some(total + limit))
            .unwrap();
        let written = stage.write(program, 0x4000, b"one");
        match limit {
            0..=2 => assert_eq!(written, Err(Error::Limit(stage.bank.object))),
            _ => assert_eq!(written, Ok(2)),
        }
        assert_eq!(stage.see(stage.original, 0x4000), Some(vec![0, 4, 9]));
        // With room, the same write goes through, and pays for the rest only.
        stage
            .banks
            .set_limit(&stage.world, stage.bank, None)
            .unwrap();
        stage.write(program, 0x4000, b"one").unwrap();
        assert_eq!(stage.charged(), total + 3);
        assert_eq!(stage.see(copied, 0x4000).unwrap(), b"one");
    }
}

/// Copies of copies of an original, written to at random, against a map for each.
#[test]
fn copies_are_apart_from_each_other_and_the_original() {
    for seed in 0..20 {
        let mut random = Random::new(seed);
        let mut stage = stage();
        let original = stage.original;
        let pages: Vec<u64> = addresses()
            .into_iter()
            .filter(|address| stage.see(original, *address).is_some())
            .collect();
        let first: BTreeMap<u64, Vec<u8>> = pages
            .iter()
            .map(|address| (*address, stage.see(original, *address).unwrap()))
            .collect();
        let mut copies = Vec::new();
        for number in 0..10 {
            let space = stage.copy_of(original);
            let program = running(&mut stage.world, 100 + 3 * number, &[]);
            set_part(&mut stage.world, program, Part::Space, space);
            copies.push((space, program, first.clone(), BTreeSet::new()));
        }
        let base = stage.charged();
        for step in 0..200u32 {
            let number = random.below(copies.len());
            let address = *random.pick(&pages).unwrap();
            let bytes = step.to_le_bytes();
            let (_, program, seen, written) = &mut copies[number];
            stage.write(*program, address, &bytes[..3]).unwrap();
            seen.insert(address, bytes[..3].to_vec());
            written.insert(address);
        }
        let mut expected = 0;
        for (space, _, seen, written) in &copies {
            for (address, bytes) in seen {
                assert_eq!(
                    stage.see(*space, *address).as_ref(),
                    Some(bytes),
                    "seed {seed} {address:#x}"
                );
            }
            let leaves: BTreeSet<u64> = written.iter().map(|address| address >> 17).collect();
            expected += written.len() + leaves.len() + usize::from(!written.is_empty());
        }
        for (address, bytes) in &first {
            assert_eq!(
                stage.see(original, *address).as_ref(),
                Some(bytes),
                "seed {seed}: the original"
            );
        }
        assert_eq!(stage.charged() - base, expected as u64, "seed {seed}");
    }
}

#[test]
fn a_frozen_space_is_a_picture_of_which_copies_are_made() {
    let mut stage = stage();
    let space = stage.copy_of(stage.original);
    let program = running(&mut stage.world, 20, &[]);
    set_part(&mut stage.world, program, Part::Space, space);
    stage.write(program, 0x4000, b"one").unwrap();
    let picture = freeze(&mut stage.world, with(space, Rights::FULL)).unwrap();
    assert_eq!(
        freeze(&mut stage.world, space),
        Err(Error::Restricted(Rights::OPAQUE))
    );
    assert!(picture.rights.has(DIMINISHED));
    // Whoever had the space can read and not write, and nobody is called.
    assert_eq!(
        stage.world.lookup(space, 0x4000).allows(Access::Write),
        None
    );
    assert_eq!(stage.world.lookup(space, 0x8000).keeper, None);
    assert_eq!(stage.see(space, 0x4000).unwrap(), b"one");
    assert_eq!(
        stage.world.touch(program, 0x4000, Access::Write),
        Err(Error::Void)
    );

    let mut copies = Vec::new();
    for number in 0..100u64 {
        let copied = stage.copy_of(picture);
        let program = running(&mut stage.world, 1_000 + 3 * number, &[]);
        set_part(&mut stage.world, program, Part::Space, copied);
        stage.write(program, 0x4000, &[number as u8; 3]).unwrap();
        copies.push(copied);
    }
    for (number, copied) in copies.iter().enumerate() {
        assert_eq!(stage.see(*copied, 0x4000).unwrap(), [number as u8; 3]);
        assert_eq!(stage.see(*copied, 0x8000), Some(vec![0, 8, 9]));
    }
    assert_eq!(stage.see(picture, 0x4000).unwrap(), b"one");
}

#[test]
fn a_heap_grows_out_of_zeros() {
    let mut stage = stage();
    let prime = stage.banks.prime();
    let zeros = zero_space(&mut stage.world, &mut stage.banks, prime, 30).unwrap();
    let heap = stage.copy_of(zeros);
    let program = running(&mut stage.world, 20, &[]);
    set_part(&mut stage.world, program, Part::Space, heap);
    let mut random = Random::new(4);
    let mut written = BTreeSet::new();
    let base = stage.charged();
    for _ in 0..300 {
        let address = (random.word() % (1 << 30)) & !4095;
        assert_eq!(stage.see(heap, address), Some(vec![0; 3]));
        if written.insert(address) {
            stage.write(program, address, b"abc").unwrap();
        }
        assert_eq!(stage.see(heap, address).unwrap(), b"abc");
        let page = stage.world.lookup(heap, address).page.unwrap();
        stage.world.invoke(page, Operation::Clear).unwrap();
    }
    let nodes: usize = [17, 21, 26, 30]
        .map(|height| {
            written
                .iter()
                .map(|address| address >> height)
                .collect::<BTreeSet<_>>()
                .len()
        })
        .iter()
        .sum();
    assert_eq!(stage.charged() - base, (written.len() + nodes) as u64);
    assert_eq!(stage.see(heap, 1 << 30), None, "it is as long as it is");
    // All of it goes back with the bank.
    let bank = stage.bank;
    stage
        .banks
        .destroy(&mut stage.world, bank, Destroy::Reclaim)
        .unwrap();
    assert!(!stage.world.is_live(heap));
    assert_eq!(stage.see(zeros, 0), Some(vec![0; 3]));
}

#[test]
fn only_spaces_are_copied() {
    let mut stage = stage();
    let before = stage.charged();
    let manager = entry(stage.manager, 0);
    let plain = node(&mut stage.world, 60);
    let top = node(&mut stage.world, 61);
    stage.world.invoke(top, Operation::SetHeight(39)).unwrap();
    let cases = [
        (Capability::VOID, Error::Void),
        (Capability::number(1), Error::NotUnderstood(Kind::Number)),
        (plain, Error::NoHeight(0)),
        (top, Error::NoHeight(39)),
    ];
    for (original, error) in cases {
        let made = copy(
            &mut stage.world,
            &mut stage.banks,
            stage.bank,
            manager,
            original,
        );
        assert_eq!(made, Err(error));
    }
    assert_eq!(stage.charged(), before);
    let page = data_page(&mut stage.world, 62);
    let copied = stage.copy_of(page);
    let bank = fetch(&mut stage.world, with(copied, Rights::FULL), COPY_BANK);
    assert_eq!(bank, Ok(stage.bank));
    assert_eq!(stage.see(copied, 0), Some(vec![0; 3]));
}
