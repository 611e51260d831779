//! A processor for host tests: time passes as the test says, and the timer interrupts when it should.

pub mod model;
pub mod story;

use core::cell::Cell;

use pebble_abi::object::role;

use crate::{Counters, Machine, Policy, Scheduler, State};

/// Number of the idle thread in tests.
pub const IDLE: u8 = 0;
/// Number of the thread that starts the scheduler in tests.
pub const INIT: u8 = 1;
/// Ticks per second.
pub const TIMEBASE: u64 = 10_000_000;

/// Counters that a test moves.
pub struct Simulated {
    cycles: Cell<u64>,
    /// Cycles that a reading of the timebase takes: some at the start, so that waiting for an edge ends.
    reading: u64,
    /// Cycles per 1000 ticks.
    pub cycles_per_kilotick: u64,
    /// Tick that the timer is set for.
    pub timer: u64,
    /// Times that the timer was set.
    pub settings: u64,
    counters: Counters,
}

impl Simulated {
    /// Lets cycles pass.
    pub fn pass(&self, cycles: u64) {
        self.cycles.set(self.cycles.get() + cycles);
    }

    /// Whether the timer asks for an interrupt now.
    pub fn interrupts(&self) -> bool {
        self.now_ticks() >= self.timer
    }

    /// Cycles until the timer asks for an interrupt.
    pub fn until_interrupt(&self) -> u64 {
        let at = u128::from(self.timer) * u128::from(self.cycles_per_kilotick);
        u64::try_from(at.div_ceil(1000))
            .unwrap_or(u64::MAX)
            .saturating_sub(self.cycles.get())
    }

    fn now_ticks(&self) -> u64 {
        (u128::from(self.cycles.get()) * 1000 / u128::from(self.cycles_per_kilotick)) as u64
    }
}

impl Machine for Simulated {
    const NEW: Simulated = Simulated {
        cycles: Cell::new(12_345),
        reading: 7,
        cycles_per_kilotick: 100_000,
        timer: u64::MAX,
        settings: 0,
        counters: Counters::new(),
    };

    fn cycles(&self) -> u64 {
        self.cycles.get()
    }

    fn ticks(&self) -> u64 {
        self.pass(self.reading);
        self.now_ticks()
    }

    fn set_timer(&mut self, tick: u64) {
        self.timer = tick;
        self.settings += 1;
    }

    fn counters(&self) -> &Counters {
        &self.counters
    }
}

/// A scheduler on the simulated processor, started: idle and init are ready, and init runs.
pub fn started<P: Policy>(cycles_per_kilotick: u64) -> Box<Scheduler<P, Simulated>> {
    let mut scheduler = Box::new(Scheduler::<P, Simulated>::NEW);
    scheduler.machine.cycles_per_kilotick = cycles_per_kilotick;
    let next = scheduler.start(INIT, IDLE.into(), TIMEBASE);
    assert_eq!((next.thread(), next.result()), (INIT.into(), 0));
    scheduler.machine.reading = 0;
    assert_eq!(scheduler.threads[INIT].home, role::INIT as u8);
    scheduler
}

/// Threads of a queue, first one first; fails if its links are not a circle.
pub fn members<P, M>(scheduler: &Scheduler<P, M>, queue: crate::Queue) -> Vec<u8> {
    let Some(first) = queue.first() else {
        return Vec::new();
    };
    let mut list = vec![first];
    let mut thread = scheduler.threads[first].next;
    while thread != first {
        assert!(
            list.len() < 256,
            "the queue of thread {first} is not a circle: {list:?}"
        );
        list.push(thread);
        thread = scheduler.threads[thread].next;
    }
    for (index, &thread) in list.iter().enumerate() {
        let before = list[(index + list.len() - 1) % list.len()];
        assert_eq!(
            scheduler.threads[thread].previous, before,
            "backward link of thread {thread} in {list:?}"
        );
    }
    list
}

/// Numbers of the threads in a state.
pub fn in_state<P, M>(scheduler: &Scheduler<P, M>, state: State) -> Vec<u8> {
    (0..=255)
        .filter(|&thread| scheduler.threads[thread].state == state)
        .collect()
}

/// Numbers that look random and are the same in every run (xorshift64*).
pub struct Dice(u64);

impl Dice {
    /// A sequence for this seed.
    pub fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % limit
    }
}
