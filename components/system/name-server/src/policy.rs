//! Policy: who may open, offer, and decide about which names.
//!
//! Init gives each component its first rules, from the system description. A component with the right to decide
//! about a subtree (`+decide`) may give rules within it to others, the right to decide among them: so policy for a
//! subtree is delegated to a third party, which needs no rights of its own to open anything there. What it gave
//! lasts as long as its own right does.

use pebble::abi::layout::MAX_DOMAINS;
use pebble::interfaces::name_server::Right;
use pebble::{Errno, Error};

use crate::{Pattern, Rule, Text};

/// Rules that init may give a component.
pub const RULES: usize = 16;
/// Rules that a component may give to others: they are kept in the giver's record, so that it can exhaust only
/// its own.
pub const GRANTS: usize = 16;

#[derive(Clone, Copy)]
struct Grant {
    to: usize,
    rule: Rule,
}

#[derive(Clone, Copy)]
struct Domain {
    rules: [Rule; RULES],
    grants: [Grant; GRANTS],
}

const EMPTY: Domain = Domain {
    rules: [Rule::NONE; RULES],
    grants: [Grant {
        to: 0,
        rule: Rule::NONE,
    }; GRANTS],
};

/// All rules, by the number of the domain that holds or gave them.
pub struct Policy {
    domains: [Domain; MAX_DOMAINS],
    /// Rules and grants in use, apart from the large records so that looking through all domains is quick.
    used: [(u8, u8); MAX_DOMAINS],
}

impl Policy {
    /// Nobody may do anything.
    pub const fn new() -> Self {
        Policy {
            domains: [EMPTY; MAX_DOMAINS],
            used: [(0, 0); MAX_DOMAINS],
        }
    }

    /// Gives a first rule, in the name of the system description.
    pub fn allow(&mut self, domain: usize, rule: Rule) -> Result<(), Error> {
        let used = self.used.get(domain).ok_or(Errno::Invalid)?.0 as usize;
        *self.domains[domain]
            .rules
            .get_mut(used)
            .ok_or(Errno::TooManyOpen)? = rule;
        self.used[domain].0 += 1;
        Ok(())
    }

    /// `giver` gives `rule` to `to`, within what it may decide.
    pub fn grant(&mut self, giver: usize, to: usize, rule: Rule) -> Result<(), Error> {
        if to == 0 || to >= MAX_DOMAINS {
            return Err(Errno::NoSuchProcess.into());
        }
        if !self.holds(giver, Right::Decide, |pattern| {
            pattern.includes(&rule.pattern)
        }) {
            return Err(Errno::Access.into());
        }
        let grant = Grant { to, rule };
        let used = self.used[giver].1 as usize;
        let given = &mut self.domains[giver].grants;
        if given[..used]
            .iter()
            .any(|known| known.to == to && known.rule == rule)
        {
            return Ok(());
        }
        *given.get_mut(used).ok_or(Errno::TooManyOpen)? = grant;
        self.used[giver].1 += 1;
        Ok(())
    }

    /// The domain may do this to the name.
    pub fn may(&self, domain: usize, right: Right, name: &Text) -> bool {
        self.holds(domain, right, |pattern| pattern.covers(name))
    }

    /// Forgets a dead domain: its rules, what it gave, and what it was given.
    pub fn forget(&mut self, domain: usize) {
        if domain >= MAX_DOMAINS {
            return;
        }
        self.used[domain] = (0, 0);
        for giver in 0..MAX_DOMAINS {
            let used = self.used[giver].1 as usize;
            let mut kept = 0;
            for index in 0..used {
                let grant = self.domains[giver].grants[index];
                if grant.to != domain {
                    self.domains[giver].grants[kept] = grant;
                    kept += 1;
                }
            }
            self.used[giver].1 = kept as u8;
        }
    }

    /// A rule of this right whose pattern is `wide` enough is in force for the domain: given by init, or by somebody
    /// who may decide about that pattern. Who may decide is searched the same way, each giver looked at once, so a
    /// circle of givers gains nothing and the work is bounded by the number of domains.
    fn holds(&self, domain: usize, right: Right, wide: impl Fn(&Pattern) -> bool) -> bool {
        if domain >= MAX_DOMAINS {
            return false;
        }
        // Domains through which the right might come: first the domain itself, then those who gave it the right to
        // decide, and so on.
        let mut reached = [false; MAX_DOMAINS];
        let mut queue = [0u8; MAX_DOMAINS + 1];
        let (mut next, mut end) = (0, 1);
        queue[0] = domain as u8;
        // A domain may have given a right to itself: then it counts once more, as one that decides.
        reached[domain] = right == Right::Decide;
        while next < end {
            let holder = queue[next] as usize;
            let wanted = if next == 0 { right } else { Right::Decide };
            next += 1;
            let own = &self.domains[holder].rules[..self.used[holder].0 as usize];
            if own
                .iter()
                .any(|rule| rule.right == wanted && wide(&rule.pattern))
            {
                return true;
            }
            for (giver, seen) in reached.iter_mut().enumerate() {
                let given = &self.domains[giver].grants[..self.used[giver].1 as usize];
                let gave = |grant: &Grant| {
                    grant.to == holder && grant.rule.right == wanted && wide(&grant.rule.pattern)
                };
                if !*seen && given.iter().any(gave) {
                    *seen = true;
                    queue[end] = giver as u8;
                    end += 1;
                }
            }
        }
        false
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self::new()
    }
}
