//! The running machine: starts QEMU, moves bytes, watches the clock and signals, and ends it by its handle.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use wait_timeout::ChildExt;

use super::outcome::Session;
use super::terminal::{RawTerminal, LEAVE};
use super::{debugger, hang, qemu, Plan};
use crate::process;
use crate::report::Report;
use crate::rtl;

/// Exit status of a run that took too long.
const TIMED_OUT: u8 = 124;
/// Exit status of a run that a signal ended: this plus the signal's number.
const SIGNALLED: u8 = 128;
/// How often clock and signals are looked at.
const TICK: Duration = Duration::from_millis(50);
/// Tells a guest that its input is at an end (ASCII EOT, what a terminal sends for Ctrl-D).
const END_OF_INPUT: u8 = 0x04;

/// Why the machine is no longer watched.
enum Ended {
    Exited(ExitStatus),
    TimedOut,
    Signal(i32),
}

/// Boots and stays until the end.
pub fn boot(report: &Report, plan: Plan) -> Result<u8> {
    let signals = Signals::watch()?;
    let (nucleus, bundle, folder) = (&plan.nucleus, &plan.bundle, plan.folder.path());
    let rtl::Start { mut command, said } = match &plan.rtl {
        Some(machine) => machine.start(nucleus, bundle, folder)?,
        None => rtl::Start {
            command: qemu::command(&plan.machine, nucleus, bundle, folder),
            said: Vec::new(),
        },
    };
    if report.verbose() {
        eprintln!("pebble: {}", process::describe(&command));
    }
    if plan.machine.gdb {
        debugger::prepare(&plan)?;
    }
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut machine = Machine(
        command
            .spawn()
            .context("cannot start the machine; `pebble doctor` says what is missing")?,
    );
    let output = pump_output(machine.0.stdout.take());
    let complaints = pump_output(machine.0.stderr.take());
    let input = machine.0.stdin.take();
    let mut terminal = None;
    let mut session = Session::new(&plan, report.verbose());
    session.feed(&said)?;
    let ended = watch(
        &plan,
        &mut session,
        &mut machine.0,
        &output,
        input,
        &signals,
        &mut terminal,
    )?;
    let status = match ended {
        Ended::Exited(status) => {
            let complaints: Vec<u8> = complaints.iter().flatten().collect();
            session.finish(status, &String::from_utf8_lossy(&complaints))
        }
        Ended::TimedOut => {
            drop(terminal);
            let lines = hang::report(&plan, &session);
            session.tell(&lines);
            Ok(TIMED_OUT)
        }
        Ended::Signal(number) => Ok(SIGNALLED.saturating_add(number as u8)),
    };
    if report.json() {
        eprintln!("{}", session.summary(status.as_ref().ok().copied()));
    }
    status
}

/// The child; it ends with this value, whatever happens.
struct Machine(Child);

impl Drop for Machine {
    fn drop(&mut self) {
        // Fails only when it has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

struct Signals(Vec<(i32, Arc<AtomicBool>)>);

impl Signals {
    fn watch() -> Result<Self> {
        let mut flags = Vec::new();
        for number in [SIGINT, SIGTERM, SIGHUP] {
            let flag = Arc::new(AtomicBool::new(false));
            signal_hook::flag::register(number, flag.clone())?;
            flags.push((number, flag));
        }
        Ok(Signals(flags))
    }

    fn arrived(&self) -> Option<i32> {
        let mut arrived = self
            .0
            .iter()
            .filter(|(_, flag)| flag.load(Ordering::Relaxed));
        arrived.next().map(|(number, _)| *number)
    }
}

fn pump_output(source: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let Some(mut source) = source else { return };
        let mut buffer = [0; 16384];
        while let Ok(count) = source.read(&mut buffer) {
            if count == 0 || sender.send(buffer[..count].to_vec()).is_err() {
                return;
            }
        }
    });
    receiver
}

/// Standard input goes to the guest once someone is there to take it: earlier bytes would be lost when the console
/// driver resets the device.
///
/// At a terminal all keys go there, Control-C too, so one must be left to end a system that no longer listens.
fn pump_input(mut guest: ChildStdin, at_terminal: bool) {
    std::thread::spawn(move || {
        let mut input = std::io::stdin();
        let mut buffer = [0; 4096];
        while let Ok(count) = input.read(&mut buffer) {
            let bytes: &[u8] = if count == 0 {
                &[END_OF_INPUT]
            } else {
                &buffer[..count]
            };
            if at_terminal && bytes.contains(&LEAVE) {
                // As a terminal does for Control-C; `watch` sees it.
                let _ = signal_hook::low_level::raise(SIGINT);
                return;
            }
            if guest.write_all(bytes).and_then(|()| guest.flush()).is_err() {
                return;
            }
            if count == 0 {
                // Keep the pipe: QEMU would see a closed console.
                std::thread::park();
            }
        }
    });
}

fn watch(
    plan: &Plan,
    session: &mut Session,
    machine: &mut Child,
    output: &Receiver<Vec<u8>>,
    mut input: Option<ChildStdin>,
    signals: &Signals,
    terminal: &mut Option<RawTerminal>,
) -> Result<Ended> {
    let deadline = plan.timeout.map(|timeout| Instant::now() + timeout);
    loop {
        match output.recv_timeout(TICK) {
            Ok(bytes) => session.feed(&bytes)?,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                // The signal of a key goes to the machine too, which then ends of it.
                if let Some(number) = signals.arrived() {
                    return Ok(Ended::Signal(number));
                }
                // Its output is closed: it ends now, or is stuck.
                if let Some(status) = machine.wait_timeout(Duration::from_secs(10))? {
                    return Ok(Ended::Exited(status));
                }
                return Ok(Ended::TimedOut);
            }
        }
        if session.ready_for_input() {
            if let Some(input) = input.take() {
                // Not earlier: until then Control-C ends a system that does not come up.
                if plan.program.is_none() {
                    *terminal = RawTerminal::enter();
                }
                if terminal.is_some() {
                    eprintln!("pebble: keys go to the system; Control-] leaves it, however it is");
                }
                pump_input(input, terminal.is_some());
            }
        }
        if let Some(number) = signals.arrived() {
            return Ok(Ended::Signal(number));
        }
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Ok(Ended::TimedOut);
        }
    }
}
