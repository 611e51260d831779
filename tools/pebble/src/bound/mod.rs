//! The longest path with interrupts off, proved: from the machine code of scheduler and dispatcher, and from what the
//! verifier counted for portals.
//!
//! Interrupts are off in the trampoline, in portals, in the scheduler and in the dispatcher. A thread that
//! enters the scheduler executes, one after the other: trampoline, the portal that leads there, the scheduler's entry,
//! the gate, the trampoline, the switch. An interrupt executes: trampoline, interrupt portal, dispatcher, trampoline,
//! the tail portal, the scheduler's entry, and on as before. A call that finds no stack and a return that brings one
//! back go through a shared block, and a portal may save floating-point registers on its way. Each part counts as much
//! as its longest path; that they can come together is not asked, so the sum is never too small.

mod flow;
mod graph;
mod image;
mod loops;

use std::path::Path;

use anyhow::{bail, Context, Result};
use pebble_abi::entry::{dispatcher, scheduler};

use crate::build::{self, source};
use crate::report::Report;
use crate::repository::Repository;
use crate::system::{self, Component};
use image::{Image, Leave};
use loops::Loops;

/// Instructions of the gate: it loads a slot and traps.
const GATE: u64 = 2;

/// The parts of the proof, and their sums.
#[derive(Debug)]
pub struct Proof {
    /// Name and number of instructions, in the order in which a report shows them.
    pub parts: Vec<(String, u64)>,
}

impl Proof {
    fn tell(&mut self, name: impl Into<String>, count: u64) -> u64 {
        self.parts.push((name.into(), count));
        count
    }
}

/// A portal as the reference lists it.
struct Cost {
    name: String,
    call: u64,
    back: u64,
    scheduler: bool,
}

/// Proves it for the default system.
pub fn prove(repository: &Repository, report: &Report) -> Result<Proof> {
    let file = repository.default_system();
    let system = system::load(&file, &repository.show(&file), None)?;
    let sources = source::of_system(repository, &system)?;
    let nucleus = build::nucleus(repository, report)?;
    let images = build::components(repository, report, &sources)?;
    let costs = costs(repository)?;
    let mut proof = Proof { parts: Vec::new() };

    let mut none = Loops::read(Path::new("no loops in the trampoline"))?;
    let mut resident = Image::read(&nucleus, 0, Leave::ByRegister)?;
    let trampoline = proof.tell("trampoline", resident.symbol("trampoline", &mut none)?);

    let find = |role: u32| -> Result<&Component> {
        let mut found = system.components.iter().filter(|c| c.role == role);
        found.next().context("a system without its core servers")
    };
    let portal = |name: &str| -> Result<&Cost> {
        let found = costs.iter().find(|cost| cost.name == name);
        found.with_context(|| format!("docs/reference/portals.md: no costs of `{name}`"))
    };
    // The scheduler's own calls are short circuits.
    let short = trampoline + portal("set-timer")?.call;

    let component = find(pebble_abi::object::role::SCHEDULER)?;
    let mut server = Image::read(&images.components[&component.name], short, Leave::Never)?;
    let mut bounds = bounds(repository, component, "components/system/scheduling")?;
    let mut entries = Vec::new();
    for index in 0..server.entries()? {
        // The first call of all measures the clock, before anything depends on interrupts.
        let count = if index == scheduler::START {
            0
        } else {
            let count = server.entry(index, &mut bounds)?;
            proof.tell(format!("scheduler/{}", entry_name(index)), count)
        };
        entries.push(count);
    }
    bounds.complete()?;

    let component = find(pebble_abi::object::role::DISPATCHER)?;
    // The dispatcher leaves by its tail portal; what follows is counted below.
    let mut server = Image::read(&images.components[&component.name], 0, Leave::Never)?;
    let mut bounds = self::bounds(repository, component, &component.path)?;
    let interrupt = server.entry(dispatcher::INTERRUPT, &mut bounds)?;
    bounds.complete()?;
    let dispatcher = proof.tell("dispatcher/interrupt", interrupt);

    let leave = GATE + trampoline + portal("switch")?.call;
    let leave = proof.tell("gate-and-switch", leave);
    let float = portal("float-push")?;
    let float = proof.tell("float-push", float.call + float.back);
    let most = |part: &dyn Fn(&Cost) -> u64| costs.iter().map(part).max().unwrap_or(0);
    let longest = |wanted: &dyn Fn(usize) -> bool| {
        let entries = entries.iter().enumerate();
        let wanted = entries.filter(|(index, _)| wanted(*index));
        wanted.map(|(_, count)| *count).max().unwrap_or(0)
    };
    let only = |entry: usize| longest(&|index| index == entry);
    let from_dispatcher =
        |index: usize| [scheduler::TIMER, scheduler::DEVICE, scheduler::SPURIOUS].contains(&index);
    let paths = [
        (
            "path/portal",
            most(&|cost| cost.call.max(cost.back)) + float,
        ),
        (
            "path/call-without-stack",
            most(&|cost| if cost.scheduler { cost.call } else { 0 })
                + float
                + portal("stack-wait")?.call
                + only(scheduler::STACK_WAIT)
                + leave,
        ),
        (
            "path/return-of-stack",
            most(&|cost| cost.back)
                + float
                + portal("stack-free")?.call
                + only(scheduler::STACK_FREE)
                + leave,
        ),
        (
            "path/semaphore",
            portal("semaphore-wait")?
                .call
                .max(portal("semaphore-post")?.call)
                + only(scheduler::P).max(only(scheduler::V))
                + leave,
        ),
        (
            "path/scheduler",
            portal("scheduler")?.call + longest(&|index| !from_dispatcher(index)) + leave,
        ),
        (
            "path/interrupt",
            portal("interrupt")?.call
                + dispatcher
                + trampoline
                + portal("scheduler-tail")?.call
                + longest(&from_dispatcher)
                + leave,
        ),
    ];
    let mut worst = 0;
    for (name, count) in paths {
        worst = worst.max(proof.tell(name, trampoline + count));
    }
    proof.tell("proved", worst);
    Ok(proof)
}

/// The bounds of a component's loops, which are in `folder`.
fn bounds(repository: &Repository, component: &Component, folder: &str) -> Result<Loops> {
    let own = repository.path(&component.path).join("loops.toml");
    if own.exists() {
        return Loops::read(&own);
    }
    Loops::read(&repository.path(folder).join("loops.toml"))
}

/// Names of the scheduler's entries, for the report.
fn entry_name(index: usize) -> String {
    let names = [
        "start",
        "yield",
        "p",
        "v",
        "sleep",
        "timer",
        "device",
        "spurious",
        "sem-alloc",
        "sem-free",
        "thread-add",
        "thread-exit",
        "thread-stop",
        "thread-continue",
        "thread-remove",
        "stack-wait",
        "stack-free",
        "thread-priority",
        "thread-info",
        "thread-force",
    ];
    let known = names.get(index).map(|name| name.to_string());
    known.unwrap_or_else(|| format!("entry-{index}"))
}

/// The verifier's counts, from the reference, which a test keeps in step with the verifier.
fn costs(repository: &Repository) -> Result<Vec<Cost>> {
    let file = repository.path("docs/reference/portals.md");
    let text = std::fs::read_to_string(&file)
        .with_context(|| format!("cannot read {}", file.display()))?;
    read_costs(&text)
}

fn read_costs(text: &str) -> Result<Vec<Cost>> {
    let count = |text: &str| -> Option<u64> {
        let digits = text.trim_end_matches(" (f)");
        if digits == "-" {
            Some(0)
        } else {
            digits.parse().ok()
        }
    };
    let begun = text.split_once("<!-- costs begin -->");
    let table = begun.and_then(|(_, rest)| rest.split_once("<!-- costs end -->"));
    let (table, _) = table.context("docs/reference/portals.md: no table of costs")?;
    let mut costs = Vec::new();
    for line in table.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let read = || -> Option<Cost> {
            Some(Cost {
                name: cells.get(1)?.trim_matches('`').to_string(),
                call: count(cells.get(3)?)?,
                back: count(cells.get(4)?)?,
                scheduler: *cells.get(5)? != "-",
            })
        };
        match read() {
            Some(cost) => costs.push(cost),
            None => bail!("docs/reference/portals.md: not a line of costs: {line}"),
        }
    }
    if costs.is_empty() {
        bail!("docs/reference/portals.md: no costs");
    }
    Ok(costs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_read_from_the_reference() -> Result<()> {
        let text = "<!-- costs begin -->\n| portal | words | call | return | scheduler | what |\n|---|\n\
                    | `npcii` | 167 | 81 (f) | 62 | may enter | x |\n| `empty` | 6 | 4 | - | - | y |\n\
                    <!-- costs end -->";
        let costs = read_costs(text)?;
        assert_eq!(costs.len(), 2);
        assert_eq!((costs[0].call, costs[0].back), (81, 62));
        assert!(costs[0].scheduler && !costs[1].scheduler);
        assert_eq!((costs[1].call, costs[1].back), (4, 0));
        assert!(read_costs("nothing").is_err());
        Ok(())
    }
}
