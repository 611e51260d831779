//! Random operations against a simple model: what each domain must read at each address.

mod model;
mod world;

use model::{Model, Operation};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn operation() -> impl Strategy<Value = Operation> {
    let domain = 0..6_usize;
    let place = any::<u8>();
    prop_oneof![
        2 => domain.clone().prop_map(Operation::Create),
        1 => domain.clone().prop_map(Operation::Destroy),
        2 => (domain.clone(), domain.clone()).prop_map(|(from, to)| Operation::Clone(from, to)),
        2 => (domain.clone(), domain.clone(), -3..6_i64)
            .prop_map(|(by, home, pages)| Operation::Sbrk(by, home, pages)),
        2 => (domain.clone(), domain.clone(), 1..6_u64)
            .prop_map(|(by, home, pages)| Operation::Map(by, home, pages)),
        1 => (domain.clone(), domain.clone(), place)
            .prop_map(|(by, home, which)| Operation::Unmap(by, home, which)),
        8 => (domain.clone(), place).prop_map(|(by, place)| Operation::Store(by, place)),
        4 => (domain.clone(), place).prop_map(|(by, place)| Operation::Load(by, place)),
        1 => (domain.clone(), 0..32_u64, 0..5_u64)
            .prop_map(|(of, slot, pages)| Operation::Prepare(of, slot, pages)),
        1 => (domain.clone(), domain.clone()).prop_map(|(by, to)| Operation::Share(by, to)),
        2 => (domain.clone(), place, 0..16_u64, any::<bool>())
            .prop_map(|(by, place, window, write)| Operation::Open(by, place, window, write)),
        2 => (0..16_u64).prop_map(Operation::StoreInWindow),
        1 => (0..16_u64).prop_map(Operation::Close),
        2 => (domain.clone(), place, domain.clone())
            .prop_map(|(by, place, to)| Operation::Give(by, place, to)),
        2 => (domain.clone(), domain, place, 0..4_u64)
            .prop_map(|(client, pager, place, flags)| Operation::Page(client, pager, place, flags)),
    ]
}

/// Runs a history, with all invariants checked and all of memory read after each step.
fn run(free_pages: u64, limit: u64, operations: Vec<Operation>) {
    let mut model = Model::new(free_pages, limit);
    for operation in operations {
        model.perform(operation);
        model.world.check();
        model.read_all();
        model.world.check();
    }
    model.world.end();
}

/// The same histories in every run; `PROPTEST_RNG_SEED` and `PROPTEST_CASES` choose others.
fn configuration() -> ProptestConfig {
    let mut chosen = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    if std::env::var_os("PROPTEST_RNG_SEED").is_none() {
        chosen.rng_seed = RngSeed::Fixed(1999);
    }
    if std::env::var_os("PROPTEST_CASES").is_none() {
        chosen.cases = 150;
    }
    chosen
}

proptest! {
    #![proptest_config(configuration())]

    /// With memory enough for everybody.
    #[test]
    fn domains_read_what_they_wrote(operations in prop::collection::vec(operation(), 1..60)) {
        run(900, 60, operations);
    }

    /// Memory and limits run out all the time.
    #[test]
    fn scarce_memory_breaks_nothing(operations in prop::collection::vec(operation(), 1..80)) {
        run(90, 14, operations);
    }
}
