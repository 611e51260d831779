//! NAME: a Pebble component in Rust.
#![no_std]
#![no_main]

pebble::main!(run);

fn run() -> i32 {
    pebble::println!("{}: hello from domain {}", pebble::name(), pebble::get_asid());
    for (index, argument) in pebble::args().enumerate() {
        pebble::println!("argument {}: {argument}", index + 1);
    }
    0
}
