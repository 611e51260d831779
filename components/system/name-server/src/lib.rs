//! What the name server knows and decides: names, rules, delegations. No allocation, no system calls.
//!
//! Every table has a fixed size per component, so that what one component exhausts only it misses. A domain's
//! number indexes them; the record of a domain that is dead is emptied before its number is used again.
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod names;
mod pattern;
mod policy;
mod rules;

pub use names::Names;
pub use pattern::{Pattern, Text};
pub use policy::Policy;
pub use rules::{parse_rule, rules, Rule};
