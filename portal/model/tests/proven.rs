//! Proofs that are used again: a block of a shape that was proved must be what its own wish says, and what the verifier
//! writes for a wish must be what the generator makes of it.

mod support;

use pebble_abi::object::FrameName;
use pebble_portal_spec::portal::{Kind, Name, System, Target};
use pebble_portal_spec::{Argument, Specification};
use pebble_portal_verify::{verify, Offence, Policy, Report, Workspace};

use support::portals::{make, Portal, Shared};
use support::random::Random;
use support::{arena, scenario};

/// What one portal differs in from another of its shape.
#[derive(Clone, Copy)]
struct Wish {
    target: Target,
    constant: u64,
    name: Name,
}

impl Wish {
    fn random(random: &mut Random, system: bool) -> Wish {
        Wish {
            target: Target {
                domain: arena::domain(random.pick(&[arena::CALLEE, arena::VM, arena::SCHEDULER])),
                entry: 0x9_0010_0000 + 4 * random.below(100_000),
                stack: 0,
            },
            constant: random.word() >> random.below(60),
            name: Name {
                domain: 1 + random.below(100),
                generation: random.below(1 << 24),
                slot: 32 + random.below(480),
                system,
            },
        }
    }
    fn kind<'a>(&self, specification: &'a Specification) -> Kind<'a> {
        Kind::Call {
            specification,
            target: self.target,
            constant: self.constant,
        }
    }
}

fn judge(
    workspace: &mut Workspace,
    portal: &Portal,
    kind: Kind<'_>,
    name: Name,
    system: &System,
) -> Result<Report, Offence> {
    let policy = Policy { kind, name, system };
    workspace.verify(&portal.words, portal.block.entry, portal.address, &policy)
}

/// The portal as a wish has it, placed at a random unit.
fn made(kind: &Kind<'_>, name: Name, system: &System, random: &mut Random) -> Portal {
    let address = arena::CODE_ADDRESS + 64 * random.below(1000);
    make(kind, name, system, address).expect("accepted")
}

#[test]
fn what_is_filled_is_what_is_generated() {
    let mut random = Random::new(21);
    let shared = Shared::new(true, true);
    let mut workspace = Workspace::new();
    let mut filled = 0;
    for _ in 0..300 {
        let text = scenario::specification(&mut random);
        let specification = Specification::parse(text.as_bytes()).expect("a valid specification");
        let system = random.once_in(4);
        let first = Wish::random(&mut random, system);
        let kind = first.kind(&specification);
        let portal = made(&kind, first.name, &shared.system, &mut random);
        let answer = judge(&mut workspace, &portal, kind, first.name, &shared.system);
        assert_eq!(answer, Ok(portal.report), "{text}");
        for _ in 0..5 {
            let other = Wish::random(&mut random, system);
            let kind = other.kind(&specification);
            let portal = made(&kind, other.name, &shared.system, &mut random);
            let answer = judge(&mut workspace, &portal, kind, other.name, &shared.system);
            assert_eq!(answer, Ok(portal.report), "{text}");
            let policy = Policy {
                kind,
                name: other.name,
                system: &shared.system,
            };
            let mut words = [0; arena::CODE_WORDS];
            let Some(block) = workspace.fill(&policy, portal.address, &mut words) else {
                continue;
            };
            filled += 1;
            let code = &words[..block.words];
            // Whatever the numbers are, a fresh proof agrees.
            let fresh = verify(code, block.entry, portal.address, &policy);
            assert_eq!(fresh, Ok(block.report), "{text}");
            assert_eq!(
                (code, block.entry, block.report),
                (&portal.words[..], portal.block.entry, portal.report),
                "{text}"
            );
        }
    }
    assert!(filled > 1400, "{filled} blocks were filled");
}

#[test]
fn semaphores_are_filled_with_their_own_index() {
    let mut random = Random::new(22);
    let shared = Shared::new(true, true);
    let mut workspace = Workspace::new();
    for number in 0..400 {
        let index = random.below(1024);
        let kind = match number % 2 {
            0 => Kind::SemaphoreWait { index },
            _ => Kind::SemaphorePost { index },
        };
        let name = Wish::random(&mut random, false).name;
        let portal = made(&kind, name, &shared.system, &mut random);
        let policy = Policy {
            kind,
            name,
            system: &shared.system,
        };
        let mut words = [0; arena::CODE_WORDS];
        let block = workspace.fill(&policy, portal.address, &mut words);
        assert_eq!(block.is_some(), number > 1);
        if let Some(block) = block {
            assert_eq!(words[..block.words], portal.words, "semaphore {index}");
            assert_eq!(block.report, portal.report);
        }
        let answer = judge(&mut workspace, &portal, kind, name, &shared.system);
        assert_eq!(answer, Ok(portal.report), "semaphore {index}");
    }
    let beyond = Policy {
        kind: Kind::SemaphoreWait { index: 1024 },
        name: Name::default(),
        system: &shared.system,
    };
    let mut words = [0; arena::CODE_WORDS];
    assert_eq!(
        workspace.fill(&beyond, arena::CODE_ADDRESS, &mut words),
        None
    );
}

/// A block made for one wish is refused for another of the same shape, though its shape was proved.
#[test]
fn a_known_shape_with_another_ones_numbers_is_refused() {
    let mut random = Random::new(23);
    let shared = Shared::new(true, true);
    for text in ["smcii", "nm=i=", "npc=wi", "spcT"] {
        let specification = Specification::parse(text.as_bytes()).expect("a valid specification");
        let mut workspace = Workspace::new();
        let first = Wish::random(&mut random, false);
        let kind = first.kind(&specification);
        let portal = made(&kind, first.name, &shared.system, &mut random);
        assert!(judge(&mut workspace, &portal, kind, first.name, &shared.system).is_ok());
        let changes: [fn(&mut Wish); 7] = [
            |wish| wish.target.domain = arena::domain(arena::DISPATCHER),
            |wish| wish.target.entry ^= 8,
            |wish| wish.constant ^= 1 << 63,
            |wish| wish.name.slot ^= 1,
            |wish| wish.name.domain ^= 1,
            |wish| wish.name.generation ^= 1,
            |wish| wish.name.system = true,
        ];
        for (number, change) in changes.into_iter().enumerate() {
            let mut other = first;
            change(&mut other);
            let kind = other.kind(&specification);
            let answer = judge(&mut workspace, &portal, kind, other.name, &shared.system);
            // Without letter `c` the constant does not matter.
            let same = number == 2 && !specification.arguments().contains(&Argument::Constant);
            assert_eq!(answer.is_ok(), same, "{text}, change {number}: {answer:?}");
        }
        // The same words elsewhere: their return code is not where the first literal says.
        let policy = Policy {
            kind,
            name: first.name,
            system: &shared.system,
        };
        for address in [portal.address + 64, portal.address + 4] {
            let answer = workspace.verify(&portal.words, portal.block.entry, address, &policy);
            assert!(answer.is_err(), "{text} at {address:#x}");
        }
        // Every bit of the literals, changed alone.
        for index in 0..portal.block.entry {
            for bit in 0..32 {
                let mut words = portal.words.clone();
                words[index] ^= 1 << bit;
                let answer = workspace.verify(&words, portal.block.entry, portal.address, &policy);
                assert!(answer.is_err(), "{text}, literal word {index}, bit {bit}");
            }
        }
    }
}

/// A system with another address or template is another system: nothing that was proved holds there.
#[test]
fn a_proof_holds_for_one_system() {
    let mut random = Random::new(24);
    let shared = Shared::new(true, true);
    let specification = Specification::parse(b"npcw").expect("a valid specification");
    let wish = Wish::random(&mut random, false);
    let kind = wish.kind(&specification);
    let portal = made(&kind, wish.name, &shared.system, &mut random);
    let changes: [fn(&mut System); 5] = [
        |system| system.asid = false,
        |system| system.float_push += 8,
        |system| system.stack_wait += 8,
        |system| system.stack_free += 8,
        |system| system.pages.readable ^= 1,
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let mut workspace = Workspace::new();
        assert!(judge(&mut workspace, &portal, kind, wish.name, &shared.system).is_ok());
        let mut other = shared.system;
        change(&mut other);
        let answer = judge(&mut workspace, &portal, kind, wish.name, &other);
        assert!(answer.is_err(), "change {number}");
        let policy = Policy {
            kind,
            name: wish.name,
            system: &other,
        };
        let mut words = [0; arena::CODE_WORDS];
        let filled = workspace.fill(&policy, portal.address, &mut words);
        assert_eq!(filled, None, "change {number}");
    }
}

/// Numbers that happen to be equal share a literal, and may be equal to others of the block: the block is proved with
/// its own numbers, and such a proof says nothing about other blocks.
#[test]
fn equal_numbers_are_accepted_and_prove_nothing_else() {
    let mut random = Random::new(25);
    let shared = Shared::new(true, true);
    for text in ["smcii", "nm=c", "npc=wi", "npcT"] {
        let specification = Specification::parse(text.as_bytes()).expect("a valid specification");
        let wish = Wish::random(&mut random, false);
        let system = &shared.system;
        let equal = [
            wish.target.entry,
            wish.target.domain,
            system.stack_wait,
            system.stack_free,
            system.float_push,
            wish.name.slot,
            pebble_abi::layout::PHYSMAP,
            frame_name(&specification, &wish, system),
        ];
        for constant in equal {
            let mut workspace = Workspace::new();
            let wish = Wish { constant, ..wish };
            let kind = wish.kind(&specification);
            let portal = made(&kind, wish.name, system, &mut random);
            let answer = judge(&mut workspace, &portal, kind, wish.name, system);
            assert_eq!(answer, Ok(portal.report), "{text}, constant {constant:#x}");
            for _ in 0..4 {
                let other = Wish::random(&mut random, false);
                let kind = other.kind(&specification);
                let policy = Policy {
                    kind,
                    name: other.name,
                    system,
                };
                // The block with equal numbers is not this one.
                assert!(judge(&mut workspace, &portal, kind, other.name, system).is_err());
                let mut words = [0; arena::CODE_WORDS];
                if let Some(block) = workspace.fill(&policy, portal.address, &mut words) {
                    let fresh = verify(&words[..block.words], block.entry, portal.address, &policy);
                    assert_eq!(fresh, Ok(block.report), "{text}, constant {constant:#x}");
                }
            }
        }
    }
}

/// The number that the portal's frames are named by: the generator knows, and puts it into a literal.
fn frame_name(specification: &Specification, wish: &Wish, system: &System) -> u64 {
    let kind = wish.kind(specification);
    let portal = make(&kind, wish.name, system, arena::CODE_ADDRESS).expect("accepted");
    let literals = portal.words[..portal.block.entry].chunks(2);
    let slot = |value: u64| value >> 16 & 0xfff;
    literals
        .map(|pair| pair[0] as u64 | (pair[1] as u64) << 32)
        .find(|&value| slot(value) == wish.name.slot && FrameName(value).bytes() != 0)
        .expect("a frame has a name")
}

/// More shapes than there is room for: what was forgotten is proved again.
#[test]
fn forgotten_proofs_are_made_again() {
    let mut random = Random::new(26);
    let shared = Shared::new(true, true);
    let mut workspace = Workspace::new();
    let portals: Vec<_> = (0..150)
        .map(|_| {
            let text = scenario::specification(&mut random);
            let specification =
                Specification::parse(text.as_bytes()).expect("a valid specification");
            (specification, Wish::random(&mut random, false))
        })
        .collect();
    for _ in 0..2 {
        for (specification, wish) in &portals {
            let kind = wish.kind(specification);
            let portal = made(&kind, wish.name, &shared.system, &mut random);
            let answer = judge(&mut workspace, &portal, kind, wish.name, &shared.system);
            assert_eq!(answer, Ok(portal.report));
            // Those that are still known, this one among them, are what they say.
            let mut known = 0;
            for (specification, wish) in &portals {
                let kind = wish.kind(specification);
                let policy = Policy {
                    kind,
                    name: wish.name,
                    system: &shared.system,
                };
                let mut words = [0; arena::CODE_WORDS];
                if let Some(block) = workspace.fill(&policy, arena::CODE_ADDRESS, &mut words) {
                    let code = &words[..block.words];
                    let fresh = verify(code, block.entry, arena::CODE_ADDRESS, &policy);
                    assert_eq!(fresh, Ok(block.report));
                    known += 1;
                }
            }
            assert!(known > 0 && known < 80, "{known} are known");
        }
    }
}
