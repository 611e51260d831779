//! Writes one generated portal as raw machine code to standard output: for a look at its disassembly.
//! Usage: `cargo run -p pebble-portal-codegen --example dump -- smcwi | riscv64-unknown-elf-objdump ...`

use pebble_portal_codegen::{generate, Kind, Name, System, Target};
use pebble_portal_spec::Specification;
use std::io::Write;

fn main() {
    let text = std::env::args()
        .nth(1)
        .expect("a specification, such as smcwi");
    let specification = Specification::parse(text.as_bytes()).expect("a valid specification");
    let system = System {
        asid: true,
        sstc: true,
        ..System::default()
    };
    let target = Target {
        domain: 0x1111,
        entry: 0x10_0000,
        stack: 0,
    };
    let kind = Kind::Call {
        specification: &specification,
        target,
        constant: 0x2222,
    };
    let mut words = [0u32; 1024];
    let block = generate(
        &kind,
        Name {
            domain: 3,
            slot: 64,
            ..Name::default()
        },
        &system,
        0,
        &mut words,
    )
    .expect("room");
    eprintln!("entry at {:#x}", block.entry * 4);
    for word in &words[block.entry..block.words] {
        std::io::stdout()
            .write_all(&word.to_le_bytes())
            .expect("standard output");
    }
}
