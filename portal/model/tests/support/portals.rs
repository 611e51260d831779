//! Portals as the system makes them: generated, then verified, then put where they run.

use pebble_portal_codegen::{generate, Block};
use pebble_portal_model::World;
use pebble_portal_spec::portal::{Kind, Name, System};
use pebble_portal_verify::{Offence, Policy, Report, Workspace};

use super::arena;

/// A generated and accepted block.
#[derive(Clone)]
pub struct Portal {
    pub words: Vec<u32>,
    pub block: Block,
    pub address: u64,
    pub report: Report,
}

impl Portal {
    /// Address of its entry.
    pub fn entry(&self) -> u64 {
        self.address + 4 * self.block.entry as u64
    }
}

/// Generates a portal and has it verified.
pub fn make(kind: &Kind<'_>, name: Name, system: &System, address: u64) -> Result<Portal, Offence> {
    let mut words = vec![0; arena::CODE_WORDS];
    let block = generate(kind, name, system, address, &mut words).expect("room for a portal");
    words.truncate(block.words);
    let policy = Policy {
        kind: *kind,
        name,
        system,
    };
    let report = Workspace::new().verify(&words, block.entry, address, &policy)?;
    Ok(Portal {
        words,
        block,
        address,
        report,
    })
}

/// The code that all domains share.
pub struct Shared {
    pub system: System,
    pub world: World<'static>,
    /// Words from [`arena::SHARED_ADDRESS`] on.
    pub words: Vec<u32>,
    /// Entries by name.
    pub entries: Vec<(&'static str, u64)>,
}

impl Shared {
    /// Makes all shared blocks in the order that boot code does.
    pub fn new(asid: bool, sstc: bool) -> Shared {
        let mut shared = Shared {
            system: arena::system(asid, sstc),
            world: World::default(),
            words: Vec::new(),
            entries: Vec::new(),
        };
        let name = |slot: u64| Name {
            slot,
            ..Name::default()
        };
        shared.system.float_push = shared.add("float_push", Kind::FloatPush, name(0));
        shared.system.stack_free = shared.add("stack_free", Kind::StackFree, name(0));
        shared.system.stack_wait = shared.add("stack_wait", Kind::StackWait, name(0));
        shared.system.fault = shared.add("fault", Kind::Fault, name(12));
        shared.add("return", Kind::Return, name(0));
        shared.add("empty", Kind::Empty, name(0));
        shared.add("dead", Kind::Dead, name(0));
        shared.add("illegal", Kind::Illegal, name(2));
        shared.add("interrupt", Kind::Interrupt, name(16));
        shared.add("window_fault", Kind::WindowFault, name(8));
        shared.world.system = shared.system;
        shared
    }

    fn add(&mut self, text: &'static str, kind: Kind<'static>, name: Name) -> u64 {
        let address = arena::SHARED_ADDRESS + 4 * self.words.len() as u64;
        let portal = make(&kind, name, &self.system, address)
            .unwrap_or_else(|offence| panic!("{text}: {offence}"));
        self.words.extend(&portal.words);
        self.words.resize(self.words.len().next_multiple_of(16), 0);
        self.world.add(portal.entry(), kind, name);
        self.entries.push((text, portal.entry()));
        portal.entry()
    }

    /// Entry of a shared block.
    pub fn entry(&self, text: &str) -> u64 {
        self.entries
            .iter()
            .find(|(name, _)| *name == text)
            .expect("a shared block")
            .1
    }
}
