//! Where a run that took too long hangs: what the processor does, and where each thread of the program waits.

use std::collections::BTreeMap;

use anyhow::Result;
use pebble_abi::{layout, object, slot};
use serde_json::json;

use super::outcome::Session;
use super::qmp::{self, Control};
use super::records::{Dump, FrameRecord, ThreadRecord};
use super::symbols::Symbols;
use super::{qemu, Plan};

/// Most frames of one thread in a report.
const DEPTH: usize = 6;

/// The machine, stopped.
struct Snapshot {
    registers: String,
    dump: Option<Dump>,
}

fn snapshot(plan: &Plan, objects: Option<u64>) -> Result<Snapshot> {
    let mut control = Control::connect(&plan.folder.path().join(qemu::CONTROL))?;
    control.execute("stop", json!({}))?;
    let registers = control.registers()?;
    let file = plan.folder.path().join("objects");
    // A system that has not said where its objects are is reported without them.
    let dump = objects.and_then(|physical| {
        Some(Dump {
            physical,
            bytes: control.memory(physical, object::REGION, &file).ok()?,
        })
    });
    Ok(Snapshot { registers, dump })
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
        Ok(snapshot) => {
            let where_ = Where {
                domains: &session.domains,
                symbols: &plan.symbols,
            };
            lines.extend(where_.processor(&snapshot.registers));
            if let Some(dump) = &snapshot.dump {
                lines.extend(where_.threads(&dump.threads(), plan.program.as_deref()));
            }
        }
        Err(error) => lines.push(format!("where it hangs is not known: {error:#}")),
    }
    lines
}

/// What names places.
struct Where<'a> {
    domains: &'a BTreeMap<u64, String>,
    symbols: &'a Symbols,
}

impl Where<'_> {
    fn name(&self, domain: u64) -> String {
        self.domains
            .get(&domain)
            .cloned()
            .unwrap_or_else(|| format!("domain {domain}"))
    }

    fn place(&self, domain: u64, look_up: u64, shown: u64) -> String {
        let name = self.name(domain);
        match self.symbols.place(&name, look_up).describe() {
            Some(place) => format!("{name}, {place} (pc {shown:#x})"),
            None => format!("{name}, pc {shown:#x}"),
        }
    }

    fn processor(&self, registers: &str) -> Option<String> {
        let pc = qmp::register(registers, "pc")?;
        let domain = qmp::register(registers, "satp").unwrap_or(0) >> 44 & 0xffff;
        Some(if pc >= layout::PORTAL_CODE {
            format!(
                "  the processor runs portal code for {} (pc {pc:#x})",
                self.name(domain)
            )
        } else if pc < layout::USER_LIMIT && domain != 0 {
            format!("  the processor runs {}", self.place(domain, pc, pc))
        } else {
            self.privileged(domain, pc)
        })
    }

    /// The nucleus or the firmware, at work for a domain.
    fn privileged(&self, domain: u64, pc: u64) -> String {
        let name = self.name(domain);
        match self.symbols.place(&name, pc).describe() {
            Some(place) => {
                format!("  the processor runs privileged code for {name}: {place} (pc {pc:#x})")
            }
            None => format!("  the processor runs privileged code for {name} (pc {pc:#x})"),
        }
    }

    fn threads(&self, threads: &[ThreadRecord], program: Option<&str>) -> Vec<String> {
        let of_program = |thread: &&ThreadRecord| {
            program.is_none_or(|program| self.name(thread.home) == program)
        };
        threads
            .iter()
            .filter(of_program)
            .map(|thread| self.thread(thread))
            .collect()
    }

    fn thread(&self, thread: &ThreadRecord) -> String {
        let mut text = format!("  thread {} of {}", thread.number, self.name(thread.home));
        text += &match thread.frames.first() {
            None => format!(" runs in {}", self.name(thread.domain)),
            Some(_) if thread.running => format!(" runs in {}", self.name(thread.domain)),
            Some(top) => format!(" waits{} in {}", reason(top), self.frame(top)),
        };
        let callers = if thread.running {
            &thread.frames[..]
        } else {
            thread.frames.get(1..).unwrap_or_default()
        };
        for frame in callers.iter().take(DEPTH) {
            text += &format!(", called from {}", self.frame(frame));
        }
        text
    }

    fn frame(&self, frame: &FrameRecord) -> String {
        // A return address belongs to the call before it, which may be the last of its line.
        let look_up = if frame.exact {
            frame.pc
        } else {
            frame.pc.saturating_sub(1)
        };
        self.place(frame.domain, look_up, frame.pc)
    }
}

/// What the thread asked for when it left the domain.
fn reason(frame: &FrameRecord) -> String {
    let standard = slot::STANDARD
        .iter()
        .find(|(_, number, _)| *number as u64 == frame.slot);
    match (standard, frame.slot) {
        (Some((name, _, _)), _) => {
            format!(" for {}", name.trim_start_matches("SYS_").to_lowercase())
        }
        (None, number) if frame.exact && number < slot::EXIT as u64 => String::new(),
        (None, number) => format!(" for portal {number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::records;
    use super::*;

    fn lines(program: &str) -> Vec<String> {
        let symbols = Symbols::new("/nowhere".into(), BTreeMap::new());
        let domains = BTreeMap::from([(9, "hello".to_string()), (3, "scheduler".to_string())]);
        let where_ = Where {
            domains: &domains,
            symbols: &symbols,
        };
        where_.threads(&records::tests::sample().threads(), Some(program))
    }

    #[test]
    fn a_waiting_thread_is_told_with_what_it_waits_for() {
        assert_eq!(
            lines("hello"),
            ["  thread 5 of hello waits for yield in hello, pc 0x100040"]
        );
        assert_eq!(lines("other"), Vec::<String>::new());
    }

    #[test]
    fn the_processor_is_told_by_the_address_space() {
        let symbols = Symbols::new("/nowhere".into(), BTreeMap::new());
        let domains = BTreeMap::from([(9, "hello".to_string())]);
        let where_ = Where {
            domains: &domains,
            symbols: &symbols,
        };
        let at = |pc: u64| {
            where_
                .processor(&format!(" pc {pc:016x}\n satp 8000900000080400\n"))
                .unwrap_or_default()
        };
        assert_eq!(at(0x10_0010), "  the processor runs hello, pc 0x100010");
        assert!(at(layout::PORTAL_CODE + 8).contains("portal code for hello"));
        assert!(at(layout::NUCLEUS).contains("privileged code"));
    }
}
