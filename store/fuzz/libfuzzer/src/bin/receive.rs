//! An arbitrary stream is received.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pebble_store_fuzz::receive(bytes));
