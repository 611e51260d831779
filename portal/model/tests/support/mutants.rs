//! Changed blocks: what the verifier says of each, and what those that it accepts do.

use pebble_portal_spec::portal::{Kind, Name, System};
use pebble_portal_verify::{Policy, Workspace};

use super::portals::Portal;

/// How many changed blocks were refused, and how many accepted.
#[derive(Clone, Copy, Default)]
pub struct Count {
    pub refused: u32,
    pub accepted: u32,
}

/// Judges changed blocks of one portal, with the proof of the unchanged one at hand.
pub struct Judge<'a> {
    portal: &'a Portal,
    policy: Policy<'a>,
    workspace: Workspace,
    pub count: Count,
}

impl<'a> Judge<'a> {
    pub fn new(portal: &'a Portal, kind: Kind<'a>, name: Name, system: &'a System) -> Self {
        let policy = Policy { kind, name, system };
        let mut workspace = Workspace::new();
        let answer = workspace.verify(&portal.words, portal.block.entry, portal.address, &policy);
        assert_eq!(answer, Ok(portal.report));
        Judge {
            portal,
            policy,
            workspace,
            count: Count::default(),
        }
    }

    /// Whether `words` are accepted in the portal's place. What an accepted change proved is forgotten again, so that
    /// each is judged beside the original alone.
    pub fn accepts(&mut self, words: &[u32]) -> bool {
        let Portal { block, address, .. } = *self.portal;
        let accepted = self
            .workspace
            .verify(words, block.entry, address, &self.policy)
            .is_ok();
        if accepted {
            self.count.accepted += 1;
            self.workspace.forget();
            let original =
                self.workspace
                    .verify(&self.portal.words, block.entry, address, &self.policy);
            assert!(original.is_ok());
        } else {
            self.count.refused += 1;
        }
        accepted
    }

    /// Every bit of the block's code changed alone; hands those that are accepted to `try_it` with what was changed.
    pub fn each_bit(&mut self, mut try_it: impl FnMut(String, Vec<u32>)) {
        for index in self.portal.block.entry..self.portal.words.len() {
            for bit in 0..32 {
                let mut words = self.portal.words.clone();
                words[index] ^= 1 << bit;
                if self.accepts(&words) {
                    let word = index - self.portal.block.entry;
                    try_it(format!("word {word}, bit {bit}"), words);
                }
            }
        }
    }
}
