//! What every Pebble scheduler shares; only the order of ready threads is a scheduler's own.
//!
//! A scheduler component chooses a [`Policy`] and lists the functions of [`entries`] in its entry table.
//! Everything else is here: the table of threads, semaphores, sleepers, threads that wait for a stack, and
//! the clock. Every operation runs with interrupts off and returns the thread to resume; none keeps a stack
//! across a switch, so one scheduler stack is enough.
//!
//! Bounded work is the rule that shapes this crate: queues are circular lists linked by thread number,
//! sleepers are a binary heap of at most 256, at most [`EXPIRIES`] sleepers wake per interrupt and at most
//! [`RELEASES`] waiting threads per call that ends a semaphore. No length is chosen by a user.
//!
//! The running thread stays in the ready queue, at its front. A preempted thread is therefore at the front
//! of its equals without any work, and yield is a rotation.
#![cfg_attr(target_os = "none", no_std)]
#![deny(unsafe_code)]

mod calls;
mod clock;
pub mod entries;
mod levels;
mod lifecycle;
mod machine;
mod policy;
mod queue;
mod scheduler;
mod semaphores;
#[cfg(not(target_os = "none"))]
pub mod simulation;
mod thread;
mod timeline;

#[cfg(target_arch = "riscv64")]
mod riscv64;

pub use clock::Clock;
pub use levels::Levels;
pub use machine::{Counters, Machine};
pub use policy::{Policy, Request, Span, Turn};
pub use queue::Queue;
#[cfg(target_arch = "riscv64")]
pub use riscv64::{Hart, COUNTERS};
pub use scheduler::{Next, Scheduler, EXPIRIES};
pub use semaphores::{Semaphores, RELEASES, SHARE};
pub use thread::{State, Thread, Threads};
pub use timeline::Timeline;
