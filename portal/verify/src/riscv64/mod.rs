//! Portal code of RISC-V: its instructions, the machine they run on, and what each kind of portal must have done there.

pub(crate) mod contract;
pub mod decode;
pub(crate) mod machine;
mod memory;
pub(crate) mod parameter;
pub(crate) mod proven;
pub(crate) mod record;
pub(crate) mod state;
pub(crate) mod walk;
