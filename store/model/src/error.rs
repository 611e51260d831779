//! Why an operation was refused.

use core::fmt;

use pebble_store_object::{Kind, ObjectId, Rights};

/// Why an operation was refused. A refused operation has changed nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Error {
    /// The capability conveys nothing: void, rescinded, or a resume capability of which a copy was used.
    Void,
    /// Capabilities of this kind have no such operation.
    NotUnderstood(Kind),
    /// The capability's restrictions do not allow this.
    Restricted(Rights),
    /// There is no such slot or register.
    NoSlot {
        /// The slot asked for.
        slot: usize,
        /// How many there are.
        slots: usize,
    },
    /// Not all of these bytes are in a page, or in a message.
    OutOfPage {
        /// Where they begin.
        offset: usize,
        /// How many they are.
        length: usize,
    },
    /// A node is not laid out as what it is used for.
    Malformed(ObjectId, &'static str),
    /// The process is not in the state in which this can be done; a caller waits until it is.
    NotReady(ObjectId),
    /// The forwarder is closed.
    Blocked(ObjectId),
    /// More than [`crate::INDIRECTOR_LIMIT`] forwarders in a row.
    TooManyIndirectors,
    /// A height that no address space node can have.
    NoHeight(u8),
    /// The range does not reach that far.
    OutOfRange(u64),
    /// The object exists already.
    Exists(ObjectId),
    /// One of the object's counters is at its limit; the object is never used again.
    Retired(ObjectId),
    /// This bank's limit, on the way from the asking bank to the prime bank, is reached.
    Limit(ObjectId),
    /// No free object is left in the store.
    Exhausted,
    /// The bank capability is one that does not allow this, or the bank is the prime bank.
    BankRestricted,
    /// The object was not bought from this bank.
    Foreign(ObjectId),
    /// This is not a capability that this service has made.
    NotGenuine,
    /// The constructor is sealed: nothing can be added.
    Sealed,
    /// The constructor is not yet sealed: nothing can be made.
    NotSealed,
    /// The policy does not allow this compartment to have it.
    Policy,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Error::Void => f.write_str(
                "the capability conveys nothing: it is void, or was rescinded; get a new one",
            ),
            Error::NotUnderstood(kind) => write!(
                f,
                "{kind:?} capabilities have no such operation; ask for the type"
            ),
            Error::Restricted(rights) => {
                write!(f, "the capability is restricted ({:#05b}); this takes one with fewer restrictions", rights.bits())
            }
            Error::NoSlot { slot, slots } => {
                write!(f, "there is no slot {slot}; slots are 0 to {}", slots - 1)
            }
            Error::OutOfPage { offset, length } => {
                write!(f, "{length} bytes from {offset} do not fit into a page")
            }
            Error::Malformed(id, what) => write!(f, "object {:#x}: {what}", id.0),
            Error::NotReady(id) => write!(
                f,
                "process {:#x} is not in the state for this; wait for it",
                id.0
            ),
            Error::Blocked(id) => write!(
                f,
                "forwarder {:#x} is closed; ask whoever granted the access",
                id.0
            ),
            Error::TooManyIndirectors => write!(
                f,
                "more than {} forwarders in a row",
                crate::INDIRECTOR_LIMIT
            ),
            Error::NoHeight(height) => {
                write!(
                    f,
                    "no node has height {height}; 0 for none, or one of {:?}",
                    crate::space::HEIGHTS
                )
            }
            Error::OutOfRange(offset) => write!(f, "the range has no object {offset}"),
            Error::Exists(id) => write!(f, "object {:#x} exists already; destroy it first", id.0),
            Error::Retired(id) => write!(
                f,
                "object {:#x} is retired: a counter is at its limit; use another",
                id.0
            ),
            Error::Limit(id) => write!(
                f,
                "bank {:#x} is at its limit; give back objects or raise it",
                id.0
            ),
            Error::Exhausted => {
                f.write_str("the store has no free object of this kind; give back objects")
            }
            Error::BankRestricted => f.write_str(
                "this bank capability does not allow that; use one that is not restricted",
            ),
            Error::Foreign(id) => write!(
                f,
                "object {:#x} was not bought from this bank; ask the bank that sold it",
                id.0
            ),
            Error::NotGenuine => f.write_str("this capability was not made by this service"),
            Error::Sealed => {
                f.write_str("the constructor is sealed; make a new one to install something else")
            }
            Error::NotSealed => f.write_str("the constructor is not sealed yet; seal it first"),
            Error::Policy => f.write_str("the policy does not allow this compartment to have it"),
        }
    }
}

impl core::error::Error for Error {}
