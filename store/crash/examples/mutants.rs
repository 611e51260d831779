//! `mutants [STATES [NAME...]]`: how each mutant is noticed, and when.

use std::panic::{catch_unwind, AssertUnwindSafe};
use std::time::Instant;

use pebble_store::Mutant;
use pebble_store_crash::campaign::campaign;
use pebble_store_crash::plans;
use pebble_store_crash::real::Real;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let states = arguments
        .next()
        .and_then(|text| text.parse().ok())
        .unwrap_or(20_000);
    let only: Vec<String> = arguments.collect();
    std::panic::set_hook(Box::new(|_| {}));
    for mutant in Mutant::ALL {
        let name = format!("{mutant:?}");
        if !only.is_empty() && !only.contains(&name) {
            continue;
        }
        let start = Instant::now();
        let (plan, first) = plans::against(*mutant);
        let found = catch_unwind(AssertUnwindSafe(|| campaign::<Real>(&plan, first, states)));
        let seconds = start.elapsed().as_secs_f64();
        let text = match found {
            Ok(Ok(_)) => "SURVIVES".into(),
            Ok(Err(violation)) => {
                let place = violation.place;
                format!("seed {}, {:?}: {}", place.seed, place.state, violation.what)
            }
            Err(_) => "panic".into(),
        };
        println!("{name}: {} in {seconds:.1} s: {text:.150}", plan.name);
    }
}
