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

/// The domains that a call is about.
pub(crate) struct Family {
    members: [u8; MAX_DOMAINS],
    count: usize,
}

impl Family {
    /// The domains' numbers, the thread's home first, the invoker last.
    pub(crate) fn members(&self) -> impl DoubleEndedIterator<Item = usize> + '_ {
        self.members[..self.count].iter().map(|&asid| asid as usize)
    }
}

impl<M: Memory> Server<M> {
    /// The invoker alone, unless the thread's home is a clone of it, of a clone of it, and so on.
    pub(crate) fn family(&self, invoker: usize, home: usize) -> Result<Family, Errno> {
        let invoker = self.living(invoker)?;
        let mut family = Family {
            members: [0; MAX_DOMAINS],
            count: 0,
        };
        let mut member = home;
        while member != invoker && self.living(member).is_ok() && family.count < MAX_DOMAINS - 1 {
            family.members[family.count] = member as u8;
            family.count += 1;
            member = self.spaces[member].parent;
        }
        if member != invoker {
            family.count = 0;
        }
        family.members[family.count] = invoker as u8;
        family.count += 1;
        Ok(family)
    }
}
