//! The checker reads an arbitrary image.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pebble_store_fuzz::fsck(bytes));
