//! Who is in the system: names, roles, the shell, shares of the processor.

use std::collections::HashMap;

use pebble_abi::object::role;
use toml::Spanned;

use super::super::description::{Description, Entry};
use super::super::model::ROLES;
use super::Checker;

/// Admission limit of the deadline scheduler, in thousandths of the processor.
const MOST_RESERVED: u64 = 950;

/// Whether a component may have this name.
pub fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_')
}

impl Checker<'_> {
    /// No two components have one name.
    pub(super) fn names(&mut self, entries: &[Spanned<Entry>]) {
        let mut seen: HashMap<&str, usize> = HashMap::new();
        for entry in entries {
            let name = &entry.get_ref().name;
            let line = self.source.line(name.span().start);
            if let Some(first) = seen.insert(name.get_ref(), line) {
                self.complain(
                    name.span(),
                    format!(
                        "a component `{}` is already on line {first}",
                        name.get_ref()
                    ),
                    "give each component its own name; several may share one path",
                );
            }
        }
    }

    /// Each core role is filled exactly once, the name server's at most once.
    pub(super) fn roles(&mut self, raw: &Description) {
        for (number, role_name) in ROLES.iter().enumerate().skip(1) {
            let named: Vec<&Spanned<String>> = raw
                .component
                .iter()
                .filter_map(|entry| entry.get_ref().role.as_ref())
                .filter(|role| role.get_ref() == role_name)
                .collect();
            if named.is_empty() && number as u32 != role::NAME_SERVER {
                self.complain(
                    raw.system.name.span(),
                    format!("no component has the role `{role_name}`"),
                    format!(
                        "every system needs one: role = \"{role_name}\" (see systems/minimal.toml)"
                    ),
                );
            }
            if let Some(second) = named.get(1) {
                let first = self.source.line(named[0].span().start);
                self.complain(
                    second.span(),
                    format!("the role `{role_name}` is already taken on line {first}"),
                    "describe one component for each role; another system description can choose the other",
                );
            }
        }
        for entry in raw.component.iter().map(Spanned::get_ref) {
            if entry.role.is_some() && !entry.start {
                self.complain(
                    entry.name.span(),
                    format!("`{}` has a role but start = false", entry.name.get_ref()),
                    "components with a role are always started: take out `start`",
                );
            }
        }
    }

    /// The shell is a component of this system.
    pub(super) fn shell(&mut self, raw: &Description) {
        let Some(shell) = &raw.system.shell else {
            return;
        };
        let names: Vec<&str> = raw
            .component
            .iter()
            .map(|entry| entry.get_ref().name.get_ref().as_str())
            .collect();
        if !names.contains(&shell.get_ref().as_str()) {
            self.complain(
                shell.span(),
                format!(
                    "the shell `{}` is not a component of this system",
                    shell.get_ref()
                ),
                format!("one of {}", names.join(", ")),
            );
        }
    }

    /// Reserved time fits into the processor.
    pub(super) fn budgets(&mut self, raw: &Description) {
        let mut reserved = 0;
        let components = raw.component.iter().map(|entry| {
            let entry = entry.get_ref();
            (&entry.quantum, &entry.budget)
        });
        let program = raw
            .program
            .iter()
            .map(|program| (&program.quantum, &program.budget));
        for (period, budget) in components.chain(program) {
            let Some(budget) = budget.as_ref().filter(|budget| *budget.get_ref() != 0) else {
                continue;
            };
            let period = match period {
                Some(period) if *period.get_ref() >= *budget.get_ref() => *period.get_ref(),
                _ => {
                    self.complain(
                        budget.span(),
                        "a budget needs a period that is not shorter",
                        "period = 10000 and budget = 2000 (microseconds)",
                    );
                    continue;
                }
            };
            reserved += u64::from(*budget.get_ref()) * 1000 / u64::from(period);
            if reserved > MOST_RESERVED {
                self.complain(
                    budget.span(),
                    format!(
                        "budgets up to here add up to {}.{} % of the processor",
                        reserved / 10,
                        reserved % 10
                    ),
                    "at most 95 % can be reserved: lower a budget or lengthen a period",
                );
            }
        }
    }
}
