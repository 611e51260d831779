//! Runs a command: what it prints, and why it failed.

use alloc::format;
use alloc::string::String;

use pebble::abi::object::info;
use pebble::Error;

use crate::collect::{self, System};
use crate::command::{Command, Subject, Usage, ALL};
use crate::table::Column::Left;
use crate::table::Table;
use crate::{explain, inspect, lists, moment};

/// Runs `command`; answers what to print; an error is what to say instead.
pub fn run(system: &dyn System, command: &Command) -> Result<String, String> {
    let list = |what: &str, found: Result<String, Error>| {
        found.map_err(|error| explain::list(what, error))
    };
    match command {
        Command::Nothing => Ok(String::new()),
        Command::Help(None) => Ok(help()),
        Command::Help(Some(usage)) => Ok(help_about(usage)),
        Command::Components => list("the components", lists::components(system)),
        Command::Domains => list("the domains", lists::domains(system)),
        Command::Threads => list("the threads", lists::threads(system)),
        Command::Names => list("the names", lists::names(system)),
        Command::Memory => list("the memory", lists::memory(system)),
        Command::Portals(None) => list("the portals", lists::portals(system, None)),
        Command::Portals(Some(subject)) => {
            portals(system, subject).map_err(|error| explain::list("the portals", error))?
        }
        Command::Inspect(subject) => {
            inspect::inspect(system, subject).map_err(|error| explain::list("the system", error))?
        }
        Command::Start(name) => match system.start(name) {
            Ok(asid) => Ok(format!("{name} runs in domain {asid}\n")),
            Err(error) => Err(explain::start(name, error)),
        },
        Command::Stop { name, force } => match system.stop(name, *force) {
            Ok(()) => Ok(format!("{name} is stopped\n")),
            Err(error) => Err(explain::stop(name, error)),
        },
        Command::Uptime => list("the time", uptime(system)),
        Command::Date => Ok(moment::date(system.time_of_day()) + "\n"),
        Command::Shutdown(status) => Err(format!(
            "the machine cannot be switched off: {}",
            system.power_off(*status)
        )),
    }
}

fn portals(system: &dyn System, subject: &Subject) -> Result<Result<String, String>, Error> {
    let domains = collect::domains(system)?;
    match inspect::find(&domains, subject) {
        Some(domain) => lists::portals(system, Some(domain)).map(Ok),
        None => Ok(Err(inspect::nothing(
            subject,
            &collect::components(system)?,
        ))),
    }
}

/// The counter is 0 when the machine starts, and the time of day is the counter plus a known offset.
fn uptime(system: &dyn System) -> Result<String, Error> {
    let offset = system.record(info::SYSTEM, 0)?.values[0];
    let passed = system.time_of_day().wrapping_sub(offset);
    Ok(moment::duration(passed) + "\n")
}

fn help() -> String {
    let mut table = Table::new(&[Left("COMMAND"), Left("WHAT IT DOES")]);
    for usage in ALL {
        table.row(&[
            &format!("{} {}", usage.name, usage.arguments),
            &usage.meaning,
        ]);
    }
    table.render("")
        + "Arrow keys recall lines; Control-C drops one, Control-U empties it, Control-D ends the system.\n"
}

fn help_about(usage: &Usage) -> String {
    let mut text = format!("{} {}", usage.name, usage.arguments);
    text.truncate(text.trim_end().len());
    text += &format!(": {}\n", usage.meaning);
    if let Some(alias) = usage.alias {
        text += &format!("`{alias}` is the same\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::parse;
    use crate::fake::Fake;
    use pebble::Errno;

    fn type_in(system: &Fake, line: &str) -> Result<String, String> {
        run(system, &parse(line).unwrap())
    }

    #[test]
    fn help_names_every_command() {
        let text = type_in(&Fake::new(), "help").unwrap();
        for usage in ALL {
            assert!(text.contains(usage.meaning), "{}", usage.name);
        }
        assert_eq!(
            type_in(&Fake::new(), "help names").unwrap(),
            "names: services by name, and who offers them\n`services` is the same\n"
        );
    }

    #[test]
    fn starting_and_stopping_reach_the_system() {
        let system = Fake::new();
        assert_eq!(
            type_in(&system, "start pipe").unwrap(),
            "pipe runs in domain 12\n"
        );
        assert_eq!(
            type_in(&system, "stop -f pipe").unwrap(),
            "pipe is stopped\n"
        );
        type_in(&system, "shutdown 3").unwrap_err();
        assert_eq!(
            *system.done.borrow(),
            ["start pipe", "stop pipe true", "off 3"]
        );
    }

    #[test]
    fn every_refusal_is_explained() {
        for (errno, start, stop) in [
            (
                Errno::NoEntry,
                "there is no component `x`",
                "there is no component `x`",
            ),
            (Errno::Exists, "x runs already", "x is not stopped"),
            (
                Errno::NoSuchProcess,
                "x does not start",
                "x does not run; `start x`",
            ),
            (
                Errno::PermissionDenied,
                "x is a core server",
                "x is a core server",
            ),
            (
                Errno::Busy,
                "x does not start",
                "the system ends with x; `shutdown`",
            ),
            (
                Errno::NoMemory,
                "x does not start: out of memory",
                "x is not stopped: out of memory",
            ),
        ] {
            let mut system = Fake::new();
            system.refuses = Some(errno);
            let started = type_in(&system, "start x").unwrap_err();
            assert!(started.starts_with(start), "{errno:?}: {started}");
            let stopped = type_in(&system, "stop x").unwrap_err();
            assert!(stopped.starts_with(stop), "{errno:?}: {stopped}");
        }
    }

    #[test]
    fn a_system_that_does_not_answer_is_no_empty_list() {
        let mut system = Fake::new();
        system.broken = true;
        for line in [
            "domains",
            "threads",
            "portals",
            "portals 9",
            "names",
            "memory",
            "components",
            "inspect 9",
            "uptime",
        ] {
            let told = type_in(&system, line).unwrap_err();
            assert!(told.starts_with("cannot read the "), "{line}: {told}");
        }
    }

    #[test]
    fn time_is_told() {
        let system = Fake::new();
        assert_eq!(type_in(&system, "uptime").unwrap(), "0:01:01.500\n");
        assert_eq!(
            type_in(&system, "date").unwrap(),
            "1970-01-01 00:02:41 UTC, Thursday\n"
        );
    }

    #[test]
    fn portals_of_what_does_not_run() {
        let told = type_in(&Fake::new(), "portals pipe").unwrap_err();
        assert_eq!(told, "pipe does not run; `start pipe` starts it");
    }
}
