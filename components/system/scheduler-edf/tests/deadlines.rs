//! Periodic work in simulated time: every deadline is met, and nobody pays for a thread that does too much.

use pebble_abi::errno::Errno;
use scheduler_edf::EarliestDeadline;
use scheduling::simulation::{started, Dice, Simulated, IDLE, INIT};
use scheduling::{Machine, Scheduler, State};

/// Cycles per microsecond on the simulated processor.
const MICROSECOND: u64 = 1_000;
/// Two ticks for setting the timer and the way through the interrupt.
const SLACK: u64 = 2_000;

/// A thread that works for a while in every period.
#[derive(Clone)]
struct Task {
    period: u64,
    budget: u64,
    /// Cycles per job.
    work: u64,
    /// Cycles that the present job still needs.
    left: u64,
    release: u64,
    jobs: u64,
    late: u64,
}

struct World {
    scheduler: Box<Scheduler<EarliestDeadline, Simulated>>,
    running: u8,
    tasks: Vec<Task>,
    /// Cycles that each thread got.
    used: [u64; 256],
}

const FIRST: u8 = 10;

impl World {
    fn new() -> World {
        let scheduler = started::<EarliestDeadline>(100_000);
        World {
            scheduler,
            running: INIT,
            tasks: Vec::new(),
            used: [0; 256],
        }
    }

    fn add(&mut self, thread: u8, priority: u64, period: u64, budget: u64) -> i64 {
        let time = period << 32 | budget;
        let next = self
            .scheduler
            .thread_add(self.running, thread.into(), priority, 9, time);
        assert_eq!(
            next.thread(),
            u64::from(self.running),
            "init has a system priority while it adds threads"
        );
        next.result()
    }

    /// Adds a task whose jobs take `work` cycles.
    fn task(&mut self, period: u64, budget: u64, work: u64) {
        let thread = FIRST + self.tasks.len() as u8;
        assert_eq!(self.add(thread, 10, period, budget), 0);
        let (period, budget) = (period * MICROSECOND, budget * MICROSECOND);
        self.tasks.push(Task {
            period,
            budget,
            work,
            left: work,
            release: 0,
            jobs: 0,
            late: 0,
        });
    }

    /// Init leaves; time passes.
    fn run(&mut self, cycles: u64) {
        let start = self.scheduler.machine.cycles();
        self.tasks.iter_mut().for_each(|task| task.release = start);
        self.running = self.scheduler.thread_exit(INIT).thread() as u8;
        while self.scheduler.machine.cycles() < start + cycles {
            if self.scheduler.machine.interrupts() {
                // The way to the scheduler takes time that no task gets.
                self.scheduler.machine.pass(20);
                self.running = self.scheduler.timer(self.running).thread() as u8;
                continue;
            }
            let mut slice = self.scheduler.machine.until_interrupt().min(100_000);
            let index = self.running.wrapping_sub(FIRST) as usize;
            if let Some(task) = self.tasks.get(index) {
                slice = slice.min(task.left);
            }
            self.scheduler.machine.pass(slice);
            self.used[self.running as usize] += slice;
            let now = self.scheduler.machine.cycles();
            let Some(task) = self.tasks.get_mut(index) else {
                continue;
            };
            task.left -= slice;
            if task.left == 0 {
                task.jobs += 1;
                task.release += task.period;
                task.late += u64::from(now > task.release + SLACK);
                task.left = task.work;
                // Even, because hrtime counts pairs of cycles.
                let until = task.release.div_ceil(2);
                self.running = self.scheduler.sleep(self.running, until).thread() as u8;
            }
        }
    }
}

/// Random sets of tasks that use up to 95 per cent meet every deadline.
#[test]
fn all_deadlines_are_met() {
    for seed in 0..30 {
        let (mut dice, mut world) = (Dice::new(seed), World::new());
        world.scheduler.thread_priority(INIT, 63);
        let mut whole = 0.0;
        for _ in 0..20 {
            let period = 1_000 + dice.below(20_000);
            let budget = (period * (3 + dice.below(30)) / 100).max(50);
            let share = budget as f64 / period as f64;
            if whole + share < 0.949 {
                whole += share;
                // A job uses its budget but for what waking and sleeping cost.
                let work = budget * MICROSECOND - budget * MICROSECOND / 50;
                world.task(period, budget, work);
            }
        }
        assert!(whole > 0.5, "the set is worth testing");
        world.add(5, 20, 0, 0);
        world.run(400_000_000);
        for task in &world.tasks {
            assert!(
                task.jobs >= 400_000_000 / task.period - 1,
                "seed {seed}: {} jobs",
                task.jobs
            );
            assert_eq!(
                task.late, 0,
                "seed {seed}: period {} budget {}",
                task.period, task.budget
            );
        }
        assert_eq!(
            world.used[IDLE as usize], 0,
            "a thread without a budget takes all that is left"
        );
        assert!(
            world.used[5] as f64 > 400_000_000.0 * 0.04,
            "what was not promised is left: {}",
            world.used[5]
        );
    }
}

/// A thread that never stops gets its budget and no more; the others meet their deadlines.
#[test]
fn a_runaway_delays_only_itself() {
    let mut world = World::new();
    world.scheduler.thread_priority(INIT, 63);
    world.task(5_000, 2_000, u64::MAX);
    world.task(10_000, 3_000, 2_900 * MICROSECOND);
    world.task(3_000, 700, 650 * MICROSECOND);
    world.run(300_000_000);
    assert_eq!((world.tasks[1].late, world.tasks[2].late), (0, 0));
    assert!(world.tasks[1].jobs >= 29 && world.tasks[2].jobs >= 99);
    let runaway = world.used[FIRST as usize] as f64 / 300e6;
    assert!(
        (0.39..0.41).contains(&runaway),
        "2 of 5 milliseconds, not {runaway}"
    );
}

/// What cannot be kept is not promised; what a thread gives back can be promised again.
#[test]
fn admission() {
    let mut world = World::new();
    world.scheduler.thread_priority(INIT, 63);
    assert_eq!(world.add(10, 10, 10_000, 5_000), 0);
    assert_eq!(world.add(11, 10, 10_000, 4_500), 0);
    assert_eq!(world.scheduler.policy.promised_millionths() / 1000, 950);
    assert_eq!(world.add(12, 10, 10_000, 50), Errno::Busy.negated() as i64);
    assert_eq!(
        world.scheduler.threads[12].state,
        State::Free,
        "a refused thread is not there"
    );
    assert_eq!(
        world.add(12, 10, 10_000, 10_001),
        Errno::Invalid.negated() as i64
    );
    assert_eq!(
        world.add(12, 10, 10_000, 49),
        Errno::Invalid.negated() as i64
    );
    world.scheduler.thread_stop(INIT, 10);
    world.scheduler.thread_remove(INIT, 10);
    assert_eq!(world.add(12, 10, 10_000, 5_000), 0);
}

/// From priority 48 on a thread comes before every deadline, below it after.
#[test]
fn bands() {
    let mut world = World::new();
    world.scheduler.thread_priority(INIT, 63);
    world.task(10_000, 5_000, u64::MAX);
    world.add(5, 47, 0, 0);
    world.run(1_000);
    assert_eq!(world.running, FIRST, "a deadline comes before priority 47");
    let next = world.scheduler.thread_add(FIRST, 6, 48, 9, 0);
    assert_eq!(next.thread(), 6, "priority 48 comes before a deadline");
}
