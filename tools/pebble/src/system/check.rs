//! From a description to a system: every rule that can be held before anything runs.

mod connections;
mod devices;
mod people;

use std::ops::Range;

use pebble_abi::object::role;
use pebble_abi::{bundle, layout};
use toml::Spanned;

use super::description::{Description, Entry, Program};
use super::diagnostic::{Problem, Source};
use super::model::{Component, Grants, System, ROLES};
use super::units::Memory;

const DEFAULT_QUANTUM: u32 = 10_000;
const DEFAULT_PRIORITY: u32 = 20;
const DEFAULT_PAGES: u32 = 1024;
const PROGRAM_PAGES: u32 = (64 << 20) / layout::PAGE as u32;

/// Collects complaints, so that one build shows all of them.
pub(super) struct Checker<'a> {
    source: &'a Source<'a>,
    problems: Vec<Problem>,
}

impl<'a> Checker<'a> {
    /// Adds a complaint and returns it for a hint.
    fn complain(
        &mut self,
        span: Range<usize>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        let problem = self.source.problem(span, message);
        self.problems.push(problem.hint(hint));
    }

    fn pages(&mut self, memory: &Option<Spanned<Memory>>, default: u32) -> u32 {
        let Some(memory) = memory else { return default };
        memory.get_ref().pages().unwrap_or_else(|why| {
            self.complain(
                memory.span(),
                why,
                "memory = \"256 KiB\", \"16 MiB\", or a number of pages",
            );
            default
        })
    }

    fn words(&mut self, words: &[Spanned<String>]) -> Vec<String> {
        for word in words {
            if word.get_ref().contains('\0') {
                self.complain(
                    word.span(),
                    "a NUL byte",
                    "take it out: arguments are NUL-terminated",
                );
            }
        }
        words.iter().map(|word| word.get_ref().clone()).collect()
    }
}

/// Checks a description.
pub fn check(source: &Source<'_>, raw: Description) -> Result<System, Vec<Problem>> {
    let mut checker = Checker {
        source,
        problems: Vec::new(),
    };
    let quantum = match &raw.system.quantum {
        Some(quantum) if *quantum.get_ref() == 0 => {
            checker.complain(
                quantum.span(),
                "a quantum of nothing",
                "quantum = 10000 (microseconds)",
            );
            DEFAULT_QUANTUM
        }
        Some(quantum) => *quantum.get_ref(),
        None => DEFAULT_QUANTUM,
    };
    if raw.component.len() > layout::MAX_DOMAINS - 2 {
        checker.complain(
            raw.system.name.span(),
            format!(
                "{} components; there are {} domains",
                raw.component.len(),
                layout::MAX_DOMAINS
            ),
            "leave some out, or raise MAX_DOMAINS in abi/src/layout.rs",
        );
    }
    let program = program(&mut checker, &raw.program, quantum);
    let mut components: Vec<Component> = Vec::new();
    for entry in &raw.component {
        let component = component(&mut checker, entry, quantum);
        components.push(component);
    }
    checker.names(&raw.component);
    checker.roles(&raw);
    checker.shell(&raw);
    checker.devices(&raw.component);
    checker.connections(&raw);
    checker.budgets(&raw);
    if !checker.problems.is_empty() {
        return Err(checker.problems);
    }
    // Stable: the others keep the order in which they are described, and so are started.
    components.sort_by_key(|component| match component.role {
        role::ORDINARY => u32::MAX,
        number => number,
    });
    Ok(System {
        name: raw.system.name.into_inner(),
        shell: raw.system.shell.map(Spanned::into_inner),
        program,
        components,
    })
}

fn program(checker: &mut Checker<'_>, raw: &Option<Program>, quantum: u32) -> Grants {
    let Some(raw) = raw else {
        return Grants {
            priority: DEFAULT_PRIORITY,
            memory_pages: PROGRAM_PAGES,
            open: Vec::new(),
            register: Vec::new(),
            decide: Vec::new(),
            quantum,
            budget: 0,
        };
    };
    Grants {
        priority: checker.priority(&raw.priority, role::ORDINARY),
        memory_pages: checker.pages(&raw.memory, PROGRAM_PAGES),
        open: checker.patterns(&raw.open),
        register: checker.patterns(&raw.register),
        decide: checker.patterns(&raw.decide),
        quantum: raw
            .quantum
            .as_ref()
            .map_or(quantum, |value| *value.get_ref()),
        budget: raw.budget.as_ref().map_or(0, |value| *value.get_ref()),
    }
}

fn component(checker: &mut Checker<'_>, entry: &Spanned<Entry>, quantum: u32) -> Component {
    let raw = entry.get_ref();
    let role = checker.role(&raw.role);
    if raw.name.get_ref().len() >= bundle::NAME || !people::is_name(raw.name.get_ref()) {
        checker.complain(
            raw.name.span(),
            format!("`{}` is not a component's name", raw.name.get_ref()),
            format!(
                "letters, digits and `-`, at most {} of them",
                bundle::NAME - 1
            ),
        );
    }
    Component {
        name: raw.name.get_ref().clone(),
        path: raw.path.get_ref().clone(),
        role,
        start: raw.start,
        critical: raw.critical,
        args: checker.words(&raw.args),
        grants: Grants {
            priority: checker.priority(&raw.priority, role),
            memory_pages: checker.pages(&raw.memory, DEFAULT_PAGES),
            open: checker.patterns(&raw.open),
            register: checker.patterns(&raw.register),
            decide: checker.patterns(&raw.decide),
            quantum: raw
                .quantum
                .as_ref()
                .map_or(quantum, |value| *value.get_ref()),
            budget: raw.budget.as_ref().map_or(0, |value| *value.get_ref()),
        },
        devices: checker.device_records(&raw.devices),
        line: checker.source.line(raw.name.span().start),
    }
}

impl Checker<'_> {
    fn priority(&mut self, priority: &Option<Spanned<u32>>, role: u32) -> u32 {
        let idle = role == role::IDLE;
        let Some(priority) = priority else {
            return if idle { 0 } else { DEFAULT_PRIORITY };
        };
        let value = *priority.get_ref();
        // The last one is the portal manager's, for moments in which nothing may change. Scheduler and dispatcher run
        // with interrupts off: theirs is a way to say so.
        let undisturbed = layout::PRIORITIES as u32 - 1;
        let highest = match role {
            role::SCHEDULER | role::DISPATCHER => undisturbed,
            _ => undisturbed - 1,
        };
        if idle && value != 0 {
            self.complain(
                priority.span(),
                "the idle component runs when nothing else does",
                "priority = 0",
            );
        } else if !idle && !(1..=highest).contains(&value) {
            self.complain(
                priority.span(),
                match value == undisturbed {
                    true => format!("priority {value} is the portal manager's own"),
                    false => format!("priority {value} does not exist"),
                },
                format!("1 (lowest) to {highest} (highest); 0 belongs to the idle component"),
            );
        }
        value
    }

    fn role(&mut self, name: &Option<Spanned<String>>) -> u32 {
        let Some(name) = name else {
            return role::ORDINARY;
        };
        if let Some(number) = ROLES.iter().position(|role| role == name.get_ref()) {
            return number as u32;
        }
        self.complain(
            name.span(),
            format!("no role is called `{}`", name.get_ref()),
            format!("one of {}", ROLES.join(", ")),
        );
        role::ORDINARY
    }
}
