//! Identities and counters of objects.

/// The name of an object for ever: which of the store's objects, whatever is in it. 64 bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct ObjectId(pub u64);

/// Counters are 48 bits wide. An object whose counter has reached this limit is retired and never used again, so that
/// no old capability can become valid by a wrap.
pub const COUNTER_LIMIT: u64 = (1 << 48) - 1;

/// How often an object was given back: grows by one at each deallocation. 0 to [`COUNTER_LIMIT`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Version(pub u64);

/// How often the calls through an object were answered: what makes resume capabilities good for one use. 0 to
/// [`COUNTER_LIMIT`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct CallCount(pub u64);

/// What an object's storage holds: data and capabilities never share a page (EROS, section 2).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum ObjectKind {
    /// Bytes that programs may map.
    DataPage = 1,
    /// Capabilities, never mapped.
    CapabilityPage = 2,
    /// [`crate::NODE_SLOTS`] capabilities.
    Node = 3,
}

impl ObjectKind {
    /// The kind with this number, if there is one.
    pub fn from_number(number: u8) -> Option<Self> {
        match number {
            1 => Some(Self::DataPage),
            2 => Some(Self::CapabilityPage),
            3 => Some(Self::Node),
            _ => None,
        }
    }
}
