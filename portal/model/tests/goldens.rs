//! Golden files: what each kind of portal compiles to, with its cost, for people to read and for tests to hold.
//!
//! `BLESS=1 cargo test -p pebble-portal-model --test goldens` writes them again, and with them the cost table of
//! `docs/reference/portals.md`.

mod support;

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use pebble_portal_spec::portal::{Kind, Name, Target};
use pebble_portal_spec::Specification;
use pebble_portal_verify::decode::{decode, Instruction};

use support::arena;
use support::portals::{make, Portal, Shared};

/// Specifications worth looking at.
const SPECIFICATIONS: &[(&str, &str)] = &[
    ("sm", "the shortest call: shared stack, minimal state"),
    ("smciii", "the paper's call of a trusted server"),
    ("smcwi", "the paper's read and write"),
    ("smcwii", "the same with a word more"),
    ("nmcidt", "the usual call of a core server"),
    ("nmtrrii", "portal_register: two read-only windows"),
    ("nmcri", "the console's output: a read-only window"),
    ("npcii", "a new stack and saved registers"),
    ("npciii", "the paper's call of an untrusted server"),
    ("npcwii", "the same with a window"),
    ("sp=iiiii", "an interposer on the invoker's stack"),
    (
        "nm=",
        "a child's stub of a short circuit or scheduler entry",
    ),
    ("nm=idt", "a child's stub of a core server's call"),
    (
        "np=iiiii",
        "an interposer where stacks would be at one address",
    ),
    ("np=wiiii", "an interposer that passes a window on"),
    ("npcw8", "a window of eight pages"),
    ("nmcW2", "a window that stays open"),
    ("nmcG", "a page given"),
    ("nmcT", "a page taken"),
    ("nmck", "a portal passed as an argument"),
    ("npTkik", "two portals passed, a page taken"),
    ("nmchtd=i", "every letter that is not a window"),
];

/// Specifications whose portals flush, on a processor without ASIDs.
const FLUSHING: &[(&str, &str, &str)] = &[
    (
        "smciii-no-asid",
        "smciii",
        "a call on a processor without ASIDs",
    ),
    (
        "npciii-no-asid",
        "npciii",
        "the same to an untrusted server",
    ),
];

/// All other kinds, by the name of their golden file.
fn others() -> Vec<(&'static str, Kind<'static>, &'static str)> {
    vec![
        (
            "return",
            Kind::Return,
            "slot 0: go on with the return code of the top frame",
        ),
        ("empty", Kind::Empty, "a slot without a portal"),
        ("dead", Kind::Dead, "a portal whose callee died"),
        (
            "get-asid",
            Kind::GetAsid,
            "short circuit: the invoking domain's number",
        ),
        (
            "get-thread",
            Kind::GetThread,
            "short circuit: the thread's number",
        ),
        (
            "hrtime",
            Kind::HighResolutionTime,
            "short circuit: cycles, halved",
        ),
        (
            "time-of-day",
            Kind::TimeOfDay {
                scale: 100,
                offset: 1_000_000_007,
            },
            "short circuit: nanoseconds since 1970",
        ),
        (
            "set-timer",
            Kind::SetTimer,
            "scheduler's short circuit: next timer interrupt",
        ),
        (
            "wait-for-interrupt",
            Kind::WaitForInterrupt,
            "idle's short circuit",
        ),
        (
            "flush-domain",
            Kind::FlushDomain,
            "VM server's short circuit",
        ),
        ("flush-page", Kind::FlushPage, "VM server's short circuit"),
        (
            "flush-instructions",
            Kind::FlushInstructions,
            "portal manager's short circuit",
        ),
        (
            "put-byte",
            Kind::PutByte,
            "core servers' short circuit to the firmware's console",
        ),
        (
            "reset",
            Kind::Reset,
            "portal manager's short circuit: end of the run",
        ),
        (
            "semaphore-wait",
            Kind::SemaphoreWait { index: 5 },
            "P, inline when nothing blocks",
        ),
        (
            "semaphore-post",
            Kind::SemaphorePost { index: 5 },
            "V, inline when nobody waits",
        ),
        (
            "scheduler",
            Kind::Scheduler {
                entry: 0x9_0010_0700,
            },
            "an entry into the scheduler",
        ),
        (
            "scheduler-tail",
            Kind::SchedulerTail {
                entry: 0x9_0010_0700,
            },
            "the dispatcher's jump into the scheduler",
        ),
        ("switch", Kind::Switch, "the scheduler resumes a thread"),
        (
            "interrupt",
            Kind::Interrupt,
            "shared: interrupts, to the dispatcher",
        ),
        ("fault", Kind::Fault, "shared: exceptions, to the VM server"),
        (
            "window-fault",
            Kind::WindowFault,
            "shared: a window's page is absent",
        ),
        (
            "illegal",
            Kind::Illegal,
            "shared: first use of floating point, or an exception",
        ),
        (
            "float-push",
            Kind::FloatPush,
            "shared: live floating-point registers to the invocation stack",
        ),
        (
            "stack-free",
            Kind::StackFree,
            "shared: a stack came back while threads wait for one",
        ),
        ("stack-wait", Kind::StackWait, "shared: no stack is free"),
    ]
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// One golden file: cost, literals, code.
fn golden(name: &str, what: &str, portal: &Portal) -> String {
    let mut text = String::new();
    let report = &portal.report;
    let entry = portal.block.entry;
    let literal =
        |index: usize| (portal.words[index + 1] as u64) << 32 | portal.words[index] as u64;
    let back = (literal(entry - 2) - portal.address) as usize / 4;
    let _ = writeln!(text, "{name}: {what}");
    let _ = writeln!(text, "words {}, of these literals {}", report.words, entry);
    let _ = writeln!(text, "call: at most {} instructions", report.call);
    if report.back > 0 {
        let _ = writeln!(text, "return: at most {} instructions", report.back);
    }
    if report.floats {
        let _ = writeln!(
            text,
            "more when the invoker has live floating-point registers: see float-push"
        );
    }
    if report.scheduler {
        let _ = writeln!(text, "may enter the scheduler");
    }
    for index in (0..entry).step_by(2).rev() {
        let offset = 4 * (index as i64 - entry as i64);
        let _ = writeln!(text, "{offset:6}: .dword {:#x}", literal(index));
    }
    for (index, word) in portal.words.iter().enumerate().skip(entry) {
        if index == entry {
            let _ = writeln!(text, "entry:");
        } else if index == back {
            let _ = writeln!(text, "return:");
        }
        let place = 4 * (index - entry);
        let instruction = decode(*word).expect("generated code decodes");
        let _ = match instruction {
            Instruction::Branch { offset, .. } => {
                writeln!(
                    text,
                    "{place:6x}: {instruction} -> {:x}",
                    place as i64 + offset as i64
                )
            }
            _ => writeln!(text, "{place:6x}: {instruction}"),
        };
    }
    text
}

/// Compares a file with what it should hold; writes it when asked to.
fn hold(path: &PathBuf, expected: &str, stale: &mut Vec<String>) {
    if std::env::var_os("BLESS").is_some() {
        fs::write(path, expected).expect("write a golden file");
    } else if fs::read_to_string(path).unwrap_or_default() != expected {
        stale.push(path.display().to_string());
    }
}

#[test]
fn goldens_show_what_is_generated() {
    let shared = Shared::new(true, true);
    let name = Name {
        domain: 7,
        generation: 1,
        slot: 64,
        system: false,
    };
    let mut files = Vec::new();
    let mut table = String::from(
        "| portal | words | call | return | scheduler | what |\n|---|---|---|---|---|---|\n",
    );
    let mut add = |name: &str, what: &str, portal: &Portal| {
        files.push((name.to_string(), golden(name, what, portal)));
        let report = &portal.report;
        let back = if report.back > 0 {
            report.back.to_string()
        } else {
            "-".into()
        };
        let floats = if report.floats { " (f)" } else { "" };
        let scheduler = if report.scheduler { "may enter" } else { "-" };
        let _ = writeln!(
            table,
            "| `{name}` | {} | {}{floats} | {back} | {scheduler} | {what} |",
            report.words, report.call
        );
    };
    let flushing = Shared::new(false, true);
    let with_asids = SPECIFICATIONS
        .iter()
        .map(|(text, what)| (*text, *text, *what, &shared));
    let without = FLUSHING
        .iter()
        .map(|(file, text, what)| (*file, *text, *what, &flushing));
    for (file, text, what, shared) in with_asids.chain(without) {
        let specification = Specification::parse(text.as_bytes()).expect("a valid specification");
        let target = Target {
            domain: arena::domain(arena::CALLEE),
            entry: 0x9_0010_0040,
            stack: 0,
        };
        let kind = Kind::Call {
            specification: &specification,
            target,
            constant: 0x1234_5678,
        };
        let portal = make(&kind, name, &shared.system, arena::CODE_ADDRESS)
            .unwrap_or_else(|o| panic!("{text}: {o}"));
        add(file, what, &portal);
    }
    for (text, kind, what) in others() {
        let portal = make(&kind, name, &shared.system, arena::CODE_ADDRESS)
            .unwrap_or_else(|o| panic!("{text}: {o}"));
        add(text, what, &portal);
    }
    let mut stale = Vec::new();
    let directory = root().join("portal/goldens/riscv64");
    for (name, text) in &files {
        hold(&directory.join(format!("{name}.txt")), text, &mut stale);
    }
    for entry in fs::read_dir(&directory).expect("the folder of goldens") {
        let path = entry.expect("a file").path();
        let known = files.iter().any(|(name, _)| {
            path.file_name()
                .is_some_and(|file| file == format!("{name}.txt").as_str())
        });
        if path.extension().is_some_and(|extension| extension == "txt") && !known {
            stale.push(format!("{} belongs to no portal", path.display()));
        }
    }
    let reference = root().join("docs/reference/portals.md");
    let page = fs::read_to_string(&reference).expect("docs/reference/portals.md");
    let (begin, end) = ("<!-- costs begin -->\n", "<!-- costs end -->");
    let start = page.find(begin).expect("a place for the costs") + begin.len();
    let stop = page.find(end).expect("an end of the costs");
    hold(
        &reference,
        &format!("{}{table}{}", &page[..start], &page[stop..]),
        &mut stale,
    );
    assert!(
        stale.is_empty(),
        "stale, look at them and run with BLESS=1: {stale:#?}"
    );
}
