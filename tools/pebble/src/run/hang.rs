//! Where a run that took too long hangs: what the processor does, and where each thread of the program waits.

use anyhow::Result;
use pebble_abi::{layout, object};
use serde_json::json;

use super::memory::Memory;
use super::outcome::Session;
use super::place::{Places, Spot};
use super::qmp::{self, Control};
use super::records::{Dump, ThreadRecord};
use super::{qemu, Plan};

/// Most frames of one thread in a report.
const DEPTH: usize = 6;

/// The machine, stopped.
struct Snapshot {
    registers: String,
    dump: Option<Dump>,
    memory: Memory,
}

fn snapshot(plan: &Plan, objects: Option<u64>) -> Result<Snapshot> {
    let folder = plan.folder.path();
    let mut control = Control::connect(&folder.join(qemu::CONTROL))?;
    control.execute("stop", json!({}))?;
    let registers = control.registers()?;
    // A system that has not said where its objects are is reported without them.
    let dump = objects.and_then(|physical| {
        let bytes = control
            .memory(physical, object::REGION, &folder.join("objects"))
            .ok()?;
        Some(Dump { physical, bytes })
    });
    let memory = Memory::new(control, folder.join("page"));
    Ok(Snapshot {
        registers,
        dump,
        memory,
    })
}

/// The report.
pub fn report(plan: &Plan, session: &Session<'_>) -> Vec<String> {
    let seconds = plan.timeout.unwrap_or_default().as_secs();
    let what = plan.program.as_deref().unwrap_or("the system");
    let mut lines = vec![match session.program_status() {
        Some(status) => format!("{what} ended with status {status}, but the system did not stop within {seconds} seconds"),
        None => format!("{what} did not end within {seconds} seconds"),
    }];
    if !session.came_up() {
        lines.push("the system said nothing; last words of the firmware:".into());
        lines.extend(
            session
                .last_words()
                .into_iter()
                .map(|line| format!("  {line}")),
        );
    }
    match snapshot(plan, session.objects) {
        Ok(Snapshot {
            registers,
            dump,
            mut memory,
        }) => {
            let mut read = |satp: u64, address: u64| memory.word(satp, address);
            let mut places = Places {
                domains: &session.domains,
                symbols: &plan.symbols,
                read: &mut read,
            };
            lines.extend(processor(&mut places, &registers));
            let threads = dump.map(|dump| dump.threads()).unwrap_or_default();
            lines.extend(of_threads(&mut places, &threads, plan.program.as_deref()));
        }
        Err(error) => lines.push(format!("where it hangs is not known: {error:#}")),
    }
    lines
}

fn processor(places: &mut Places<'_>, registers: &str) -> Option<String> {
    let register = |name: &str| qmp::register(registers, name);
    let (pc, satp) = (register("pc")?, register("satp").unwrap_or(0));
    let domain = satp >> 44 & 0xffff;
    Some(if pc >= layout::PORTAL_CODE {
        format!(
            "  the processor runs portal code for {} (pc {pc:#x})",
            places.name(domain)
        )
    } else if pc < layout::USER_LIMIT && domain != 0 {
        let spot = Spot {
            domain,
            satp,
            pc,
            exact: true,
            sp: register("x2/sp").unwrap_or(0),
            ra: register("x1/ra"),
        };
        format!("  the processor runs {}", places.describe(&spot))
    } else {
        format!(
            "  the processor runs privileged code for {}",
            places.privileged(domain, pc)
        )
    })
}

fn of_threads(
    places: &mut Places<'_>,
    threads: &[ThreadRecord],
    program: Option<&str>,
) -> Vec<String> {
    let mut lines = Vec::new();
    for thread in threads {
        if program.is_none_or(|program| places.name(thread.home) == program) {
            lines.push(of_thread(places, thread));
        }
    }
    lines
}

fn of_thread(places: &mut Places<'_>, thread: &ThreadRecord) -> String {
    let mut text = format!("  thread {} of {}", thread.number, places.name(thread.home));
    let mut callers = thread.frames.iter();
    if thread.running || thread.frames.is_empty() {
        text += &format!(" runs in {}", places.name(thread.domain));
    } else if let Some(top) = callers.next() {
        text += &format!(
            " waits{} in {}",
            places.reason(top),
            places.describe(&top.spot())
        );
    }
    for frame in callers.take(DEPTH) {
        text += &format!(", called from {}", places.describe(&frame.spot()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::records;
    use super::super::symbols::Symbols;
    use super::*;
    use std::collections::BTreeMap;

    fn with<T>(ask: impl FnOnce(&mut Places<'_>) -> T) -> T {
        let symbols = Symbols::new("/nowhere".into(), BTreeMap::new());
        let domains = BTreeMap::from([(9, "hello".to_string()), (3, "scheduler".to_string())]);
        ask(&mut Places {
            domains: &domains,
            symbols: &symbols,
            read: &mut |_, _| None,
        })
    }

    #[test]
    fn a_waiting_thread_is_told_with_what_it_waits_for() {
        let threads = records::tests::sample().threads();
        let lines = |program: &str| with(|places| of_threads(places, &threads, Some(program)));
        assert_eq!(
            lines("hello"),
            ["  thread 5 of hello waits for yield in hello, pc 0x100040"]
        );
        assert_eq!(lines("other"), Vec::<String>::new());
    }

    #[test]
    fn the_processor_is_told_by_the_address_space() {
        let at = |pc: u64| {
            let text = format!(" pc {pc:016x}\n satp 8000900000080400\n");
            with(|places| processor(places, &text)).unwrap_or_default()
        };
        assert_eq!(at(0x10_0010), "  the processor runs hello, pc 0x100010");
        assert!(at(layout::PORTAL_CODE + 8).contains("portal code for hello"));
        assert!(at(layout::NUCLEUS).contains("privileged code for hello"));
    }
}
