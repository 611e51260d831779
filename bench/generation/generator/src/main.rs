//! Row 8: what it takes to generate a portal, and to verify it, without anything around.
#![cfg_attr(target_os = "none", no_std, no_main)]
#![forbid(unsafe_code)]

extern crate alloc;

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec;

use pebble::{hrtime, print, println};
use pebble_portal_codegen::generate;
use pebble_portal_spec::portal::{Kind, Name, System, Target};
use pebble_portal_spec::Specification;
use pebble_portal_verify::{Policy, Workspace};

pebble::main!(run);

/// The portals of the USENIX paper's measurement.
const SPECIFICATIONS: [&str; 2] = ["smcii", "npcwi"];
/// Samples when the arguments do not say.
const SAMPLES: u64 = 10_000;
/// Executions before the first sample.
const WARM: u64 = 20;
/// Where the block would be executed: what matters is that it is no small number.
const ADDRESS: u64 = 0xffff_ffff_c000_0000;

fn run() -> Result<(), String> {
    let samples = match pebble::args().next() {
        Some(text) => text.parse().map_err(|_| format!("not a number: {text}"))?,
        None => SAMPLES,
    };
    pebble::measure_start();
    let mut workspace = Box::new(Workspace::new());
    for text in SPECIFICATIONS {
        measure(text, samples, &mut workspace)?;
    }
    Ok(())
}

fn measure(text: &str, samples: u64, workspace: &mut Workspace) -> Result<(), String> {
    let specification = Specification::parse(text.as_bytes()).map_err(|e| format!("{e:?}"))?;
    let system = system();
    let target = Target {
        domain: 0x8000,
        entry: 0x10_0000,
        stack: 0,
    };
    let kind = Kind::Call {
        specification: &specification,
        target,
        constant: 5,
    };
    let name = Name::default();
    let mut words = vec![0; 1024];
    let block =
        generate(&kind, name, &system, ADDRESS, &mut words).map_err(|e| format!("{e:?}"))?;
    let policy = Policy {
        kind,
        name,
        system: &system,
    };
    tell(&format!("generate/{text}"), samples, || {
        generate(&kind, name, &system, ADDRESS, &mut words).is_ok()
    })?;
    tell(&format!("verify/{text}"), samples, || {
        let block_words = &words[..block.words];
        workspace
            .verify(block_words, block.entry, ADDRESS, &policy)
            .is_ok()
    })?;
    let code = block.words - block.entry;
    println!("figure words/{text} parts=1 overhead=0 {}:1", block.words);
    println!("figure instructions/{text} parts=1 overhead=0 {code}:1");
    Ok(())
}

/// The system of a running machine, as far as the length of the code depends on it.
fn system() -> System {
    System {
        threads: 0x1000,
        hart: 0x2000,
        semaphores: 0x3000,
        asid: true,
        sstc: true,
        ..System::default()
    }
}

/// Measures `action`, which must succeed each time, and tells the figure. Times are cycles, from a clock of every
/// second one.
fn tell(figure: &str, samples: u64, mut action: impl FnMut() -> bool) -> Result<(), String> {
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    let mut overhead = u64::MAX;
    for _ in 0..WARM {
        let begin = hrtime();
        overhead = overhead.min(2 * (hrtime() - begin));
        if !action() {
            return Err(format!("{figure}: refused"));
        }
    }
    for _ in 0..samples {
        let begin = hrtime();
        let good = action();
        let value = 2 * (hrtime() - begin);
        if !good {
            return Err(format!("{figure}: refused"));
        }
        *counts.entry(value).or_default() += 1;
    }
    print!("figure {figure} parts=1 overhead={overhead}");
    for (value, count) in counts {
        print!(" {value}:{count}");
    }
    println!();
    Ok(())
}
