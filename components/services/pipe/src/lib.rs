//! One pipe: a ring of bytes with two ends, and who may use it. It decides; `main.rs` waits.
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

use pebble::interfaces::pipe::{CAPACITY, READING_END, WRITING_END};
use pebble::{Errno, Error};

/// What a call to read or write gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// So many bytes moved; wake the other side if `wake`.
    Moved {
        /// Bytes.
        bytes: usize,
        /// A thread waits at the other end.
        wake: bool,
    },
    /// The other end is closed and nothing is left.
    Closed,
    /// Nothing can move now: wait, then try again.
    Wait,
}

/// A pipe, or the place for one.
pub struct Pipe {
    /// The domain that made the pipe and its peer; 0 when there is no pipe.
    users: [usize; 2],
    /// Which use of this place it is: a call that waited must not go on in another pipe.
    generation: u32,
    open: [bool; 2],
    waiting: [bool; 2],
    bytes: [u8; CAPACITY],
    first: usize,
    count: usize,
}

impl Pipe {
    /// No pipe yet.
    pub const fn free() -> Self {
        Pipe {
            users: [0; 2],
            generation: 0,
            open: [false; 2],
            waiting: [false; 2],
            bytes: [0; CAPACITY],
            first: 0,
            count: 0,
        }
    }

    /// Makes a pipe between two domains; false when there is one already.
    pub fn create(&mut self, owner: usize, peer: usize) -> bool {
        if self.users != [0; 2] || owner == 0 {
            return false;
        }
        self.users = [owner, if peer == 0 { owner } else { peer }];
        self.generation = self.generation.wrapping_add(1);
        self.open = [true; 2];
        self.waiting = [false; 2];
        (self.first, self.count) = (0, 0);
        true
    }

    /// The pipe's generation, for a domain that may use it. Others learn no more than that they may not.
    pub fn enter(&self, caller: usize) -> Result<u32, Error> {
        if caller == 0 || !self.users.contains(&caller) {
            return Err(Errno::Access.into());
        }
        Ok(self.generation)
    }

    /// Moves up to `length` bytes out, handing each to `put` with its index.
    pub fn read(
        &mut self,
        generation: u32,
        length: usize,
        mut put: impl FnMut(usize, u8),
    ) -> Result<Step, Error> {
        if generation != self.generation || !self.open[READING_END] {
            return Err(Errno::BadDescriptor.into());
        }
        let bytes = length.min(self.count);
        for index in 0..bytes {
            put(index, self.bytes[self.first]);
            self.first = (self.first + 1) % CAPACITY;
        }
        self.count -= bytes;
        match bytes {
            0 if !self.open[WRITING_END] => Ok(Step::Closed),
            0 => self.wait(READING_END),
            bytes => Ok(self.moved(bytes, WRITING_END)),
        }
    }

    /// Moves up to `length` bytes in, taking each from `get` by its index.
    pub fn write(
        &mut self,
        generation: u32,
        length: usize,
        get: impl Fn(usize) -> u8,
    ) -> Result<Step, Error> {
        if generation != self.generation || !self.open[WRITING_END] {
            return Err(Errno::BadDescriptor.into());
        }
        if !self.open[READING_END] {
            return Ok(Step::Closed);
        }
        let bytes = length.min(CAPACITY - self.count);
        for index in 0..bytes {
            self.bytes[(self.first + self.count) % CAPACITY] = get(index);
            self.count += 1;
        }
        match bytes {
            0 => self.wait(WRITING_END),
            bytes => Ok(self.moved(bytes, READING_END)),
        }
    }

    /// Closes an end; with both closed the pipe is gone. Answers which ends have a waiting thread to wake.
    pub fn close(&mut self, caller: usize, end: usize) -> Result<[bool; 2], Error> {
        self.enter(caller)?;
        if end > 1 {
            return Err(Errno::Invalid.into());
        }
        if !self.open[end] {
            return Err(Errno::BadDescriptor.into());
        }
        self.open[end] = false;
        if self.open == [false; 2] {
            self.users = [0; 2];
        }
        Ok(core::mem::take(&mut self.waiting))
    }

    /// One thread may wait at each end: each occupies a stack of the service.
    fn wait(&mut self, end: usize) -> Result<Step, Error> {
        if core::mem::replace(&mut self.waiting[end], true) {
            return Err(Errno::Again.into());
        }
        Ok(Step::Wait)
    }

    fn moved(&mut self, bytes: usize, other: usize) -> Step {
        Step::Moved {
            bytes,
            wake: core::mem::take(&mut self.waiting[other]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made() -> (Pipe, u32) {
        let mut pipe = Pipe::free();
        assert!(pipe.create(7, 8));
        let generation = pipe.enter(7).unwrap();
        (pipe, generation)
    }

    fn read(pipe: &mut Pipe, generation: u32, length: usize) -> (Result<Step, Error>, Vec<u8>) {
        let mut found = Vec::new();
        let step = pipe.read(generation, length, |_, byte| found.push(byte));
        (step, found)
    }

    /// Everything written comes out once and in order, whatever the sizes of the pieces.
    #[test]
    fn bytes_come_out_in_order() {
        let (mut pipe, generation) = made();
        let (mut sent, mut received, mut seed) = (0u32, 0u32, 1u64);
        let mut random = |below: u64| {
            seed = seed
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (seed >> 33) % below
        };
        while received < 100_000 {
            let length = random(3000) as usize + 1;
            if let Ok(Step::Moved { bytes, .. }) =
                pipe.write(generation, length, |index| (sent + index as u32) as u8)
            {
                sent += bytes as u32;
            }
            let (_, found) = read(&mut pipe, generation, random(3000) as usize + 1);
            for byte in found {
                assert_eq!(byte, received as u8);
                received += 1;
            }
            assert!(sent - received <= CAPACITY as u32);
            pipe.waiting = [false; 2];
        }
    }

    #[test]
    fn strangers_are_refused() {
        let (mut pipe, _) = made();
        assert!(pipe.enter(8).is_ok());
        assert_eq!(pipe.enter(9), Err(Errno::Access.into()));
        assert_eq!(pipe.enter(0), Err(Errno::Access.into()));
        assert_eq!(pipe.close(9, 0), Err(Errno::Access.into()));
        assert!(!pipe.create(9, 9), "the place is taken");
        assert_eq!(Pipe::free().enter(0), Err(Errno::Access.into()));
    }

    #[test]
    fn one_thread_waits_at_each_end_and_is_woken() {
        let (mut pipe, generation) = made();
        assert_eq!(read(&mut pipe, generation, 5).0, Ok(Step::Wait));
        assert_eq!(read(&mut pipe, generation, 5).0, Err(Errno::Again.into()));
        assert_eq!(
            pipe.write(generation, 1, |_| 1),
            Ok(Step::Moved {
                bytes: 1,
                wake: true
            })
        );
        assert_eq!(
            pipe.write(generation, 1, |_| 2),
            Ok(Step::Moved {
                bytes: 1,
                wake: false
            })
        );
        assert_eq!(
            read(&mut pipe, generation, 5),
            (
                Ok(Step::Moved {
                    bytes: 2,
                    wake: false
                }),
                vec![1, 2]
            )
        );
    }

    #[test]
    fn closing_ends_reading_after_what_is_left_and_writing_at_once() {
        let (mut pipe, generation) = made();
        assert_eq!(
            pipe.write(generation, 1, |_| 3),
            Ok(Step::Moved {
                bytes: 1,
                wake: false
            })
        );
        assert_eq!(pipe.close(7, WRITING_END), Ok([false; 2]));
        assert_eq!(pipe.close(7, WRITING_END), Err(Errno::BadDescriptor.into()));
        assert_eq!(read(&mut pipe, generation, 5).1, [3]);
        assert_eq!(read(&mut pipe, generation, 5).0, Ok(Step::Closed));
        assert_eq!(pipe.close(8, READING_END), Ok([false; 2]));
        assert_eq!(pipe.enter(7), Err(Errno::Access.into()), "the pipe is gone");

        assert!(pipe.create(9, 0));
        let next = pipe.enter(9).unwrap();
        assert_eq!(
            pipe.read(generation, 1, |_, _| ()),
            Err(Errno::BadDescriptor.into()),
            "an older pipe's call"
        );
        assert_eq!(pipe.close(9, READING_END), Ok([false; 2]));
        assert_eq!(pipe.write(next, 1, |_| 1), Ok(Step::Closed));
    }
}
