//! The first part of a run: QEMU boots the system with the machine's own firmware, until the program says that it
//! measures from now on; then the firmware puts the processor's state into RAM, and RAM into a file.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{bail, Context, Result};
use serde_json::json;

use super::{MEMORY, RAM};
use crate::run::Control;

/// Booting takes a second; a busy machine may need many.
const LIMIT: Duration = Duration::from_secs(120);
const TICK: Duration = Duration::from_millis(50);

/// What is booted.
pub struct Files<'a> {
    pub firmware: &'a Path,
    pub nucleus: &'a Path,
    pub bundle: &'a Path,
    /// Physical address of the bundle.
    pub place: u64,
    pub tree: &'a Path,
}

/// What came of it.
pub struct Begun {
    /// All of RAM, as a file.
    pub memory: PathBuf,
    /// What the system has said.
    pub said: Vec<u8>,
}

/// Boots until the program moves on.
pub fn boot(files: &Files<'_>, folder: &Path) -> Result<Begun> {
    let socket = folder.join("begin.sock");
    let mut machine = command(files, &socket)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .context("cannot start QEMU; `pebble doctor` says what is missing")?;
    let output = machine.stdout.take();
    let reader = std::thread::spawn(move || {
        let mut said = Vec::new();
        if let Some(mut output) = output {
            // It ends with the machine; what was read until then is what there is.
            let _ = output.read_to_end(&mut said);
        }
        said
    });
    let memory = folder.join("memory");
    let taken = take_over(&socket, &memory);
    // Fails only when it has ended already.
    let _ = machine.kill();
    machine.wait()?;
    let said = reader.join().unwrap_or_default();
    if let Err(error) = taken {
        bail!(
            "{error:#}; what the system said:\n{}",
            String::from_utf8_lossy(&said)
        );
    }
    Ok(Begun { memory, said })
}

/// The `virt` machine with what is the simulated machine's: firmware, device tree, memory.
fn command(files: &Files<'_>, socket: &Path) -> Command {
    let mut command = Command::new("qemu-system-riscv64");
    command.args(["-machine", "virt", "-m", &MEMORY.to_string()]);
    command.args(["-nographic", "-monitor", "none", "-serial", "stdio"]);
    command.args(["-seed", "1", "-icount", "shift=0,sleep=off"]);
    // The firmware asks for a reset when it is done.
    command.args(["-no-reboot", "-action", "shutdown=pause"]);
    command
        .arg("-qmp")
        .arg(format!("unix:{},server=on,wait=off", socket.display()));
    command.arg("-bios").arg(files.firmware);
    command.arg("-kernel").arg(files.nucleus);
    command.arg("-dtb").arg(files.tree);
    command.arg("-device").arg(format!(
        "loader,file={},addr={:#x},force-raw=on",
        files.bundle.display(),
        files.place
    ));
    command
}

/// Waits until the machine has stopped, and saves its memory.
fn take_over(socket: &Path, memory: &Path) -> Result<()> {
    let end = Instant::now() + LIMIT;
    let mut control = loop {
        match Control::connect(socket) {
            Ok(control) => break control,
            Err(error) if Instant::now() > end => return Err(error),
            Err(_) => std::thread::sleep(TICK),
        }
    };
    loop {
        // A system that has ended on this machine, whose power switch is elsewhere, keeps QEMU too busy to answer.
        let state = control.execute("query-status", json!({})).context(
            "QEMU does not stop: does the program say that it measures (`measure_start`)?",
        )?;
        if state["status"] == "shutdown" {
            break;
        }
        if Instant::now() > end {
            bail!(
                "the program does not say within {} seconds that it measures (`measure_start`)",
                LIMIT.as_secs()
            );
        }
        std::thread::sleep(TICK);
    }
    control.save(RAM, MEMORY << 20, memory)
}
