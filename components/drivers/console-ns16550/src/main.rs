//! Driver of the 16550 serial port: the console.
//!
//! Output goes out in the caller's thread. Input arrives by interrupt: the first thread waits on the device's
//! semaphore and fills a ring, from which callers of `/console/read` take. The dispatcher makes no call into this
//! driver, it only does V.
#![cfg_attr(target_os = "none", no_std, no_main)]

mod uart;

use console_ns16550::framing::{self, Part};
use console_ns16550::input::{Input, Taken};
use pebble::abi::slot::driver;
use pebble::interfaces::{console, Service};
use pebble::{answer, code, invoke_portal, Entry, Errno, Error, Mutex};

pebble::main!(run);

/// Callers of `/console/read` that may wait at one time: each occupies one of this domain's stacks.
const READERS: usize = 4;
/// Stacks beyond those that registration adds, so that waiting readers leave enough for writers.
const MORE_STACKS: usize = 8;

/// The transmitter: whoever holds it has sent whole calls' worth of output.
static OUTPUT: Mutex<uart::Transmitter> = Mutex::new(uart::Transmitter);
static INPUT: Mutex<Input<READERS>> = Mutex::new(Input::new());

fn run() -> Result<(), Error> {
    let device = pebble::device(0)?;
    let number = device.interrupt as usize;
    uart::start(device.base);
    let interrupt = answer(invoke_portal(
        driver::INTERRUPT_SEMAPHORE,
        number,
        0,
        0,
        0,
        0,
    ))?;
    let arrived = pebble::sem_create(0)?;
    pebble::stack_add(MORE_STACKS)?;
    for (service, channel) in [
        (console::WRITE, pebble::abi::log::OUTPUT),
        (console::ERROR, pebble::abi::log::ERROR),
        (console::LOG, pebble::abi::log::SYSTEM),
    ] {
        offer(service, channel as usize, write as *const () as Entry)?;
    }
    offer(console::READ, arrived, read as *const () as Entry)?;
    uart::enable_receive_interrupt();
    loop {
        pebble::sem_wait(interrupt)?;
        let waiting = {
            let mut input = INPUT.lock();
            if input.fill(uart::received()) {
                uart::disable_receive_interrupt();
            }
            input.wake()
        };
        for _ in 0..waiting {
            pebble::sem_post(arrived)?;
        }
        answer(invoke_portal(driver::ACKNOWLEDGE, number, 0, 0, 0, 0))?;
    }
}

fn offer(service: Service, constant: usize, entry: Entry) -> Result<(), Error> {
    pebble::portal_register(service.name, service.specification, constant, entry)
}

/// Entry of the three outputs: `write(channel, buffer, length)`.
///
/// # Safety
/// The portal shows the page of `buffer` for the duration of the call.
unsafe extern "C" fn write(channel: usize, buffer: usize, length: usize) -> isize {
    if length > console::MOST - buffer % console::MOST {
        return Errno::Invalid.negated();
    }
    // SAFETY: the window shows this page until the call returns, and the check above keeps within it. The caller may
    // change the bytes meanwhile, so each is read once.
    let bytes =
        (0..length).map(|index| unsafe { (buffer as *const u8).add(index).read_volatile() });
    let output = OUTPUT.lock();
    for part in framing::frame(channel as u8, bytes) {
        match part {
            Part::One(byte) => output.send(byte),
            Part::Two(first, second) => {
                output.send(first);
                output.send(second);
            }
        }
    }
    length as isize
}

/// Entry of input: `read(semaphore, buffer, length)`.
///
/// # Safety
/// The portal shows the page of `buffer`, writable, for the duration of the call.
unsafe extern "C" fn read(arrived: usize, buffer: usize, length: usize) -> isize {
    if length == 0 || length > console::MOST - buffer % console::MOST {
        return Errno::Invalid.negated();
    }
    code(read_into(
        arrived,
        |index, byte| {
            // SAFETY: as for `write`; `read_into` stays below `length`.
            unsafe { (buffer as *mut u8).add(index).write_volatile(byte) }
        },
        length,
    ))
}

fn read_into(
    arrived: usize,
    mut put: impl FnMut(usize, u8),
    length: usize,
) -> Result<usize, Error> {
    loop {
        let taken = {
            let mut input = INPUT.lock();
            let taken = input.take(length, &mut put);
            if input.resume() {
                uart::enable_receive_interrupt();
            }
            taken
        };
        match taken {
            Taken::Bytes(count) => return Ok(count),
            Taken::End => return Ok(0),
            Taken::Wait => {}
            Taken::TooManyWait => return Err(Errno::Again.into()),
        }
        pebble::sem_wait(arrived)?;
    }
}
