//! `STORE_CRASH=campaign:seed` runs one seed of a campaign again, `STORE_CRASH=campaign:seed:state` one of its states.

use pebble_store_crash::plans;
use pebble_store_crash::real::Real;
use pebble_store_crash::run::run;

#[test]
fn a_state_again() {
    let Ok(wanted) = std::env::var("STORE_CRASH") else {
        return;
    };
    let mut parts = wanted.split(':');
    let plan = parts.next().and_then(plans::named);
    let plan = plan.unwrap_or_else(|| panic!("{wanted}: no such campaign"));
    let seed = parts.next().and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or_else(|| panic!("{wanted}: campaign:seed or campaign:seed:state"));
    let state = parts.next().map(|state| {
        let state = state.parse();
        state.unwrap_or_else(|_| panic!("{wanted}: the state is a number"))
    });
    match run::<Real>(&plan, seed, state) {
        Ok(tally) => println!("{}: {tally}", plan.name),
        Err(violation) => panic!("{violation}"),
    }
}
