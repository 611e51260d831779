//! Every decoder reads an arbitrary frame.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pebble_store_fuzz::decode(bytes));
