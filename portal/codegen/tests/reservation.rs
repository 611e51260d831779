//! An interrupted thread goes on without its load reservation, which an instruction that exists ends.

use pebble_portal_codegen::{generate, Kind, Name, System};

#[test]
fn the_interrupt_s_return_contains_sc_d() {
    let mut words = [0; 256];
    let block = generate(
        &Kind::Interrupt,
        Name::default(),
        &System::default(),
        0,
        &mut words,
    )
    .expect("room");
    // sc.d zero, zero, (t4)
    assert!(words[block.entry..block.words].contains(&0x180e_b02f));
}
