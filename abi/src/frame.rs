//! Frames: what a portal pushes on the invocation stack. [`crate::object`] re-exports all of it.
//!
//! A frame names its portal and says what it holds (design invariants I2 and I3), so that code from another version of the
//! generator can complete it.

/// Bytes of a [`FrameKind::Scheduler`] frame, and of what a call frame begins with: header, [`PARTIAL_REGISTERS`].
pub const PARTIAL_FRAME: u64 = FRAME_HEADER + 8 * 14;
/// Bytes of the [`FrameKind::Partial`] frame of a `p` call, but for the words of letter `T`: a word behind the
/// registers keeps the invoker's [`Thread::fp_live`](crate::object::Thread::fp_live).
pub const CALL_FRAME: u64 = PARTIAL_FRAME + 8;
/// Bytes of a [`FrameKind::Full`] frame.
pub const FULL_FRAME: u64 = FRAME_HEADER + 8 * 30;
/// Bytes of a [`FrameKind::Floating`] frame: header, then `f0`..`f31`, `fcsr`.
pub const FLOATING_FRAME: u64 = FRAME_HEADER + 8 * 33;
/// Registers of a full frame in order of their words after the header (`sp` and `pc` are in the header).
pub const FULL_REGISTERS: [u8; 30] = [
    1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27,
    28, 29, 30, 31,
];
/// Registers of a partial frame in order of their words after the header.
pub const PARTIAL_REGISTERS: [u8; 14] = [4, 3, 8, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27];
/// Offset of register `x` in a full frame.
pub const fn full_offset(register: u8) -> u64 {
    FRAME_HEADER
        + 8 * (if register == 1 {
            0
        } else {
            register as u64 - 2
        })
}

/// A frame on the invocation stack. Words that a portal's state letter asks for follow the header.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// Cache: the portal's code block (the truth is `name`).
    pub portal: u64,
    /// Which portal, and what the frame holds: see [`FrameName`].
    pub name: u64,
    /// [`Domain`](crate::object::Domain) of the invoker.
    pub domain: u64,
    /// Where the invoker continues: its return address, or the interrupted instruction.
    pub pc: u64,
    /// The invoker's stack pointer.
    pub sp: u64,
    /// The [`Stack`](crate::object::Stack) that the invoker ran on.
    pub stack: u64,
}

/// Bytes of the frame header.
pub const FRAME_HEADER: u64 = 48;

/// The name in a frame: which portal pushed it, how long it is and what it saved.
///
/// Bits 63..40 generation of the portal's domain (24), 39..28 number of that domain (12), 27..16 slot (12),
/// 15..12 layout version (4), 11 the last word holds passed slots ([`passed_slot`]), 10..8 kind (3), 7..0 length in words (8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameName(pub u64);

/// What a frame holds beyond its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum FrameKind {
    /// Header only (`m`).
    Minimal = 1,
    /// [`PARTIAL_REGISTERS`], then the word that [`CALL_FRAME`] tells of (`p`); `tp` alone when the frame is one word
    /// longer than its header (`nm`).
    Partial = 2,
    /// All registers (`f`), of a thread that an interrupt or exception stopped.
    Full = 3,
    /// [`PARTIAL_REGISTERS`]: a thread that entered the scheduler.
    Scheduler = 4,
    /// Floating-point registers of the context beneath, while `fp_live` of the thread, or of a call above, names them.
    Floating = 5,
}

/// Layout version that this code writes.
pub const FRAME_LAYOUT: u64 = 2;

/// Bits of the word of passed slots for each argument.
pub const PASSED_BITS: u32 = 10;
const PASSES: u64 = 1 << 11;
const _: () = assert!(crate::slot::NPORTALS <= 1 << PASSED_BITS && 6 * PASSED_BITS <= u64::BITS);

/// The slot that argument `argument` (0 to 5) passed in a call whose frame ends with `word`, 0 when its letter is not `k`:
/// slot 0 is the way back, which nobody passes. Each argument has [`PASSED_BITS`] bits, the first the lowest.
pub const fn passed_slot(word: u64, argument: usize) -> usize {
    (word >> (PASSED_BITS as usize * argument)) as usize & ((1 << PASSED_BITS) - 1)
}

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
    /// The same frame with slots that the call passed (letter `k`) in its last word.
    pub const fn passing(self) -> Self {
        FrameName(self.0 | PASSES)
    }
    /// Whether the frame's last word holds passed slots.
    pub const fn passes(self) -> bool {
        self.0 & PASSES != 0
    }
    /// Length of the frame in bytes, the header included.
    pub const fn bytes(self) -> u64 {
        (self.0 & 0xff) * 8
    }
    /// Kind, as the number of a [`FrameKind`].
    pub const fn kind(self) -> u64 {
        (self.0 >> 8) & 7
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
