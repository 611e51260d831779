//! Interrupt dispatcher component: its entries.
#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
mod component {
    use interrupt_dispatcher::{Action, Dispatcher, Plic};
    use pebble_server::abi::errno::Errno;
    use pebble_server::abi::slot::dispatcher::{DEVICE, SPURIOUS, TIMER};
    use pebble_server::{entries, invoke};

    /// Cause number of the supervisor timer interrupt.
    const TIMER_CAUSE: usize = 5;
    /// Cause number of the supervisor external interrupt.
    const EXTERNAL_CAUSE: usize = 9;

    static DISPATCHER: Dispatcher<Plic> = Dispatcher::new(Plic);

    entries! { [interrupt, attach, acknowledge] }

    const _: () = {
        use pebble_server::abi::entry::dispatcher::{ACKNOWLEDGE, ATTACH, INTERRUPT};
        assert!(
            INTERRUPT == 0 && ATTACH == 1 && ACKNOWLEDGE == 2,
            "the table above is by position"
        );
    };

    /// An interrupt, on the interrupt stack and with interrupts off. The scheduler goes on from here.
    extern "C" fn interrupt(cause: usize) -> isize {
        // Cause numbers may come with the interrupt bit of the cause register.
        let (slot, semaphore) = match cause & 0xf {
            TIMER_CAUSE => (TIMER, 0),
            EXTERNAL_CAUSE => match DISPATCHER.external() {
                Action::Notify(semaphore) => (DEVICE, semaphore as usize),
                Action::Resume => (SPURIOUS, 0),
            },
            _ => (SPURIOUS, 0),
        };
        invoke(slot, semaphore, 0, 0, 0, 0)
    }

    /// `attach(interrupt, semaphore)`, for the portal manager.
    extern "C" fn attach(_constant: u64, interrupt: u64, semaphore: u64) -> isize {
        number(DISPATCHER.attach(interrupt, semaphore))
    }

    /// `acknowledge(interrupt)`, for a driver.
    extern "C" fn acknowledge(_constant: u64, interrupt: u64) -> isize {
        number(DISPATCHER.acknowledge(interrupt))
    }

    fn number(answer: Result<(), Errno>) -> isize {
        answer.map_or_else(Errno::negated, |()| 0)
    }
}

#[cfg(not(target_os = "none"))]
fn main() -> std::process::ExitCode {
    eprintln!("interrupt-dispatcher runs inside Pebble: build it for riscv64imac-unknown-none-elf");
    std::process::ExitCode::FAILURE
}
