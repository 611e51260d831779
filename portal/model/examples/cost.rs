//! Generates or verifies one portal many times, so that a tool which counts instructions can say what one time takes.
//! Usage: `cost generate|first|later|fill SPECIFICATION TIMES`: the generator; a verification without any proof kept; one
//! of a shape that was proved; a block of such a shape written by the verifier. The difference of two runs, divided by
//! that of their times, is the cost of one: `valgrind --tool=callgrind` counts ("Collected").

use pebble_portal_codegen::generate;
use pebble_portal_spec::portal::{Kind, Name, System, Target};
use pebble_portal_spec::Specification;
use pebble_portal_verify::{Policy, Workspace};

use std::hint::black_box;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let what = arguments.next().expect("generate, first, later or fill");
    let text = arguments.next().expect("a specification, such as npcwi");
    let times: u32 = arguments
        .next()
        .expect("a number of times")
        .parse()
        .expect("a number");
    let specification = Specification::parse(text.as_bytes()).expect("a valid specification");
    let system = System {
        threads: 0x1000,
        domains: 0x1800,
        hart: 0x2000,
        semaphores: 0x3000,
        asid: true,
        sstc: true,
        ..System::default()
    };
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
    let (name, address) = (Name::default(), 0xffff_ffff_c000_0000);
    let mut words = [0; 2048];
    let block = generate(&kind, name, &system, address, &mut words).expect("room for a portal");
    let policy = Policy {
        kind,
        name,
        system: &system,
    };
    let mut workspace = Box::new(Workspace::new());
    for _ in 0..times {
        let words = black_box(&mut words);
        match what.as_str() {
            "generate" => {
                let again = generate(&kind, name, &system, address, words);
                assert_eq!(again, Ok(block));
                continue;
            }
            "fill" if workspace.fill(&policy, address, words).is_some() => continue,
            "first" => workspace.forget(),
            _ => {}
        }
        let answer = workspace.verify(&words[..block.words], block.entry, address, &policy);
        assert!(answer.is_ok(), "{answer:?}");
    }
    println!("{text}: {} words, {what} {times} times", block.words);
}
