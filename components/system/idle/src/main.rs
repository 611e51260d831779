//! The thread that is always ready: it waits for an interrupt, again and again.
#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
mod component {
    use pebble_server::abi::slot::idle::WAIT_FOR_INTERRUPT;
    use pebble_server::{entries, invoke};

    entries! { [main] }

    /// First function of the idle thread. An interrupt is taken here, in user mode, or ends the wait.
    extern "C" fn main() -> ! {
        loop {
            invoke(WAIT_FOR_INTERRUPT, 0, 0, 0, 0, 0);
        }
    }
}

#[cfg(not(target_os = "none"))]
fn main() -> std::process::ExitCode {
    eprintln!("idle runs inside Pebble: build it for riscv64imac-unknown-none-elf");
    std::process::ExitCode::FAILURE
}
