//! Pipes: bytes from one domain to another, in order, with a bounded buffer between.
//!
//! The names of all ends are registered at the start, so that making a pipe needs no call to the portal manager:
//! what `create` gives is the right to use one of them.
#![cfg_attr(target_os = "none", no_std, no_main)]

use core::sync::atomic::{AtomicUsize, Ordering};

use pebble::interfaces::pipe::{self, Operation, PIPES};
use pebble::{code, Entry, Errno, Error, Mutex};
use pipe_service::{Pipe, Step};

pebble::main!(run);

/// Bytes of a page: a window shows one.
const PAGE: usize = 4096;
/// Two waiting threads per pipe must leave stacks for those that do not wait.
const MORE_STACKS: usize = 2 * PIPES;

static TABLE: [Mutex<Pipe>; PIPES] = [const { Mutex::new(Pipe::free()) }; PIPES];
/// Semaphores on which the reading and the writing end of each pipe wait.
static SEMAPHORES: [[AtomicUsize; 2]; PIPES] =
    [const { [AtomicUsize::new(0), AtomicUsize::new(0)] }; PIPES];

fn run() -> Result<(), Error> {
    for pair in &SEMAPHORES {
        for semaphore in pair {
            semaphore.store(pebble::sem_create(0)?, Ordering::Relaxed);
        }
    }
    pebble::stack_add(MORE_STACKS)?;
    let service = pipe::CREATE;
    pebble::portal_register(
        service.name,
        service.specification,
        0,
        create as *const () as Entry,
    )?;
    for number in 0..PIPES {
        for operation in Operation::ALL {
            let entry = match operation {
                Operation::Read => read as *const () as Entry,
                Operation::Write => write as *const () as Entry,
                Operation::Close => close as *const () as Entry,
            };
            let name = pipe::EndName::new(number, operation);
            pebble::portal_register(name.as_str(), operation.specification(), number, entry)?;
        }
    }
    pebble::serve()
}

extern "C" fn create(caller: usize, peer: usize) -> isize {
    match TABLE
        .iter()
        .position(|pipe| pipe.lock().create(caller, peer))
    {
        Some(number) => number as isize,
        None => Errno::TableFull.negated(),
    }
}

/// # Safety
/// The portal shows the page of `buffer`, writable, for the duration of the call.
unsafe extern "C" fn read(number: usize, buffer: usize, length: usize, caller: usize) -> isize {
    let put = |index: usize, byte| {
        // SAFETY: the window shows this page until the call returns; `transfer` checked that it ends there.
        unsafe { (buffer as *mut u8).add(index).write_volatile(byte) }
    };
    code(transfer(
        number,
        buffer,
        length,
        caller,
        pipe::READING_END,
        |pipe, generation, _| pipe.read(generation, length, put),
    ))
}

/// # Safety
/// The portal shows the page of `buffer` for the duration of the call.
unsafe extern "C" fn write(number: usize, buffer: usize, length: usize, caller: usize) -> isize {
    let get = |index: usize| {
        // SAFETY: as for `read`.
        unsafe { (buffer as *const u8).add(index).read_volatile() }
    };
    code(transfer(
        number,
        buffer,
        length,
        caller,
        pipe::WRITING_END,
        |pipe, generation, done| pipe.write(generation, length - done, |index| get(done + index)),
    ))
}

/// Repeats `step` until it has done what its end promises: reading answers with what is there, writing with all.
fn transfer(
    number: usize,
    buffer: usize,
    length: usize,
    caller: usize,
    end: usize,
    mut step: impl FnMut(&mut Pipe, u32, usize) -> Result<Step, Error>,
) -> Result<usize, Error> {
    if length == 0 || length > PAGE - buffer % PAGE {
        return Err(Errno::Invalid.into());
    }
    let generation = TABLE[number].lock().enter(caller)?;
    let mut done = 0;
    loop {
        // The lock is released before a thread waits or wakes another.
        let outcome = step(&mut TABLE[number].lock(), generation, done)?;
        match outcome {
            Step::Moved { bytes, wake } => {
                done += bytes;
                if wake {
                    pebble::sem_post(semaphore(number, 1 - end))?;
                }
                if end == pipe::READING_END || done == length {
                    return Ok(done);
                }
            }
            Step::Closed if end == pipe::READING_END => return Ok(0),
            Step::Closed => return Err(Errno::BrokenPipe.into()),
            Step::Wait => pebble::sem_wait(semaphore(number, end))?,
        }
    }
}

fn semaphore(number: usize, end: usize) -> usize {
    SEMAPHORES[number][end].load(Ordering::Relaxed)
}

extern "C" fn close(number: usize, end: usize, caller: usize) -> isize {
    let waiting = match TABLE[number].lock().close(caller, end) {
        Ok(waiting) => waiting,
        Err(error) => return code(Err(error)),
    };
    for (end, waits) in waiting.into_iter().enumerate() {
        if waits {
            if let Err(error) = pebble::sem_post(semaphore(number, end)) {
                return code(Err(error));
            }
        }
    }
    0
}
