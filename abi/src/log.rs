//! The serial line's framing: program output, program errors and system messages share one wire.
//!
//! The byte [`ESCAPE`] followed by a channel's digit makes that channel current; [`ESCAPE`] twice is the byte itself.
//! Everything before the first escape is the firmware's.

/// Starts a channel switch (ASCII DLE).
pub const ESCAPE: u8 = 0x10;
/// The system's own messages: one line each.
pub const SYSTEM: u8 = b'0';
/// A component's standard output.
pub const OUTPUT: u8 = b'1';
/// A component's standard error.
pub const ERROR: u8 = b'2';

/// Words that begin a system message which the host tool understands.
pub mod message {
    /// `domain ASID NAME`: a component was loaded.
    pub const DOMAIN: &str = "domain";
    /// `fault NAME ASID CAUSE ADDRESS PC`: a component is ended by a fault (all but NAME in hexadecimal).
    pub const FAULT: &str = "fault";
    /// `exit NAME ASID STATUS`: a component ended (numbers decimal, as in `domain`).
    pub const EXIT: &str = "exit";
    /// `objects PHYSICAL`: where the nucleus objects are, for reports about a system that hangs.
    pub const OBJECTS: &str = "objects";
}
