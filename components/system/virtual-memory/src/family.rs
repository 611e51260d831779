//! Whose memory a call is about: the invoker's, or also that of a clone for which the invoker acts.
//!
//! An interposer passes its child's calls on, on the child's thread, and the letter `d` then names the
//! interposer. But the interposer's own library may also need memory while that thread is in it; the two
//! cannot be told apart. So the call is done for both, at the same address: each finds there what it
//! asked for, and address space that is never used costs no memory.

use pebble_abi::errno::Errno;
use pebble_abi::layout::MAX_DOMAINS;

use crate::memory::Memory;
use crate::server::Server;

/// The domains that a call is about: a chain of parents, named by its ends (most calls are about one domain, and pay
/// for one).
#[derive(Clone, Copy)]
pub(crate) struct Family {
    first: usize,
    count: usize,
}

impl Family {
    /// How many domains: 1 or more.
    pub(crate) fn count(&self) -> usize {
        self.count
    }
}

impl<M: Memory> Server<M> {
    /// The invoker alone, unless the thread's home is a clone of it, of a clone of it, and so on.
    pub(crate) fn family(&self, invoker: usize, home: usize) -> Result<Family, Errno> {
        let invoker = self.living(invoker)?;
        let mut count = 1;
        let mut member = home;
        while member != invoker && self.living(member).is_ok() && count < MAX_DOMAINS {
            member = self.spaces[member].parent;
            count += 1;
        }
        if member == invoker {
            Ok(Family { first: home, count })
        } else {
            Ok(Family {
                first: invoker,
                count: 1,
            })
        }
    }

    /// The domain at a place of the chain, 0 up to [`Family::count`]: the thread's home first, the invoker last.
    pub(crate) fn member(&self, family: &Family, place: usize) -> usize {
        let mut member = family.first;
        for _ in 0..place {
            member = self.spaces[member].parent;
        }
        member
    }

    /// All of them, in that order.
    pub(crate) fn members<'a>(&'a self, family: &Family) -> impl Iterator<Item = usize> + 'a {
        let parent = |&member: &usize| Some(self.spaces[member].parent);
        core::iter::successors(Some(family.first), parent).take(family.count)
    }
}
