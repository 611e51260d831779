//! Two counters that run at different speeds: threads sleep in cycles, the timer is set in timebase ticks.
//!
//! `hrtime` counts cycles (USENIX paper, appendix), so all times here are in cycles; reading that counter is
//! one instruction everywhere, while the timebase costs a trap on some processors. Only [`Clock::arm`]
//! converts. The ratio is measured at the start and again over every long window. An interrupt that comes
//! early finds nobody to wake and sets the timer again: nobody wakes early, whatever the ratio does.

use crate::Machine;

/// Ticks over which the ratio is measured at the start.
const FIRST_WINDOW: u64 = 256;
/// Precision of that: each end is known to a few of the cycles that one reading takes.
const FIRST_PRECISION: u32 = 10;
/// Precision of the later windows, whose ends are known to a tick.
const PRECISION: u32 = 19;
/// Shortest window over which it is measured again.
const WINDOW: u64 = 1 << 20;
/// Longest, so that no product overflows.
const LONGEST: u64 = 1 << 31;
/// Most readings of the timebase while waiting for it to move at the start.
const PATIENCE: u32 = 1 << 20;

/// Relation of the cycle counter to the timebase, and the state of the timer.
#[repr(C)]
pub struct Clock {
    /// When the timer will interrupt, in cycles, as far as the ratio is right.
    pub armed: u64,
    /// Ticks per cycle, times 2^32.
    ticks_per_cycle: u64,
    /// Cycles per tick, times 2^16.
    cycles_per_tick: u64,
    /// The ratio is right to one part in 2 to the power of this.
    precision: u32,
    /// Start of the window that is being measured: cycles, ticks.
    window: (u64, u64),
    /// A tick, and the cycle at which it began, as well as is known.
    anchor: (u64, u64),
    /// Ticks per second.
    timebase: u64,
}

impl Clock {
    /// Before [`Clock::start`].
    pub const NEW: Clock = Clock {
        armed: 0,
        ticks_per_cycle: 0,
        cycles_per_tick: 0,
        precision: 0,
        window: (0, 0),
        anchor: (0, 0),
        timebase: 0,
    };

    /// Measures for the first time. Waits for two edges of the timebase: the one loop without a small bound,
    /// run once, before anything depends on interrupts.
    pub fn start(&mut self, machine: &impl Machine, timebase: u64) {
        self.timebase = timebase;
        self.armed = u64::MAX;
        let before = machine.ticks();
        let first = wait_for_edge(machine, before + 1);
        let last = wait_for_edge(machine, first.1 + FIRST_WINDOW);
        self.window = first;
        self.anchor = last;
        self.measure(last.0, last.1);
        self.precision = FIRST_PRECISION;
    }

    /// Whether an interrupt is due no later than `time`.
    #[inline(always)]
    pub fn covers(&self, time: u64) -> bool {
        self.armed <= time
    }

    /// Sets the timer for `time`; at the end of time: never.
    #[cold]
    #[inline(never)]
    pub fn arm(&mut self, machine: &mut impl Machine, time: u64) {
        self.armed = time;
        if time == u64::MAX {
            machine.set_timer(u64::MAX);
            return;
        }
        let (cycles, ticks) = (machine.cycles(), machine.ticks());
        let elapsed = ticks.wrapping_sub(self.window.1);
        if elapsed >= WINDOW {
            if elapsed <= LONGEST {
                self.measure(cycles, ticks);
                self.precision = PRECISION;
            }
            self.window = (cycles, ticks);
        }
        // Where in the present tick are we? The anchor predicts it, and cannot be off by more than a tick.
        let passed = ticks.wrapping_sub(self.anchor.1) & (LONGEST - 1);
        let tick = self.cycles_per_tick >> 16;
        let predicted = self
            .anchor
            .0
            .saturating_add(passed.saturating_mul(self.cycles_per_tick) >> 16);
        let begun = predicted.clamp(cycles.saturating_sub(tick), cycles);
        self.anchor = (begun, ticks);
        // Rounded down: at most a tick early, which is less than the way from the interrupt to the scheduler. A far
        // time is approached from before, by as much as the ratio may be wrong.
        let distance =
            (u128::from(time.saturating_sub(begun)) * u128::from(self.ticks_per_cycle)) >> 32;
        let distance = u64::try_from(distance).unwrap_or(u64::MAX);
        machine.set_timer(ticks.saturating_add(distance - (distance >> self.precision)));
    }

    /// A length of time in cycles.
    pub fn cycles(&self, microseconds: u32) -> u64 {
        let ticks = u64::from(microseconds) * self.timebase / 1_000_000;
        u64::try_from((u128::from(ticks) * u128::from(self.cycles_per_tick)) >> 16)
            .unwrap_or(u64::MAX)
    }

    fn measure(&mut self, cycles: u64, ticks: u64) {
        let cycles = cycles.wrapping_sub(self.window.0).max(1);
        let ticks = ticks.wrapping_sub(self.window.1).max(1);
        self.ticks_per_cycle = ((ticks << 32) / cycles).max(1);
        self.cycles_per_tick = ((cycles / ticks) << 16) | (((cycles % ticks) << 16) / ticks);
    }
}

/// Waits until the timebase reaches `tick`; answers cycles and ticks then.
fn wait_for_edge(machine: &impl Machine, tick: u64) -> (u64, u64) {
    for _ in 0..PATIENCE {
        let ticks = machine.ticks();
        if ticks >= tick {
            return (machine.cycles(), ticks);
        }
    }
    (machine.cycles(), tick)
}
