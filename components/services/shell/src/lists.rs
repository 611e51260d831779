//! The lists: components, domains, threads, portals, names, memory.

use alloc::format;
use alloc::string::{String, ToString};

use pebble::abi::layout::PAGE;
use pebble::abi::object::{info, InfoRecord};
use pebble::abi::semaphore;
use pebble::abi::slot::STANDARD;
use pebble::Error;

use crate::collect::{self, Semaphores, System};
use crate::records::{Action, Domain, Portal, Thread};
use crate::table::Column::{Left, Right};
use crate::table::Table;

/// A domain in words: its component's name, with the number where the name alone could be another's.
pub fn domain_name(domains: &[Domain], asid: usize) -> String {
    match domains.iter().find(|domain| domain.asid == asid) {
        // Threads may still be on their way out.
        None => format!("domain {asid}, ended"),
        Some(domain) => {
            let twice = domains
                .iter()
                .filter(|other| other.name == domain.name)
                .count()
                > 1;
            if twice {
                format!("{} ({asid})", domain.name)
            } else {
                domain.name.clone()
            }
        }
    }
}

/// Pages in KiB or MiB.
fn amount(pages: u64) -> String {
    let kibibytes = pages * PAGE / 1024;
    if kibibytes >= 10 * 1024 {
        format!("{} MiB", kibibytes / 1024)
    } else {
        format!("{kibibytes} KiB")
    }
}

/// `components`.
pub fn components(system: &dyn System) -> Result<String, Error> {
    let mut table = Table::new(&[
        Left("NAME"),
        Right("DOMAIN"),
        Right("PRIORITY"),
        Right("MOST PAGES"),
        Left("STARTED"),
    ]);
    for component in collect::components(system)? {
        let domain = component.domain.map_or("-".into(), |asid| asid.to_string());
        let (priority, kind) = (component.priority, component.kind());
        table.row(&[&component.name, &domain, &priority, &component.pages, &kind]);
    }
    Ok(table.render(""))
}

/// `domains`.
pub fn domains(system: &dyn System) -> Result<String, Error> {
    let mut table = Table::new(&[
        Right("DOMAIN"),
        Left("NAME"),
        Right("PARENT"),
        Right("THREADS"),
        Right("PORTALS"),
        Right("PAGES"),
        Right("LIMIT"),
    ]);
    let threads = collect::threads(system)?;
    for domain in collect::domains(system)? {
        let at_home = threads.iter().filter(|thread| thread.home == domain.asid);
        let dash = |number: u64| {
            if number == 0 {
                "-".into()
            } else {
                number.to_string()
            }
        };
        table.row(&[
            &domain.asid,
            &domain.name,
            &dash(domain.parent as u64),
            &at_home.count(),
            &domain.portals,
            &domain.pages,
            &dash(domain.limit),
        ]);
    }
    Ok(table.render(""))
}

/// What the semaphores are for that exist from the start, by their numbers in `abi::semaphore`.
const CORE_SEMAPHORES: [&str; semaphore::INITIAL.len()] = {
    let mut meanings = [""; semaphore::INITIAL.len()];
    meanings[semaphore::PORTAL_MANAGER_LOCK] = "portal manager's lock";
    meanings[semaphore::VM_LOCK] = "VM server's lock";
    meanings[semaphore::WARDEN] = "work for the stack warden";
    meanings[semaphore::DEATH] = "a death";
    meanings
};

/// What a thread waits for, in words.
pub fn waits_for(thread: &Thread, domains: &[Domain], semaphores: &Semaphores) -> String {
    if let Some(semaphore) = thread.semaphore() {
        match semaphores.owner(semaphore) {
            Some(owner) => format!("semaphore {semaphore} of {}", domain_name(domains, owner)),
            None => match CORE_SEMAPHORES.get(semaphore as usize) {
                Some(meaning) => format!("semaphore {semaphore}: {meaning}"),
                None => format!("semaphore {semaphore}"),
            },
        }
    } else if let Some(asid) = thread.stack_of() {
        format!("a stack of {}", domain_name(domains, asid))
    } else {
        "-".into()
    }
}

/// `threads`.
pub fn threads(system: &dyn System) -> Result<String, Error> {
    let domains = collect::domains(system)?;
    let semaphores = Semaphores::of(system, &domains)?;
    let mut table = Table::new(&[
        Right("THREAD"),
        Left("HOME"),
        Left("EXECUTES IN"),
        Right("PRIORITY"),
        Left("STATE"),
        Left("WAITS FOR"),
    ]);
    for thread in collect::threads(system)? {
        table.row(&[
            &thread.number,
            &domain_name(&domains, thread.home),
            &domain_name(&domains, thread.place),
            &thread.priority,
            &thread.state(),
            &waits_for(&thread, &domains, &semaphores),
        ]);
    }
    Ok(table.render(""))
}

/// What a portal leads to, in words.
pub fn leads_to(portal: &Portal, domains: &[Domain]) -> String {
    match portal.action {
        Action::Call(asid) => domain_name(domains, asid),
        Action::Wait(semaphore) => format!("P on semaphore {semaphore}"),
        Action::Post(semaphore) => format!("V on semaphore {semaphore}"),
        Action::Dead => "nothing: its callee died".into(),
    }
}

/// `portals`: of `wanted`, or of all domains.
pub fn portals(system: &dyn System, wanted: Option<&Domain>) -> Result<String, Error> {
    let domains = collect::domains(system)?;
    let mut table = Table::new(&[
        Left("DOMAIN"),
        Right("SLOT"),
        Left("SPECIFICATION"),
        Left("CALLEE"),
        Right("BYTES"),
    ]);
    for domain in &domains {
        if wanted.is_some_and(|wanted| wanted.asid != domain.asid) {
            continue;
        }
        for portal in collect::portals(system, domain)? {
            table.row(&[
                &domain_name(&domains, domain.asid),
                &portal.slot,
                &portal.specification,
                &leads_to(&portal, &domains),
                &portal.bytes,
            ]);
        }
    }
    let list = if table.is_empty() {
        String::new()
    } else {
        table.render("")
    };
    Ok(list + &standard_portals())
}

/// The line about portals that have no record.
pub fn standard_portals() -> String {
    format!(
        "besides, each component has the {} standard portals (docs/reference/abi.md)\n",
        STANDARD.len()
    )
}

/// `names`.
pub fn names(system: &dyn System) -> Result<String, Error> {
    let domains = collect::domains(system)?;
    let mut table = Table::new(&[Left("NAME"), Left("SPECIFICATION"), Left("OFFERED BY")]);
    let mut hidden = 0;
    for service in collect::services(system)? {
        match &service.name {
            Some(name) => table.row(&[
                name,
                &service.specification,
                &domain_name(&domains, service.owner),
            ]),
            None => hidden += 1,
        }
    }
    let mut text = table.render("");
    if hidden > 0 {
        text += &format!("and {hidden} whose names are not listed: the name server's own, and what this shell may not open\n");
    }
    Ok(text)
}

/// `memory`.
pub fn memory(system: &dyn System) -> Result<String, Error> {
    let InfoRecord { values, .. } = system.record(info::MEMORY, 0)?;
    let [free, all, code, pool, resident, discarded, portals, _] = values;
    let mut table = Table::new(&[Left("MEMORY"), Right("AMOUNT"), Left("")]);
    table.row(&[
        &"for components",
        &amount(all),
        &format!("{all} pages under the VM server"),
    ]);
    table.row(&[&"of it free", &amount(free), &format!("{free} pages")]);
    table.row(&[
        &"portal code",
        &amount(code.div_ceil(PAGE)),
        &format!("{code} bytes, the standard portals and {portals} others"),
    ]);
    table.row(&[
        &"threads, tables",
        &amount(pool),
        &format!("{pool} pages of nucleus objects"),
    ]);
    table.row(&[
        &"nucleus",
        &amount(resident.div_ceil(PAGE)),
        &format!("{resident} bytes of resident privileged code, portals apart"),
    ]);
    table.row(&[
        &"boot code",
        &amount(discarded),
        &format!("{discarded} pages, discarded when the first domains ran"),
    ]);
    Ok(table.render(""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    #[test]
    fn lists_are_aligned() {
        let system = Fake::new();
        assert_eq!(
            domains(&system).unwrap(),
            "DOMAIN  NAME       PARENT  THREADS  PORTALS  PAGES  LIMIT\n\
             \x20    6  init            -        1        0     40      -\n\
             \x20    9  console         -        1        2     20    256\n\
             \x20   10  shell           -        1        1     30   1024\n\
             \x20   11  heartbeat      10        0        1      8    128\n"
        );
        assert_eq!(
            threads(&system).unwrap(),
            "THREAD  HOME     EXECUTES IN  PRIORITY  STATE    WAITS FOR\n\
             \x20    3  init     init               40  ready    -\n\
             \x20    4  console  console            52  waiting  semaphore 17 of console\n\
             \x20    5  shell    heartbeat          30  stack    a stack of heartbeat\n"
        );
    }

    #[test]
    fn portals_of_one_and_of_all() {
        let system = Fake::new();
        let console = collect::domains(&system).unwrap().remove(1);
        let one = portals(&system, Some(&console)).unwrap();
        assert!(
            one.starts_with(
                "DOMAIN   SLOT  SPECIFICATION  CALLEE             BYTES\n\
             console    64  P              P on semaphore 17    128\n\
             console    70  nmci           init                 640\n"
            ),
            "{one}"
        );
        assert!(!one.contains("heartbeat"));
        let all = portals(&system, None).unwrap();
        assert!(
            all.contains("shell        64  nmcri          console"),
            "{all}"
        );
        assert!(all.contains("nothing: its callee died"), "{all}");
    }

    #[test]
    fn components_and_names() {
        let system = Fake::new();
        let text = components(&system).unwrap();
        assert!(
            text.contains("\nconsole         9        52         256  at boot, critical\n"),
            "{text}"
        );
        assert!(
            text.contains("\npipe            -        30        1024  on demand\n"),
            "{text}"
        );
        assert_eq!(
            names(&system).unwrap(),
            "NAME            SPECIFICATION  OFFERED BY\n\
             /console/read   nmcwi          console\n\
             /console/write  nmcri          console\n\
             and 1 whose names are not listed: the name server's own, and what this shell may not open\n"
        );
    }

    #[test]
    fn memory_in_units_that_fit() {
        let text = memory(&Fake::new()).unwrap();
        assert!(
            text.contains("for components   120 MiB  30720 pages"),
            "{text}"
        );
        assert!(
            text.contains("nucleus            4 KiB  1776 bytes"),
            "{text}"
        );
    }
}
