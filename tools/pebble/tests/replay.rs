//! `pebble run` from end to end, with a script in QEMU's place that replays what a system says.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

type Answer<T> = Result<T, Box<dyn std::error::Error>>;

/// A checkout with nothing in it but what `run` must have: a nucleus that builds, and images that are ready.
struct Checkout {
    folder: tempfile::TempDir,
}

const NUCLEUS: &str = "#![no_std]\n#![no_main]\n#[panic_handler]\nfn panic(_: &core::panic::PanicInfo) -> ! { loop {} }\n";
/// `broken` is on line 2 of the program, `main` on line 3.
const PROGRAM: &str = "int *volatile nowhere;\nint broken(void) { return *nowhere; }\nint main(void) { return broken(); }\n";

impl Checkout {
    fn new() -> Answer<Self> {
        let folder = tempfile::tempdir()?;
        let root = folder.path();
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        std::fs::copy(
            here.join("rust-toolchain.toml"),
            root.join("rust-toolchain.toml"),
        )?;
        std::fs::create_dir_all(root.join("nucleus/src"))?;
        std::fs::create_dir_all(root.join("systems"))?;
        std::fs::write(
            root.join("Cargo.toml"),
            "[workspace]\nresolver = \"2\"\nmembers = [\"nucleus\"]\n",
        )?;
        std::fs::write(
            root.join("nucleus/Cargo.toml"),
            "[package]\nname = \"pebble-nucleus\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
        )?;
        std::fs::write(root.join("nucleus/src/main.rs"), NUCLEUS)?;
        std::fs::write(root.join("program.c"), PROGRAM)?;
        let done = Command::new("cc")
            .current_dir(root)
            .args(["-g", "-O0", "-no-pie", "-o", "program", "program.c"])
            .status()?;
        assert!(done.success());
        let mut system = String::from("[system]\nname = \"replayed\"\nshell = \"shell\"\n");
        for role in [
            "vm",
            "portal-manager",
            "scheduler",
            "interrupt-dispatcher",
            "idle",
            "init",
            "loader",
        ] {
            system += &format!(
                "[[component]]\nname = \"{role}\"\npath = \"program\"\nrole = \"{role}\"\n"
            );
        }
        system += "[[component]]\nname = \"shell\"\npath = \"program\"\nstart = false\n";
        std::fs::write(root.join("systems/default.toml"), system)?;
        Ok(Checkout { folder })
    }

    fn root(&self) -> &Path {
        self.folder.path()
    }

    /// `pebble run ARGUMENTS` with this script as the machine.
    fn command(&self, script: &str, arguments: &[&str]) -> Answer<Command> {
        let machine = self.root().join(format!("machine-{}", script.len()));
        // Another process writes it: a file that this one has open could not be executed while a child of another
        // test, between its fork and its exec, has it open too.
        let text = machine.with_extension("sh");
        std::fs::write(&text, format!("#!/bin/sh\n{script}\n"))?;
        let mut install = Command::new("install");
        install.args(["-m", "755"]).args([&text, &machine]);
        assert!(install.status()?.success());
        let mut command = Command::new(env!("CARGO_BIN_EXE_pebble"));
        command
            .current_dir(self.root())
            .env("PEBBLE_ROOT", self.root())
            .env("PEBBLE_QEMU", machine)
            // What a killed command cannot take away goes with this checkout.
            .env("TMPDIR", self.root());
        command
            .arg("run")
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        Ok(command)
    }

    fn run(&self, script: &str, arguments: &[&str]) -> Answer<Output> {
        Ok(self.command(script, arguments)?.output()?)
    }

    fn image(&self) -> PathBuf {
        self.root().join("program")
    }

    /// Address of a function of the program.
    fn address(&self, function: &str) -> Answer<u64> {
        let names = String::from_utf8(Command::new("nm").arg(self.image()).output()?.stdout)?;
        let line = names
            .lines()
            .find(|line| line.ends_with(&format!(" {function}")))
            .ok_or("no such function")?;
        Ok(u64::from_str_radix(
            line.split_whitespace().next().unwrap_or(""),
            16,
        )?)
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn output_is_alone_and_the_status_is_passed_on() -> Answer<()> {
    let checkout = Checkout::new()?;
    let script = r"printf 'OpenSBI\n\0200domain 9 program\n\0201hello\n\0202warning\n\0200noise\nexit program 9 3\n'; exit 3";
    let done = checkout.run(script, &["program", "--", "a"])?;
    assert_eq!(done.status.code(), Some(3), "{}", text(&done.stderr));
    assert_eq!(text(&done.stdout), "hello\n");
    assert_eq!(text(&done.stderr), "warning\n");
    Ok(())
}

#[test]
fn a_fault_is_139_and_one_line_with_component_fault_address_and_source_line() -> Answer<()> {
    let checkout = Checkout::new()?;
    let pc = checkout.address("broken")? + 4;
    let script = format!(r"printf '\0200domain 9 program\nfault program 9 d 0 {pc:x}\n'; exit 139");
    let done = checkout.run(&script, &["program"])?;
    assert_eq!(done.status.code(), Some(139));
    assert_eq!(text(&done.stdout), "");
    let said = text(&done.stderr);
    assert_eq!(said.lines().count(), 1, "{said}");
    for part in [
        "program (domain 9)",
        "load from 0x0",
        "null pointer",
        "broken at program.c:2",
        &format!("pc {pc:#x}"),
    ] {
        assert!(said.contains(part), "{part} in {said}");
    }
    Ok(())
}

#[test]
fn a_hang_is_124_after_the_time_that_was_given() -> Answer<()> {
    let checkout = Checkout::new()?;
    checkout.run("exit 1", &["program"])?;
    let started = Instant::now();
    let done = checkout.run(
        r"printf '\0200domain 9 program\n\0201working'; exec sleep 50",
        &["program", "--timeout", "1"],
    )?;
    assert_eq!(done.status.code(), Some(124));
    assert_eq!(text(&done.stdout), "working");
    assert!(
        text(&done.stderr).contains("program did not end within 1 seconds"),
        "{}",
        text(&done.stderr)
    );
    assert!(started.elapsed() < Duration::from_secs(20));
    Ok(())
}

#[test]
fn input_reaches_the_program_once_it_is_there_and_ends() -> Answer<()> {
    let checkout = Checkout::new()?;
    let script =
        r"printf '\0200domain 9 program\n\0201'; head -c 4; printf '\n\0200exit program 9 0\n'";
    let mut child = checkout
        .command(script, &["program"])?
        .stdin(Stdio::piped())
        .spawn()?;
    child.stdin.take().ok_or("no pipe")?.write_all(b"abc")?;
    let done = child.wait_with_output()?;
    assert_eq!(text(&done.stdout), "abc\u{4}\n");
    assert_eq!(done.status.code(), Some(0));
    Ok(())
}

#[test]
fn the_shell_s_words_and_the_machine_s_status_are_passed_on() -> Answer<()> {
    let checkout = Checkout::new()?;
    let script = r"printf 'OpenSBI\n\0200domain 9 shell\n\0201pebble> '; head -c 9; exit 5";
    let mut child = checkout
        .command(script, &[])?
        .stdin(Stdio::piped())
        .spawn()?;
    child
        .stdin
        .take()
        .ok_or("no pipe")?
        .write_all(b"shutdown\n")?;
    let done = child.wait_with_output()?;
    assert_eq!(text(&done.stdout), "pebble> shutdown\n");
    assert_eq!(done.status.code(), Some(5));
    Ok(())
}

#[test]
fn mistakes_are_125_and_say_what_to_try() -> Answer<()> {
    let checkout = Checkout::new()?;
    for (script, arguments, told) in [
        ("exit 0", &["program"][..], "before `program` did"),
        ("exit 0", &["nothing.c"], "there is no"),
        ("exit 0", &["program.rs"], "there is no"),
        ("exit 0", &["--system", "none.toml"], "none.toml"),
        ("exit 0", &["--", "a"], "arguments without a program"),
    ] {
        let done = checkout.run(script, arguments)?;
        assert_eq!(done.status.code(), Some(125), "{arguments:?}");
        assert!(
            text(&done.stderr).contains(told),
            "{arguments:?}: {}",
            text(&done.stderr)
        );
        assert_eq!(text(&done.stdout), "");
    }
    Ok(())
}

#[test]
fn no_machine_is_left_behind_when_the_command_is_killed() -> Answer<()> {
    let checkout = Checkout::new()?;
    let script = r"echo $$ > machine.pid; printf '\0200domain 9 program\n'; exec sleep 50";
    checkout.run("exit 1", &["program"])?;
    let mut child = checkout.command(script, &["program"])?.spawn()?;
    let file = checkout.root().join("machine.pid");
    let number = loop {
        match std::fs::read_to_string(&file) {
            Ok(text) if text.ends_with('\n') => break text.trim().to_string(),
            // A command that ends by itself never starts its machine: say why, and do not wait for ever.
            _ if child.try_wait()?.is_some() => {
                return Err(text(&child.wait_with_output()?.stderr).into());
            }
            _ => std::thread::sleep(Duration::from_millis(20)),
        }
        if let Some(status) = child.try_wait()? {
            return Err(format!("the command ended before it was killed: {status}").into());
        }
    };
    child.kill()?;
    child.wait()?;
    let machine = PathBuf::from("/proc").join(number);
    for _ in 0..250 {
        // A process that ended but that nobody has waited for yet is still listed.
        let state = std::fs::read_to_string(machine.join("stat")).unwrap_or_default();
        if state.is_empty() || state.contains(") Z ") {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Err("the machine still runs".into())
}

#[test]
fn at_a_terminal_all_keys_go_to_the_guest_but_one() -> Answer<()> {
    let checkout = Checkout::new()?;
    let script = r"printf '\0200domain 9 shell\n\0201ready\n'; printf 'key%s\n' $(head -c 1 | od -An -tu1); exec sleep 20";
    // The nucleus is built before the time counts: with Debian's Rust its library is, too.
    checkout.run("exit 1", &["program"])?;
    let run = checkout.command(script, &[])?;
    // `script` lends the command a terminal.
    let mut command = Command::new("script");
    let line = format!("'{}' run", env!("CARGO_BIN_EXE_pebble"));
    command
        .args(["-qec", &line, "/dev/null"])
        .current_dir(checkout.root());
    for (name, value) in run.get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    let started = Instant::now();
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut keys = child.stdin.take().ok_or("no input")?;
    let mut screen = child.stdout.take().ok_or("no output")?;
    let mut shown = Vec::new();
    // Control-C reaches the guest, which says so; Control-] ends the command while the guest sleeps.
    for (wait, key) in [("leaves it", 3), ("key3", 0x1d)] {
        while !String::from_utf8_lossy(&shown).contains(wait) {
            let mut portion = [0; 512];
            let count = screen.read(&mut portion)?;
            assert!(count > 0, "{}", String::from_utf8_lossy(&shown));
            shown.extend(&portion[..count]);
        }
        keys.write_all(&[key])?;
    }
    let status = child.wait()?;
    assert_eq!(status.code(), Some(130));
    assert!(started.elapsed() < Duration::from_secs(15));
    Ok(())
}
