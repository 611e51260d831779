//! `--rtl`: the system on the RTL of a real processor, Rocket, which Verilator simulates cycle by cycle.
//!
//! `model` builds the simulator, `device_tree` describes the machine, `begin` boots in QEMU and takes the machine's
//! memory over, for measurements: booting on RTL takes minutes. Sources and method: `bench/rtl`.

mod begin;
mod device_tree;
mod model;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{bail, Context, Result};

use crate::process;
use crate::report::Report;
use crate::repository::Repository;
use crate::setup::{self, Needs, Purpose};

/// Start of RAM.
const RAM: u64 = 0x8000_0000;
/// The machine's memory in MiB: little, because it is kept in a file between the two machines.
const MEMORY: u64 = 32;
/// The end of RAM is the device tree's.
const DEVICE_TREE: u64 = RAM + (MEMORY << 20) - (2 << 20);
const FIRMWARE_LIMIT: Duration = Duration::from_secs(60);

/// The description of the system that fits the machine.
pub const SYSTEM: &str = "systems/rocket.toml";

/// What a run needs besides nucleus and bundle.
pub struct Machine {
    simulator: PathBuf,
    firmware: PathBuf,
    /// Begin in QEMU.
    begin: bool,
}

/// How a run starts.
pub struct Start {
    /// The simulator, ready to be started.
    pub command: Command,
    /// What the system has said before.
    pub said: Vec<u8>,
}

impl Machine {
    /// Builds what is not built yet.
    pub fn prepare(repository: &Repository, report: &Report, begin: bool) -> Result<Self> {
        let needs = Needs::default().and(Purpose::Run).and(Purpose::C);
        setup::ensure(repository, report, needs.and(Purpose::Rtl))?;
        Ok(Machine {
            simulator: model::ensure(repository, report)?,
            firmware: firmware(repository)?,
            begin,
        })
    }

    /// Gets ready to run `nucleus` with `bundle`; other files go into `folder`.
    pub fn start(&self, nucleus: &Path, bundle: &Path, folder: &Path) -> Result<Start> {
        let bytes = std::fs::metadata(bundle)?.len();
        let place = (DEVICE_TREE - bytes) & !0xfff;
        if place < RAM + (MEMORY << 20) / 2 {
            bail!("the bundle has {bytes} bytes, too many for a machine of {MEMORY} MiB");
        }
        let tree = folder.join("device-tree");
        std::fs::write(&tree, device_tree::write(place, place + bytes)?)?;
        let mut command = Command::new(&self.simulator);
        command.args(["--memory", &MEMORY.to_string()]);
        let load = |address: u64, file: &Path| format!("{address:#x}:{}", file.display());
        if !self.begin {
            command.arg("--device-tree").arg(&tree);
            command.arg("--load").arg(load(place, bundle));
            command.arg(&self.firmware).arg(nucleus);
            return Ok(Start {
                command,
                said: Vec::new(),
            });
        }
        let files = begin::Files {
            firmware: &self.firmware,
            nucleus,
            bundle,
            place,
            tree: &tree,
        };
        let begun = begin::boot(&files, folder)?;
        command.arg("--load").arg(load(RAM, &begun.memory));
        Ok(Start {
            command,
            said: begun.said,
        })
    }
}

/// Assembles the firmware.
fn firmware(repository: &Repository) -> Result<PathBuf> {
    let folder = repository.results("rtl");
    std::fs::create_dir_all(&folder)?;
    let file = folder.join("firmware.elf");
    // Two runs at one time must not see each other's half.
    let part = folder.join(format!("firmware-{}.part", std::process::id()));
    let mut command = Command::new("riscv64-unknown-elf-gcc");
    command.args(["-nostdlib", "-march=rv64imafdc_zicsr", "-mabi=lp64"]);
    command.arg("-Wl,--no-warn-rwx-segments").arg("-T");
    command.arg(repository.path("bench/rtl/firmware.ld"));
    command.arg("-o").arg(&part);
    command.arg(repository.path("bench/rtl/firmware.S"));
    let done = process::capture(&mut command, FIRMWARE_LIMIT)?;
    if !done.status.success() {
        bail!(
            "the firmware of the simulated machine does not build:\n{}",
            done.stderr_text()
        );
    }
    std::fs::rename(&part, &file).with_context(|| format!("cannot write {}", file.display()))?;
    Ok(file)
}
