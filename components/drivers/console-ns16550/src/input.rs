//! Input: a ring of bytes that have arrived, and how many readers wait for more.

/// Bytes kept until somebody reads. When they are full the driver stops taking bytes from the device: the rest waits
/// there, and before it at whoever sends.
pub const CAPACITY: usize = 1024;
/// Control-D on the wire: the end of input.
pub const END: u8 = 4;

/// What a reader gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// So many bytes were put.
    Bytes(usize),
    /// The end of input was next; it is consumed.
    End,
    /// Nothing there: wait for the semaphore, then try again.
    Wait,
    /// Nothing there, and as many wait already as may.
    TooManyWait,
}

/// The ring, with room for `READERS` waiting readers.
pub struct Input<const READERS: usize> {
    bytes: [u8; CAPACITY],
    first: usize,
    count: usize,
    waiting: usize,
    paused: bool,
}

impl<const READERS: usize> Input<READERS> {
    /// Nothing has arrived, nobody waits.
    pub const fn new() -> Self {
        Input {
            bytes: [0; CAPACITY],
            first: 0,
            count: 0,
            waiting: 0,
            paused: false,
        }
    }

    /// Takes bytes that have arrived, as many as there is room for. Answers whether there is no more room: then the
    /// device is to be silent until [`Input::resume`] says otherwise.
    pub fn fill(&mut self, mut arrived: impl Iterator<Item = u8>) -> bool {
        while self.count < CAPACITY {
            let Some(byte) = arrived.next() else {
                return false;
            };
            self.bytes[(self.first + self.count) % CAPACITY] = byte;
            self.count += 1;
        }
        self.paused = true;
        true
    }

    /// Whether a silent device may speak again: there is room for a good deal.
    pub fn resume(&mut self) -> bool {
        let resumes = self.paused && self.count <= CAPACITY / 2;
        self.paused &= !resumes;
        resumes
    }

    /// How many readers to wake, if there is something for them. They count as not waiting from now on: one that
    /// finds nothing left counts itself again.
    pub fn wake(&mut self) -> usize {
        if self.count == 0 {
            0
        } else {
            core::mem::take(&mut self.waiting)
        }
    }

    /// Takes up to `length` bytes, up to and without the end of input, handing each to `put` with its index.
    pub fn take(&mut self, length: usize, mut put: impl FnMut(usize, u8)) -> Taken {
        if self.count == 0 {
            if self.waiting == READERS {
                return Taken::TooManyWait;
            }
            self.waiting += 1;
            return Taken::Wait;
        }
        let mut taken = 0;
        while taken < length && self.count > 0 {
            let byte = self.bytes[self.first];
            if byte == END && taken > 0 {
                break;
            }
            self.first = (self.first + 1) % CAPACITY;
            self.count -= 1;
            if byte == END {
                return Taken::End;
            }
            put(taken, byte);
            taken += 1;
        }
        Taken::Bytes(taken)
    }
}

impl<const READERS: usize> Default for Input<READERS> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take<const READERS: usize>(input: &mut Input<READERS>, length: usize) -> (Taken, Vec<u8>) {
        let mut found = Vec::new();
        let taken = input.take(length, |index, byte| {
            assert_eq!(index, found.len());
            found.push(byte);
        });
        (taken, found)
    }

    #[test]
    fn bytes_come_out_in_order_and_in_the_pieces_asked_for() {
        let mut input = Input::<1>::new();
        for round in 0..1000u32 {
            for byte in 0..7 {
                input.fill([(round % 200) as u8 + 10 + byte].into_iter());
            }
            let first = (round % 200) as u8 + 10;
            assert_eq!(
                take(&mut input, 3),
                (Taken::Bytes(3), vec![first, first + 1, first + 2])
            );
            assert_eq!(take(&mut input, 100).0, Taken::Bytes(4));
        }
    }

    #[test]
    fn a_full_ring_leaves_the_rest_where_it_is() {
        let mut input = Input::<1>::new();
        let mut arrived = (0..CAPACITY + 5).map(|index| if index < CAPACITY { b'a' } else { b'b' });
        assert!(!input.fill(arrived.by_ref().take(5)));
        assert!(!input.resume(), "never silent");
        assert!(input.fill(arrived.by_ref()));
        assert_eq!(arrived.len(), 5, "not one taken too many");
        let (taken, bytes) = take(&mut input, CAPACITY / 2 - 1);
        assert_eq!(taken, Taken::Bytes(CAPACITY / 2 - 1));
        assert!(!input.resume(), "not yet half empty");
        assert!(bytes.iter().all(|&byte| byte == b'a'));
        assert_eq!(take(&mut input, 1).0, Taken::Bytes(1));
        assert!(input.resume());
        assert!(!input.resume(), "once");
        assert!(!input.fill(arrived));
        assert!(take(&mut input, CAPACITY).1.ends_with(b"abbbbb"));
    }

    #[test]
    fn the_end_of_input_is_told_once() {
        let mut input = Input::<1>::new();
        [b'a', END, b'b'].into_iter().for_each(|byte| {
            input.fill([byte].into_iter());
        });
        assert_eq!(take(&mut input, 10), (Taken::Bytes(1), vec![b'a']));
        assert_eq!(take(&mut input, 10).0, Taken::End);
        assert_eq!(take(&mut input, 10), (Taken::Bytes(1), vec![b'b']));
    }

    #[test]
    fn only_so_many_readers_wait_and_all_are_woken() {
        let mut input = Input::<2>::new();
        assert_eq!(take(&mut input, 1).0, Taken::Wait);
        assert_eq!(take(&mut input, 1).0, Taken::Wait);
        assert_eq!(take(&mut input, 1).0, Taken::TooManyWait);
        assert_eq!(input.wake(), 0, "nothing has arrived");
        input.fill([b'x'].into_iter());
        assert_eq!(input.wake(), 2);
        assert_eq!(input.wake(), 0);
        assert_eq!(take(&mut input, 1).0, Taken::Bytes(1));
        assert_eq!(take(&mut input, 1).0, Taken::Wait);
    }
}
