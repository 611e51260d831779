//! Commands: what can be typed, and what was meant.

use core::fmt;

use alloc::borrow::ToOwned;
use alloc::string::String;

/// A component or domain, as it was typed: a name, or a domain's number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A component's name.
    Name(String),
    /// A domain's number.
    Number(usize),
}

impl Subject {
    fn parse(word: &str) -> Self {
        match word.parse() {
            Ok(number) => Subject::Number(number),
            Err(_) => Subject::Name(word.to_owned()),
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::Name(name) => formatter.write_str(name),
            Subject::Number(number) => write!(formatter, "{number}"),
        }
    }
}

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Nothing was typed.
    Nothing,
    /// List the commands, or explain one.
    Help(Option<&'static Usage>),
    /// List the components of the description.
    Components,
    /// List domains.
    Domains,
    /// List threads.
    Threads,
    /// List portals of one domain, or of all.
    Portals(Option<Subject>),
    /// List services by name.
    Names,
    /// Show what memory is used for.
    Memory,
    /// Show everything about a component.
    Inspect(Subject),
    /// Start a component.
    Start(String),
    /// Stop a component.
    Stop {
        /// Its name.
        name: String,
        /// Even if the system ends with it.
        force: bool,
    },
    /// How long the machine has been running.
    Uptime,
    /// The time of day.
    Date,
    /// End the system.
    Shutdown(u8),
}

/// How a command is typed.
#[derive(Debug, PartialEq, Eq)]
pub struct Usage {
    /// Its name.
    pub name: &'static str,
    /// Another name.
    pub alias: Option<&'static str>,
    /// Its arguments.
    pub arguments: &'static str,
    /// What it does.
    pub meaning: &'static str,
}

const fn usage(
    name: &'static str,
    alias: Option<&'static str>,
    arguments: &'static str,
    meaning: &'static str,
) -> Usage {
    Usage {
        name,
        alias,
        arguments,
        meaning,
    }
}

/// All commands, in the order of `help`.
pub const ALL: &[Usage] = &[
    usage(
        "help",
        None,
        "[COMMAND]",
        "list the commands, or explain one",
    ),
    usage(
        "components",
        None,
        "",
        "the components of the system description, and which of them run",
    ),
    usage(
        "domains",
        None,
        "",
        "protection domains with their threads, portals and memory",
    ),
    usage(
        "threads",
        None,
        "",
        "threads: whose they are, where they execute, what they wait for",
    ),
    usage(
        "portals",
        None,
        "[NAME|DOMAIN]",
        "portals in one domain's table, or in all",
    ),
    usage(
        "names",
        Some("services"),
        "",
        "services by name, and who offers them",
    ),
    usage("memory", None, "", "what memory is used for"),
    usage(
        "inspect",
        None,
        "NAME|DOMAIN",
        "everything about one component",
    ),
    usage(
        "start",
        None,
        "NAME",
        "start a component of the system description",
    ),
    usage(
        "stop",
        None,
        "[-f] NAME",
        "end a component; -f even if the system ends with it",
    ),
    usage("uptime", None, "", "how long the machine has been running"),
    usage("date", None, "", "the time of day"),
    usage(
        "shutdown",
        Some("exit"),
        "[STATUS]",
        "end the system; `pebble run` exits with STATUS, 0 to 255",
    ),
];

/// Why a line is no command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// No command has this name.
    Unknown(String),
    /// The command needs more, or other, words.
    Wrong {
        /// The command.
        usage: &'static Usage,
        /// What is wrong.
        reason: String,
    },
}

impl fmt::Display for Mistake {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mistake::Unknown(word) => {
                write!(formatter, "unknown command `{word}`; ")?;
                if let Some(meant) = similar(word) {
                    write!(formatter, "did you mean `{}`? ", meant.name)?;
                }
                formatter.write_str("`help` lists all commands")
            }
            Mistake::Wrong { usage, reason } => write!(
                formatter,
                "{}: {reason}; usage: {} {}",
                usage.name, usage.name, usage.arguments
            ),
        }
    }
}

/// The command of this name.
fn find(word: &str) -> Option<&'static Usage> {
    ALL.iter()
        .find(|usage| usage.name == word || usage.alias == Some(word))
}

/// The only command that begins like `word`, at least with two of its letters.
fn similar(word: &str) -> Option<&'static Usage> {
    (2..=word.len()).rev().find_map(|length| {
        let start = word.get(..length)?;
        let mut found = ALL.iter().filter(|usage| usage.name.starts_with(start));
        found.next().filter(|_| found.next().is_none())
    })
}

/// Understands a line.
pub fn parse(line: &str) -> Result<Command, Mistake> {
    let mut words = line.split_whitespace();
    let Some(first) = words.next() else {
        return Ok(Command::Nothing);
    };
    let usage = find(first).ok_or_else(|| Mistake::Unknown(first.to_owned()))?;
    let wrong = |reason: String| Mistake::Wrong { usage, reason };
    let mut force = false;
    let mut argument = None;
    for word in words {
        if word.starts_with('-') && !(usage.name == "stop" && word == "-f") {
            return Err(wrong(alloc::format!("it has no option `{word}`")));
        } else if word == "-f" {
            force = true;
        } else if usage.arguments.is_empty() {
            return Err(wrong(alloc::format!("it takes no arguments, not `{word}`")));
        } else if argument.replace(word).is_some() {
            return Err(wrong(alloc::format!(
                "one argument is enough, `{word}` is too much"
            )));
        }
    }
    let needed =
        || argument.ok_or_else(|| wrong("which component? `components` lists them".to_owned()));
    Ok(match usage.name {
        "components" => Command::Components,
        "domains" => Command::Domains,
        "threads" => Command::Threads,
        "portals" => Command::Portals(argument.map(Subject::parse)),
        "names" => Command::Names,
        "memory" => Command::Memory,
        "inspect" => Command::Inspect(Subject::parse(needed()?)),
        "start" => Command::Start(needed()?.to_owned()),
        "stop" => Command::Stop {
            name: needed()?.to_owned(),
            force,
        },
        "uptime" => Command::Uptime,
        "date" => Command::Date,
        "shutdown" => Command::Shutdown(match argument.map(str::parse) {
            None => 0,
            Some(Ok(status)) => status,
            Some(Err(_)) => {
                return Err(wrong("a status is a number from 0 to 255".to_owned()));
            }
        }),
        _ => Command::Help(match argument {
            None => None,
            Some(word) => Some(find(word).ok_or_else(|| Mistake::Unknown(word.to_owned()))?),
        }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_and_alias_is_understood() {
        for usage in ALL {
            for name in core::iter::once(usage.name).chain(usage.alias) {
                let line = match usage.arguments {
                    "" => name.to_owned(),
                    _ => format!("{name} {}", if usage.name == "help" { "help" } else { "7" }),
                };
                let command = parse(&line);
                assert!(command.is_ok(), "{line}: {command:?}");
                // Nothing but `help` itself may fall through to help.
                assert_eq!(
                    matches!(command, Ok(Command::Help(_))),
                    name == "help",
                    "{line}"
                );
            }
        }
    }

    #[test]
    fn every_command_is_in_the_reference() {
        let reference = include_str!("../../../../docs/reference/shell.md");
        for usage in ALL {
            let mentioned = reference.contains(&format!("`{}", usage.name));
            assert!(
                mentioned,
                "{} is not in docs/reference/shell.md",
                usage.name
            );
        }
    }

    #[test]
    fn arguments_are_names_or_numbers() {
        assert_eq!(parse("  "), Ok(Command::Nothing));
        assert_eq!(parse("portals"), Ok(Command::Portals(None)));
        assert_eq!(
            parse("portals 9"),
            Ok(Command::Portals(Some(Subject::Number(9))))
        );
        assert_eq!(
            parse(" inspect   console "),
            Ok(Command::Inspect(Subject::Name("console".into())))
        );
        let stop = |force| {
            Ok(Command::Stop {
                name: "console".into(),
                force,
            })
        };
        assert_eq!(parse("stop console"), stop(false));
        assert_eq!(parse("stop -f console"), stop(true));
        assert_eq!(parse("stop console -f"), stop(true));
        assert_eq!(parse("shutdown"), Ok(Command::Shutdown(0)));
        assert_eq!(parse("exit 3"), Ok(Command::Shutdown(3)));
    }

    #[test]
    fn mistakes_say_what_was_wrong_and_what_to_try() {
        for (line, told) in [
            (
                "domain",
                "unknown command `domain`; did you mean `domains`? `help` lists all commands",
            ),
            (
                "thraeds",
                "unknown command `thraeds`; did you mean `threads`? `help` lists all commands",
            ),
            ("s", "unknown command `s`; `help` lists all commands"),
            (
                "stxrt",
                "unknown command `stxrt`; `help` lists all commands",
            ),
            ("ls", "unknown command `ls`; `help` lists all commands"),
            (
                "start",
                "start: which component? `components` lists them; usage: start NAME",
            ),
            (
                "stop -f",
                "stop: which component? `components` lists them; usage: stop [-f] NAME",
            ),
            (
                "stop -x a",
                "stop: it has no option `-x`; usage: stop [-f] NAME",
            ),
            (
                "start -f a",
                "start: it has no option `-f`; usage: start NAME",
            ),
            (
                "start a b",
                "start: one argument is enough, `b` is too much; usage: start NAME",
            ),
            (
                "date now",
                "date: it takes no arguments, not `now`; usage: date",
            ),
            (
                "shutdown 256",
                "shutdown: a status is a number from 0 to 255; usage: shutdown [STATUS]",
            ),
            (
                "help me",
                "unknown command `me`; did you mean `memory`? `help` lists all commands",
            ),
        ] {
            match parse(line) {
                Err(mistake) => assert_eq!(mistake.to_string().trim_end(), told, "{line}"),
                Ok(command) => panic!("{line}: {command:?}"),
            }
        }
    }
}
