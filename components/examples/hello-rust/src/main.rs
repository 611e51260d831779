//! A component in Rust: output, arguments, the heap, an exit status.
#![cfg_attr(target_os = "none", no_std, no_main)]

extern crate alloc;

use alloc::vec::Vec;

pebble::main!(run);

fn run() -> i32 {
    pebble::println!("hello from {}", pebble::name());
    let arguments: Vec<&str> = pebble::args().collect();
    for (index, argument) in arguments.iter().enumerate() {
        pebble::println!("argument {}: {argument}", index + 1);
    }
    pebble::println!("the square root of 2 is {:.6}", square_root(2.0));
    arguments.len() as i32
}

/// Newton's method, to show floating point: `core` has no square root.
fn square_root(value: f64) -> f64 {
    let mut root = value;
    for _ in 0..20 {
        root = (root + value / root) / 2.0;
    }
    root
}
