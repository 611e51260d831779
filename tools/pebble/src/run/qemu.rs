//! The QEMU command line.

use std::path::Path;
use std::process::Command;

use crate::toolchain::find_program;

/// Choices of the command line.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    /// Deterministic virtual time.
    pub icount: bool,
    /// Wait for a debugger.
    pub gdb: bool,
    /// Accelerator.
    pub accel: Option<String>,
    /// Processor.
    pub cpu: Option<String>,
    /// MiB.
    pub memory: Option<u32>,
}

/// Socket of QEMU's control connection.
pub const CONTROL: &str = "qmp.sock";
/// Socket of the debugger.
pub const DEBUGGER: &str = "gdb.sock";

/// Memory of the machine in MiB.
const MEMORY: u32 = 128;

/// The whole command. `PEBBLE_QEMU` names another program in QEMU's place: tests replay recorded runs with it.
pub fn command(machine: &Machine, nucleus: &Path, bundle: &Path, folder: &Path) -> Command {
    let stand_in = std::env::var_os("PEBBLE_QEMU");
    let program = stand_in.unwrap_or_else(|| "qemu-system-riscv64".into());
    // However this process ends, even by SIGKILL, no machine may be left running.
    let mut command = if find_program("setpriv").is_some() {
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL", "--"]).arg(program);
        command
    } else {
        Command::new(program)
    };
    command.args([
        "-machine",
        "virt",
        "-m",
        &machine.memory.unwrap_or(MEMORY).to_string(),
        "-nographic",
        "-no-reboot",
        "-seed",
        "1",
    ]);
    command.args(["-global", "virtio-mmio.force-legacy=false"]);
    // Plain standard streams: the usual monitor behind Ctrl-A would take bytes away from the guest.
    command.args([
        "-monitor",
        "none",
        "-chardev",
        "stdio,id=console,signal=off",
        "-serial",
        "chardev:console",
    ]);
    command.arg("-qmp").arg(socket(&folder.join(CONTROL)));
    command
        .arg("-kernel")
        .arg(nucleus)
        .arg("-initrd")
        .arg(bundle);
    if machine.icount {
        command.args(["-icount", "shift=0,sleep=off"]);
        // The time of day too: how it is read depends on it.
        command.args(["-rtc", "base=2026-01-01,clock=vm"]);
    }
    if let Some(accel) = &machine.accel {
        command.args(["-accel", accel]);
    }
    if let Some(cpu) = &machine.cpu {
        command.args(["-cpu", cpu]);
    }
    if machine.gdb {
        command
            .arg("-S")
            .arg("-gdb")
            .arg(socket(&folder.join(DEBUGGER)));
    }
    command
}

fn socket(path: &Path) -> String {
    format!("unix:{},server=on,wait=off", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::describe;

    #[test]
    fn options_reach_the_command_line() {
        let machine = Machine {
            icount: true,
            gdb: true,
            accel: Some("tcg".into()),
            cpu: Some("rv64,sstc=false".into()),
            memory: Some(64),
        };
        let line = describe(&command(
            &machine,
            Path::new("/n"),
            Path::new("/b"),
            Path::new("/t"),
        ));
        for part in [
            "-kernel /n -initrd /b",
            "-icount shift=0,sleep=off",
            "-accel tcg",
            "-S -gdb unix:/t/gdb.sock",
            "-seed 1",
            "-m 64 ",
            "-cpu rv64,sstc=false",
        ] {
            assert!(line.contains(part), "{part} in {line}");
        }
        let plain = describe(&command(
            &Machine::default(),
            Path::new("/n"),
            Path::new("/b"),
            Path::new("/t"),
        ));
        assert!(plain.contains("-m 128 ") && !plain.contains("-cpu"));
        assert!(!plain.contains("icount") && !plain.contains("gdb") && !plain.contains("accel"));
    }
}
