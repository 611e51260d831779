//! What the verifier refuses for the policy's sake: a block that is right in itself but not what was wanted.

mod support;

use pebble_abi::page_table;
use pebble_portal_spec::portal::{Kind, Name, System, Target};
use pebble_portal_spec::Specification;
use pebble_portal_verify::{verify, Policy, Reason};

use support::arena;
use support::portals::{make, Portal, Shared};

const NAME: Name = Name {
    domain: 7,
    generation: 9,
    slot: 70,
    system: false,
};

fn target() -> Target {
    Target {
        domain: arena::domain(arena::CALLEE),
        entry: 0x9_0010_0040,
        stack: 0,
    }
}

fn read(text: &str) -> Specification {
    Specification::parse(text.as_bytes()).expect("a valid specification")
}

/// What the verifier says about a portal made for `made`, when `wanted` was asked for.
fn judge(made: &Portal, wanted: Kind<'_>, name: Name, system: &System) -> Result<(), Reason> {
    let policy = Policy {
        kind: wanted,
        name,
        system,
    };
    let answer = verify(&made.words, made.block.entry, made.address, &policy);
    answer.map(|_| ()).map_err(|offence| offence.reason)
}

/// Any two different specifications, callees, constants, names: the portal of one is not accepted for the other.
#[test]
fn a_portal_is_accepted_only_for_what_it_was_made_for() {
    let shared = Shared::new(true, true);
    let texts = [
        "smci", "smcii", "smic", "nmci", "spci", "npci", "smcw", "smcr", "smcw2", "smcW", "smcG",
        "smcT", "sm=i", "smck", "smcik", "smckk",
    ];
    for made in texts {
        let specification = read(made);
        let kind = Kind::Call {
            specification: &specification,
            target: target(),
            constant: 5,
        };
        let portal = make(&kind, NAME, &shared.system, arena::CODE_ADDRESS)
            .unwrap_or_else(|o| panic!("{made}: {o}"));
        for wanted in texts {
            let specification = read(wanted);
            let kind = Kind::Call {
                specification: &specification,
                target: target(),
                constant: 5,
            };
            let answer = judge(&portal, kind, NAME, &shared.system);
            // A word more that is passed on as it is costs nothing with `m`.
            let same = made == wanted
                || [made, wanted] == ["smci", "smcii"]
                || [made, wanted] == ["smcii", "smci"];
            assert_eq!(
                answer.is_ok(),
                same,
                "made for {made}, wanted {wanted}: {answer:?}"
            );
        }
        let mut elsewhere = target();
        elsewhere.entry += 4;
        let call = |target, constant| Kind::Call {
            specification: &specification,
            target,
            constant,
        };
        assert!(judge(&portal, call(elsewhere, 5), NAME, &shared.system).is_err());
        elsewhere = target();
        elsewhere.domain = arena::domain(arena::VM);
        assert!(judge(&portal, call(elsewhere, 5), NAME, &shared.system).is_err());
        if made.contains('c') {
            assert!(judge(&portal, call(target(), 6), NAME, &shared.system).is_err());
        }
        for name in [
            Name { slot: 71, ..NAME },
            Name { domain: 8, ..NAME },
            Name {
                generation: 10,
                ..NAME
            },
            Name {
                system: true,
                ..NAME
            },
        ] {
            assert!(
                judge(&portal, call(target(), 5), name, &shared.system).is_err(),
                "{made}: {name:?}"
            );
        }
    }
}

/// Without ASIDs each change of the address space is followed by a flush.
#[test]
fn a_processor_without_asids_needs_its_flushes() {
    let with = Shared::new(true, true);
    let without = System {
        asid: false,
        ..with.system
    };
    let specification = read("nmci");
    let kind = Kind::Call {
        specification: &specification,
        target: target(),
        constant: 5,
    };
    let portal = make(&kind, NAME, &with.system, arena::CODE_ADDRESS).expect("accepted with ASIDs");
    assert_eq!(judge(&portal, kind, NAME, &without), Err(Reason::Flush));
}

/// The flush names address space 0, the only one, and all of its addresses. Less is refused; so is a flush of the global
/// translations too, which nobody asked for.
#[test]
fn the_flush_is_of_all_local_translations() {
    const LOAD_ZERO: u32 = 0x0000_0e13; // li t3, 0
    const FLUSH: u32 = 0x13c0_0073; // sfence.vma zero, t3
    let without = Shared::new(false, true);
    let specification = read("nmci");
    let kind = Kind::Call {
        specification: &specification,
        target: target(),
        constant: 5,
    };
    let portal =
        make(&kind, NAME, &without.system, arena::CODE_ADDRESS).expect("accepted as generated");
    let flushes: Vec<usize> = (1..portal.words.len())
        .filter(|&at| portal.words[at - 1..=at] == [LOAD_ZERO, FLUSH])
        .collect();
    assert_eq!(flushes.len(), 2, "one on the way there, one back");
    for at in flushes {
        for (place, word) in [
            (at - 1, 0x0010_0e13), // li t3, 1
            (at, 0x13ce_0073),     // sfence.vma t3, t3
            (at, 0x1200_0073),     // sfence.vma zero, zero
            (at, LOAD_ZERO),
        ] {
            let mut changed = portal.clone();
            changed.words[place] = word;
            assert!(
                judge(&changed, kind, NAME, &without.system).is_err(),
                "{word:#x} at {place}"
            );
        }
    }
}

/// The VM server's template may use the bits that are left to software, and no others.
#[test]
fn a_template_that_contradicts_the_processor_is_refused() {
    let shared = Shared::new(true, true);
    let specification = read("smcW");
    let kind = Kind::Call {
        specification: &specification,
        target: target(),
        constant: 5,
    };
    let template = page_table::TEMPLATE;
    let execute = page_table::EXECUTE as u32;
    for pages in [
        page_table::PageTemplate {
            table_mask: 1,
            ..template
        },
        page_table::PageTemplate {
            readable: template.readable & !(page_table::USER as u32),
            ..template
        },
        page_table::PageTemplate {
            writable: template.readable,
            ..template
        },
        page_table::PageTemplate {
            add: template.add | execute,
            ..template
        },
        page_table::PageTemplate {
            drop: template.drop & !execute,
            ..template
        },
        page_table::PageTemplate {
            fixed: template.fixed & !execute,
            ..template
        },
        page_table::PageTemplate {
            mark: execute,
            ..template
        },
    ] {
        let system = System {
            pages,
            ..shared.system
        };
        let refusal = make(&kind, NAME, &system, arena::CODE_ADDRESS)
            .err()
            .expect("refused");
        assert_eq!(refusal.reason, Reason::Template);
    }
    let pages = page_table::PageTemplate {
        mark: page_table::SHARED_UNTIL_WRITTEN as u32,
        ..template
    };
    let system = System {
        pages,
        ..shared.system
    };
    assert!(make(&kind, NAME, &system, arena::CODE_ADDRESS).is_ok());
}

/// Every specification of up to three letters that can be read is generated and accepted, and the longest ones too.
#[test]
fn every_specification_is_accepted() {
    let shared = Shared::new(true, true);
    let letters = [
        "", "i", "c", "=", "t", "d", "h", "w", "r8", "W2", "G3", "T", "k",
    ];
    let mut texts: Vec<String> = [
        "npT8",
        "npG8",
        "npW8",
        "npw8",
        "npr4T4",
        "nptdhG4T4",
        "npwrwrwr",
        "smiiiiii",
        "npkkkkkk",
        "nmTkrkGk",
    ]
    .map(String::from)
    .to_vec();
    for first in ["sm", "sp", "nm", "np"] {
        for a in letters {
            for b in letters {
                for c in letters {
                    texts.push(format!("{first}{a}{b}{c}"));
                }
            }
        }
    }
    let mut accepted = 0;
    for text in texts {
        let Ok(specification) = Specification::parse(text.as_bytes()) else {
            continue;
        };
        let kind = Kind::Call {
            specification: &specification,
            target: target(),
            constant: 5,
        };
        let portal = make(&kind, NAME, &shared.system, arena::CODE_ADDRESS)
            .unwrap_or_else(|o| panic!("{text}: {o}"));
        assert!(portal.report.call > 20 && portal.report.back > 10);
        accepted += 1;
    }
    assert!(accepted > 4000, "{accepted} specifications");
}

/// Garbage is refused in words that name place and reason, and never ends the verifier.
#[test]
fn random_words_are_refused() {
    let shared = Shared::new(true, true);
    let mut random = support::random::Random::new(11);
    let specification = read("npcwi");
    let kind = Kind::Call {
        specification: &specification,
        target: target(),
        constant: 5,
    };
    let policy = Policy {
        kind,
        name: NAME,
        system: &shared.system,
    };
    for _ in 0..20_000 {
        let count = random.below(64) as usize;
        let mut words: Vec<u32> = (0..count).map(|_| random.word() as u32).collect();
        let entry = random.below(20) as usize;
        // The return code is within the block more often than chance has it.
        if let Some([low, high]) = words.get_mut(entry.saturating_sub(2)..entry) {
            let code = arena::CODE_ADDRESS + 4 * random.below(64);
            (*low, *high) = (code as u32, (code >> 32) as u32);
        }
        let offence = verify(&words, entry, arena::CODE_ADDRESS, &policy).expect_err("garbage");
        assert!(offence.to_string().starts_with("portal code refused at 0x"));
    }
}

/// A load or store of half a word where the whole is meant: refused, whichever word of the block it is in.
#[test]
fn half_a_word_is_not_the_word() {
    let shared = Shared::new(true, true);
    for text in ["npciii", "smcwi", "nmck", "np=T3"] {
        let specification = read(text);
        let kind = Kind::Call {
            specification: &specification,
            target: target(),
            constant: 5,
        };
        let portal = make(&kind, NAME, &shared.system, arena::CODE_ADDRESS)
            .unwrap_or_else(|o| panic!("{text}: {o}"));
        for index in portal.block.entry..portal.words.len() {
            let word = portal.words[index];
            let (opcode, width) = (word & 0x7f, word >> 12 & 7);
            if ![0x03, 0x23].contains(&opcode) || width != 3 {
                continue;
            }
            let mut half = make(&kind, NAME, &shared.system, arena::CODE_ADDRESS)
                .unwrap_or_else(|o| panic!("{text}: {o}"));
            half.words[index] = word & !(7 << 12) | 2 << 12;
            let answer = judge(&half, kind, NAME, &shared.system);
            assert!(answer.is_err(), "{text}, word {index}");
        }
    }
}
