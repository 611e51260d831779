//! A debugger at a running system: it stops the program and a server, each alone, and knows their source lines.

mod common;

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::{command, root, text, Answer};
use wait_timeout::ChildExt;

/// Most time for building, for the debugger, and for the end.
const LIMIT: Duration = Duration::from_secs(120);

/// `third` computes on line 4 and is called on line 8.
const PROGRAM: &str = "#include <stdio.h>\n\
    __attribute__((noinline)) int third(int number)\n\
    {\n\
    \treturn number / 3;\n\
    }\n\
    int main(void)\n\
    {\n\
    \tprintf(\"%d\\n\", third(126));\n\
    \treturn 5;\n\
    }\n";

/// A child that ends with this value.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        // Fails only when it has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits for the line that says what to type; answers the file with the debugger's commands.
fn commands(machine: &mut Child) -> Answer<PathBuf> {
    let mut said = BufReader::new(machine.stderr.take().ok_or("no standard error")?);
    let mut line = String::new();
    loop {
        line.clear();
        if said.read_line(&mut line)? == 0 {
            return Err("the command ended before its machine waited".into());
        }
        if let Some(file) = line.trim_end().split("gdb-multiarch -x ").nth(1) {
            let file = PathBuf::from(file);
            // What else it says must not stop it.
            std::thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
            return Ok(file);
        }
    }
}

/// gdb without anybody's settings, told to do this and no longer than the limit.
fn debug(commands: &Path, steps: &[&str]) -> Answer<String> {
    let socket = commands.with_file_name("gdb.sock");
    let started = Instant::now();
    while !socket.exists() {
        assert!(started.elapsed() < LIMIT, "the machine has no socket");
        std::thread::sleep(Duration::from_millis(20));
    }
    let mut gdb = Command::new("gdb-multiarch");
    gdb.args(["-nx", "-batch", "-x"]).arg(commands);
    for step in steps {
        gdb.args(["-ex", step]);
    }
    gdb.stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut gdb = Process(gdb.spawn()?);
    let mut answers = gdb.0.stdout.take().ok_or("no output")?;
    let mut complaints = gdb.0.stderr.take().ok_or("no output")?;
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        answers.read_to_end(&mut bytes).map(|_| bytes)
    });
    let other = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        complaints.read_to_end(&mut bytes).map(|_| bytes)
    });
    let ended = gdb.0.wait_timeout(LIMIT)?;
    drop(gdb);
    let told = text(&reader.join().map_err(|_| "no answers")??)
        + &text(&other.join().map_err(|_| "no complaints")??);
    assert!(ended.is_some(), "gdb did not end: {told}");
    Ok(told)
}

/// What follows `KEY=` in the debugger's answers.
fn number(told: &str, key: &str) -> Answer<u64> {
    let line = told.lines().find_map(|line| line.strip_prefix(key));
    let digits = line.ok_or_else(|| format!("no {key} in {told}"))?;
    Ok(u64::from_str_radix(digits.trim_start_matches("0x"), 16)?)
}

/// `FILE:LINE` of the line that begins so.
fn line_of(file: &str, begin: &str) -> Answer<String> {
    let source = std::fs::read_to_string(root().join(file))?;
    let index = source.lines().position(|line| line.starts_with(begin));
    Ok(format!("{file}:{}", index.ok_or("no such line")? + 1))
}

#[test]
fn a_program_and_a_server_stop_each_alone_at_their_source_lines() -> Answer {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("prog.c"), PROGRAM)?;
    let mut run = command(
        folder.path(),
        &["run", "--gdb", "--timeout", "300", "prog.c"],
    );
    run.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut machine = Process(run.spawn()?);
    let commands = commands(&mut machine.0)?;
    let server = line_of(
        "components/drivers/console-ns16550/src/main.rs",
        "unsafe extern \"C\" fn write(",
    )?;
    let core = line_of(
        "components/system/portal-manager/src/main.rs",
        "extern \"C\" fn exit(",
    )?;
    let told = debug(
        &commands,
        &[
            "stop-at third",
            "continue",
            "backtrace",
            "printf \"pc=%#lx\\n\", $pc",
            "printf \"third=%#lx\\n\", (unsigned long)third",
            "printf \"program=%#lx\\n\", $satp >> 44 & 0xffff",
            "finish",
            "component-console",
            &format!("stop-at {server}"),
            "continue",
            "backtrace 1",
            "printf \"console=%#lx\\n\", $satp >> 44 & 0xffff",
            "component-portal-manager",
            &format!("stop-at {core}"),
            "continue",
            "backtrace 1",
            "printf \"manager=%#lx\\n\", $satp >> 44 & 0xffff",
            "delete",
            "continue",
        ],
    )?;
    for part in [
        "Breakpoint 1, third (number=",
        "#0  third (number=",
        "/prog.c:4\n",
        " in main () at ",
        "/prog.c:8\n",
        // `finish` lets it compute.
        "Value returned is $1 = 42\n",
        "\nBreakpoint 2, ",
        " at components/drivers/console-ns16550/src/main.rs:",
        "\nBreakpoint 3, ",
        " at components/system/portal-manager/src/main.rs:",
    ] {
        assert!(told.contains(part), "{part} in {told}");
    }
    assert_eq!(number(&told, "pc=")?, number(&told, "third=")?, "{told}");
    let (program, console) = (number(&told, "program=")?, number(&told, "console=")?);
    assert!(
        program != console && program.min(console) >= pebble_abi::object::role::CORE_END.into(),
        "{program} {console}"
    );
    let manager = u64::from(pebble_abi::object::role::PORTAL_MANAGER);
    assert_eq!(number(&told, "manager=")?, manager);
    // Each came there once: no other component stopped, and then the program went on to its end.
    assert_eq!(told.matches("\nBreakpoint 1, ").count(), 1, "{told}");
    let mut output = String::new();
    let mut source = machine.0.stdout.take().ok_or("no output")?;
    let status = machine
        .0
        .wait_timeout(LIMIT)?
        .ok_or("the run does not end")?;
    source.read_to_string(&mut output)?;
    assert_eq!((output.as_str(), status.code()), ("42\n", Some(5)));
    Ok(())
}
