//! `pebble run`: build, boot, run one program (or the shell), and pass on what it says and how it ends.

mod debugger;
mod fault;
mod guest;
mod hang;
mod memory;
mod message;
mod outcome;
mod place;
pub mod qemu;
pub mod qmp;
mod records;
mod serial;
mod symbols;
mod terminal;
mod unwind;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{bail, Context, Result};
use pebble_abi::bundle::{INTERACTIVE, PROGRAM, RUN_PROGRAM, START, VERBOSE};

use crate::arguments;
use crate::build::source::{self, Source};
use crate::build::{self, read_image, record_flags, shell_flags};
use crate::bundle::{self, Packed};
use crate::report::Report;
use crate::repository::Repository;
use crate::rtl;
use crate::setup::{self, Needs, Purpose};
use crate::system::{Component, System};

pub use qmp::Control;
use symbols::Symbols;

/// Time for a program that does not say otherwise.
const DEFAULT_TIMEOUT: u64 = 60;
/// The same on RTL, where booting takes minutes.
const RTL_TIMEOUT: u64 = 3600;

/// Everything that a boot needs.
pub struct Plan {
    /// The nucleus image.
    nucleus: PathBuf,
    /// The bundle, in `folder`.
    bundle: PathBuf,
    /// Name of the program's component; none: the shell.
    program: Option<String>,
    /// Name of the shell's component.
    shell: Option<String>,
    /// Debug information by component name.
    symbols: Symbols,
    /// Core components by domain number: they are there before the first message.
    core: Vec<(u64, String)>,
    /// End after this time.
    timeout: Option<Duration>,
    /// QEMU's options from the command line.
    machine: qemu::Machine,
    /// Not QEMU, but the RTL of a processor.
    rtl: Option<rtl::Machine>,
    /// Holds bundle, sockets and dumps; gone at the end.
    folder: tempfile::TempDir,
}

/// Runs it; the answer is the exit status.
pub fn command(
    repository: &Repository,
    report: &Report,
    mut options: arguments::Run,
) -> Result<u8> {
    if options.rtl && options.system.is_none() {
        options.system = Some(repository.path(rtl::SYSTEM));
    }
    let mut system =
        build::load_system(repository, options.system.as_ref(), options.with.as_ref())?;
    let program = add_program(repository, &mut system, &options)?;
    if program.is_none() && system.shell.is_none() {
        bail!(
            "system `{}` has no shell; name a program, or describe a shell in [system]",
            system.name
        );
    }
    let sources = source::of_system(repository, &system)?;
    let mut needs = Needs::of_sources(sources.values()).and(Purpose::Run);
    if options.gdb {
        needs = needs.and(Purpose::Debug);
    }
    setup::ensure(repository, report, needs)?;
    let nucleus = build::nucleus(repository, report)?;
    let images = build::components(repository, report, &sources)?;
    let folder = tempfile::Builder::new().prefix("pebble-").tempdir()?;
    let bundle = folder.path().join("bundle");
    let bytes = pack(report, &system, program.as_deref(), &images)?;
    std::fs::write(&bundle, bytes).with_context(|| format!("cannot write {}", bundle.display()))?;
    let timeout = match options.timeout {
        Some(seconds) => Some(seconds),
        None if options.rtl => Some(RTL_TIMEOUT),
        None if program.is_some() && !options.gdb => Some(DEFAULT_TIMEOUT),
        None => None,
    };
    let rtl = if options.rtl {
        Some(rtl::Machine::prepare(repository, report, options.begin)?)
    } else {
        None
    };
    let core = system
        .components
        .iter()
        .filter(|component| component.is_core());
    let plan = Plan {
        core: core
            .map(|component| (u64::from(component.role), component.name.clone()))
            .collect(),
        symbols: Symbols::new(nucleus.clone(), images.components),
        nucleus,
        bundle,
        program,
        shell: system.shell.clone(),
        timeout: timeout.map(Duration::from_secs),
        machine: qemu::Machine {
            icount: options.icount,
            gdb: options.gdb,
            accel: options.accel,
            cpu: options.cpu,
            memory: options.memory,
        },
        rtl,
        folder,
    };
    report.clear();
    guest::boot(report, plan)
}

/// Adds the program of the command line to the system; answers its name.
fn add_program(
    repository: &Repository,
    system: &mut System,
    options: &arguments::Run,
) -> Result<Option<String>> {
    let Some(path) = &options.program else {
        if !options.arguments.is_empty() {
            bail!("arguments without a program: `pebble run PROGRAM -- ARG...`");
        }
        return Ok(None);
    };
    // Found out now, so that a wrong path is told before anything is built.
    let source = source::classify(repository, path)?;
    let absolute = path.canonicalize()?;
    let name = program_name(&absolute, &source, system);
    let shell = system.shell.clone();
    system
        .components
        .retain(|component| Some(&component.name) != shell.as_ref());
    system.components.push(Component {
        name: name.clone(),
        path: absolute.display().to_string(),
        role: pebble_abi::object::role::ORDINARY,
        start: true,
        critical: false,
        // The start code of both SDKs puts the component's name before these.
        args: options.arguments.clone(),
        grants: system.program.clone(),
        devices: Vec::new(),
        line: 0,
    });
    Ok(Some(name))
}

/// The file's stem, made into a component's name that no other has.
fn program_name(path: &Path, source: &Source, system: &System) -> String {
    let stem = if matches!(source, Source::Crate { .. }) {
        path.file_name()
    } else {
        path.file_stem()
    };
    let stem = stem
        .map(|stem| stem.to_string_lossy().into_owned())
        .unwrap_or_default();
    let mut name: String = stem
        .chars()
        .map(|letter| {
            if letter.is_ascii_alphanumeric() || letter == '-' || letter == '_' {
                letter
            } else {
                '-'
            }
        })
        .take(pebble_abi::bundle::NAME - 10)
        .collect();
    if name.is_empty() {
        name = "program".into();
    }
    while system
        .components
        .iter()
        .any(|component| component.name == name)
    {
        name += "-program";
        name.truncate(pebble_abi::bundle::NAME - 1);
    }
    name
}

fn pack(
    report: &Report,
    system: &System,
    program: Option<&str>,
    images: &build::Images,
) -> Result<Vec<u8>> {
    let mut packed = Vec::new();
    for component in &system.components {
        let flags = if Some(component.name.as_str()) == program {
            START | PROGRAM
        } else {
            record_flags(component, component.start) | shell_flags(component, system)
        };
        packed.push(Packed {
            component,
            image: read_image(&images.components[&component.name])?,
            flags,
        });
    }
    let mut flags = if program.is_some() {
        RUN_PROGRAM
    } else {
        INTERACTIVE
    };
    if report.verbose() {
        flags |= VERBOSE;
    }
    bundle::write(system, &packed, flags)
}
