//! The real disk path: a bare-metal driver, QEMU's virtio-blk device and block layer, and the served disk under it.

mod common;

use std::io::{Error, Result};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::{sector, Disk};
use pebble_store_nbd::{Ending, Plan};
use wait_timeout::ChildExt;

const LIMIT: Duration = Duration::from_secs(30);

/// Compiles the client. The compiler is among those that `./pebble doctor` asks for.
fn client(folder: &Path) -> Result<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/guest");
    let image = folder.join("client.elf");
    let mut command = Command::new("riscv64-unknown-elf-gcc");
    command.args([
        "-march=rv64imac",
        "-mabi=lp64",
        "-mcmodel=medany",
        "-O2",
        "-Wall",
        "-Werror",
    ]);
    command.args([
        "-ffreestanding",
        "-fno-builtin",
        "-nostdlib",
        "-Wl,--build-id=none",
        "-T",
    ]);
    command.arg(source.join("client.ld"));
    command.args([source.join("start.S"), source.join("client.c")]);
    let done = command.arg("-o").arg(&image).output();
    let done = done.map_err(|error| Error::other(format!("riscv64-unknown-elf-gcc: {error}")))?;
    if !done.status.success() {
        return Err(Error::other(String::from_utf8_lossy(&done.stderr)));
    }
    Ok(image)
}

/// Starts a machine whose only disk is the served one.
fn machine(disk: &Disk, script: &str) -> Result<Child> {
    let folder = disk.folder.path();
    let client = client(folder)?;
    let text = folder.join("script");
    std::fs::write(&text, format!("{script}\0"))?;
    let qemu = std::env::var_os("PEBBLE_QEMU").unwrap_or("qemu-system-riscv64".into());
    Command::new(qemu)
        .args([
            "-machine", "virt", "-m", "128", "-display", "none", "-serial", "stdio", "-monitor",
            "none",
        ])
        .args([
            "-no-reboot",
            "-bios",
            "none",
            "-global",
            "virtio-mmio.force-legacy=false",
        ])
        .arg("-kernel")
        .arg(client)
        .args([
            "-device",
            &format!(
                "loader,file={},addr=0x84000000,force-raw=on",
                text.display()
            ),
        ])
        .args([
            "-drive",
            &format!(
                "file={},format=raw,if=none,id=disk,cache=writeback",
                disk.uri
            ),
        ])
        .args(["-device", "virtio-blk-device,drive=disk"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| Error::other(format!("qemu-system-riscv64: {error}")))
}

/// Lets the machine run to the end of its script; gives what it said.
fn run(disk: &Disk, script: &str) -> Result<Vec<String>> {
    let mut machine = machine(disk, script)?;
    let status = machine.wait_timeout(LIMIT)?;
    if status.is_none() {
        machine.kill()?;
    }
    let output = machine.wait_with_output()?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let complaints = String::from_utf8_lossy(&output.stderr).into_owned();
    if status.is_some_and(|status| status.success()) {
        Ok(said.lines().map(str::to_string).collect())
    } else {
        Err(Error::other(format!("{status:?}: {said}{complaints}")))
    }
}

/// Runs the script until the plan cuts the power, then stops the machine too.
fn run_until_cut(disk: Disk, script: &str) -> Result<tempfile::TempDir> {
    let mut machine = machine(&disk, script)?;
    let start = Instant::now();
    while !disk.is_over() && start.elapsed() < LIMIT {
        std::thread::sleep(Duration::from_millis(2));
    }
    machine.kill()?;
    machine.wait()?;
    let (summary, folder) = disk.end()?;
    match summary.ending {
        Ending::Cut(_) => Ok(folder),
        Ending::Left => Err(Error::other(format!("no cut: {summary:?}"))),
    }
}

#[test]
fn flushed_data_survives_a_cut_and_order_is_not_promised() -> Result<()> {
    let mut outcomes = [0; 3];
    for seed in 0..8 {
        // Two writes and a flush are four events; the cut comes with the third write after it.
        let plan = Plan {
            cut_after: Some(7),
            seed,
            ..Plan::default()
        };
        let disk = Disk::serve(2048, plan)?;
        let folder = run_until_cut(disk, "w 0 1 w 8 1 a f w 8 2 a w 16 2 a w 24 2 a q")?;
        assert_eq!(sector(folder.path(), 0)?, [1; 512], "seed {seed}: flushed");
        let later = [8, 16, 24].map(|number| sector(folder.path(), number));
        let later = later.into_iter().collect::<Result<Vec<_>>>()?;
        assert!(
            later[0].iter().all(|byte| [1, 2].contains(byte)),
            "seed {seed}: flushed, then written"
        );
        let new = later
            .iter()
            .map(|bytes| *bytes == [2; 512])
            .collect::<Vec<_>>();
        outcomes[0] += u32::from(new.contains(&false));
        outcomes[1] += u32::from(new.contains(&true));
        outcomes[2] += u32::from(matches!(new[..], [false, .., true] | [_, false, true]));
        // The image starts again, in a machine that reads what is left.
        let again = Disk::again(folder, Plan::default())?;
        let said = run(&again, "r 0 r 8 q")?;
        assert_eq!(said[0], "read 0 1");
        assert!(
            ["read 8 1", "read 8 2", "read 8 mixed"].contains(&said[1].as_str()),
            "{said:?}"
        );
        assert_eq!(again.end()?.0.ending, Ending::Left);
    }
    assert!(
        outcomes.iter().all(|count| *count > 0),
        "lost, kept, out of order: {outcomes:?}"
    );
    Ok(())
}

#[test]
fn flush_errors_reach_the_guest_and_later_flushes_do_not_mend_them() -> Result<()> {
    let mut lost = 0;
    for seed in 0..6 {
        let plan = Plan {
            failing_flushes: vec![2],
            cut_at_end: true,
            seed,
            ..Plan::default()
        };
        let disk = Disk::serve(2048, plan)?;
        let said = run(&disk, "w 0 1 a f w 8 2 a f w 16 3 a f r 8 q")?;
        assert_eq!(said, ["flush 0", "flush 1", "flush 0", "read 8 2", "done"]);
        let (_, folder) = disk.end()?;
        assert_eq!(sector(folder.path(), 0)?, [1; 512]);
        assert_eq!(sector(folder.path(), 16)?, [3; 512]);
        lost += u32::from(sector(folder.path(), 8)? == [0; 512]);
    }
    assert!(lost > 0, "what the failed flush covered was never lost");
    Ok(())
}

#[test]
fn many_requests_in_flight_are_answered_in_any_order() -> Result<()> {
    let plan = Plan {
        held_back: 8,
        seed: 5,
        ..Plan::default()
    };
    let disk = Disk::serve(2048, plan)?;
    let writes: String = (0..64)
        .map(|number| format!("w {} {} ", number * 16, number + 1))
        .collect();
    let said = run(&disk, &format!("{writes} a f r 0 r 1008 q"))?;
    assert_eq!(said, ["flush 0", "read 0 1", "read 1008 64", "done"]);
    let (summary, folder) = disk.end()?;
    assert_eq!((summary.writes, summary.ending), (64, Ending::Left));
    for number in 0..64 {
        assert_eq!(sector(folder.path(), number * 16)?, [number as u8 + 1; 512]);
    }
    Ok(())
}
