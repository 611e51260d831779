//! The switch ends the load reservation of the thread that leaves, with an instruction that exists.

use pebble_portal_codegen::{generate, Kind, Name, System};

#[test]
fn the_switch_contains_sc_d() {
    let mut words = [0; 256];
    let block = generate(
        &Kind::Switch,
        Name::default(),
        &System::default(),
        0,
        &mut words,
    )
    .expect("room");
    // sc.d zero, zero, (t4)
    assert!(words[block.entry..block.words].contains(&0x180e_b02f));
}
