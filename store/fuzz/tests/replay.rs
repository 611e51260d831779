//! What fuzzing found, and random inputs from seeds: in every test run, with bounded memory.

mod counted;

use std::path::Path;

use pebble_store_fuzz::{arbitrary, corpus, Random, Target, TARGETS};

/// Random inputs for each target. `STORE_FUZZ_INPUTS` asks for more.
const INPUTS: u64 = 400;
/// The good images, their changed copies, the store's cache and the work on them.
const MEMORY: usize = 48 << 20;

fn run(name: &str, target: Target, input: &[u8], what: &str) {
    let before = counted::restart();
    let done = std::panic::catch_unwind(|| target(input));
    assert!(done.is_ok(), "{name}: {what}: {input:?}");
    let used = counted::peak().saturating_sub(before);
    assert!(used < MEMORY, "{name}: {what}: {used} bytes: {input:?}");
}

#[test]
fn no_input_panics_goes_on_for_ever_or_fills_memory() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let inputs = std::env::var("STORE_FUZZ_INPUTS")
        .ok()
        .and_then(|text| text.parse().ok());
    for (name, target) in TARGETS {
        let text = std::fs::read_to_string(folder.join(format!("{name}.txt"))).expect(name);
        let known = corpus::read(&text).expect(name);
        assert!(known.len() >= 10, "the corpus of {name} is gone");
        for (line, input) in (1..).zip(known) {
            run(name, target, &input, &format!("line {line} of the corpus"));
        }
        for seed in 0..inputs.unwrap_or(INPUTS) {
            let input = arbitrary(&mut Random(seed));
            run(name, target, &input, &format!("seed {seed}"));
        }
    }
}
