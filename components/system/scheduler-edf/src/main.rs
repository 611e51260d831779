//! Scheduler component: earliest deadline first, each thread within its budget.
#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
scheduling::server!(scheduler_edf::EarliestDeadline);

#[cfg(not(target_os = "none"))]
fn main() -> std::process::ExitCode {
    eprintln!("scheduler-edf runs inside Pebble: build it for riscv64imac-unknown-none-elf");
    std::process::ExitCode::FAILURE
}
