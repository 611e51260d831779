//! Code made by a template that the VM server did not register: the verifier reads the bits in the words, and refuses.

mod support;

use pebble_abi::page_table::{PageTemplate, SHARED_UNTIL_WRITTEN, TEMPLATE};
use pebble_portal_codegen::generate;
use pebble_portal_spec::portal::{Kind, Name, System, Target};
use pebble_portal_spec::Specification;
use pebble_portal_verify::{verify, Offence, Policy, Reason};

use support::arena;
use support::portals::Shared;

const NAME: Name = Name {
    domain: 7,
    generation: 9,
    slot: 70,
    system: false,
};
/// Every letter that works on pages.
const WINDOWS: [&str; 5] = ["nmcw", "nmcr", "nmcW", "nmcG", "nmcT"];

/// The template with one bit of one mask turned over.
fn wrong(mask: usize, bit: u32) -> PageTemplate {
    let mut template = TEMPLATE;
    let masks = [
        &mut template.table_mask,
        &mut template.table_value,
        &mut template.readable,
        &mut template.writable,
        &mut template.add,
        &mut template.fixed,
        &mut template.drop,
        &mut template.mark,
    ];
    *masks[mask] ^= 1 << bit;
    template
}

/// The words of a portal made by `made`, and what the verifier says of them when `registered` is what it knows.
fn judge(
    text: &str,
    system: &System,
    made: PageTemplate,
    registered: PageTemplate,
) -> (Vec<u32>, Result<(), Offence>) {
    let specification = Specification::parse(text.as_bytes()).expect("a valid specification");
    let target = Target {
        domain: arena::domain(arena::CALLEE),
        entry: 0x9_0010_0040,
        stack: 0,
    };
    let kind = Kind::Call {
        specification: &specification,
        target,
        constant: 5,
    };
    let with = |pages| System { pages, ..*system };
    let mut words = vec![0; arena::CODE_WORDS];
    let block = generate(&kind, NAME, &with(made), arena::CODE_ADDRESS, &mut words);
    let block = block.expect("room for a portal");
    words.truncate(block.words);
    let policy = Policy {
        kind,
        name: NAME,
        system: &with(registered),
    };
    let answer = verify(&words, block.entry, arena::CODE_ADDRESS, &policy);
    (words, answer.map(|_| ()))
}

#[test]
fn window_code_with_wrong_bits_is_refused() {
    let shared = Shared::new(true, true);
    let right: Vec<_> = WINDOWS
        .iter()
        .map(|text| {
            let (words, answer) = judge(text, &shared.system, TEMPLATE, TEMPLATE);
            assert!(answer.is_ok(), "{text}: {answer:?}");
            words
        })
        .collect();
    for mask in 0..8 {
        for bit in 0..11 {
            let made = wrong(mask, bit);
            let mut matters = false;
            for (text, right) in WINDOWS.iter().zip(&right) {
                let (words, answer) = judge(text, &shared.system, made, TEMPLATE);
                // A letter that does not use this mask has the same code.
                assert_eq!(
                    answer.is_ok(),
                    words == *right,
                    "{text}, mask {mask}, bit {bit}"
                );
                matters |= words != *right;
            }
            assert!(matters, "mask {mask}, bit {bit}");
        }
    }
}

#[test]
fn a_wrong_template_is_refused_even_where_it_was_registered() {
    let shared = Shared::new(true, true);
    let mut accepted = Vec::new();
    for mask in 0..8 {
        for bit in 0..11 {
            let template = wrong(mask, bit);
            for text in WINDOWS {
                match judge(text, &shared.system, template, template).1 {
                    Ok(()) => accepted.push((mask, bit)),
                    Err(offence) => assert_eq!(offence.reason, Reason::Template, "{text}"),
                }
            }
        }
    }
    accepted.dedup();
    // What may stay fixed, be dropped, be marked: bits that the processor leaves to software, 8 and 9.
    let software = SHARED_UNTIL_WRITTEN.trailing_zeros();
    let free: Vec<_> = (5..8)
        .flat_map(|mask| [(mask, software), (mask, software + 1)])
        .collect();
    assert_eq!(accepted, free);
}

#[test]
fn letters_without_pages_need_no_template() {
    let shared = Shared::new(true, true);
    let (_, answer) = judge("npcii", &shared.system, wrong(0, 0), wrong(0, 0));
    assert!(answer.is_ok(), "{answer:?}");
}
