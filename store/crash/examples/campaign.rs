//! Runs a campaign: `campaign NAME [FIRST-SEED [STATES]]`, and tells what it found.

use pebble_store_crash::campaign::must_hold;
use pebble_store_crash::plans;
use pebble_store_crash::real::Real;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_default();
    let Some(plan) = plans::named(&name) else {
        eprintln!("{name}: no such campaign; single, lagging, journal, pair, broken, broken-pair, model, script-1-0...");
        std::process::exit(2);
    };
    let mut number = |usual| {
        let given = arguments.next();
        given.and_then(|text| text.parse().ok()).unwrap_or(usual)
    };
    let (first, states) = (number(0), number(100_000));
    must_hold::<Real>(&plan, first, states);
}
