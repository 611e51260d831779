//! For the store's crash tests: what must be true of any set of recovered objects, and histories to record.
//!
//! ```
//! use pebble_store_model::oracle::{check, Layout, Workload};
//!
//! let layout = Layout::SMALL;
//! let mut workload = Workload::new(7, layout).unwrap();
//! for _ in 0..100 {
//!     let step = workload.step();
//!     // Write `workload.objects()[&id]` for each `id` of `step.changed` to the store; a checkpoint may come now, but
//!     // not between two writes of one step.
//!     assert!(!step.changed.is_empty());
//! }
//! // Recovered objects must equal those of the checkpoint, and in any case hold together:
//! check(&layout, workload.objects()).unwrap();
//! ```

mod bookkeeping;
mod invariant;
mod operation;
mod violation;
mod workload;

pub use bookkeeping::{
    Layout, BANK_LIMIT, BANK_OWN, BANK_PARENT, BANK_TOTAL, IS_BANK, OWNERS_PER_PAGE,
};
pub use invariant::{check, Census};
pub use operation::Operation;
pub use violation::Violation;
pub use workload::{Step, Workload};
