//! Every deliberate mistake in the store's protocol is noticed. `docs/soundness/store-mutants.md` has the table.

use std::panic::{catch_unwind, AssertUnwindSafe};

use pebble_store::Mutant;
use pebble_store_crash::campaign::campaign;
use pebble_store_crash::plans;
use pebble_store_crash::real::Real;

/// States after which a mutant counts as not noticed.
const BOUND: u64 = 150_000;

/// Tries every mutant whose number leaves this rest.
fn noticed(rest: usize) {
    let all = Mutant::ALL.iter().enumerate();
    let survivors: Vec<Mutant> = all
        .filter(|(number, _)| number % 2 == rest)
        .map(|(_, mutant)| *mutant)
        .filter(|mutant| {
            let (plan, first) = plans::against(*mutant);
            // A panic is a way of being noticed.
            let found = catch_unwind(AssertUnwindSafe(|| campaign::<Real>(&plan, first, BOUND)));
            match found {
                Ok(Err(violation)) => {
                    println!("{mutant:?}: {violation}");
                    false
                }
                Ok(Ok(_)) => true,
                Err(_) => false,
            }
        })
        .collect();
    assert!(survivors.is_empty(), "nobody noticed {survivors:?}");
}

#[test]
fn half_of_the_mutants_are_noticed() {
    noticed(0);
}

#[test]
fn the_other_half_is_noticed() {
    noticed(1);
}

#[test]
fn there_are_at_least_thirty() {
    assert!(Mutant::ALL.len() >= 30);
}
