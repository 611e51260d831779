//! The SDK for components in Rust: the same functions as `<pebble.h>`, with typed errors.
//!
//! A component is a `no_std` binary that names its first function:
//!
//! ```text
//! #![no_std]
//! #![no_main]
//! pebble::main!(run);
//! fn run() {
//!     pebble::println!("hello from domain {}", pebble::get_asid());
//! }
//! ```
//!
//! `extern crate alloc` works: the heap grows by `sbrk`. Portals, semaphores and threads are numbers, as in C; what
//! can fail answers `Result<_, Error>`. On the host the crate compiles so that pure parts can be tested, and every
//! portal answers `-ENOSYS`.
#![cfg_attr(target_os = "none", no_std)]

pub use pebble_abi as abi;
pub use pebble_abi::errno::Errno;
pub use pebble_abi::slot::{EXIT as SYS_EXIT, NAMELEN, NPORTALS};
pub use pebble_interfaces as interfaces;

mod console;
mod domain;
mod error;
#[cfg(target_os = "none")]
mod heap;
mod lock;
mod memory;
mod name;
mod portal;
mod relocate;
mod riscv64;
mod semaphore;
mod stack;
mod start;
mod thread;
mod time;

pub use console::{console_write, flush, print, read, Stream};
pub use domain::{domain_fork, domain_kill, get_asid, system_info};
pub use error::{answer, code, Error};
pub use lock::{Mutex, MutexGuard, RawLock};
pub use memory::{sbrk, vm_map, vm_pager, vm_supply, vm_unmap};
pub use portal::{
    portal_accept, portal_close, portal_create_child, portal_notify, portal_open, portal_register,
    Entry,
};
pub use riscv64::{invoke_portal, measure_start};
pub use semaphore::{sem_accept, sem_create, sem_destroy, sem_post, sem_wait};
pub use stack::{stack_add, QUEUE_STACKS};
pub use start::{args, device, exit, name, serve, Status};
pub use thread::{
    fork, get_thread, thread_create, thread_exit, thread_priority, thread_spawn,
    yield_now as r#yield, yield_now,
};
pub use time::{hrsleep, hrtime, sleep, time_of_day};
