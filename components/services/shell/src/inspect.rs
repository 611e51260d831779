//! `inspect`: everything about one component.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use pebble::Error;

use crate::collect::{self, Semaphores, System};
use crate::command::Subject;
use crate::lists::{domain_name, leads_to, standard_portals, waits_for};
use crate::records::{Component, Domain};
use crate::table::Column::{Left, Right};
use crate::table::Table;

/// The domain that was meant, among those that are alive.
pub fn find<'a>(domains: &'a [Domain], subject: &Subject) -> Option<&'a Domain> {
    domains.iter().find(|domain| match subject {
        Subject::Name(name) => domain.name == *name,
        Subject::Number(asid) => domain.asid == *asid,
    })
}

/// Why there is nothing to show.
pub fn nothing(subject: &Subject, components: &[Component]) -> String {
    match subject {
        Subject::Number(asid) => format!("there is no domain {asid}; `domains` lists them"),
        Subject::Name(name) if components.iter().any(|component| component.name == *name) => {
            format!("{name} does not run; `start {name}` starts it")
        }
        Subject::Name(name) => format!("there is no component `{name}`; `components` lists them"),
    }
}

/// Everything about `subject`; an error's text when there is nothing.
pub fn inspect(system: &dyn System, subject: &Subject) -> Result<Result<String, String>, Error> {
    let domains = collect::domains(system)?;
    let components = collect::components(system)?;
    let Some(domain) = find(&domains, subject) else {
        let described = components
            .iter()
            .find(|component| matches!(subject, Subject::Name(name) if component.name == *name));
        return Ok(match described {
            Some(component) => Ok(description(component) + "it does not run\n"),
            None => Err(nothing(subject, &components)),
        });
    };
    let described = components
        .iter()
        .find(|component| component.domain == Some(domain.asid));
    let mut text = match described {
        Some(component) => description(component),
        None => format!(
            "{}: made by {}\n",
            domain.name,
            domain_name(&domains, domain.parent)
        ),
    };
    let limit = match domain.limit {
        0 => String::new(),
        limit => format!(" of at most {limit}"),
    };
    text += &format!(
        "domain {}, use {} of this number: {} pages{limit}, priority {}{}\n",
        domain.asid,
        domain.generation,
        domain.pages,
        domain.priority,
        if domain.critical { ", critical" } else { "" }
    );
    let children: Vec<String> = domains
        .iter()
        .filter(|child| child.parent == domain.asid)
        .map(|child| child.asid.to_string())
        .collect();
    if !children.is_empty() {
        text += &format!("made domains {}\n", children.join(", "));
    }
    text += &threads(system, domain, &domains)?;
    text += &portals(system, domain, &domains)?;
    text += &services(system, domain)?;
    Ok(Ok(text))
}

fn description(component: &Component) -> String {
    let arguments = match component.arguments {
        0 => String::new(),
        1 => ", 1 argument".into(),
        count => format!(", {count} arguments"),
    };
    let devices = match component.devices {
        0 => String::new(),
        1 => ", 1 device".into(),
        count => format!(", {count} devices"),
    };
    format!(
        "{}: {}, priority {}, at most {} pages, image of {} bytes{arguments}{devices}\n",
        component.name,
        component.kind(),
        component.priority,
        component.pages,
        component.image
    )
}

/// Threads that live here, and guests that execute here.
fn threads(system: &dyn System, domain: &Domain, domains: &[Domain]) -> Result<String, Error> {
    let semaphores = Semaphores::of(system, domains)?;
    let mut table = Table::new(&[
        Right("THREAD"),
        Left("HOME"),
        Left("EXECUTES IN"),
        Left("STATE"),
        Left("WAITS FOR"),
        Right("PC"),
        Right("INVOCATION STACK"),
    ]);
    for thread in collect::threads(system)? {
        if thread.home != domain.asid && thread.place != domain.asid {
            continue;
        }
        table.row(&[
            &thread.number,
            &domain_name(domains, thread.home),
            &domain_name(domains, thread.place),
            &thread.state(),
            &waits_for(&thread, domains, &semaphores),
            &format!("{:#x}", thread.pc),
            &format!("{} bytes", thread.depth),
        ]);
    }
    Ok(if table.is_empty() {
        "no thread lives or executes here: its portals are entered by others\n".into()
    } else {
        table.render("")
    })
}

fn portals(system: &dyn System, domain: &Domain, domains: &[Domain]) -> Result<String, Error> {
    let mut table = Table::new(&[
        Right("SLOT"),
        Left("SPECIFICATION"),
        Left("CALLEE"),
        Right("BYTES"),
    ]);
    for portal in collect::portals(system, domain)? {
        table.row(&[
            &portal.slot,
            &portal.specification,
            &leads_to(&portal, domains),
            &portal.bytes,
        ]);
    }
    let list = if table.is_empty() {
        String::new()
    } else {
        table.render("")
    };
    Ok(list + &standard_portals())
}

fn services(system: &dyn System, domain: &Domain) -> Result<String, Error> {
    let mut table = Table::new(&[Left("OFFERS"), Left("SPECIFICATION")]);
    for service in collect::services(system)? {
        if service.owner == domain.asid {
            let name = service
                .name
                .as_deref()
                .unwrap_or("(a name that is not listed)");
            table.row(&[&name, &service.specification]);
        }
    }
    Ok(if table.is_empty() {
        String::new()
    } else {
        table.render("")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    fn text(subject: Subject) -> Result<String, String> {
        inspect(&Fake::new(), &subject).unwrap()
    }

    #[test]
    fn by_name_and_by_number_it_is_the_same() {
        let text = text(Subject::Name("console".into()));
        assert_eq!(text, super::tests::text(Subject::Number(9)));
        let text = text.unwrap();
        for part in [
            "console: at boot, critical, priority 52, at most 256 pages, image of 4096 bytes, 1 device\n",
            "domain 9, use 3 of this number: 20 pages of at most 256, priority 52, critical\n",
            "semaphore 17 of console  0x1234         144 bytes\n",
            "  64  P              P on semaphore 17    128\n",
            "/console/read   nmcwi\n",
        ] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
    }

    #[test]
    fn a_child_names_its_parent_and_a_visiting_thread_is_seen() {
        let text = text(Subject::Number(11)).unwrap();
        assert!(text.contains("heartbeat: made by shell\n"), "{text}");
        assert!(text.contains("     5  shell  heartbeat    stack"), "{text}");
    }

    #[test]
    fn what_does_not_run_is_described_and_what_is_not_there_is_told() {
        assert!(text(Subject::Name("pipe".into()))
            .unwrap()
            .ends_with("it does not run\n"));
        assert_eq!(
            text(Subject::Name("nobody".into())),
            Err("there is no component `nobody`; `components` lists them".into())
        );
        assert_eq!(
            text(Subject::Number(99)),
            Err("there is no domain 99; `domains` lists them".into())
        );
    }
}
