//! Runs cases in QEMU, which shares no code with this project: a batch of cases is a memory image, and the guest's
//! RAM is a file, so that the results are in it afterwards.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use pebble_portal_model::{Machine, Stamp};

use super::arena::layout::*;
use super::arena::{self, WORDS};
use super::harness;

const RAM_BYTES: u64 = 64 << 20;
/// Cases in one run of the emulator.
pub const BATCH: usize = 500;
/// Words of a state that the tests read.
const STATE: usize = 96;
/// Word of the state after a case.
const AFTER: usize = 128;

/// A machine about to enter the code at `entry`.
pub struct Case {
    pub before: Machine,
    pub code: Vec<u32>,
    pub entry: u64,
}

/// What the emulator left.
pub struct Outcome {
    pub state: Vec<u64>,
    pub memory: Vec<u64>,
}

/// The emulator with its harness.
pub struct Emulator {
    directory: PathBuf,
    shared: Vec<u32>,
}

impl Emulator {
    /// Builds the harness; `shared` is the code at [`arena::SHARED_ADDRESS`].
    pub fn new(shared: &[u32]) -> Emulator {
        let number = std::process::id();
        let thread = format!("{:?}", std::thread::current().id());
        let thread: String = thread.chars().filter(char::is_ascii_digit).collect();
        let directory = std::env::temp_dir().join(format!("pebble-portal-model-{number}-{thread}"));
        fs::create_dir_all(&directory).expect("a directory for temporary files");
        fs::copy(harness::build(&directory), directory.join("harness.elf")).expect("the harness");
        Emulator {
            directory,
            shared: shared.to_vec(),
        }
    }

    /// Runs all cases; answers what each left.
    pub fn run(&self, cases: &[Case]) -> Vec<Outcome> {
        cases
            .chunks(BATCH)
            .flat_map(|batch| self.batch(batch))
            .collect()
    }

    fn batch(&self, cases: &[Case]) -> Vec<Outcome> {
        let path = self.directory.join("ram");
        let ram = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&path)
            .expect("a file for the guest's memory");
        ram.set_len(RAM_BYTES).expect("room for the guest's memory");
        let write = |address: u64, bytes: &[u8]| {
            ram.write_all_at(bytes, address - RAM)
                .expect("write the memory image")
        };
        write(CONTROL, &(cases.len() as u64).to_le_bytes());
        let shared: Vec<u8> = self
            .shared
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect();
        write(SHARED, &shared);
        for (number, case) in cases.iter().enumerate() {
            let mut bytes = vec![0; STRIDE as usize];
            let words = state_before(case)
                .into_iter()
                .chain(std::iter::repeat_n(0, 512 - STATE))
                .chain(memory(case));
            for (place, word) in bytes.chunks_exact_mut(8).zip(words) {
                place.copy_from_slice(&word.to_le_bytes());
            }
            write(CASES + number as u64 * STRIDE, &bytes);
        }
        self.emulate(&path);
        let mut outcomes = Vec::new();
        for number in 0..cases.len() as u64 {
            let mut bytes = vec![0; STRIDE as usize];
            ram.read_exact_at(&mut bytes, CASES + number * STRIDE - RAM)
                .expect("read the memory image");
            let words: Vec<u64> = bytes
                .chunks_exact(8)
                .map(|word| u64::from_le_bytes(word.try_into().expect("eight bytes")))
                .collect();
            outcomes.push(Outcome {
                state: words[AFTER..AFTER + STATE].to_vec(),
                memory: words[512..].to_vec(),
            });
        }
        outcomes
    }

    fn emulate(&self, ram: &std::path::Path) {
        let backend = format!(
            "memory-backend-file,id=ram,size={RAM_BYTES},share=on,mem-path={}",
            ram.display()
        );
        let mut child = Command::new("qemu-system-riscv64")
            .args([
                "-machine",
                "virt,memory-backend=ram",
                "-cpu",
                "rv64",
                "-m",
                "64M",
                "-object",
                &backend,
                "-bios",
            ])
            .arg(self.directory.join("harness.elf"))
            .args([
                "-display",
                "none",
                "-serial",
                "none",
                "-monitor",
                "none",
                "-no-reboot",
            ])
            .stdin(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("cannot run qemu-system-riscv64: {error}"));
        let begin = Instant::now();
        loop {
            if let Some(status) = child.try_wait().expect("the emulator's status") {
                assert!(status.success(), "the emulator ended with {status}");
                return;
            }
            if begin.elapsed() > Duration::from_secs(120) {
                let _ = child.kill();
                let _ = child.wait();
                panic!("the emulator did not end within two minutes");
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// The state as the trampoline leaves it.
fn state_before(case: &Case) -> Vec<u64> {
    let m = &case.before;
    let mut state = vec![0; STATE];
    state[..32].copy_from_slice(&m.x);
    state[4] = m.thread;
    state[5] = case.entry;
    state[32..64].copy_from_slice(&m.f);
    let rest = [
        m.fcsr,
        m.x[4],
        m.pc,
        m.satp,
        m.sie,
        m.scause,
        m.stval,
        m.stimecmp,
        (m.float_on as u64) << 13,
        case.entry,
    ];
    state[64..74].copy_from_slice(&rest);
    state
}

fn memory(case: &Case) -> Vec<u64> {
    let mut memory = case.before.memory.clone();
    for (index, pair) in case.code.chunks(2).enumerate() {
        let high = pair.get(1).copied().unwrap_or(0);
        memory[arena::CODE_INDEX + index] = (high as u64) << 32 | pair[0] as u64;
    }
    assert_eq!(memory.len(), WORDS);
    memory
}

/// What differs between the emulator's outcome and the model's, in words; empty when nothing does.
pub fn differences(expected: &Machine, outcome: &Outcome) -> Vec<String> {
    let state = &outcome.state;
    let mut found = Vec::new();
    let mut compare = |what: &str, expected: u64, actual: u64| {
        if expected != actual {
            found.push(format!("{what}: {actual:#x} instead of {expected:#x}"));
        }
    };
    let stamped = |number: usize| {
        expected.stamps.iter().any(|stamp| match *stamp {
            Stamp::HalfCycles { register } | Stamp::Ticks { register, .. } => register == number,
        })
    };
    for (number, &word) in state[..32].iter().enumerate().skip(1) {
        let temporary = [5, 6, 7, 28, 29, 30, 31].contains(&number);
        let open = expected.open_registers.contains(&number);
        if stamped(number) || open || temporary && !expected.temporaries {
            continue;
        }
        compare(&format!("x{number}"), expected.x[number], word);
    }
    for number in 0..32 {
        compare(
            &format!("f{number}"),
            expected.f[number],
            state[32 + number],
        );
    }
    compare("fcsr", expected.fcsr, state[64]);
    compare("sscratch", expected.thread, state[65]);
    compare("satp", expected.satp, state[67]);
    compare("sie", expected.sie, state[68]);
    compare("stval", expected.stval, state[70]);
    compare("stimecmp", expected.stimecmp, state[71]);
    compare(
        "floating point on",
        expected.float_on as u64,
        (state[72] >> 13 & 3 != 0) as u64,
    );
    // Hardware clears the lowest bit of sepc; this emulator keeps it.
    compare("pc", expected.pc & !1, state[73] & !1);
    // An instruction page fault in user mode: nothing is mapped where the program goes on.
    compare("privilege", 0, state[72] >> 11 & 3);
    compare("cause of the trap that ended the case", 12, state[74]);
    compare(
        "calls of the firmware",
        expected.firmware.len() as u64,
        state[80],
    );
    for (index, word) in expected.firmware.iter().take(1).flatten().enumerate() {
        compare("argument of the firmware", *word, state[81 + index]);
    }
    for stamp in &expected.stamps {
        let (register, low, high) = match *stamp {
            Stamp::HalfCycles { register } => (register, state[76] >> 1, state[77] >> 1),
            Stamp::Ticks {
                register,
                scale,
                offset,
            } => {
                let scaled = |ticks: u64| ticks.wrapping_mul(scale).wrapping_add(offset);
                (register, scaled(state[78]), scaled(state[79]))
            }
        };
        let inside = (low..=high).contains(&state[register]);
        compare(
            &format!("x{register} is a time within the call"),
            1,
            inside as u64,
        );
    }
    for (index, (&expected_word, &word)) in expected.memory.iter().zip(&outcome.memory).enumerate()
    {
        let address = arena::BASE + 8 * index as u64;
        let code = (arena::CODE_INDEX..arena::CODE_INDEX + arena::CODE_WORDS / 2).contains(&index);
        if !code && !expected.forgotten.contains(&address) {
            compare(
                &format!("memory at arena + {:#x}", 8 * index),
                expected_word,
                word,
            );
        }
    }
    found
}
