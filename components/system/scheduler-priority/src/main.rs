//! Scheduler component: fixed priorities with round robin.
#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
scheduling::server!(scheduler_priority::Priority);

#[cfg(not(target_os = "none"))]
fn main() -> std::process::ExitCode {
    eprintln!("scheduler-priority runs inside Pebble: build it for riscv64imac-unknown-none-elf");
    std::process::ExitCode::FAILURE
}
