//! Threads in order of time: a binary heap with a place for every thread.
//!
//! An operation moves an entry along one path of at most eight levels. A timer wheel inserts faster, but
//! empties a bucket whose length users choose, or has an interrupt per turn of the wheel.

use pebble_abi::layout::MAX_THREADS;

/// A heap of threads, each with its time; the earliest is first.
pub struct Timeline {
    count: u16,
    /// Threads in heap order.
    heap: [u8; MAX_THREADS],
    /// Where each thread is in `heap`.
    position: [u8; MAX_THREADS],
    /// Each thread's time.
    time: [u64; MAX_THREADS],
}

impl Timeline {
    /// No threads.
    pub const NEW: Timeline = Timeline {
        count: 0,
        heap: [0; MAX_THREADS],
        position: [0; MAX_THREADS],
        time: [0; MAX_THREADS],
    };

    /// The earliest thread and its time.
    #[inline(always)]
    pub fn first(&self) -> Option<(u8, u64)> {
        (self.count != 0).then(|| (self.heap[0], self.time[self.heap[0] as usize]))
    }

    /// Time of the earliest thread; the end of time when there is none.
    #[inline(always)]
    pub fn next_time(&self) -> u64 {
        self.first().map_or(u64::MAX, |(_, time)| time)
    }

    /// The time that a thread was put in with.
    pub fn time_of(&self, thread: u8) -> u64 {
        self.time[thread as usize]
    }

    /// Adds a thread that is not in the timeline.
    pub fn insert(&mut self, thread: u8, time: u64) {
        self.time[thread as usize] = time;
        // At most one entry per thread: the count stays below the size of the heap before an insertion.
        let end = self.count as u8;
        self.count += 1;
        self.rise(end, thread);
    }

    /// Takes out a thread that is in the timeline.
    pub fn remove(&mut self, thread: u8) {
        self.count -= 1;
        let hole = self.position[thread as usize];
        let last = self.heap[self.count as u8 as usize];
        if last == thread {
            return;
        }
        // The last entry fills the hole; it may belong above or below.
        if hole > 0
            && self.time[last as usize] < self.time[self.heap[parent(hole) as usize] as usize]
        {
            self.rise(hole, last);
        } else {
            self.sink(hole, last);
        }
    }

    /// Puts a thread at `place` or above, where its time belongs.
    fn rise(&mut self, mut place: u8, thread: u8) {
        let time = self.time[thread as usize];
        while place > 0 {
            let above = self.heap[parent(place) as usize];
            if self.time[above as usize] <= time {
                break;
            }
            self.set(place, above);
            place = parent(place);
        }
        self.set(place, thread);
    }

    /// Puts a thread at `place` or below, where its time belongs.
    fn sink(&mut self, mut place: u8, thread: u8) {
        let time = self.time[thread as usize];
        loop {
            let left = 2 * place as u16 + 1;
            if left >= self.count {
                break;
            }
            let mut child = left as u8;
            if left + 1 < self.count && self.time_at(child + 1) < self.time_at(child) {
                child += 1;
            }
            if time <= self.time_at(child) {
                break;
            }
            self.set(place, self.heap[child as usize]);
            place = child;
        }
        self.set(place, thread);
    }

    #[inline(always)]
    fn time_at(&self, place: u8) -> u64 {
        self.time[self.heap[place as usize] as usize]
    }

    #[inline(always)]
    fn set(&mut self, place: u8, thread: u8) {
        self.heap[place as usize] = thread;
        self.position[thread as usize] = place;
    }
}

fn parent(place: u8) -> u8 {
    (place - 1) / 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::Dice;

    /// Every operation on a heap of all sizes gives what a sorted list gives.
    #[test]
    fn agrees_with_a_sorted_list() {
        let mut dice = Dice::new(7);
        let mut heap = Timeline::NEW;
        let mut list: Vec<(u64, u8)> = Vec::new();
        for step in 0..40_000 {
            let thread = dice.below(256) as u8;
            // Grow, then shrink, so that the full heap and the empty one are both met.
            let grow = dice.below(4) < if step / 2_000 % 2 == 0 { 3 } else { 1 };
            let present = list.iter().position(|&(_, t)| t == thread);
            match present {
                None if grow => {
                    let time = dice.below(50);
                    heap.insert(thread, time);
                    list.push((time, thread));
                }
                Some(at) if !grow => {
                    heap.remove(thread);
                    list.remove(at);
                }
                _ => {}
            }
            assert_eq!(heap.count as usize, list.len());
            let earliest = list.iter().map(|&(time, _)| time).min();
            assert_eq!(heap.first().map(|(_, time)| time), earliest);
            if let Some((thread, time)) = heap.first() {
                assert!(
                    list.contains(&(time, thread)),
                    "the first entry is one that was put in"
                );
            }
        }
    }

    /// All 256 threads fit, and come out in order of time.
    #[test]
    fn holds_every_thread() {
        let mut heap = Timeline::NEW;
        for thread in 0..=255u8 {
            heap.insert(thread, u64::from(thread.reverse_bits()));
        }
        for expected in 0..256u64 {
            let (thread, time) = heap.first().expect("as many as were put in");
            assert_eq!(time, expected);
            heap.remove(thread);
        }
        assert_eq!(heap.first(), None);
    }
}
