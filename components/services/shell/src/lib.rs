//! The shell, apart from the console and the system that it runs on: keys, lines, commands, and what they print.
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod collect;
pub mod command;
pub mod editor;
pub mod explain;
pub mod inspect;
pub mod keys;
pub mod lists;
pub mod moment;
pub mod records;
pub mod run;
pub mod table;

#[cfg(test)]
mod fake;
