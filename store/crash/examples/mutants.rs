//! Tries each mutant on each campaign: which one notices it, and after how many states.

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
        let mut told = false;
        for mut plan in plans::random() {
            plan.shape.parameters.mutant = Some(*mutant);
            let found = catch_unwind(AssertUnwindSafe(|| campaign::<Real>(&plan, 0, states)));
            let text = match found {
                Ok(Ok(_)) => continue,
                Ok(Err(violation)) => format!(
                    "seed {}, {:?}: {}",
                    violation.place.seed, violation.place.state, violation.what
                ),
                Err(_) => "panic".into(),
            };
            println!(
                "{name}: {} in {:.1} s: {:.150}",
                plan.name,
                start.elapsed().as_secs_f64(),
                text
            );
            told = true;
            break;
        }
        if !told {
            println!("{name}: SURVIVES, {:.1} s", start.elapsed().as_secs_f64());
        }
    }
}
