//! Where the instructions of a figure go: one sample, executed step by step under QEMU's debugger.
//!
//! The programs call `measure_last` before the last sample of a figure; what is executed between the two readings of the
//! cycle counter behind it is the sample. Interrupts wait while single steps are made. Time is
//! not virtual here: QEMU 7.2 makes no single steps with `-icount`. The path is the same.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use addr2line::Loader;
use anyhow::{bail, Context, Result};
use object::{Object, ObjectSymbol};
use pebble_abi::layout;
use pebble_abi::object::role;

use super::assembly;
use super::debug::{Debugger, PC};
use super::guest;
use super::row::Row;
use crate::repository::Repository;
use crate::run::qmp::Control;

/// Most instructions of a sample that is worth listing.
const MOST: usize = 4000;
/// Bytes behind the trampoline's address that are its own; portal code is elsewhere.
const RESIDENT: u64 = 128;
/// The function that is called before the last sample.
const MARK: &str = "measure_last";
/// Registers in the debugger's numbers.
const A0: u32 = 10;
const A7: u32 = 17;

/// One figure's instructions, in the order of execution.
pub struct Listing {
    /// The figure.
    pub figure: String,
    /// Stretches in one place.
    pub stretches: Vec<Stretch>,
}

/// Instructions one after the other in one place.
pub struct Stretch {
    /// Trampoline, portal code of a slot, or component and function.
    pub place: String,
    /// Instructions.
    pub lines: Vec<String>,
}

impl Listing {
    /// All instructions.
    pub fn count(&self) -> usize {
        self.stretches.iter().map(|s| s.lines.len()).sum()
    }
}

/// One step: where, what, in which component.
struct Step {
    address: u64,
    word: u32,
    place: String,
}

/// Lists the figures that the row names.
pub fn listings(repository: &Repository, row: &Row) -> Result<Vec<Listing>> {
    let Some(run) = row.runs.first().filter(|_| !row.lines.is_empty()) else {
        return Ok(Vec::new());
    };
    let command = guest::command(repository, row, run, 1, &["--gdb"])?;
    let mut machine = Machine::start(command)?;
    let mut tracer = Tracer::new(&machine.commands)?;
    let mut found = Vec::new();
    while found.len() < row.lines.len() {
        let Some(figure) = tracer.next_figure()? else {
            let missing = row
                .lines
                .iter()
                .find(|name| !found.iter().any(|l: &Listing| l.figure == **name));
            bail!(
                "row {}: the program ended before the figure {missing:?}",
                row.name
            );
        };
        if row.lines.contains(&figure) {
            let steps = tracer.sample()?;
            found.push(Listing {
                figure,
                stretches: stretches(&steps)?,
            });
        }
    }
    machine.end();
    Ok(found)
}

/// A system that waits for a debugger; it ends with this value.
struct Machine {
    child: Child,
    /// The file with the debugger's commands: it names the socket and the images.
    commands: PathBuf,
}

impl Machine {
    fn start(mut command: Command) -> Result<Self> {
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut child = command.spawn().context("cannot start the system")?;
        let told = child.stderr.take().context("its messages")?;
        let mut commands = None;
        let mut words = String::new();
        let mut reader = BufReader::new(told);
        let mut line = String::new();
        while commands.is_none() && reader.read_line(&mut line)? > 0 {
            let file = line.split_once("gdb-multiarch -x ").map(|(_, file)| file);
            commands = file.map(|file| PathBuf::from(file.trim()));
            words.push_str(&line);
            line.clear();
        }
        // What it says later must not stop it.
        std::thread::spawn(move || std::io::copy(&mut reader, &mut std::io::sink()));
        match commands {
            Some(commands) => Ok(Machine { child, commands }),
            None => bail!("the system did not wait for a debugger:\n{words}"),
        }
    }

    fn end(&mut self) {
        // SIGTERM, so that it takes its machine with it; it fails only when it has ended already.
        if let Some(id) = rustix::process::Pid::from_raw(self.child.id() as i32) {
            let _ = rustix::process::kill_process(id, rustix::process::Signal::TERM);
        }
        let _ = self.child.wait();
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        self.end();
    }
}

/// The debugger, and what it knows of the images.
struct Tracer {
    debugger: Debugger,
    control: Control,
    mark: u64,
    /// First bytes of the marked function, to tell the program from other components at the same address.
    code: Vec<u8>,
    images: BTreeMap<String, Loader>,
    program: String,
    /// Address of the trampoline.
    trampoline: u64,
    /// Number of the program's domain.
    own: u64,
}

impl Tracer {
    fn new(commands: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(commands)
            .with_context(|| format!("cannot read {}", commands.display()))?;
        let socket = text.lines().find_map(|l| l.strip_prefix("target remote "));
        let socket = PathBuf::from(socket.context("the debugger's socket")?);
        let (files, program) = components(&text)?;
        let image = files.get(&program).context("the program's image")?;
        let (mark, code) = marked(image, MARK)?;
        let nucleus = files.get("").context("the nucleus's image")?;
        let (trampoline, _) = marked(nucleus, "trampoline")?;
        let mut images = BTreeMap::new();
        for (name, file) in &files {
            if let Ok(loader) = Loader::new(file) {
                images.insert(name.clone(), loader);
            }
        }
        let folder = commands.parent().context("the run's folder")?;
        wait_for(&socket)?;
        Ok(Tracer {
            control: Control::connect(&folder.join(crate::run::qemu::CONTROL))?,
            debugger: Debugger::connect(&socket)?,
            mark,
            code,
            images,
            program,
            trampoline,
            own: 0,
        })
    }

    /// Runs to the next figure's last sample; none: the program has ended.
    fn next_figure(&mut self) -> Result<Option<String>> {
        loop {
            if !self.debugger.run_to(self.mark)? {
                return Ok(None);
            }
            let here = self.debugger.memory(self.mark, self.code.len())?;
            if here.as_ref() == Some(&self.code) {
                self.own = self.domain()?;
                let name = self.debugger.register(A0)?;
                let bytes = self
                    .debugger
                    .memory(name, 32)?
                    .context("a figure without a name")?;
                let end = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
                let name = String::from_utf8_lossy(&bytes[..end]).into_owned();
                self.debugger.step()?;
                return Ok(Some(name));
            }
            self.debugger.step()?;
        }
    }

    /// The domain that executes.
    fn domain(&mut self) -> Result<u64> {
        let text = self.control.registers()?;
        let mut words = text.split_whitespace();
        words.find(|word| *word == "satp").context("no satp")?;
        let satp = words.next().context("no value of satp")?;
        let satp = u64::from_str_radix(satp.trim_start_matches("0x"), 16)?;
        Ok(satp >> 44 & 0xffff)
    }

    /// The steps between two readings of the counter by the program.
    fn sample(&mut self) -> Result<Vec<Step>> {
        let mut steps: Vec<Step> = Vec::new();
        let mut recording = false;
        let mut user: Option<(u64, String)> = None;
        let mut privileged = String::new();
        loop {
            let address = self.debugger.register(PC)?;
            let code = self.debugger.memory(address, 4)?;
            let code: [u8; 4] = match code.and_then(|code| code.try_into().ok()) {
                Some(code) => code,
                None => bail!("no code at {address:#x}"),
            };
            let word = u32::from_le_bytes(code);
            let place = if address >= layout::PHYSMAP {
                user = None;
                if self.is_trampoline(address) {
                    privileged = self.portal_behind()?;
                    "trampoline".to_string()
                } else {
                    privileged.clone()
                }
            } else {
                let (domain, component) = match user.take() {
                    Some(known) => known,
                    None => self.component()?,
                };
                let place = self.describe(&component, address);
                user = Some((domain, component));
                place
            };
            let reads = is_rdcycle(word) && user.as_ref().is_some_and(|u| u.0 == self.own);
            if reads && recording {
                return Ok(steps);
            }
            if recording {
                steps.push(Step {
                    address,
                    word,
                    place,
                });
            }
            recording |= reads;
            if steps.len() > MOST {
                bail!("a sample of more than {MOST} instructions");
            }
            self.debugger.step()?;
        }
    }

    fn is_trampoline(&self, address: u64) -> bool {
        let resident = self.trampoline..self.trampoline + RESIDENT;
        resident.contains(&address)
    }

    /// What the trampoline leads to: the slot is in a7 while it runs.
    fn portal_behind(&mut self) -> Result<String> {
        Ok(match self.debugger.register(A7)? {
            0 => "slot 0 and return code".into(),
            slot => format!("portal of slot {slot}"),
        })
    }

    /// Who executes in user mode.
    fn component(&mut self) -> Result<(u64, String)> {
        let domain = self.domain()?;
        let name = match u32::try_from(domain).unwrap_or_default() {
            role::SCHEDULER => "scheduler".into(),
            role::VM => "virtual-memory".into(),
            role::PORTAL_MANAGER => "portal-manager".into(),
            role::DISPATCHER => "interrupt-dispatcher".into(),
            _ if domain == self.own => self.program.clone(),
            _ => format!("domain {domain}"),
        };
        Ok((domain, name))
    }

    fn describe(&self, component: &str, address: u64) -> String {
        if (layout::GATE..layout::GATE + layout::PAGE).contains(&address) {
            return format!("{component}: gate");
        }
        let loader = self.images.get(component);
        match loader.and_then(|loader| function(loader, address)) {
            Some(name) => format!("{component}: {name}"),
            None => component.to_string(),
        }
    }
}

/// The function that an address is in: the one that inlined the others.
fn function(loader: &Loader, address: u64) -> Option<String> {
    let mut name = None;
    if let Ok(mut frames) = loader.find_frames(address) {
        while let Ok(Some(frame)) = frames.next() {
            if let Some(function) = frame.function {
                name = function.demangle().ok().map(|name| name.into_owned());
            }
        }
    }
    // Assembly has names, but no functions.
    let symbol = loader.find_symbol(address).filter(|s| !s.starts_with(".L"));
    name.or_else(|| symbol.map(|symbol| format!("{:#}", rustc_demangle::demangle(symbol))))
}

/// Images by component in a file of debugger commands, the nucleus under no name; and the program, which is chosen last.
fn components(text: &str) -> Result<(BTreeMap<String, PathBuf>, String)> {
    let mut files = BTreeMap::new();
    let (mut name, mut chosen) = (String::new(), None);
    for line in text.lines() {
        let quoted = |line: &str| line.split('"').nth(1).map(PathBuf::from);
        if let Some(defined) = line.strip_prefix("define component-") {
            name = defined.to_string();
        } else if line.trim_start().starts_with("symbol-file ") {
            files.extend(quoted(line).map(|file| (name.clone(), file)));
        } else if line.trim_start().starts_with("add-symbol-file ") {
            files.extend(quoted(line).map(|file| (String::new(), file)));
        } else if let Some(program) = line.strip_prefix("component-") {
            chosen = Some(program.to_string());
        }
    }
    Ok((files, chosen.context("no program to be debugged")?))
}

/// Address and first bytes of a function.
fn marked(image: &Path, name: &str) -> Result<(u64, Vec<u8>)> {
    let bytes = std::fs::read(image)?;
    let elf = object::File::parse(bytes.as_slice())?;
    let symbol = elf.symbols().find(|symbol| symbol.name() == Ok(name));
    let symbol = symbol.with_context(|| format!("{}: no {name}", image.display()))?;
    let address = symbol.address();
    for section in object::Object::sections(&elf) {
        use object::ObjectSection;
        // A stretch long enough that no other component has the same there.
        if let Ok(Some(code)) = section.data_range(address, 24) {
            return Ok((address, code.to_vec()));
        }
    }
    bail!("{}: no code of {name}", image.display())
}

/// QEMU makes its sockets before it waits, but after it was started.
fn wait_for(socket: &Path) -> Result<()> {
    for _ in 0..100 {
        if socket.exists() {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    bail!("QEMU made no socket {}", socket.display())
}

/// `csrrs rd, cycle, zero`.
fn is_rdcycle(word: u32) -> bool {
    word & 0xffff_f07f == 0xc000_2073
}

/// Joins steps in one place, with their words in assembly.
fn stretches(steps: &[Step]) -> Result<Vec<Stretch>> {
    let words: Vec<(u64, u32)> = steps.iter().map(|s| (s.address, s.word)).collect();
    let texts = assembly::of(&words)?;
    let mut found: Vec<Stretch> = Vec::new();
    for (step, text) in steps.iter().zip(texts) {
        let line = format!("{:x}  {text}", step.address);
        match found.last_mut() {
            Some(last) if last.place == step.place => last.lines.push(line),
            _ => found.push(Stretch {
                place: step.place.clone(),
                lines: vec![line],
            }),
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_found_in_the_debuggers_commands() -> Result<()> {
        let text = "define component-a\n  delete\n  symbol-file \"/x/a\"\n  add-symbol-file \"/x/n\"\nend\n\
                    target remote /t/gdb.sock\ncomponent-a\n";
        let (files, program) = components(text)?;
        assert_eq!(program, "a");
        assert_eq!(files["a"], PathBuf::from("/x/a"));
        assert_eq!(files[""], PathBuf::from("/x/n"));
        Ok(())
    }

    #[test]
    fn steps_in_one_place_are_one_stretch() -> Result<()> {
        let step = |address, word, place: &str| Step {
            address,
            word,
            place: place.into(),
        };
        let steps = [
            step(0x1000, 0x0000_0073, "a"),
            step(0x1004, 0x8082, "b"),
            step(0x1006, 0x4505, "b"),
        ];
        let found = stretches(&steps)?;
        assert_eq!(found.len(), 2);
        assert_eq!(found[1].lines.len(), 2);
        assert!(found[0].lines[0].contains("ecall"), "{}", found[0].lines[0]);
        assert!(found[1].lines[0].contains("ret"), "{}", found[1].lines[0]);
        Ok(())
    }
}
