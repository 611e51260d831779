//! Damage to a volume, each kind by itself: what fsck must notice.
//!
//! Some damage breaks a checksum; the rest has every checksum made to fit, so that only the meaning of what is there can
//! give it away: such damage is what a mistake in the store would write.

mod object;
mod records;
mod sense;
mod volume;

pub use volume::Volume;

/// One kind of damage.
#[derive(Clone, Copy, Debug)]
pub struct Injector {
    /// What is damaged, and how.
    pub name: &'static str,
    /// Does it; nothing if the volume has nothing of the kind.
    pub inject: fn(&mut Volume) -> Option<()>,
}

/// Every kind of damage.
pub fn injectors() -> Vec<Injector> {
    let mut all = records::INJECTORS.to_vec();
    all.extend(sense::INJECTORS);
    all
}
