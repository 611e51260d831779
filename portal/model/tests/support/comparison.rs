//! Cases with what the model says about each, run in batches.

use pebble_portal_model::{Machine, World};

use super::emulator::{differences, Case, Emulator, BATCH};

/// Collects cases; runs them when there are enough.
pub struct Comparison<'a> {
    emulator: &'a Emulator,
    cases: Vec<(String, Case, Machine)>,
    pub compared: usize,
}

impl<'a> Comparison<'a> {
    pub fn new(emulator: &'a Emulator) -> Self {
        Comparison {
            emulator,
            cases: Vec::new(),
            compared: 0,
        }
    }

    /// The thread of `before` traps into the portal at `entry`; answers what the model makes of it.
    pub fn add(
        &mut self,
        label: String,
        world: &World<'_>,
        before: Machine,
        code: &[u32],
        entry: u64,
    ) -> Machine {
        let mut after = before.clone();
        world.enter(&mut after, entry);
        let code = code.to_vec();
        let case = Case {
            before,
            code,
            entry,
        };
        self.cases.push((label, case, after.clone()));
        if self.cases.len() == BATCH {
            self.run();
        }
        after
    }

    /// Runs what was collected and compares.
    pub fn run(&mut self) {
        let taken = std::mem::take(&mut self.cases);
        let (labels, cases): (Vec<_>, Vec<_>) = taken
            .into_iter()
            .map(|(label, case, after)| ((label, after), case))
            .unzip();
        for ((label, after), outcome) in labels.iter().zip(self.emulator.run(&cases)) {
            let found = differences(after, &outcome);
            assert!(found.is_empty(), "{label}:\n  {}", found.join("\n  "));
            self.compared += 1;
        }
    }
}
