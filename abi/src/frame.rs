//! Frames: what a portal pushes on the invocation stack.
//!
//! A frame names its portal and says what it holds (design invariants I2 and I3), so that code from another version of the
//! generator can complete it.

/// A frame on the invocation stack. Words that a portal's state letter asks for follow the header.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// Cache: the portal's code block (the truth is `name`).
    pub portal: u64,
    /// Which portal, and what the frame holds: see [`FrameName`].
    pub name: u64,
    /// [`crate::object::Domain`] of the invoker.
    pub domain: u64,
    /// Where the invoker continues: its return address, or the interrupted instruction.
    pub pc: u64,
    /// The invoker's stack pointer.
    pub sp: u64,
    /// The [`crate::object::Stack`] that the invoker ran on.
    pub stack: u64,
}

/// Bytes of the frame header.
pub const FRAME_HEADER: u64 = 48;

/// The name in a frame: which portal pushed it, how long it is and what it saved.
///
/// Bits 63..40 generation of the portal's domain (24), 39..28 number of that domain (12), 27..16 slot (12),
/// 15..12 layout version (4), 11..8 kind (4), 7..0 length in words (8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameName(pub u64);

/// What a frame holds beyond its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum FrameKind {
    /// Header only (`m`).
    Minimal = 1,
    /// [`crate::object::PARTIAL_REGISTERS`] (`p`); `tp` alone when the frame is one word longer than its header (`nm`).
    Partial = 2,
    /// All registers (`f`), of a thread that an interrupt or exception stopped.
    Full = 3,
    /// As `Partial`: a thread that entered the scheduler.
    Scheduler = 4,
    /// Floating-point registers of the invoker beneath.
    Floating = 5,
}

/// Layout version that this code writes.
pub const FRAME_LAYOUT: u64 = 1;

impl FrameName {
    /// Packs a name. Fields that do not fit are cut to their width.
    pub const fn new(generation: u64, domain: u64, slot: u64, kind: FrameKind, bytes: u64) -> Self {
        FrameName(
            (generation & 0xff_ffff) << 40
                | (domain & 0xfff) << 28
                | (slot & 0xfff) << 16
                | FRAME_LAYOUT << 12
                | (kind as u64) << 8
                | (bytes / 8) & 0xff,
        )
    }
    /// Length of the frame in bytes, the header included.
    pub const fn bytes(self) -> u64 {
        (self.0 & 0xff) * 8
    }
    /// Kind, as the number of a [`FrameKind`].
    pub const fn kind(self) -> u64 {
        (self.0 >> 8) & 0xf
    }
    /// Slot of the portal.
    pub const fn slot(self) -> u64 {
        (self.0 >> 16) & 0xfff
    }
    /// Domain whose table the portal is in.
    pub const fn domain(self) -> u64 {
        (self.0 >> 28) & 0xfff
    }
    /// Generation of that domain.
    pub const fn generation(self) -> u64 {
        self.0 >> 40
    }
}
