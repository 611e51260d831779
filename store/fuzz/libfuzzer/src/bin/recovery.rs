//! The store opens an arbitrary image.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pebble_store_fuzz::recovery(bytes));
