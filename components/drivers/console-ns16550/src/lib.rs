//! What the console driver decides without touching the device: framing of output, buffering of input.
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

pub mod framing;
pub mod input;
